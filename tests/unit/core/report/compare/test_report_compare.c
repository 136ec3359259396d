/*
 * tests/unit/core/report/compare/test_report_compare.c - a comparison as text,
 * JSON and CSV, field by field.
 */
#include "core/report/compare/compare.h"
#include "tests/unit/written_text.h"

#include <cjson/cJSON.h>

#define LENGTH(list) (sizeof(list) / sizeof(*(list)))

static struct msim_change change(double a, double b)
{
    return (struct msim_change){
        .name = {"", ""},
        .us = {{.predicted = a}, {.predicted = b}},
        .difference = b - a,
    };
}

/* Two sides of which only these times are known. */
struct two {
    struct msim_side a, b;
    struct msim_side_row row[2];
    struct msim_comparison c;
};

static void fill(struct two *t, struct msim_change period,
                 struct msim_change iteration)
{
    memset(t, 0, sizeof(*t));
    t->row[0].name = "ProfilerStep#3";
    t->a = (struct msim_side){.input = "run/a",
                              .ranks = 1,
                              .rank = -1,
                              .iterations = {.rows = t->row, .n = 1},
                              .period_us = period.us[0]};
    t->b = t->a;
    t->b.input = "b";
    t->b.period_us = period.us[1];
    t->c = (struct msim_comparison){
        .side = {&t->a, &t->b}, .period = period, .iteration = iteration};
}

static char *text_of(const struct two *t,
                     enum msim_status (*write)(const struct msim_comparison *,
                                               FILE *))
{
    struct written w = written_begin();

    CHECK_INT(write(&t->c, w.out), MSIM_OK);
    return written_end(&w);
}

static void check_has(const struct two *t, const char *want, bool has)
{
    char *text = text_of(t, msim_report_compare_text);

    if (!CHECK((strstr(text, want) != NULL) == has))
        fprintf(stderr, "    '%s' in '%s'\n", want, text);
    free(text);
}

/* ---- text ---------------------------------------------------------------- */

static void test_report_compare__sides(void)
{
    struct two t;

    fill(&t, change(100, 100), change(100, 100));
    check_has(&t, "A  run/a\n   unknown times, ProfilerStep#3\nB  b\n", true);
    t.a.input = "-";
    t.a.platform = "h100";
    t.a.ranks = 2;
    t.a.iterations.n = 2;
    t.a.is_file = true;
    t.a.costs = "model";
    t.a.options = "--x 1";
    t.a.step = (struct msim_step_note){.factor = 1.25, .graph_us = 2000};
    t.b.input = "";
    check_has(&t,
              "A  standard input on h100\n   a prediction from model times, 2 "
              "ranks, mean of 2 iterations\n   --x 1\n   measured jobs take x "
              "1.25 of the 2.000 ms that the graph takes by itself\nB  trace\n",
              true);
    t.a.step.graph_us = 0;
    check_has(&t, "take x 1.25 of what the graph takes by itself\n", true);
}

static void test_report_compare__verdicts(void)
{
    static const struct {
        double period[2], iteration[2];
        const char *want;
    } ROWS[] = {
        {{100, 100}, {100, 100}, "\na period takes 100.0 us on both sides\n\n"},
        {{100, 150},
         {200, 300},
         "\na period takes 50.0 % longer: 100.0 us in A, 150.0 us in B\n"},
        {{100, 75},
         {100, 75},
         "\na period takes 25.0 % less: 100.0 us in A, 75.0 us in B\n\n"},
        {{100, 75},
         {100, 125},
         "75.0 us in B;\nan iteration takes 25.0 % longer\n"},
        /* from a twentieth of a percent on */
        {{1000, 1000}, {1000, 1000.4}, "both sides\n"},
        {{1000, 1000},
         {1000, 1000.6},
         "both sides;\nan iteration takes 0.1 % longer\n"},
        {{NAN, NAN},
         {100, 50},
         "\nan iteration takes 50.0 % less: 100.0 us in A, 50.0 us in B\n"},
        {{NAN, NAN},
         {0, 50},
         "\nan iteration takes 0.0 us in A, 50.0 us in "
         "B\n"},
    };

    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        struct two t;

        fill(&t, change(ROWS[i].period[0], ROWS[i].period[1]),
             change(ROWS[i].iteration[0], ROWS[i].iteration[1]));
        check_has(&t, ROWS[i].want, true);
        check_has(&t, "overlap", false);
    }
}

