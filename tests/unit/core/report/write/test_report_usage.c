/*
 * tests/unit/core/report/write/test_report_usage.c - what GPUs do over time, as
 * text, JSON and a panel.
 */
#include "core/report/write/chart.h"
#include "core/report/write/report_internal.h"
#include "tests/unit/written_text.h"

#include <cjson/cJSON.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/* Two GPUs over 2000 us; of the first, all doubles at 1005 us, within the 101st
 * of 200 parts. */
struct used {
    struct msim_usage_step steps[2];
    struct msim_usage_note notes[2];
    struct msim_prediction p;
};

static void fill(struct used *u)
{
    memset(u, 0, sizeof(*u));
    u->steps[0].at = 100 * US;
    u->steps[1].at = 1105 * US;
    for (int k = 0; k < 2; k++)
        u->notes[k] = (struct msim_usage_note){.rank = k,
                                               .device = 4 + k,
                                               .begin = 100 * US,
                                               .end = 2100 * US,
                                               .steps = u->steps,
                                               .n_steps = 2,
                                               .bandwidth = 1024,
                                               .power_watts = 400};
    for (int i = 0; i < MSIM_USAGES; i++) {
        u->steps[0].of[i] = 0.125f * (float)(1 + i);
        u->steps[1].of[i] = 0.25f * (float)(1 + i);
        for (int k = 0; k < 2; k++)
            u->notes[k].of[i] =
                (struct msim_usage_figure){.mean = (i + 1) * (k ? 0.75 : 0.25),
                                           .p10 = 10 * i + 1,
                                           .median = 10 * i + 2,
                                           .p90 = 10 * i + 3,
                                           .most = 10 * i + 4};
    }
    u->p.usage = u->notes;
    u->p.n_usage = 2;
    u->p.period.rank = 1;
}

/* ---- text ---------------------------------------------------------------- */

static void test_report_usage__texts(void)
{
    static const struct {
        double means[MSIM_USAGES];
        const char *want;
    } ROWS[] = {
        {{0.41, 0.22, 312e9, 4.1e12, 180},
         "SMs busy 41.0 %, warps held 22.0 %, 312.00 GB/s, 4.10 TFLOP/s, 180 "
         "W"},
        {{NAN, 0.5, NAN, NAN, NAN}, "warps held 50.0 %"},
        {{NAN, NAN, 5, NAN, 1}, "5 B/s, 1 W"},
        {{NAN, NAN, NAN, 0, NAN}, "0 FLOP/s"},
        {{NAN, NAN, NAN, NAN, NAN}, ""},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        char text[MSIM_USAGE_TEXT];

        msim_usage_text(ROWS[i].means, text);
        CHECK_STR(text, ROWS[i].want);
    }
}

static void check_page(const struct used *u, const char *want)
{
    struct written w = written_begin();
    struct msim_page page = {.p = &u->p, .out = w.out};

    msim_page_usage(&page);
    WRITTEN(&w, want);
}

/* Means of both GPUs are 0.5 times 1 to 5; of one, a quarter. */
static void test_report_usage__page(void)
{
    struct used u;
    double means[MSIM_USAGES];

    fill(&u);
    msim_usage_means(&u.p, means);
    for (int i = 0; i < MSIM_USAGES; i++)
        CHECK_REL(means[i], 0.5 * (i + 1), 1e-12);
    check_page(&u, "  GPU use          SMs busy 50.0 %, warps held 100.0 %, 2 "
                   "B/s, 2 FLOP/s, 2 W on average of all\n");
    u.p.n_usage = 1;
    check_page(&u, "  GPU use          SMs busy 25.0 %, warps held 50.0 %, 1 "
                   "B/s, 1 FLOP/s, 1 W on average\n");
    for (int i = 0; i < MSIM_USAGES; i++)
        u.notes[0].of[i].mean = NAN;
    check_page(&u, "");
    u.p.n_usage = 0;
    check_page(&u, "");
    msim_usage_means(&u.p, means);
    CHECK(isnan(means[0]) && isnan(means[MSIM_USAGES - 1]));
}

/* ---- JSON ---------------------------------------------------------------- */

static double number(const cJSON *o, const char *key)
{
    return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(o, key));
}

static const cJSON *member(const cJSON *o, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(o, key);
}

static cJSON *written_json(const struct used *u)
{
    struct written w = written_begin();
    struct msim_json j;
    cJSON *json;
    char *text;

    msim_json_begin(&j, msim_sink_file, w.out);
    msim_json_open(&j, NULL, '{', true);
    msim_report_json_usage(&j, &u->p);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    text = written_end(&w);
    json = cJSON_Parse(text);
    free(text);
    return json;
}

