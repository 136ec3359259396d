/*
 * A replay whose figures were made up, as text and as JSON (docs/replay.md).
 */
#include "replay/run/replay_plan.h"

#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define NAMES 13

struct made {
    struct msim_strtab *strings;
    struct msim_op ops[20];
    struct msim_step steps[1];
    struct msim_trace trace;
    struct msim_plan_op planned[20];
    struct msim_replay_plan plan;
    struct msim_replay_round rounds[2];
    struct msim_replay_runs runs;
    struct msim_replay_time times[20];
    struct msim_replay_figures figures;
    cJSON *greeting;
    struct msim_replay r;
};

static void add(struct made *m, const char *name, enum msim_run_how how,
                const char *why, double us)
{
    uint32_t n = m->plan.ops.n++, id = 0;

    CHECK_INT(msim_strtab_add(m->strings, name, strlen(name), &id), MSIM_OK);
    m->ops[n] = (struct msim_op){.name = id, .et_id = 100 + n};
    m->planned[n] = (struct msim_plan_op){
        .op = n, .how = (uint8_t)how, .family = MSIM_FAMILY_GEMM, .why = why};
    m->times[n] = (struct msim_replay_time){us, us / 2, us * 2};
    m->trace.n_ops++;
}

static bool begin(struct made *m)
{
    *m = (struct made){.steps = {{.number = 7}}};
    if (msim_strtab_new(&m->strings) != MSIM_OK)
        return false;
    m->trace.strings = m->strings;
    m->trace.ops = m->ops;
    m->trace.steps = m->steps;
    m->trace.n_steps = 1;
    m->plan.trace = &m->trace;
    m->plan.step = MSIM_NONE;
    m->plan.ops.data = m->planned;
    m->rounds[0].us = 1000;
    m->rounds[1].us = 2000;
    m->runs =
        (struct msim_replay_runs){.rounds = m->rounds, .n = 2, .warm_up = 3};
    m->figures = (struct msim_replay_figures){
        .ops = m->times, .utilization = NAN, .step = {1500, 1000, 2000}};
    m->greeting = cJSON_Parse(
        "{\"backend\":\"b\",\"device\":{\"name\":\"a made-up device\"}}");
    m->r = (struct msim_replay){.path = "t.json",
                                .plan = &m->plan,
                                .runs = &m->runs,
                                .figures = &m->figures,
                                .greeting = m->greeting};
    return true;
}

static void end(struct made *m)
{
    cJSON_Delete(m->greeting);
    msim_strtab_free(m->strings);
}

/* Three operators in two families; of the longer name one call is a copy. */
static bool begin_small(struct made *m)
{
    struct msim_replay_figures *f = &m->figures;

    if (!begin(m))
        return false;
    add(m, "aten::add", MSIM_RUN_NATIVE, NULL, 300);
    add(m, "aten::mm", MSIM_RUN_BYTES, "no such type", 500);
    add(m, "aten::mm", MSIM_RUN_NATIVE, NULL, 400);
    m->planned[0].family = MSIM_FAMILY_POINTWISE;
    f->sum_us = 1200;
    f->gap_us = 300;
    f->how[MSIM_RUN_NATIVE] = (struct msim_replay_part){2, 700};
    f->how[MSIM_RUN_BYTES] = (struct msim_replay_part){1, 500};
    f->family[MSIM_FAMILY_GEMM] = (struct msim_replay_part){2, 900};
    f->family[MSIM_FAMILY_POINTWISE] = (struct msim_replay_part){1, 300};
    return true;
}

/* ---- text ---------------------------------------------------------------- */

static char *as_text(const struct made *m)
{
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);

    msim_replay_write_text(&m->r, out);
    fclose(out);
    return text;
}

#define COVERAGE                                                               \
    "  run      operators   share           ms   share\n"                      \
    "  native           2   66.7%        0.700   58.3%\n"                      \
    "  parts            0    0.0%        0.000    0.0%\n"                      \
    "  bytes            1   33.3%        0.500   41.7%\n"                      \
    "  not run          0    0.0%        0.000    0.0%\n"                      \
    "\n"                                                                       \
    "  family       operators           ms   share\n"                          \
    "  gemm                 2        0.900   75.0%\n"                          \
    "  pointwise            1        0.300   25.0%\n"                          \
    "\n"                                                                       \
    "  operator                                   calls           ms  run\n"   \
    "  aten::mm                                       2        0.900  bytes\n" \
    "  aten::add                                      1        0.300  "        \
    "native\n"