/* Where A is what B was compared with, its own ratio says more than whether
 * intervals overlap. */
static void test_report_compare__baseline(void)
{
#define OVERLAP                                                                \
    ";\ntheir 90 % intervals overlap, which hold errors that both may share\n"
    struct two t;

    fill(&t, change(100, 150), change(100, 150));
    t.c.period.beyond = MSIM_BEYOND_NO;
    check_has(&t, "150.0 us in B" OVERLAP, true);
    t.b.options = "--x 1";
    t.b.baseline_us = 100;
    t.b.ratio = 1.5;
    t.b.ratio_low = t.b.ratio_high = 1.5;
    check_has(&t, "in B;\nthe period of B is x 1.500 that of A\n", true);
    t.b.ratio_low = 1.25;
    check_has(&t, "x 1.500 that of A (90 %: 1.250 to 1.500)\n", true);
    t.b.baseline_us = 100.1; /* of another trace */
    check_has(&t, OVERLAP, true);
    t.b.baseline_us = 100;
    t.a.options = "--x 2";
    check_has(&t, OVERLAP, true);
    t.c.period = change(100, 100);
    t.c.period.beyond = MSIM_BEYOND_NO;
    check_has(&t, "overlap", false);
}

/* What has half of the change is its cause; of compute, an operator, too. */
static void test_report_compare__causes(void)
{
    struct msim_change classes[2] = {change(50, 80), change(50, 80)};
    struct msim_change ops[2] = {change(10, 20), change(10, 30)};
    struct two t;

    classes[0].name[0] = "compute";
    classes[1].name[0] = "host";
    ops[0].name[0] = "small";
    ops[1].name[0] = NULL;
    ops[1].name[1] = "large";
    fill(&t, change(100, 160), change(100, 160));
    t.c.breakdown =
        (struct msim_changes){.key = "breakdown_us", .rows = classes, .n = 2};
    t.c.breakdown.total = change(100, 160);
    t.c.ops = (struct msim_changes){.key = "ops", .rows = ops, .n = 2};
    t.c.ops.total = change(20, 50);
    check_has(&t,
              "\nmost of it is compute: 30.0 us more an iteration, most in "
              "large\n",
              true);
    t.c.ops.n = 1; /* a third of it is not most */
    check_has(&t, "\nmost of it is compute: 30.0 us more an iteration\n", true);
    classes[0] = change(50, 79);
    classes[0].name[0] = "compute";
    classes[1] = change(90, 59);
    classes[1].name[0] = "host";
    t.c.breakdown.total = change(140, 138);
    t.c.iteration = change(100, 98.9);
    check_has(&t, "\nmost of it is host: 31.0 us less an iteration\n", true);
    t.c.iteration = change(100, 99.1); /* less than one in a hundred */
    check_has(&t, "most of it", false);
    t.c.iteration = change(100, 101.1);
    check_has(&t, "most of it", true);
    /* the period, which is what is headlined, changed by more than twice that
     */
    t.c.period = change(100, 161);
    check_has(&t, "most of it", true);
    t.c.period = change(100, 163);
    check_has(&t, "most of it", false);
}

/* Below the headline, where one iteration has most of the change. */
static void test_report_compare__odd(void)
{
    struct two t;

    fill(&t, change(NAN, NAN), change(100, 150));
    check_has(&t, "one iteration", false);
    t.c.odd = "5 in B takes 2.00 times the median";
    check_has(
        &t,
        ": 100.0 us in A, 150.0 us in B\none iteration decides it: 5 in B "
        "takes 2.00 times the median\n",
        true);
}

