/*
 * What is known of a device that was not timed: found by name, memory and
 * multiprocessors; only what is missing is added, and says where it is from.
 */
#include "calibrate/machine/machine.h"

#include "tests/check.h"

#define H100(gigabytes)                                                        \
    "{\"name\":\"NVIDIA H100 80GB HBM3\",\"sms\":132,"                         \
    "\"memory_bytes\":" #gigabytes "e9}"

static bool is_found(const char *data, const char *device)
{
    cJSON *o = cJSON_Parse(device);
    struct msim_cal_known k;
    bool found;

    msim_cal_known_find(&k, data, o);
    found = k.platform != NULL;
    CHECK(!found || strcmp(k.name, "h100") == 0);
    msim_cal_known_release(&k);
    cJSON_Delete(o);
    return found;
}

static void test_known__by_device(void)
{
    CHECK(is_found(MSIM_DATA, H100(85)));
    CHECK(!is_found(MSIM_DATA, H100(40)));
    CHECK(!is_found(MSIM_DATA, "{\"sms\":132}"));
    CHECK(!is_found(NULL, H100(85)));
}

/* `own` completed, the caller's. */
static cJSON *complete(const char *own)
{
    cJSON *sheet = cJSON_Parse(own), *device = cJSON_Parse(H100(85));
    struct msim_cal_known k;

    msim_cal_known_find(&k, MSIM_DATA, device);
    CHECK_INT(msim_cal_known_complete(sheet, &k), MSIM_OK);
    msim_cal_known_release(&k);
    cJSON_Delete(device);
    return sheet;
}

static const char *source_of(const cJSON *sheet, const char *key)
{
    return msim_json_get_text(cJSON_GetObjectItemCaseSensitive(sheet, key),
                              "source");
}

/* 67 TFLOP/s, 3.35 TB/s, of which streams reach 0.895, and 450 GB/s are
 * h100's. */
static void test_known__completes(void)
{
    static const char FROM[] = "data sheet of h100: not measured here";
    cJSON *s = complete("{\"memory_bandwidth\":{\"value\":3e12,"
                        "\"source\":\"measured\"},\"links\":{}}");

    CHECK_REL(msim_json_get_number(s, "fp32_flops", 0), 67e12, 0);
    CHECK_REL(msim_json_get_number(s, "link_bandwidth", 0), 450e9, 0);
    CHECK_STR(source_of(s, "fp32_flops"), FROM);
    CHECK_REL(msim_json_get_number(s, "memory_bandwidth", 0), 3e12, 0);
    CHECK_STR(source_of(s, "memory_bandwidth"), "measured");
    CHECK(!cJSON_HasObjectItem(s, "stream_ratio"));
    CHECK_INT(cJSON_GetArraySize(cJSON_GetObjectItem(s, "links")), 0);
    cJSON_Delete(s);
    s = complete("{}");
    CHECK_REL(msim_json_get_number(s, "memory_bandwidth", 0), 3.35e12, 0);
    CHECK_REL(msim_json_get_number(s, "stream_ratio", 0), 0.895, 0);
    CHECK_STR(
        msim_json_get_text(cJSON_GetObjectItem(s, "links"), "interconnect"),
        "NVLink4-NVSwitch");
    cJSON_Delete(s);
}

int main(void)
{
    RUN(test_known__by_device);
    RUN(test_known__completes);
    return check_summary();
}
