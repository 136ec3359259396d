/* serving/outcome/outcome_json.c and outcome_timeline.c: whole files of a run
 * that is made up. */
#include "serving/outcome/serving_outcome.h"
#include "tests/check.h"
#include "tests/unit/squeezed.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#define US INT64_C(1000000)
#define N                                                                      \
    {                                                                          \
        NAN, NAN, NAN, NAN, NAN, NAN                                           \
    }

static const struct msim_recorded_pass scan = {.file = "scan.json"};
static struct msim_stage stages[] = {
    {.name = "web", .kind = MSIM_STAGE_MEASURED, .call = MSIM_CALL_RPC},
    {.name = "tool", .kind = MSIM_STAGE_TOOL, .call = MSIM_CALL_QUEUE},
    {.name = "llm",
     .kind = MSIM_STAGE_LLM,
     .model = "m8",
     .platform = "h100",
     .call = MSIM_CALL_RPC},
    {.name = "ocr",
     .kind = MSIM_STAGE_MODEL,
     .platform = "a10",
     .prefill = {&scan, 1},
     .call = MSIM_CALL_QUEUE}};
static const struct msim_assumed assumed[] = {{"a.b", "5", "not stated"}};
static const struct msim_app app = {.name = "shop",
                                    .stages = stages,
                                    .n_stages = 4,
                                    .n_classes = 2,
                                    .assumed = assumed,
                                    .n_assumed = 1};
static char text[16384];

/* Squeezed, without the program's version, which stands behind `key` and is
 * another one day. */
static const char *without_version(const char *key)
{
    char *at = strstr(squeezed(text), key);

    if (CHECK(at != NULL)) {
        at += strlen(key);
        memmove(at, at + strcspn(at, "'"), strlen(at + strcspn(at, "'")) + 1);
    }
    return text;
}

static const char JSON[] =
    "{'schema': 'mystique-sim/serving/1','version': '','app': 'shop',"
    "'classes': {"
    "'read': {'requests': 10,'unfinished': 1,"
    "'e2e_ms': {'mean': 1.5, 'p50': 1, 'p90': 2, 'p99': 3, 'low': 1.25, "
    "'high': 1.75},'ttft_ms': null,'tpot_ms': {'mean': 4, 'p50': 5, 'p90': 6, "
    "'p99': 7, 'low': 8, 'high': 9},"
    "'throughput_rps': 11,'throughput_tokens_per_s': 12,'goodput_rps': "
    "13,'violations': 0.25,'late_requests': 3},"
    "'write': {'requests': 0,'unfinished': 0,"
    "'e2e_ms': null,'ttft_ms': null,'tpot_ms': null,"
    "'throughput_rps': 0,'throughput_tokens_per_s': 0,'goodput_rps': "
    "0,'violations': null,'late_requests': 0}},"
    "'stages': {"
    "'web': {'replicas': 2,'visits_per_s': 3,'utilisation': 0.5,'computing': "
    "0.25,'in_stage': 4,"
    "'queue_ms': null,'self_ms': {'mean': 1, 'p50': 2, 'p90': 3, 'p99': 4, "
    "'low': 5, 'high': 6},"
    "'critical_share': 0.75,'capacity_rps': 8,'gpu_hours': null,'cost': "
    "9,'energy_kwh': 10},"
    "'tool': {'replicas': 0,'visits_per_s': 0,'utilisation': 0,'computing': "
    "0,'in_stage': 0,"
    "'queue_ms': null,'self_ms': null,"
    "'critical_share': 0,'capacity_rps': 0,'gpu_hours': 0,'cost': "
    "0,'energy_kwh': 0},"
    "'llm': {'replicas': 0,'visits_per_s': 0,'utilisation': 0,'computing': "
    "0,'in_stage': 0,"
    "'queue_ms': null,'self_ms': null,"
    "'critical_share': 0,'capacity_rps': 0,'gpu_hours': 0,'cost': "
    "0,'energy_kwh': 0,"
    "'capacity_tokens_per_s': {'value': 100, 'low': 90, 'high': "
    "110},'kv_peak_share': 0.5,'preemptions': 2,'prefix_hit_share': "
    "0.25,'batch_mean': 6,'step_ms': 7},"
    "'ocr': {'replicas': 0,'visits_per_s': 0,'utilisation': 0,'computing': "
    "0,'in_stage': 0,"
    "'queue_ms': null,'self_ms': null,"
    "'critical_share': 0,'capacity_rps': 0,'gpu_hours': 0,'cost': "
    "0,'energy_kwh': 0}},"
    "'counterfactual_class': 'read',"
    "'counterfactual': {"
    "'web': {'p99_ms': 20, 'mean_ms': 21},"
    "'tool': {'p99_ms': 0, 'mean_ms': 0},"
    "'llm': {'p99_ms': 0, 'mean_ms': 0},"
    "'ocr': {'p99_ms': 0, 'mean_ms': 0}},"
    "'saturated': ["
    "'web', 'llm'],'capacity_rps': {'value': 1, 'low': 2, 'high': 3, 'by': "
    "'llm'},"
    "'provenance': {"
    "'web': 'service as stated',"
    "'tool': 'service as stated',"
    "'llm': 'steps of m8 on h100 as data/laws/serving.json prices them, 90 % "
    "within x 2',"
    "'ocr': 'steps of scan.json on a10 as predict prices them, x 1.5 by 2 "
    "recorded passes, 90 % within x 1'},"
    "'defaults': [{'member': 'a.b', 'value': '5', 'why': 'not stated'}],"
    "'warnings': ['a \\'b\\''],"
    "'events': 123,"
    "'events_per_s': null,'wall_s': null}";

