/* plan/outcome/plan_chart.c, plan_line.c and plan_draw.c: what gnuplot is asked
 * to draw of a plan; a program in its place answers with that. */
#include "core/base/json.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/outcome/plan_report_internal.h"
#include "plan/search/plan.h"
#include "tests/unit/fake_gnuplot.h"
#include "tests/unit/made_plan.h"

enum { FRONTIER, SCALING, TIMELINE, MEASURED };

static char *script;

/* The script of a chart, behind the settings that all have; "": none. */
static const char *drawn(int chart)
{
    struct msim_error err = {0};
    const char *begin;

    free(script);
    script = NULL;
    CHECK_INT(msim_plan_charts[chart].draw(&made_plan.plan, &made_plan.spec,
                                           &script, &err),
              MSIM_OK);
    CHECK_STR(err.text, "");
    if (!script)
        return "";
    begin = strstr(script, "font ',14'\n");
    return CHECK(begin != NULL) ? begin + strlen("font ',14'\n") : "";
}

static bool has(const char *part)
{
    if (script && strstr(script, part))
        return true;
    CHECK_STR(script, part);
    return false;
}

#define FRONTIER_END                                                           \
    "set title 'Time and cost of every feasible way'\nplot $p0 using 1:2 with" \
    " points pt 7 ps 0.5 lc rgb \"#2f6db5\" title \"h100\", $p1 using 1:2 "    \
    "with points pt 7 ps 0.5 lc rgb \"#d9822b\" title \"a100\", $frontier "    \
    "using 1:2 with linespoints pt 6 ps 1 lw 2 lc rgb '#222222' title "        \
    "'frontier'\n</svg>\n"

/* 8 GPUs for 4 s, 16 for 3; axes end a factor of 1.3 outside. */
static void test_plan_chart__frontier(void)
{
    made_plan_begin();
    CHECK_STR(
        drawn(FRONTIER),
        "set logscale x\nset xrange [2.30769:5.2]\nset xtics (\"2.5\" 2.5, "
        "\"3\" 3, \"3.5\" 3.5, \"4\" 4, \"5\" 5)\n"
        "set logscale y\nset yrange [24.6154:62.4]\nset ytics (\"25\" 25, "
        "\"30\" 30, \"35\" 35, \"40\" 40, \"50\" 50, \"60\" 60)"
        "\n$p0 << MSIM_END\n4 32\nNaN NaN\nMSIM_END\n$p1 << MSIM_END\n3 "
        "48\nNaN NaN\nMSIM_END\n$frontier << MSIM_END\n3 48\n4 32\nNaN "
        "NaN\nMSIM_END\nset xlabel \"a step, seconds\"\nset ylabel \"a "
        "step, GPU seconds\"\n" FRONTIER_END);
    has(" size 640,460 ");
}

/* What both axes are of. A sample's microseconds are a million samples'
 * seconds. */
static void test_plan_chart__axes(void)
{
    static const struct {
        bool traced, known;
        enum msim_spec_unit unit;
        int64_t batch;
        const char *x, *y, *point;
    } CASES[] = {
        {false, true, MSIM_SPEC_UNIT_TOKENS, 0, "training, days", "cost, EUR",
         "\n20 5000\n"},
        {true, false, MSIM_SPEC_UNIT_SAMPLES, 64, "a step, seconds",
         "a step, GPU seconds", "\n4 32\n"},
        {true, false, MSIM_SPEC_UNIT_SAMPLES, 0, "a million samples, seconds",
         "a million samples, GPU seconds", "\n4e+06 3.2e+07\n"},
        {true, true, MSIM_SPEC_UNIT_SAMPLES, 0, "training, days", "cost, EUR",
         "\n20 5000\n"},
        {true, true, MSIM_SPEC_UNIT_REQUESTS, 64, "latency, seconds",
         "cost an hour, EUR", "\n4 5000\n"},
    };

    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct msim_spec *s = &made_plan.spec;
        char want[160];

        made_plan_begin();
        for (int k = 0; k < 2 && CASES[i].known; k++) {
            made_plan.points[k].days = 20;
            made_plan.points[k].cost = 5000;
        }
        snprintf(s->currency, sizeof(s->currency), "EUR");
        s->traced = CASES[i].traced;
        s->unit = CASES[i].unit;
        s->global_batch = CASES[i].batch;
        drawn(FRONTIER);
        snprintf(want, sizeof(want), "set xlabel \"%s\"\nset ylabel \"%s\"\n",
                 CASES[i].x, CASES[i].y);
        has(want);
        has(CASES[i].point);
    }
    *made_plan.spec.currency = '\0';
    drawn(FRONTIER);
    has("set ylabel \"cost an hour\"\n");
}