static void test_text__every_line(void)
{
    struct made m;
    char *text;

    REQUIRE(begin_small(&m));
    text = as_text(&m);
    CHECK_STR(text,
              "measured 1.500 ms a step (1.000 to 2.000, 2 iterations) on a "
              "made-up device\n"
              "of the mean, operators 1.200 ms, between them 0.300 ms\n"
              "\n" COVERAGE "\n  system\n");
    free(text);
    m.figures.together_us = 1100;
    m.figures.utilization = 0.125;
    m.figures.n_system = 4;
    m.figures.system[0] = (struct msim_replay_metric){"rss_bytes", 3 << 20};
    m.figures.system[1] = (struct msim_replay_metric){"page_faults", 17};
    m.figures.system[2] = (struct msim_replay_metric){"busy", 0.25};
    m.figures.system[3] = (struct msim_replay_metric){"power_w_after", 350};
    snprintf(m.runs.counters_error, sizeof(m.runs.counters_error), "!");
    m.r.greeting = NULL;
    text = as_text(&m);
    CHECK_STR(text,
              "measured 1.500 ms a step (1.000 to 2.000, 2 iterations) on a "
              "device\n"
              "of the mean, operators 1.200 ms, between them 0.300 ms\n"
              "each alone, with cold caches; in a row, with nothing between "
              "them, 1.100 ms\n"
              "\n" COVERAGE
              "\n  system  cores used 12.5%  busy 25.0%  memory 3 MiB  page "
              "faults 17  power 350 W\n"
              "  no processor counters: !\n");
    free(text);
    m.r.warm = true;
    text = as_text(&m);
    CHECK(strstr(text, "each alone, with warm caches;"));
    free(text);
    m.figures.together_us = 0.75;
    text = as_text(&m);
    CHECK(strstr(text, "nothing between them, 0.001 ms\n"));
    free(text);
    end(&m);
}

/* The ten that take longest, of equal ones the first; all that was not run is
 * said, with the reason of the call that was least like the original. */
static void test_text__longest_names(void)
{
    struct made m;
    char *text, name[16], line[80];

    REQUIRE(begin(&m));
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof(name), "op%02d", i);
        add(&m, name, i == 12 ? MSIM_RUN_NOT : MSIM_RUN_NATIVE,
            i == 12 ? "nothing does it" : NULL, i == 12 ? 0 : 100 + i / 2);
    }
    add(&m, "op11", MSIM_RUN_NOT, "too large", 0);
    add(&m, "op11", MSIM_RUN_BYTES, "no type", 0);
    text = as_text(&m);
    for (int i = 0; i < 12; i++) {
        snprintf(line, sizeof(line), "\n  op%02d ", i);
        CHECK_INT(strstr(text, line) != NULL, i > 1); /* two of 100 us */
    }
    /* longest first, and of 105 us op10 before op11 */
    CHECK(strstr(text, "\n  op10 ") < strstr(text, "\n  op11 "));
    CHECK(strstr(text, "\n  op11 ") < strstr(text, "\n  op08 "));
    CHECK(strstr(text, "  op11                                           3   "
                       "     0.105  not run\n"));
    CHECK(strstr(text, "  not run: 3 x op11: too large\n"
                       "  not run: 1 x op12: nothing does it\n"));
    /* of no time in all there is no share */
    CHECK(strstr(text, "  native           0    0.0%        0.000    0.0%\n"));
    free(text);
    end(&m);
}

/* ---- JSON ---------------------------------------------------------------- */

static char *as_lines(const struct made *m)
{
    static char *text;
    static size_t size;
    FILE *out = open_memstream(&text, &size);
    struct msim_json j;

    msim_json_begin(&j, msim_sink_file, out);
    msim_json_open(&j, NULL, '{', true);
    msim_replay_write_json(&m->r, &j);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    fclose(out);
    return text;
}

static cJSON *as_json(const struct made *m)
{
    char *text = as_lines(m);
    cJSON *json = cJSON_Parse(text);

    free(text);
    if (json)
        cJSON_DeleteItemFromObject(json, "version"); /* of each commit */
    return json;
}

#define PARTS                                                                  \
    "\"coverage\":[{\"run\":\"native\",\"operators\":2,\"share\":0.5,"         \
    "\"us\":900,\"time_share\":0.75},{\"run\":\"parts\",\"operators\":0,"      \
    "\"share\":0,\"us\":0,\"time_share\":0},{\"run\":\"bytes\","               \
    "\"operators\":2,\"share\":0.5,\"us\":300,\"time_share\":0.25},"           \
    "{\"run\":\"not run\",\"operators\":0,\"share\":0,\"us\":0,"               \
    "\"time_share\":0}],\"families\":[{\"family\":\"gemm\",\"operators\":4,"   \
    "\"share\":1,\"us\":1200,\"time_share\":1}]"