static void test_outcome_json__whole(void)
{
    struct msim_class_outcome c[] = {
        {.name = "read",
         .requests = 10,
         .unfinished = 1,
         .e2e = {1.5, 1, 2, 3, 1.25, 1.75},
         .ttft = N,
         .tpot = {4, 5, 6, 7, 8, 9},
         .throughput_rps = 11,
         .tokens_per_s = 12,
         .goodput_rps = 13,
         .violations = 0.25,
         .late = 3},
        {.name = "write", .e2e = N, .ttft = N, .tpot = N, .violations = NAN}};
    struct msim_stage_outcome s[] = {{.name = "web",
                                      .replicas = 2,
                                      .visits_per_s = 3,
                                      .utilisation = 0.5,
                                      .computing = 0.25,
                                      .in_stage = 4,
                                      .queue = N,
                                      .self = {1, 2, 3, 4, 5, 6},
                                      .critical_share = 0.75,
                                      .capacity_rps = 8,
                                      .gpu_hours = NAN,
                                      .cost = 9,
                                      .energy_kwh = 10,
                                      .counterfactual_p99 = 20,
                                      .counterfactual_mean = 21,
                                      .saturated = true},
                                     {.name = "tool", .queue = N, .self = N},
                                     {.name = "llm",
                                      .queue = N,
                                      .self = N,
                                      .tokens = {100, 0, 0, 0, 90, 110},
                                      .half = log(2),
                                      .saturated = true},
                                     {.name = "ocr",
                                      .queue = N,
                                      .self = N,
                                      .recorded.prefill = {1.5, 0, 2}}};
    const struct msim_stage_run runs[4] = {
        [2].llm = {true, 1, 0.5, 2, 0.25, 6, 7}};
    char *warnings[] = {(char[]){"a \"b\""}};
    struct msim_serving_outcome o = {
        .app = &app,
        .classes = c,
        .stages = s,
        .capacity = {.mean = 1, .low = 2, .high = 3},
        .capacity_by = 2,
        .warnings = warnings,
        .n_warnings = 1,
        .events = 123,
        .run = {.stages = runs}};
    FILE *out = fmemopen(text, sizeof(text), "w");

    REQUIRE(out != NULL);
    CHECK_INT(msim_serving_json(&o, out), MSIM_OK);
    fclose(out);
    CHECK_STR(without_version("'version': '"), JSON);
    o.capacity_by = MSIM_NONE;
    o.worst_class = 1;
    out = fmemopen(text, sizeof(text), "w");
    REQUIRE(out != NULL);
    CHECK_INT(msim_serving_json(&o, out), MSIM_OK);
    fclose(out);
    CHECK(strstr(text, "\"high\": 3, \"by\": null}") != NULL);
    CHECK(strstr(text, "\"counterfactual_class\": \"write\"") != NULL);
}

static const char TIMELINE[] =
    "{"
    "'displayTimeUnit': 'ms','program': 'mystique-sim ','title': 'shop',"
    "'traceEvents': ["
    "{'ph': 'M', 'name': 'process_name', 'pid': 1, 'tid': 1, 'args': {'name': "
    "'web'}},"
    "{'ph': 'M', 'name': 'process_name', 'pid': 2, 'tid': 513, 'args': "
    "{'name': 'tool'}},"
    "{'ph': 'M', 'name': 'process_name', 'pid': 3, 'tid': 1025, 'args': "
    "{'name': 'llm'}},"
    "{'ph': 'M', 'name': 'process_name', 'pid': 4, 'tid': 1537, 'args': "
    "{'name': 'ocr'}},"
    "{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 1, 'args': {'name': "
    "'worker 1'}},"
    "{'ph': 'X', 'name': 'service', 'pid': 1, 'tid': 1, 'ts': 2.000, 'dur': "
    "3.000, 'args': {'request': 0}},"
    "{'ph': 'X', 'name': 'calls', 'pid': 1, 'tid': 1, 'ts': 5.000, 'dur': "
    "3.000, 'args': {'request': 0}},"
    "{'ph': 'M', 'name': 'thread_name', 'pid': 1, 'tid': 2, 'args': {'name': "
    "'worker 2'}},"
    "{'ph': 'X', 'name': 'service', 'pid': 1, 'tid': 2, 'ts': 3.000, 'dur': "
    "3.000, 'args': {'request': 1}},"
    "{'ph': 'X', 'name': 'service', 'pid': 1, 'tid': 2, 'ts': 6.000, 'dur': "
    "1.000, 'args': {'request': 2}},"
    "{'ph': 'M', 'name': 'thread_name', 'pid': 2, 'tid': 513, 'args': {'name': "
    "'worker 1'}},"
    "{'ph': 'X', 'name': 'service', 'pid': 2, 'tid': 513, 'ts': 1.000, 'dur': "
    "1.000, 'args': {'request': 4}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 0.000, 'args': {'visits': "
    "1}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 1.000, 'args': {'visits': "
    "2}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 2.000, 'args': {'visits': "
    "1}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 3.000, 'args': {'visits': "
    "0}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 3.000, 'args': {'visits': "
    "1}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 1, 'ts': 4.000, 'args': {'visits': "
    "0}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 2, 'ts': 0.000, 'args': {'visits': "
    "1}},"
    "{'ph': 'C', 'name': 'waiting', 'pid': 2, 'ts': 1.000, 'args': {'visits': "
    "0}}]}";