/* Only what either side has. */
static void test_report_compare__totals(void)
{
    struct two t;

    fill(&t, change(NAN, NAN), change(100, 150));
    t.c.kernel = change(0, 5);
    t.c.transfer = change(6, 0);
    check_has(&t,
              "\nan iteration, us                             A         B    "
              "change      B/A\n"
              "  time                                   100.0     150.0     "
              "+50.0  x 1.500\n"
              "  kernels                                  0.0       5.0      "
              "+5.0        -\n"
              "  communication, on the wire               6.0       0.0      "
              "-6.0  x 0.000\n\n",
              true);
    t.c.measured = change(1, 2);
    t.c.overlapped_communication = change(3, 4);
    t.c.wait = change(5, 6);
    t.c.external = change(7, 8);
    t.c.period = change(9, 10);
    check_has(&t, "\n  period                                   9.0 ", true);
    check_has(&t, "\n  time, as measured                        1.0 ", true);
    check_has(&t, "\n  communication, hidden by compute         3.0 ", true);
    check_has(&t, "\n  waiting for peers                        5.0 ", true);
    check_has(&t, "\n  waiting for ranks without a trace        7.0 ", true);
}

static void test_report_compare__notes(void)
{
    const char *warnings[] = {"one", "two"};
    struct msim_change rows[] = {change(4, 6), change(4, 4)};
    struct two t;

    fill(&t, change(100, 150), change(100, 150));
    check_has(&t, "warning", false);
    check_has(&t, "\n~ no more", false);
    t.c.warnings = warnings;
    t.c.n_warnings = 2;
    rows[0].beyond = MSIM_BEYOND_NO;
    rows[0].name[0] = rows[1].name[0] = "w";
    t.c.iterations = (struct msim_changes){.rows = rows, .n = 1, .key = "i"};
    check_has(&t, "\niterations, ", false); /* one is the whole */
    t.c.iterations.n = 2;
    check_has(&t, "\niterations, us ", true);
    check_has(&t,
              "\n~ no more than the 90 % intervals leave room for\n\nwarning: "
              "one\nwarning: two\n",
              true);
    t.c.iterations = (struct msim_changes){.absent = "they differ"};
    check_has(&t, "\niterations: none, they differ\n", true);
}

/* ---- ranks --------------------------------------------------------------- */

static void test_report_compare__ranks(void)
{
    struct msim_rank_change ranks[34];
    struct two t;

    fill(&t, change(100, 150), change(100, 150));
    for (int i = 0; i < 34; i++)
        ranks[i] = (struct msim_rank_change){.rank = i,
                                             .on = {true, true},
                                             .iteration = change(100, 150),
                                             .kernel = change(1, 3),
                                             .transfer = change(3, 2),
                                             .wait = change(0, 9)};
    ranks[2].on[0] = false;
    ranks[3].on[1] = false;
    ranks[4].rank = 9;
    t.c.ranks = ranks;
    t.c.n_ranks = 5;
#define TAIL "       +2.0       -1.0       +9.0\n"
    check_has(&t,
              "\nranks, us            A          B     change       B/A  + "
              "kernels + transfer     + wait\n"
              "       0-1      100.0      150.0      +50.0   x 1.500" TAIL
              "         2          -      150.0      +50.0       new" TAIL
              "         3      100.0          -      +50.0      gone" TAIL
              "         9      100.0      150.0      +50.0   x 1.500" TAIL,
              true);
    check_has(&t, "slowest rank", false);
    t.a.ranks = 2;
    check_has(&t, "slowest rank", false); /* which is not known */
    t.a.rank = 0;
    t.b.rank = 1;
    check_has(&t,
              "\nThe tables below are of the slowest rank: 0 of A, 1 of B.\n",
              true);
    t.a.ranks = 1;
    check_has(&t, "slowest rank", false);
    t.b.ranks = 2;
    check_has(&t, "slowest rank", true);
    for (int i = 0; i < 34; i++) {
        ranks[i].on[0] = ranks[i].on[1] = true;
        ranks[i].rank = 2 * i;
    }
    for (uint32_t n = 32; n < 35; n++) {
        char want[48];

        t.c.n_ranks = n;
        snprintf(want, sizeof(want), "\n  %u more (--csv)\n", n - 32);
        check_has(&t, want, n > 32);
    }
    ranks[0].rank = -1;
    check_has(&t, "\n         -      100.0      150.0 ", true);
}

/* ---- for programs -------------------------------------------------------- */

/* A number of its own in each; half of it more on side B. */
static struct msim_change numbered(double n)
{
    return change(n, 1.5 * n);
}