#define OPS                                                                    \
    "\"operators\":[{\"name\":\"a\",\"node\":100,\"family\":\"gemm\","         \
    "\"run\":\"native\",\"us\":400,\"low_us\":200,\"high_us\":800},"           \
    "{\"name\":\"b\",\"node\":101,\"family\":\"gemm\",\"run\":\"bytes\","      \
    "\"why\":\"no type\",\"us\":200,\"low_us\":100,\"high_us\":400},"          \
    "{\"name\":\"a\",\"node\":102,\"family\":\"gemm\",\"run\":\"native\","     \
    "\"us\":500,\"low_us\":250,\"high_us\":1000},"                             \
    "{\"name\":\"b\",\"node\":103,\"family\":\"gemm\",\"run\":\"bytes\","      \
    "\"why\":\"no type\",\"us\":100,\"low_us\":50,\"high_us\":200}]"

static void check_json(const struct made *m, const char *want)
{
    cJSON *json = as_json(m);
    char *text = json ? cJSON_PrintUnformatted(json) : NULL;

    CHECK_STR(text, want);
    free(text);
    cJSON_Delete(json);
}

static void test_json__every_member(void)
{
    struct made m;

    REQUIRE(begin(&m));
    add(&m, "a", MSIM_RUN_NATIVE, NULL, 400);
    add(&m, "b", MSIM_RUN_BYTES, "no type", 200);
    add(&m, "a", MSIM_RUN_NATIVE, NULL, 500);
    add(&m, "b", MSIM_RUN_BYTES, "no type", 100);
    m.figures.sum_us = 1200;
    m.figures.gap_us = 300;
    m.figures.how[MSIM_RUN_NATIVE] = (struct msim_replay_part){2, 900};
    m.figures.how[MSIM_RUN_BYTES] = (struct msim_replay_part){2, 300};
    m.figures.family[MSIM_FAMILY_GEMM] = (struct msim_replay_part){4, 1200};
    check_json(&m, "{\"schema\":\"mystique-sim/replay/1\",\"trace\":\"t.json\","
                   "\"step\":null,\"backend\":\"b\",\"device\":\"a made-up "
                   "device\",\"cache\":\"cold\",\"warm_up\":3,\"iterations\":2,"
                   "\"step_us\":1500,\"step_low_us\":1000,\"step_high_us\":"
                   "2000,\"operators_us\":1200,\"between_us\":300,"
                   "\"iterations_us\":[1000,2000]," PARTS ",\"system\":{}," OPS
                   "}");
    m.plan.step = 0;
    m.r.warm = true;
    m.figures.together_us = 0.5;
    m.figures.utilization = 0.125;
    m.figures.n_system = 1;
    m.figures.system[0] = (struct msim_replay_metric){"busy", 0.25};
    snprintf(m.runs.counters_error, sizeof(m.runs.counters_error), "!");
    check_json(&m, "{\"schema\":\"mystique-sim/replay/1\",\"trace\":\"t.json\","
                   "\"step\":\"ProfilerStep#7\",\"backend\":\"b\",\"device\":"
                   "\"a made-up device\",\"cache\":\"warm\",\"warm_up\":3,"
                   "\"iterations\":2,\"step_us\":1500,\"step_low_us\":1000,"
                   "\"step_high_us\":2000,\"operators_us\":1200,"
                   "\"between_us\":300,\"together_us\":0.5,"
                   "\"iterations_us\":[1000,2000]," PARTS
                   ",\"system\":{\"utilization\":0.125,\"busy\":0.25,"
                   "\"counters_error\":\"!\"}," OPS "}");
    end(&m);
}

/* A row is a line, which other programs look for. */
static void test_json__lines(void)
{
    struct made m;
    char *text;

    REQUIRE(begin(&m));
    add(&m, "a", MSIM_RUN_NATIVE, NULL, 400);
    m.figures.family[MSIM_FAMILY_GEMM] = (struct msim_replay_part){1, 400};
    text = as_lines(&m);
    CHECK(strstr(text, "\n  \"iterations_us\": [1000, 2000],\n"
                       "  \"coverage\": [\n    {\"run\": \"native\", "));
    CHECK(strstr(text, "},\n    {\"run\": \"parts\", "));
    CHECK(strstr(text, "}\n  ],\n  \"families\": [\n    {\"family\": "
                       "\"gemm\", "));
    CHECK(strstr(text, "}\n  ],\n  \"system\": {},\n  \"operators\": [\n"
                       "    {\"name\": \"a\", "));
    free(text);
    end(&m);
}

int main(void)
{
    RUN(test_text__every_line);
    RUN(test_text__longest_names);
    RUN(test_json__every_member);
    RUN(test_json__lines);
    return check_summary();
}