/* Two services of web at once, of which the first calls for 3 us; a third goes
 * to the first track that is free. Calls of tool hold nobody; nor does what is
 * of another request, or does not follow at once. */
static void test_outcome_timeline__whole(void)
{
    static const struct msim_span_row spans[] = {
        {0, 2 * US, 0, 0, MSIM_SPAN_WAIT},
        {2 * US, 5 * US, 0, 0, MSIM_SPAN_SERVICE},
        {5 * US, 8 * US, 0, 0, MSIM_SPAN_CALLS},
        {1 * US, 3 * US, 0, 1, MSIM_SPAN_WAIT},
        {3 * US, 6 * US, 0, 1, MSIM_SPAN_SERVICE},
        {7 * US, 9 * US, 0, 1, MSIM_SPAN_CALLS},
        {6 * US, 7 * US, 0, 2, MSIM_SPAN_SERVICE},
        {7 * US, 9 * US, 0, 3, MSIM_SPAN_CALLS},
        {7 * US, 9 * US, 2, 2, MSIM_SPAN_CALLS},
        {1 * US, 2 * US, 1, 4, MSIM_SPAN_SERVICE},
        {2 * US, 9 * US, 1, 4, MSIM_SPAN_CALLS},
        {3 * US, 3 * US, 1, 5, MSIM_SPAN_SERVICE},
        {3 * US, 4 * US, 0, 6, MSIM_SPAN_WAIT},
        {0, 1 * US, 1, 4, MSIM_SPAN_WAIT},
    };
    struct msim_serving_outcome o = {
        .app = &app,
        .run = {.spans = spans, .n_spans = sizeof(spans) / sizeof(*spans)}};
    static const char *const ENDS[] = {"", ".gz"};
    char folder[] = P_tmpdir "/msim-timeline-XXXXXX", path[128];
    struct msim_error err = {0};

    REQUIRE(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        gzFile f;
        int n;

        snprintf(path, sizeof(path), "%s/x%s", folder, ENDS[i]);
        CHECK_INT(msim_serving_timeline(&o, path, &err), MSIM_OK);
        f = gzopen(path, "r");
        REQUIRE(f != NULL);
        CHECK_INT(gzdirect(f), i == 0);
        n = gzread(f, text, sizeof(text) - 1);
        gzclose(f);
        REQUIRE(n > 0);
        text[n] = '\0';
        CHECK_STR(without_version("'program': 'mystique-sim "), TIMELINE);
        CHECK_INT(unlink(path), 0);
    }
    CHECK_INT(rmdir(folder), 0);
    CHECK_INT(msim_serving_timeline(&o, "no/such/folder/x", &err), MSIM_EIO);
}

/* Each in a track of its own, but for those behind the last. */
static void test_outcome_timeline__is_narrow(void)
{
    enum { MOST = 512, ALL = MOST + 2 };

    static struct msim_span_row spans[ALL];
    struct msim_serving_outcome o = {.app = &app,
                                     .run = {.spans = spans, .n_spans = ALL}};
    static char line[512];
    char path[] = P_tmpdir "/msim-timeline-XXXXXX";
    uint32_t of_last = 0, of_none = 0, of_one = 0;
    struct msim_error err = {0};
    int fd = mkstemp(path);
    FILE *f;

    REQUIRE(fd >= 0);
    close(fd);
    for (uint32_t i = 0; i < ALL; i++)
        spans[i] = (struct msim_span_row){0, US, 0, i, MSIM_SPAN_SERVICE};
    CHECK_INT(msim_serving_timeline(&o, path, &err), MSIM_OK);
    f = fopen(path, "r");
    REQUIRE(f != NULL);
    while (fgets(line, sizeof(line), f)) {
        bool bar = strstr(line, "\"ph\": \"X\"");

        of_last += bar && strstr(line, "\"tid\": 512,");
        of_one += bar && strstr(line, "\"tid\": 511,");
        of_none += bar && strstr(line, "\"tid\": 513,");
    }
    fclose(f);
    CHECK_INT(of_one, 1);
    CHECK_INT(of_last, 3);
    CHECK_INT(of_none, 0);
    CHECK_INT(unlink(path), 0);
}

int main(void)
{
    RUN(test_outcome_json__whole);
    RUN(test_outcome_timeline__whole);
    RUN(test_outcome_timeline__is_narrow);
    return check_summary();
}