static void put(uint32_t i, double x, double y)
{
    made_plan.points[i] = made_plan_point(1, 1);
    made_plan.points[i].time = x * 1e6;
    made_plan.points[i].gpu_us = y * 1e6;
}

/* Below a ratio of 200 there are tics between powers of ten. */
static void test_plan_chart__tics(void)
{
    made_plan_begin();
    put(0, 1, 10);
    put(1, 199, 2010);
    drawn(FRONTIER);
    has("set xrange [0.769231:258.7]\nset xtics (\"1\" 1, \"2\" 2, \"5\" 5, "
        "\"10\" 10, \"20\" 20, \"50\" 50, \"100\" 100, \"200\" 200)\n");
    has("set yrange [7.69231:2613]\nset ytics (\"10\" 10, \"100\" 100, "
        "\"1000\" 1000)\n");
    made_plan.plan.n = 1; /* one point alone */
    drawn(FRONTIER);
    has("set xrange [0.769231:1.3]\nset xtics (\"0.8\" 0.8, \"0.9\" 0.9, \"1\" "
        "1, \"1.2\" 1.2)\n");
    has("$p0 << MSIM_END\n1 10\nNaN");
}

/* Of 1 to 10 there are 240 cells across and 120 up, each with its first dot,
 * on each platform; the last cell has its end. */
static void test_plan_chart__cells(void)
{
    static const double AT[][2] = {{0, 0},         {240, 120},    {120.5, 60.5},
                                   {120.9, 60.9},  {121.5, 60.5}, {120.5, 61.5},
                                   {239.5, 119.5}, {0.5, 0.5}};
    static const bool SEEN[] = {true, true, true,  false,
                                true, true, false, false};
    char line[48];

    made_plan_begin();
    made_plan.plan.n = 9;
    for (uint32_t i = 0; i < 8; i++)
        put(i, pow(10, AT[i][0] / 240), pow(10, AT[i][1] / 120));
    made_plan.points[8] = made_plan.points[3]; /* alone in that cell there */
    made_plan.points[8].platform = 1;
    made_plan.frontier[0] = made_plan.frontier[1] = 0;
    drawn(FRONTIER);
    *strstr(script, "$p1") = '\0';
    for (int i = 0; i < 8; i++) {
        snprintf(line, sizeof(line), "\n%.6g %.6g\n", pow(10, AT[i][0] / 240),
                 pow(10, AT[i][1] / 120));
        CHECK_INT(strstr(script, line) != NULL, SEEN[i]);
    }
    snprintf(line, sizeof(line), "$p1 << MSIM_END\n%.6g %.6g\n",
             pow(10, 120.9 / 240), pow(10, 60.9 / 120));
    CHECK(strstr(drawn(FRONTIER), line) != NULL);
}

/* ---- by number of GPUs --------------------------------------------------- */

/* 8 GPUs in 4 and 5 s, 16 elsewhere, none of 32. */
static void test_plan_chart__scaling(void)
{
    struct msim_spec_values *gpus =
        &made_plan.spec.values[msim_spec_dimension_count(false) - 1];

    made_plan_begin();
    *gpus = (struct msim_spec_values){{8, 16, 32}, 3};
    made_plan.points[2] = made_plan.points[0];
    made_plan.points[0] = made_plan_point(8, 5e6);
    made_plan.points[1].rate = 0.5;
    made_plan.plan.n = 3;
    CHECK_STR(
        drawn(SCALING),
        "$p0 << MSIM_END\n8 0.25 0.166667 0.3125\nNaN NaN NaN NaN\n"
        "MSIM_END\n$p1 << MSIM_END\n16 0.5 0.333333 0.625\nNaN NaN NaN "
        "NaN\nMSIM_END\nset logscale y\nset yrange [0.128205:0.8125]\n"
        "set ytics (\"0.15\" 0.15, \"0.2\" 0.2, \"0.3\" 0.3, \"0.5\" 0.5, "
        "\"0.7\" 0.7)\nset logscale x\nset xrange "
        "[6.15385:20.8]\nset xtics (8, 16, 32)\nset title 'Fastest way "
        "by number of GPUs'\nset xlabel 'GPUs'\nset ylabel \"tokens a "
        "second\"\nplot $p0 using 1:2:3:4 with yerrorlines pt 7 ps 0.8 lw "
        "1.5 lc rgb \"#2f6db5\" title \"h100\", $p1 using 1:2:3:4 with "
        "yerrorlines pt 7 ps 0.8 lw 1.5 lc rgb \"#d9822b\" title \"a100\""
        "\n</svg>\n");
    has(" size 640,460 ");
    made_plan.points[0].time = made_plan.points[2].time; /* the first of two */
    made_plan.points[0].rate = 0.125;
    drawn(SCALING);
    has("$p0 << MSIM_END\n8 0.125 ");
    made_plan.plan.n = 1; /* all have one number of GPUs */
    CHECK_STR(drawn(SCALING), "");
}