static void check_gpu(const cJSON *gpu, int k)
{
    CHECK_REL(number(gpu, "gpu"), 4 + k, 0);
    CHECK_REL(number(gpu, "begin_us"), 100, 0);
    CHECK_REL(number(gpu, "end_us"), 2100, 0);
    CHECK_REL(number(gpu, "memory_bandwidth"), 1024, 0);
    CHECK_REL(number(gpu, "power_limit_w"), 400, 0);
    for (int i = 0; i < MSIM_USAGES; i++) {
        const cJSON *f = member(gpu, msim_usage_key((enum msim_usage)i));
        const cJSON *curve = member(f, "curve");

        CHECK_REL(number(f, "mean"), (i + 1) * (k ? 0.75 : 0.25), 1e-12);
        CHECK_REL(number(f, "p10"), 10 * i + 1, 0);
        CHECK_REL(number(f, "median"), 10 * i + 2, 0);
        CHECK_REL(number(f, "p90"), 10 * i + 3, 0);
        CHECK_REL(number(f, "max"), 10 * i + 4, 0);
        CHECK_INT(cJSON_GetArraySize(curve), 200);
        for (int b = 0; b < 200; b++)
            CHECK_REL(cJSON_GetNumberValue(cJSON_GetArrayItem(curve, b)),
                      (i + 1) * (b < 100    ? 0.125
                                 : b == 100 ? 0.1875 /* half of each */
                                            : 0.25),
                      1e-9);
    }
}

static void test_report_usage__json(void)
{
    struct used u;
    const cJSON *usage, *gpu;
    cJSON *json;

    fill(&u);
    json = written_json(&u);
    usage = member(json, "usage");
    REQUIRE(usage && cJSON_GetArraySize(member(usage, "gpus")) == 2);
    for (int i = 0; i < MSIM_USAGES; i++)
        CHECK_REL(
            number(member(usage, "mean"), msim_usage_key((enum msim_usage)i)),
            0.5 * (i + 1), 1e-12);
    for (int k = 0; k < 2; k++) {
        gpu = cJSON_GetArrayItem(member(usage, "gpus"), k);
        CHECK_REL(number(gpu, "rank"), k, 0);
        check_gpu(gpu, k);
    }
    cJSON_Delete(json);
    u.notes[0].rank = -1;
    u.notes[0].of[MSIM_USAGE_POWER].mean = NAN;
    json = written_json(&u);
    gpu = cJSON_GetArrayItem(member(member(json, "usage"), "gpus"), 0);
    CHECK(cJSON_IsNull(member(gpu, "rank")));
    CHECK(cJSON_IsNull(member(member(gpu, "power_watts"), "curve")));
    CHECK(cJSON_IsArray(member(member(gpu, "sm_busy"), "curve")));
    cJSON_Delete(json);
}

/* ---- a panel ------------------------------------------------------------- */

static char *panel(const struct used *u)
{
    struct written w = written_begin();
    struct msim_chart c = {.out = w.out, .height = 400};

    msim_chart_usage(&c, &u->p, 0);
    return written_end(&w);
}

#define CURVE(column, color)                                                   \
    ", $usage using 1:" column " with steps lc rgb \"" color "\" lw 1.4"

/* In ms, and per cent of what the GPU has: 0.375 of 1024 bytes a second, 0.625
 * of 400 W. The last part has two ends. */
static void test_report_usage__panel(void)
{
    struct used u;
    char *text;

    fill(&u);
    CHECK_INT(msim_chart_usage_height(&u.p), 56 + 200 + 64);
    text = panel(&u);
    CHECK(strstr(text, "$usage << MSIM_END\n0 12.5 25 0.0366210938 0.15625\n"
                       "0.01 12.5 25 "));
    CHECK(strstr(text, "\n1 18.75 37.5 0.0549316406 0.234375\n1.01 25 50 "));
    CHECK(strstr(text, "\n1.99 25 50 0.0732421875 0.3125\n2 25 50 "
                       "0.0732421875 0.3125\nMSIM_END\n"));
    CHECK(strstr(text, "\"What the GPU of rank 1 does over time\""));
    CHECK(strstr(text, "set yrange [0:105]\nset xrange [0:2]\nset xlabel \"ms, "
                       "of all iterations\"\n"));
    CHECK(strstr(text, "plot NaN notitle" CURVE("2", "#4477aa")
                           CURVE("3", "#66ccee") CURVE("4", "#228833")
                               CURVE("5", "#ee8866") "\nunset label\n"));
    CHECK(strstr(text, "\"SMs busy\"") && strstr(text, "\"warps held\"") &&
          strstr(text, "\"memory bandwidth\"") && strstr(text, "\"power\""));
    free(text);
    u.p.period.rank = 7; /* of no GPU: the first then */
    u.notes[0].of[MSIM_USAGE_OCCUPANCY].mean = NAN;
    text = panel(&u);
    CHECK(strstr(text, "\"What the GPU of rank 0 does over time\""));
    CHECK(!strstr(text, "warps held") && !strstr(text, "1:3 with"));
    free(text);
    u.p.n_usage = 1;
    text = panel(&u);
    CHECK(strstr(text, "\"What the GPU does over time\""));
    free(text);
    u.p.n_usage = 2;
    u.notes[0].rank = -1;
    text = panel(&u);
    CHECK(strstr(text, "\"What the GPU does over time\""));
    free(text);
    u.p.n_usage = 0;
    CHECK_INT(msim_chart_usage_height(&u.p), 0);
}

int main(void)
{
    RUN(test_report_usage__texts);
    RUN(test_report_usage__page);
    RUN(test_report_usage__json);
    RUN(test_report_usage__panel);
    return check_summary();
}
