/*
 * tests/unit/core/report/write/test_report_json.c - the JSON of a prediction.
 */
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

#include <cjson/cJSON.h>

/* The keys of an object as "a b c". */
static void keys_of(const cJSON *o, char *keys, size_t n)
{
    const cJSON *child;
    size_t used = 0;

    keys[0] = '\0';
    cJSON_ArrayForEach(child, o)
    {
        used += (size_t)snprintf(keys + used, n - used, "%s%s", used ? " " : "",
                                 child->string);
    }
}

static void check_keys(const cJSON *o, const char *want)
{
    char keys[1024];

    keys_of(o, keys, sizeof(keys));
    CHECK_STR(keys, want);
}

static cJSON *written(const struct msim_prediction *p)
{
    char *text = made_text(p, msim_report_json);
    cJSON *o = text ? cJSON_Parse(text) : NULL;

    free(text);
    return o;
}

static const cJSON *at(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

/* The contract: these keys, in this order, before any of ours. */
static void test_report_json__keys(void)
{
    struct made m;
    cJSON *o;

    made_fill(&m);
    o = written(&m.p);
    REQUIRE(o);
    check_keys(
        o, "schema version platform costs ranks iterations "
           "iteration_us period_us scenario kernel_us communication_us "
           "external_wait_us "
           "breakdown_us overlapped_us coverage memory_bytes flops mfu "
           "ops ranks_detail critical_path warnings host host_factors network "
           "inputs families verdict sensitivity throughput cost_usd "
           "energy_joules kernels host_ops phases "
           "regions not_covered "
           "critical_path_of critical_owners "
           "waits_us edges collectives stragglers copied_us "
           "links flops_counted memory_bandwidth_bytes_per_second "
           "unexplained_us source_platform source_trace period_of "
           "guards gpus import");
    check_keys(cJSON_GetArrayItem(at(o, "iterations"), 0),
               "name predicted_us low_us high_us measured_us rank "
               "communication_us breakdown_us overlapped_us state");
    check_keys(at(o, "iteration_us"), "predicted low high measured");
    check_keys(at(o, "period_us"), "predicted low high measured");
    check_keys(at(o, "period_of"),
               "state iterations rank host_range_us gpu_range_us busiest_kind "
               "busiest busiest_us busiest_share bounds");
    check_keys(at(o, "communication_us"), "transfer wait");
    check_keys(at(o, "breakdown_us"),
               "compute communication memory_copy host idle");
    check_keys(at(o, "overlapped_us"), "communication memory_copy");
    check_keys(at(o, "coverage"), "ops device_time");
    check_keys(at(o, "memory_bytes"), "peak low high reserved cuda_context "
                                      "nccl_buffers needed measured rank by "
                                      "capacity fits");
    check_keys(cJSON_GetArrayItem(at(o, "ops"), 0),
               "name calls predicted_us low_us high_us measured_us model "
               "source communication limit peak_share slack_us flops bytes "
               "intensity flops_per_second bytes_per_second "
               "peak_flops_per_second");
    check_keys(cJSON_GetArrayItem(at(o, "ranks_detail"), 1),
               "rank ranks iteration_us period_us kernel_us communication_us "
               "breakdown_us "
               "overlapped_us waits_us");
    check_keys(at(o, "waits_us"), "main_thread threads gpu_idle streams");
    check_keys(cJSON_GetArrayItem(at(o, "critical_path"), 0),
               "name kind op rank lane start_us us edge edge_source");
    check_keys(at(o, "critical_path_of"), "iteration us");
    check_keys(cJSON_GetArrayItem(at(o, "critical_owners"), 0),
               "name kind op us share pieces");
    check_keys(cJSON_GetArrayItem(at(o, "edges"), 0),
               "kind source count binding");
    check_keys(cJSON_GetArrayItem(at(o, "collectives"), 0),
               "name group bytes ranks calls transfer_us wait_us skew_us "
               "last_rank");
    check_keys(cJSON_GetArrayItem(at(o, "stragglers"), 0),
               "rank last_in wait_caused_us");
    cJSON_Delete(o);
}

static void test_report_json__values(void)
{
    struct made m;
    cJSON *o;

    made_fill(&m);
    m.ranks[0].rank = -1;
    o = written(&m.p);
    REQUIRE(o);
    CHECK_STR(cJSON_GetStringValue(at(o, "schema")),
              "mystique-sim/prediction/1");
    CHECK_INT(cJSON_GetNumberValue(at(o, "ranks")), 2);
    CHECK_INT(cJSON_GetArraySize(at(o, "ops")), 3);
    CHECK_REL(cJSON_GetNumberValue(at(at(o, "coverage"), "ops")), 0.75, 0);
    CHECK(cJSON_IsNull(at(at(o, "memory_bytes"), "peak")));
    CHECK(cJSON_IsNull(at(at(o, "kernel_us"), "measured")));
    CHECK(
        cJSON_IsNull(at(cJSON_GetArrayItem(at(o, "ranks_detail"), 0), "rank")));
    CHECK_STR(cJSON_GetStringValue(cJSON_GetArrayItem(at(o, "warnings"), 0)),
              "one thing to know");
    cJSON_Delete(o);
}

/* Times on the path are exact, so that they sum to the iteration. */
static void test_report_json__where(void)
{
    struct made m;
    cJSON *o;
    const cJSON *path, *row;

    made_fill(&m);
    o = written(&m.p);
    REQUIRE(o);
    path = at(o, "critical_path");
    REQUIRE(cJSON_GetArraySize(path) == 2);
    row = cJSON_GetArrayItem(path, 1);
    CHECK_STR(cJSON_GetStringValue(at(row, "name")), "launch");
    CHECK_STR(cJSON_GetStringValue(at(row, "edge_source")), "recorded ids");
    CHECK_REL(cJSON_GetNumberValue(at(row, "us")), 0.000001, 0);
    CHECK(cJSON_IsNull(at(cJSON_GetArrayItem(path, 0), "edge")));
    CHECK_REL(cJSON_GetNumberValue(at(at(at(o, "waits_us"), "main_thread"),
                                      "launch queue full")),
              12.5, 0);
    row = cJSON_GetArrayItem(at(o, "collectives"), 0);
    CHECK(cJSON_IsNull(at(row, "bytes")));
    CHECK_REL(cJSON_GetNumberValue(at(at(row, "skew_us"), "max")), 9, 0);
    CHECK_REL(cJSON_GetNumberValue(at(at(o, "copied_us"), "host work")), 15, 0);
    cJSON_Delete(o);
}

static void test_report_json__no_platform(void)
{
    struct made m;
    cJSON *o;

    made_fill(&m);
    m.p.platform = NULL;
    m.p.host = NULL;
    o = written(&m.p);
    REQUIRE(o);
    CHECK(cJSON_IsNull(at(o, "platform")));
    CHECK(cJSON_IsNull(at(o, "host")));
    CHECK(cJSON_IsNull(at(o, "host_factors")));
    cJSON_Delete(o);
}

/* Names come from files: any bytes may be in them. */
static void test_report_json__hostile_names(void)
{
    struct made m;
    cJSON *o;

    made_fill(&m);
    m.ops[0].name = "a\"\\\n\xff\x01";
    m.warnings[0] = "\xc3";
    o = written(&m.p);
    REQUIRE(o);
    CHECK_STR(
        cJSON_GetStringValue(at(cJSON_GetArrayItem(at(o, "ops"), 0), "name")),
        "a\"\\\n\xef\xbf\xbd\x01");
    cJSON_Delete(o);
}

static void test_report_json__same_bytes(void)
{
    struct made m;
    char *one, *other;

    made_fill(&m);
    one = made_text(&m.p, msim_report_json);
    m.p.seconds = 2; /* a clock must not show */
    other = made_text(&m.p, msim_report_json);
    CHECK_STR(one, other);
    free(one);
    free(other);
}

static void test_report_csv__rows(void)
{
    struct made m;
    char *text;

    made_fill(&m);
    m.ops[2].name = "my,\"op\"";
    text = made_text(&m.p, msim_report_csv);
    CHECK_STR(text, "name,calls,predicted_us,low_us,high_us,measured_us,"
                    "model,source,options,communication,limit,peak_share,"
                    "slack_us,flops,bytes,intensity,flops_per_second,"
                    "bytes_per_second,peak_flops_per_second\n"
                    "aten::mm,4,800,700,900,820,gemm,law,,false,,0,0,"
                    "8000000000,4000000,2000,10000000000000,5000000000,"
                    "20000000000000\n"
                    "record_param_comms,1,120,100,150,,collective,table,,true,"
                    ",0,0,,,,,,\n"
                    "\"my,\"\"op\"\"\",1.5,80,20,320,,bound,bound,,false,,0,0,"
                    ",,,,,\n");
    free(text);
}

static void test_report__write_errors(void)
{
    struct made m;
    FILE *full = fopen("/dev/full", "w");

    made_fill(&m);
    if (!full)
        SKIP("no /dev/full");
    setvbuf(full, NULL, _IONBF, 0);
    CHECK_INT(msim_report_json(&m.p, full), MSIM_EWRITE);
    CHECK_INT(msim_report_csv(&m.p, full), MSIM_EWRITE);
    CHECK_INT(msim_report_text(&m.p, full), MSIM_EWRITE);
    fclose(full);
}

int main(void)
{
    RUN(test_report_json__keys);
    RUN(test_report_json__values);
    RUN(test_report_json__where);
    RUN(test_report_json__no_platform);
    RUN(test_report_json__hostile_names);
    RUN(test_report_json__same_bytes);
    RUN(test_report_csv__rows);
    RUN(test_report__write_errors);
    return check_summary();
}