/* ---- measured jobs ------------------------------------------------------- */

/* Bins of 4 % around 1; the ends hold what is farther. Two of one kind are
 * predicted by each other: 0.52 is 0.4 of 1 row, drawn by 0.3, further off. */
static void test_plan_chart__measured(void)
{
    static const float OFF[] = {0,      0.04f, 0.2f, -5,     5,     -0.8f,
                                -0.84f, 0.84f, 0.8f, -0.04f, 0.52f, 0.52f};
    struct msim_neighbour rows[12];

    memset(rows, 0, sizeof(rows));
    for (uint32_t i = 0; i < 12; i++) {
        rows[i].kind = i < 10 ? i + 1 : 20;
        rows[i].residual = OFF[i];
    }
    made_plan_begin();
    made_plan.plan.basis.fit.rows = rows;
    made_plan.plan.basis.fit.n_rows = 12;
    drawn(MEASURED);
    has("font ',14'\n$jobs << MSIM_END\n0.4493 3\n0.4677 0\n");
    has("\n0.9608 1\n1.0000 1\n1.0408 1\n1.0833 0\n1.1275 2\n1.1735 0\n1.2214 "
        "1\n1.2712 0\n");
    has("\n2.1383 0\n2.2255 3\nMSIM_END\nset title 'Measured over predicted, "
        "12 published jobs'\n");
    has("2:($1*0.9822):($1*1.0182):(0):2 with boxxyerror lc rgb \"#2f6db5\"");
    has(" size 640,360 ");
}

/* ---- memory within a step ------------------------------------------------ */

/* The line of a job of 0.5 s of gradients and 1 of the optimizer, of 4 s. */
static struct msim_job_line line_of(struct msim_memory *m)
{
    struct msim_job_line line;

    made_plan_begin();
    made_plan.spec.model = (struct msim_described){.layers = 4,
                                                   .hidden = 512,
                                                   .heads = 8,
                                                   .kv_heads = 8,
                                                   .head_dim = 64,
                                                   .ffn = 2048,
                                                   .vocab = 32000};
    made_plan.plan.basis.memory = msim_memory_constants_start();
    made_plan.plan.basis.memory.temporary = 100; /* more than all else */
    for (int i = 0; i < 2; i++) {
        struct msim_plan_point *p = &made_plan.points[i];

        p->part_us[MSIM_DESCRIBED_GRADIENTS] = i ? 0 : 5e5;
        p->part_us[MSIM_DESCRIBED_OPTIMIZER] = i ? 0 : 1e6;
        msim_framework_default(&p->strategy, "nanotron"); /* has temporaries */
        p->strategy.sequence = 512;
        p->strategy.grad_accum = 2;
        p->strategy.global_batch = 2 * p->strategy.gpus;
    }
    made_plan.plan.basis.platforms[0].memory = 80 * MSIM_GIB;
    made_plan.plan.basis.platforms[1].memory = 40 * MSIM_GIB;
    *m = msim_memory_of(&made_plan.spec.model, &made_plan.points[0].strategy,
                        &made_plan.plan.basis.memory);
    msim_job_line_find(&line, m, &made_plan.points[0].strategy, 1 - 1.5 / 4,
                       1.0 / 4);
    return line;
}