static void fill_numbers(struct two *t, struct msim_change rows[3],
                         struct msim_rank_change *rank)
{
    fill(t, numbered(1), numbered(2));
    t->c.measured = numbered(3);
    t->c.kernel = numbered(4);
    t->c.transfer = numbered(5);
    t->c.wait = numbered(6);
    t->c.external = numbered(7);
    t->c.overlapped_communication = numbered(8);
    t->c.overlapped_copy = numbered(9);
    t->c.iteration.beyond = MSIM_BEYOND_YES;
    t->c.period.beyond = MSIM_BEYOND_NO;
    rows[0] = numbered(10);
    rows[0].name[0] = "both";
    rows[0].name[1] = "other";
    rows[0].kind = "kernel";
    rows[0].calls[0] = 11;
    rows[0].calls[1] = 12;
    rows[1] = change(13, 0);
    rows[1].name[0] = "gone";
    rows[1].name[1] = NULL;
    rows[2] = change(0, 14);
    rows[2].name[0] = NULL;
    rows[2].name[1] = "new";
    t->c.ops = (struct msim_changes){.key = "ops",
                                     .of = "us",
                                     .rows = rows,
                                     .n = 3,
                                     .total = change(23, 29)};
    *rank = (struct msim_rank_change){.rank = 4,
                                      .on = {true, false},
                                      .iteration = numbered(15),
                                      .kernel = numbered(16),
                                      .transfer = numbered(17),
                                      .wait = numbered(18)};
    for (int k = 0; k < MSIM_CLASSES; k++)
        rank->breakdown[k] = numbered(20 + k);
    t->c.ranks = rank;
    t->c.n_ranks = 1;
}

