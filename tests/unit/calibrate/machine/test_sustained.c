/*
 * Products back to back: which are asked for, and ratios of answers that were
 * made up.
 */
#include "calibrate/machine/machine_internal.h"

#include "tests/check.h"

#include <math.h>

static void test_sustained__large_products(void)
{
    static const char *const TYPES[] = {"bfloat16", "fp16", "fp32"};
    cJSON *greeting = cJSON_Parse(
        "{\"device\":{\"kind\":\"gpu\",\"sms\":132,\"memory_bytes\":8e10},"
        "\"tables\":{\"vector\":[\"add:fp16\"],\"gemm\":[\"fp32\",\"fp8\","
        "\"fp16\",\"bfloat16\"]}}");
    struct msim_cal_sustaining a = {.random = 7}, b = {.random = 7};
    struct msim_cal_experiment e, same;
    struct msim_cal_space s;

    REQUIRE(msim_cal_space_read(&s, greeting, 1e5, NULL) == MSIM_OK);
    for (int i = 0; i < MSIM_CAL_SUSTAINED; i++) {
        const struct msim_work *w = &e.timed.work;

        REQUIRE(msim_cal_sustained_next(&a, &s, &e));
        REQUIRE(msim_cal_sustained_next(&b, &s, &same));
        CHECK(msim_cal_hash(&e, "") == msim_cal_hash(&same, ""));
        CHECK_STR(e.timed.dtype_word, TYPES[i % 3]);
        CHECK(w->u.gemm.m >= 4096 && w->u.gemm.n >= 4096 &&
              w->u.gemm.k >= 4096);
        CHECK(w->u.gemm.m <= 8192 && w->u.gemm.n <= 8192 &&
              w->u.gemm.k <= 8192);
        CHECK_UINT(msim_cal_space_kind(&s, &e.timed), i % 3 == 0   ? 4
                                                      : i % 3 == 1 ? 3
                                                                   : 1);
    }
    CHECK(!msim_cal_sustained_next(&a, &s, &e)); /* enough */
    b.turn = 0;
    s.bytes_most = 1e6; /* a small device */
    CHECK(!msim_cal_sustained_next(&b, &s, &e));
    cJSON_Delete(greeting);
}

static void answer(struct msim_cal_journal *j, int m, const char *text)
{
    struct msim_cal_experiment e = {
        .timed = {.table = MSIM_TABLE_GEMM, .dtype_word = "fp16"}};

    e.timed.work.u.gemm.m = m;
    CHECK_INT(msim_cal_journal_add(j, "a", &e, cJSON_Parse(text), 0.5, NULL),
              MSIM_OK);
}

/* 1.2, 1.3 and 1.5 times as long; one that failed back to back has no ratio. */
static void test_sustained__over_alone(void)
{
    struct msim_cal_sustained s;
    struct msim_cal_journal j;
    cJSON *o = cJSON_CreateObject();
    const cJSON *written;

    REQUIRE(msim_cal_journal_open(&j, NULL, NULL) == MSIM_OK);
    REQUIRE(msim_cal_sustain(&s, &j) == MSIM_OK);
    msim_cal_sustained_write(o, &s);
    CHECK_INT(cJSON_GetArraySize(o), 0);
    answer(&j, 1, "{\"time_us\":10}");
    answer(&j, 2,
           "{\"time_us\":10,\"sustained\":{\"time_us\":12,\"sm_mhz\":1500,"
           "\"power_w\":700}}");
    answer(&j, 3,
           "{\"time_us\":20,\"sustained\":{\"time_us\":26,\"sm_mhz\":1300}}");
    answer(&j, 4,
           "{\"time_us\":20,\"sustained\":{\"time_us\":30,\"sm_mhz\":1200}}");
    CHECK_REL(msim_cal_sustained_seconds(&j, "a"), 1.5, 1e-12);
    CHECK_REL(msim_cal_sustained_seconds(&j, "b"), 0, 0);
    REQUIRE(msim_cal_sustain(&s, &j) == MSIM_OK);
    CHECK_UINT(s.time.n, 3);
    CHECK_REL(s.time.median, 1.3, 1e-12);
    CHECK_REL(s.clock.median, 1300, 1e-12);
    CHECK_REL(s.power.median, 700, 1e-12);
    msim_cal_sustained_write(o, &s);
    written = cJSON_GetObjectItem(o, "sustained");
    CHECK(cJSON_HasObjectItem(written, "sm_mhz") &&
          cJSON_HasObjectItem(written, "power_w") &&
          cJSON_HasObjectItem(written, "time_ratio"));
    cJSON_Delete(o);
    msim_cal_journal_close(&j);
}

int main(void)
{
    RUN(test_sustained__large_products);
    RUN(test_sustained__over_alone);
    return check_summary();
}