/* Parts stand on each other, on the 3 GiB of CUDA and NCCL. */
static void test_plan_line__chart(void)
{
    struct msim_memory m;
    struct msim_job_line line = line_of(&m);
    const char *at = drawn(TIMELINE);

    CHECK(line.n > 8);
    CHECK(strncmp(at, "$line << MSIM_END\n", 18) == 0);
    for (uint32_t i = 0; i < line.n; i++) {
        const struct msim_job_line_point *p = &line.points[i];
        double held = 3 + line.held / MSIM_GIB;
        double kept = held + p->activations / MSIM_GIB;
        double logits = kept + p->loss / MSIM_GIB;
        char want[128];

        snprintf(want, sizeof(want), "\n%.6g 3 %.5g %.5g %.5g %.5g\n",
                 p->at * 4, held, kept, logits,
                 logits + p->temporary / MSIM_GIB);
        at = strchr(at + 1, '\n');
        REQUIRE(at != NULL);
        if (strncmp(at, want, strlen(want)) != 0)
            CHECK_STR(at, want);
    }
#define CURVE(column, color, title)                                            \
    "$line using 1:" column " with filledcurves y1=0 lc rgb \"" color          \
    "\" title \"" title "\", "
    has("MSIM_END\nset title \"Memory of a GPU within a step, 8 x h100\"\nset "
        "xlabel 's'\nset ylabel 'GiB'\nset yrange [0:]\nset style fill solid "
        "1 noborder\nplot " CURVE("6", "#7a5ea8",
                                  "optimizer\\0047s temporaries")
            CURVE("5", "#3a9a62", "logits and loss") CURVE("4", "#d9822b",
                                                           "activations")
                CURVE("3", "#2f6db5", "weights, gradients, states")
                    CURVE("2", "#8f98a5",
                          "CUDA and NCCL") "80 with lines lc rgb '#cc3311' lw "
                                           "2 title 'the GPU has'\n</svg>");
    has(" size 640,500 ");
    made_plan.plan.best = UINT32_MAX; /* the first of the frontier, then */
    drawn(TIMELINE);
    has("within a step, 16 x a100\"\n");
    has("\", 40 with lines");
}

static void as_json(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out)
{
    CHECK_INT(msim_plan_json(plan, spec, out), MSIM_OK);
}

static double number(const cJSON *of, const char *name)
{
    return msim_json_get_number(of, name, -1);
}

static void test_plan_line__json(void)
{
    struct msim_memory m;
    struct msim_job_line line = line_of(&m);
    cJSON *json = cJSON_Parse(made_plan_says(as_json));
    const cJSON *holds = cJSON_GetObjectItem(
        cJSON_GetObjectItem(json, "recommended"), "memory_bytes");
    const cJSON *by = cJSON_GetObjectItem(holds, "by"), *points;
    const struct {
        const char *name;
        double bytes;
    } PARTS[] = {{"parameters", m.parameters},
                 {"gradients", m.gradients},
                 {"optimizer_state", m.optimizer},
                 {"activations", m.activations},
                 {"loss", m.loss},
                 {"temporaries", m.temporary},
                 {"other", m.other}};

    for (size_t i = 0; i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        CHECK(PARTS[i].bytes > 0);
        CHECK_REL(number(by, PARTS[i].name), PARTS[i].bytes, 1e-12);
    }
    points = cJSON_GetObjectItem(holds, "timeline");
    CHECK_INT(cJSON_GetArraySize(points), line.n);
    for (uint32_t i = 0; i < line.n; i++) {
        const cJSON *at = cJSON_GetArrayItem(points, (int)i);
        const struct msim_job_line_point *p = &line.points[i];

        CHECK_REL(number(at, "at_us"), p->at * 4e6, 1e-12);
        CHECK_REL(number(at, "held"), line.held, 1e-12);
        CHECK_REL(number(at, "activations"), p->activations, 1e-12);
        CHECK_REL(number(at, "loss"), p->loss, 1e-12);
        CHECK_REL(number(at, "temporaries"), p->temporary, 1e-12);
    }
    CHECK(strstr(made_plan.text, "\"timeline\": [\n") != NULL);
    CHECK(strstr(made_plan.text, "\"by\": {\"parameters\": ") != NULL);
    cJSON_Delete(json);
}

/* The files, and which are of described models alone. */
static void test_plan_chart__files(void)
{
    static const char *const FILES[] = {"frontier.svg", "scaling.svg",
                                        "timeline.svg", "measured.svg"};

    for (int i = 0; i < MSIM_PLAN_CHARTS; i++) {
        CHECK_STR(msim_plan_charts[i].file, FILES[i]);
        CHECK_INT(msim_plan_charts[i].described, i >= TIMELINE);
        CHECK(strlen(msim_plan_charts[i].caption) > 20);
    }
}

int main(void)
{
    if (!fake_gnuplot_begin())
        return 1;
    RUN(test_plan_chart__frontier);
    RUN(test_plan_chart__axes);
    RUN(test_plan_chart__tics);
    RUN(test_plan_chart__cells);
    RUN(test_plan_chart__scaling);
    RUN(test_plan_chart__measured);
    RUN(test_plan_chart__files);
    RUN(test_plan_line__chart);
    RUN(test_plan_line__json);
    free(made_plan.text);
    free(script);
    fake_gnuplot_end();
    return check_summary();
}