static unsigned count(const char *text, const char *what)
{
    unsigned n = 0;

    /* One line's end may be the next one's begin. */
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static void test_report_compare__csv(void)
{
    struct msim_change rows[3];
    struct msim_rank_change rank;
    struct two t;
    char *text;

    fill_numbers(&t, rows, &rank);
    rank.rank = 0;
    text = text_of(&t, msim_report_compare_csv);
    CHECK_STR(text, "table,name,kind,only,a_calls,b_calls,a_us,b_us,"
                    "difference_us,ratio,share,beyond_intervals\n"
                    "iteration_us,,,,0,0,2,3,1,1.5,,yes\n"
                    "period_us,,,,0,0,1,1.5,0.5,1.5,,no\n"
                    "measured_us,,,,0,0,3,4.5,1.5,1.5,,\n"
                    "kernel_us,,,,0,0,4,6,2,1.5,,\n"
                    "communication_us,transfer,,,0,0,5,7.5,2.5,1.5,,\n"
                    "communication_us,wait,,,0,0,6,9,3,1.5,,\n"
                    "external_wait_us,,,,0,0,7,10.5,3.5,1.5,,\n"
                    "ops,both,kernel,,11,12,10,15,5,1.5,0.8333333333333334,\n"
                    "ops,gone,,a,0,0,13,0,-13,0,-2.1666666666666665,\n"
                    "ops,new,,b,0,0,0,14,14,,2.3333333333333335,\n"
                    "ranks,0,,a,0,0,15,22.5,7.5,1.5,,\n");
    free(text);
    rank.rank = -1; /* which is not known */
    for (struct msim_changes *const *table =
             (struct msim_changes *const[]){
                 &t.c.breakdown, &t.c.iterations, &t.c.main_waits,
                 &t.c.gpu_idle, &t.c.families, &t.c.kernels, &t.c.streams,
                 &t.c.host_ops, &t.c.owners, NULL};
         *table; table++)
        **table = (struct msim_changes){
            .key = "other", .rows = &rows[1], .n = 1, .total = rows[1]};
    text = text_of(&t, msim_report_compare_csv);
    CHECK_UINT(count(text, "\nother,gone,,a,0,0,13,0,-13,0,1,\n"), 9);
    CHECK_UINT(count(text, "\nranks,,,a,0,0,15,"), 1);
    free(text);
}

/* Of "a.b.0.c", that member of an element of a list. */
static const cJSON *at(const cJSON *o, const char *path)
{
    char step[32];

    while (o && *path) {
        size_t n = strcspn(path, ".");

        snprintf(step, sizeof(step), "%.*s", (int)n, path);
        o = cJSON_IsArray(o)
                ? cJSON_GetArrayItem(o, (int)strtol(step, NULL, 10))
                : cJSON_GetObjectItemCaseSensitive(o, step);
        path += n + (path[n] == '.');
    }
    return o;
}

static void check_change(const cJSON *json, const char *path, double n)
{
    const cJSON *o = at(json, path);

    if (!CHECK(o != NULL))
        fprintf(stderr, "    of '%s'\n", path);
    CHECK_REL(cJSON_GetNumberValue(at(o, "a")), n, 1e-12);
    CHECK_REL(cJSON_GetNumberValue(at(o, "b")), 1.5 * n, 1e-12);
    CHECK_REL(cJSON_GetNumberValue(at(o, "difference")), 0.5 * n, 1e-12);
    CHECK_REL(cJSON_GetNumberValue(at(o, "ratio")), 1.5, 1e-12);
}

static void check_figures(const cJSON *json)
{
    check_change(json, "period_us", 1);
    check_change(json, "iteration_us", 2);
    check_change(json, "measured_us", 3);
    check_change(json, "kernel_us", 4);
    check_change(json, "communication_us.transfer", 5);
    check_change(json, "communication_us.wait", 6);
    check_change(json, "external_wait_us", 7);
    check_change(json, "overlapped_us.communication", 8);
    check_change(json, "overlapped_us.memory_copy", 9);
    check_change(json, "ranks.0.iteration_us", 15);
    check_change(json, "ranks.0.kernel_us", 16);
    check_change(json, "ranks.0.communication_us.transfer", 17);
    check_change(json, "ranks.0.communication_us.wait", 18);
    for (int k = 0; k < MSIM_CLASSES; k++) {
        char path[64];

        snprintf(path, sizeof(path), "ranks.0.breakdown_us.%s",
                 MSIM_CLASS_NAMES[k]);
        check_change(json, path, 20 + k);
    }
    CHECK(cJSON_IsTrue(at(json, "iteration_us.beyond_intervals")));
    CHECK(cJSON_IsFalse(at(json, "period_us.beyond_intervals")));
    CHECK(cJSON_IsNull(at(json, "kernel_us.beyond_intervals")));
    CHECK_STR(cJSON_GetStringValue(at(json, "ranks.0.only")), "a");
    CHECK_REL(cJSON_GetNumberValue(at(json, "ranks.0.rank")), 4, 0);
}

static void check_rows(const cJSON *json)
{
    static const struct {
        const char *row, *name, *b_name, *kind, *only;
        double calls[2], us[2];
    } ROWS[] = {
        {"ops.rows.0", "both", "other", "kernel", NULL, {11, 12}, {10, 15}},
        {"ops.rows.1", "gone", "gone", NULL, "a", {0, 0}, {13, 0}},
        {"ops.rows.2", "new", "new", NULL, "b", {0, 0}, {0, 14}}};

    CHECK_STR(cJSON_GetStringValue(at(json, "ops.of")), "us");
    CHECK(cJSON_IsNull(at(json, "ops.absent")));
    CHECK_REL(cJSON_GetNumberValue(at(json, "ops.a_us")), 23, 0);
    CHECK_REL(cJSON_GetNumberValue(at(json, "ops.b_us")), 29, 0);
    CHECK_REL(cJSON_GetNumberValue(at(json, "ops.difference_us")), 6, 0);
    for (size_t i = 0; i < LENGTH(ROWS); i++) {
        const cJSON *o = at(json, ROWS[i].row);

        CHECK_STR(cJSON_GetStringValue(at(o, "name")), ROWS[i].name);
        CHECK_STR(cJSON_GetStringValue(at(o, "b_name")), ROWS[i].b_name);
        CHECK_STR(cJSON_GetStringValue(at(o, "kind")), ROWS[i].kind);
        CHECK_STR(cJSON_GetStringValue(at(o, "only")), ROWS[i].only);
        CHECK_REL(cJSON_GetNumberValue(at(o, "a_calls")), ROWS[i].calls[0], 0);
        CHECK_REL(cJSON_GetNumberValue(at(o, "b_calls")), ROWS[i].calls[1], 0);
        CHECK_REL(cJSON_GetNumberValue(at(o, "a_us")), ROWS[i].us[0], 0);
        CHECK_REL(cJSON_GetNumberValue(at(o, "b_us")), ROWS[i].us[1], 0);
        CHECK_REL(cJSON_GetNumberValue(at(o, "share")),
                  (ROWS[i].us[1] - ROWS[i].us[0]) / 6, 1e-12);
    }
    CHECK(cJSON_IsNull(at(json, "ops.rows.2.ratio")));
}

static void test_report_compare__json(void)
{
    struct msim_change rows[3];
    struct msim_rank_change rank;
    const char *warnings[] = {"one"};
    struct two t;
    cJSON *json;
    char *text;

    fill_numbers(&t, rows, &rank);
    t.a.n_inputs = 2;
    t.a.is_file = true;
    t.a.platform = "h100";
    t.a.costs = "model";
    t.a.host = "generic";
    t.a.ranks = 5;
    t.a.rank = 0;
    t.a.options = "--x 1";
    t.a.step = (struct msim_step_note){.factor = 1.25};
    t.c.kernels = (struct msim_changes){.key = "kernels", .absent = "why"};
    t.c.warnings = warnings;
    t.c.n_warnings = 1;
    t.c.breakdown.key = "breakdown_us";
    t.c.iterations.key = "iterations";
    t.c.main_waits.key = "main_thread_waits";
    t.c.gpu_idle.key = "gpu_idle";
    t.c.families.key = "families";
    t.c.streams.key = "streams";
    t.c.host_ops.key = "host_ops";
    t.c.owners.key = "critical_path";
    text = text_of(&t, msim_report_compare_json);
    json = cJSON_Parse(text);
    free(text);
    REQUIRE(json != NULL);
    CHECK_STR(cJSON_GetStringValue(at(json, "schema")),
              "mystique-sim/comparison/1");
    check_figures(json);
    check_rows(json);
    CHECK_STR(cJSON_GetStringValue(at(json, "a.input")), "run/a");
    CHECK_REL(cJSON_GetNumberValue(at(json, "a.inputs")), 2, 0);
    CHECK_STR(cJSON_GetStringValue(at(json, "a.kind")), "prediction");
    CHECK_STR(cJSON_GetStringValue(at(json, "b.kind")), "trace");
    CHECK_STR(cJSON_GetStringValue(at(json, "a.platform")), "h100");
    CHECK_STR(cJSON_GetStringValue(at(json, "a.costs")), "model");
    CHECK_STR(cJSON_GetStringValue(at(json, "a.host")), "generic");
    CHECK_REL(cJSON_GetNumberValue(at(json, "a.ranks")), 5, 0);
    CHECK_REL(cJSON_GetNumberValue(at(json, "a.rank")), 0, 0);
    CHECK(cJSON_IsNull(at(json, "b.rank")));
    CHECK_REL(cJSON_GetNumberValue(at(json, "a.iterations")), 1, 0);
    CHECK_STR(cJSON_GetStringValue(at(json, "a.options")), "--x 1");
    CHECK_REL(cJSON_GetNumberValue(at(json, "a.measured_jobs.factor")), 1.25,
              0);
    CHECK_STR(cJSON_GetStringValue(at(json, "kernels.absent")), "why");
    CHECK(cJSON_IsNull(at(json, "kernels.a_us")) &&
          cJSON_IsNull(at(json, "kernels.b_us")) &&
          cJSON_IsNull(at(json, "kernels.difference_us")));
    CHECK_STR(cJSON_GetStringValue(at(json, "warnings.0")), "one");
    for (const char *const *key =
             (const char *const[]){
                 "breakdown_us", "iterations", "main_thread_waits", "gpu_idle",
                 "families", "streams", "host_ops", "critical_path", NULL};
         *key; key++)
        CHECK(cJSON_IsArray(
            cJSON_GetObjectItemCaseSensitive(at(json, *key), "rows")));
    cJSON_Delete(json);
}

int main(void)
{
    RUN(test_report_compare__sides);
    RUN(test_report_compare__verdicts);
    RUN(test_report_compare__baseline);
    RUN(test_report_compare__causes);
    RUN(test_report_compare__odd);
    RUN(test_report_compare__totals);
    RUN(test_report_compare__notes);
    RUN(test_report_compare__ranks);
    RUN(test_report_compare__csv);
    RUN(test_report_compare__json);
    return check_summary();
}
