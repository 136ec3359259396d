/*
 * tests/unit/core/report/compare/test_compare.c - tests of
 * core/report/compare/compare.h.
 */
#include "core/report/compare/compare.h"
#include "tests/check.h"
#include "tests/unit/made_prediction.h"

#include <unistd.h>

/* ---- help --------------------------------------------------------------- */

/* Two made predictions and what came of them. */
struct two {
    struct made a, b;
    struct msim_side *side[2];
    struct msim_comparison *c;
};

static void two_fill(struct two *t)
{
    memset(t, 0, sizeof(*t));
    made_fill(&t->a);
    made_fill(&t->b);
}

static bool two_compare(struct two *t)
{
    return msim_side_new(&t->side[0], &t->a.p, false) == MSIM_OK &&
           msim_side_new(&t->side[1], &t->b.p, false) == MSIM_OK &&
           msim_compare(&t->c, t->side[0], t->side[1]) == MSIM_OK;
}

static void two_release(struct two *t)
{
    msim_comparison_free(t->c);
    msim_side_free(t->side[0]);
    msim_side_free(t->side[1]);
}

static const struct msim_change *row(const struct msim_changes *t,
                                     const char *name)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const char *a = t->rows[i].name[0], *b = t->rows[i].name[1];

        if (strcmp(a ? a : b, name) == 0)
            return &t->rows[i];
    }
    return NULL;
}

static char *text_of(const struct msim_comparison *c,
                     enum msim_status (*write)(const struct msim_comparison *,
                                               FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    enum msim_status status = MSIM_ENOMEM;

    if (out) {
        status = write(c, out);
        fclose(out);
    }
    if (status != MSIM_OK) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- tables ------------------------------------------------------------- */

/* A: mm 800, collective 120, my::op 80. B: mm 500 (twice as many calls), the
 * collective as it was, my::op gone, a fused one of 60 new: -300 - 80 + 60. */
static void test_compare__ops(void)
{
    struct two t;
    const struct msim_change *c;

    two_fill(&t);
    t.b.ops[0].us = (struct msim_figure){500, 450, 550, NAN};
    t.b.ops[0].calls = 8;
    t.b.ops[2].name = "my::fused";
    t.b.ops[2].us = (struct msim_figure){60, 50, 70, NAN};
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->ops.n, 4);
    CHECK_STR(t.c->ops.rows[0].name[0], "aten::mm");
    CHECK_STR(t.c->ops.rows[1].name[0], "my::op");
    CHECK_STR(t.c->ops.rows[2].name[1], "my::fused");
    c = row(&t.c->ops, "aten::mm");
    REQUIRE(c);
    CHECK_REL(c->difference, -300, 1e-12);
    CHECK_REL(msim_change_ratio(c), 0.625, 1e-12);
    CHECK_REL(c->calls[0], 4, 0);
    CHECK_REL(c->calls[1], 8, 0);
    CHECK_INT(c->beyond, MSIM_BEYOND_YES); /* 550 < 700 */
    c = row(&t.c->ops, "my::op");
    REQUIRE(c);
    CHECK_STR(c->name[1], NULL);
    CHECK_REL(c->difference, -80, 1e-12);
    c = row(&t.c->ops, "my::fused");
    REQUIRE(c);
    CHECK_STR(c->name[0], NULL);
    CHECK(isnan(msim_change_ratio(c)));
    CHECK_REL(t.c->ops.total.us[0].predicted, 1000, 1e-12);
    CHECK_REL(t.c->ops.total.us[1].predicted, 680, 1e-12);
    CHECK_REL(t.c->ops.total.difference, -320, 1e-12);
    CHECK_REL(msim_change_share(&t.c->ops, c), 60.0 / -320, 1e-12);
    two_release(&t);
}

/* Rows of one name that differ in kind are two things. */
static void test_compare__transfers_apart(void)
{
    struct two t;

    two_fill(&t);
    t.a.ops[2].name = t.b.ops[2].name = "record_param_comms";
    t.b.ops[2].us.predicted = 90;
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->ops.n, 3);
    CHECK_STR(t.c->ops.rows[0].kind, "kernel");
    CHECK_REL(t.c->ops.rows[0].difference, 10, 1e-12);
    CHECK_REL(t.c->ops.rows[1].difference, 0, 0);
    two_release(&t);
}

/* my::op's 20..320 leaves room for 80 to be 100; not for 400. */
static void test_compare__intervals(void)
{
    struct two t;

    two_fill(&t);
    t.b.ops[2].us = (struct msim_figure){100, 100, 100, NAN};
    t.b.p.iteration_us = (struct msim_figure){1200, 1100, 1400, NAN};
    t.a.p.kernel_us = (struct msim_figure){880, 880, 880, NAN};
    t.b.p.kernel_us = (struct msim_figure){990, 990, 990, NAN};
    REQUIRE(two_compare(&t));
    CHECK_INT(row(&t.c->ops, "my::op")->beyond, MSIM_BEYOND_NO);
    CHECK_INT(t.c->iteration.beyond, MSIM_BEYOND_NO);
    CHECK_INT(t.c->kernel.beyond, MSIM_BEYOND_UNKNOWN);
    two_release(&t);

    two_fill(&t);
    t.b.ops[2].us = (struct msim_figure){400, 400, 400, NAN};
    t.b.p.iteration_us = (struct msim_figure){1200, NAN, 1400, NAN};
    REQUIRE(two_compare(&t));
    CHECK_INT(row(&t.c->ops, "my::op")->beyond, MSIM_BEYOND_YES);
    CHECK_INT(t.c->iteration.beyond, MSIM_BEYOND_UNKNOWN);
    two_release(&t);
}

/* Any rows: the differences of a table sum to its difference. */
static void test_compare__sums(void)
{
    enum { N = 300 };
    static struct msim_op_row ops[2][N];
    static char names[2][N][16];
    struct two t;
    uint64_t seed = 1;

    for (int round = 0; round < 20; round++) {
        double sum[2] = {0, 0}, difference = 0;

        two_fill(&t);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < N; i++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                snprintf(names[side][i], sizeof(names[side][i]), "op%u",
                         (unsigned)(seed >> 40) % 200);
                ops[side][i] = t.a.ops[0];
                ops[side][i].name = names[side][i];
                ops[side][i].us.predicted = (double)(seed >> 33) / 1e6;
                sum[side] += ops[side][i].us.predicted;
            }
        }
        t.a.p.ops = ops[0];
        t.b.p.ops = ops[1];
        t.a.p.n_ops = t.b.p.n_ops = N;
        REQUIRE(two_compare(&t));
        for (uint32_t i = 0; i < t.c->ops.n; i++) {
            difference += t.c->ops.rows[i].difference;
            CHECK(i == 0 || fabs(t.c->ops.rows[i - 1].difference) >=
                                fabs(t.c->ops.rows[i].difference));
        }
        CHECK_REL(t.c->ops.total.us[0].predicted, sum[0], 1e-12);
        CHECK_REL(t.c->ops.total.us[1].predicted, sum[1], 1e-12);
        CHECK(fabs(difference - (sum[1] - sum[0])) < 1e-9 * sum[0]);
        two_release(&t);
    }
}

/* Who waits, for what: 7 us more for a stream, 3 for a device that was not
 * waited for before. */
static void test_compare__waits(void)
{
    struct msim_named_us a[] = {{"stream order", 5}};
    struct msim_named_us b[] = {{"device", 3}, {"stream order", 12}};
    struct two t;

    two_fill(&t);
    t.a.p.waits.main_thread = (struct msim_wait_list){a, 1};
    t.b.p.waits.main_thread = (struct msim_wait_list){b, 2};
    t.a.p.waits.gpu_idle = t.b.p.waits.gpu_idle = (struct msim_wait_list){0};
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->main_waits.n, 2);
    CHECK_REL(t.c->main_waits.total.difference, 10, 1e-12);
    CHECK_STR(t.c->main_waits.rows[0].name[1], "stream order");
    CHECK_STR(t.c->main_waits.rows[1].name[0], NULL);
    CHECK_UINT(t.c->gpu_idle.n, 0);
    CHECK(!t.c->gpu_idle.absent);
    two_release(&t);
}

static void test_compare__with_itself(void)
{
    struct two t;
    char *text;

    two_fill(&t);
    REQUIRE(two_compare(&t));
    CHECK_REL(t.c->iteration.difference, 0, 0);
    for (uint32_t i = 0; i < t.c->ops.n; i++)
        CHECK_REL(t.c->ops.rows[i].difference, 0, 0);
    CHECK(isnan(msim_change_share(&t.c->ops, &t.c->ops.rows[0])));
    text = text_of(t.c, msim_report_compare_text);
    REQUIRE(text);
    CHECK(strstr(text, "an iteration takes 1.000 ms on both sides"));
    CHECK(strstr(text, "topmost operators: 3, all as they were"));
    free(text);
    two_release(&t);
}

/* The headline is what a gate judges: the period. */
static void test_compare__headline(void)
{
    struct two t;
    char *text;

    two_fill(&t);
    t.a.p.period.us.predicted = 800;
    t.b.p.period.us.predicted = 1200;
    REQUIRE(two_compare(&t));
    text = text_of(t.c, msim_report_compare_text);
    REQUIRE(text);
    CHECK(strstr(text,
                 "\na period takes 50.0 % longer: 800.0 us in A, 1.200 ms "
                 "in B;\nan iteration takes "));
    free(text);
    two_release(&t);
}

/* Classes sum to the slowest rank's iteration: 1000 and 1000 + 40. */
static void test_compare__breakdown(void)
{
    struct two t;

    two_fill(&t);
    t.b.p.breakdown_us.host += 40;
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->breakdown.n, 5);
    CHECK_STR(t.c->breakdown.rows[3].name[0], "host");
    CHECK_REL(t.c->breakdown.rows[3].difference, 40, 1e-12);
    CHECK_REL(t.c->breakdown.total.us[0].predicted, 1000, 1e-12);
    CHECK_REL(t.c->breakdown.total.difference, 40, 1e-12);
    two_release(&t);
}

/* ---- iterations and ranks ----------------------------------------------- */

static void test_compare__iterations(void)
{
    struct two t;

    /* One name in common: it alone is paired. */
    two_fill(&t);
    t.b.iterations[0].name = "ProfilerStep#6";
    t.b.iterations[1].name = "ProfilerStep#7";
    t.b.iterations[0].us.predicted = 1300;
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->iterations.n, 3);
    CHECK_STR(t.c->iterations.rows[0].name[0], "ProfilerStep#5");
    CHECK_STR(t.c->iterations.rows[0].name[1], NULL);
    CHECK_REL(t.c->iterations.rows[1].difference, 300, 1e-12);
    CHECK_STR(t.c->iterations.rows[2].name[0], NULL);
    two_release(&t);

    /* None in common, equally many: in turn. */
    two_fill(&t);
    t.b.iterations[0].name = "ProfilerStep#7";
    t.b.iterations[1].name = "trace";
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->iterations.n, 2);
    CHECK_STR(t.c->iterations.rows[1].name[0], "ProfilerStep#6");
    CHECK_STR(t.c->iterations.rows[1].name[1], "trace");
    two_release(&t);

    /* None in common, and not equally many. */
    two_fill(&t);
    t.b.iterations[0].name = "trace";
    t.b.p.n_iterations = 1;
    REQUIRE(two_compare(&t));
    CHECK_UINT(t.c->iterations.n, 0);
    CHECK(t.c->iterations.absent != NULL);
    two_release(&t);
}

/* The slowest rank is 0 of A and, once it is slowed down, 3 of B. */
static void test_compare__ranks(void)
{
    struct two t;

    two_fill(&t);
    t.b.ranks[1].rank = 3;
    t.b.ranks[1].iteration_us.predicted = 1500;
    t.b.ranks[0].wait_us = 25;
    REQUIRE(two_compare(&t));
    CHECK_INT(t.side[0]->rank, 0);
    CHECK_INT(t.side[1]->rank, 3);
    CHECK_UINT(t.c->n_ranks, 3);
    CHECK_INT(t.c->ranks[0].rank, 0);
    CHECK_REL(t.c->ranks[0].wait.difference, 15, 1e-12);
    CHECK(t.c->ranks[1].on[0] && !t.c->ranks[1].on[1]);
    CHECK(!t.c->ranks[2].on[0] && t.c->ranks[2].on[1]);
    CHECK_INT(t.c->ranks[2].rank, 3);
    two_release(&t);
}

/* Sides that stand on different things say so. */
static void test_compare__warnings(void)
{
    struct two t;

    two_fill(&t);
    t.b.p.costs = "measured";
    t.b.p.ranks = 4;
    t.b.warnings[0] = "another thing";
    REQUIRE(two_compare(&t));
    REQUIRE(t.c->n_warnings == 4);
    CHECK_STR(t.c->warnings[0], "A: one thing to know");
    CHECK_STR(t.c->warnings[1], "B: another thing");
    CHECK(
        strstr(t.c->warnings[2], "A stands on model times and B on measured"));
    CHECK_STR(t.c->warnings[3], "A has 2 ranks and B has 4");
    CHECK(t.c->families.absent != NULL);
    two_release(&t);

    two_fill(&t);
    REQUIRE(two_compare(&t));
    REQUIRE(t.c->n_warnings == 1);
    CHECK_STR(t.c->warnings[0], "A and B: one thing to know");
    two_release(&t);
}

/* Of five iterations one of B takes ten times as long: by the means of 10 and
 * 28 us it is three times as slow, by the medians as fast. Of two that are as
 * far away the first is named; fewer than three do not tell. */
static void test_compare__odd_iterations(void)
{
    struct msim_iteration a[5], b[5];
    char names[5][4];

    for (int odd = 0; odd < 3; odd++) {
        struct two t;
        bool warned = false;

        two_fill(&t);
        t.a.p.iterations = a;
        t.b.p.iterations = b;
        t.a.p.n_iterations = t.b.p.n_iterations = odd < 2 ? 5 : 2;
        for (int i = 0; i < 5; i++) {
            snprintf(names[i], sizeof(names[i]), "s%d", i);
            a[i] = t.a.iterations[0];
            a[i].name = names[i];
            a[i].us.predicted = 10;
            b[i] = a[i];
        }
        b[odd % 2].us.predicted = 100;
        b[4].us.predicted = odd == 1 ? 100 : 10;
        t.a.p.iteration_us.predicted = 10;
        t.b.p.iteration_us.predicted = 28;
        REQUIRE(two_compare(&t));
        for (uint32_t i = 0; i < t.c->n_warnings; i++) {
            char want[256];

            snprintf(want, sizeof(want),
                     "the change of an iteration is +180.0 %% by the means, "
                     "+0.0 %% by the medians: s%d in B takes 10.00 times the "
                     "median; --iteration takes one",
                     odd % 2);
            if (strcmp(t.c->warnings[i], want) != 0)
                continue;
            warned = true;
            CHECK(t.c->odd == t.c->warnings[i]);
        }
        CHECK(warned == (odd < 2));
        CHECK(warned == (t.c->odd != NULL));
        two_release(&t);
    }
}

/* ---- files -------------------------------------------------------------- */

/* A temporary file with this text; the caller frees the name. */
static char *file_of(const char *text)
{
    char name[] = "test_compare.XXXXXX";
    int fd = mkstemp(name);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

    if (!f)
        return NULL;
    fputs(text, f);
    fclose(f);
    return strdup(name);
}

/* What is written reads back as it was. */
static void test_compare__round_trip(void)
{
    struct made m;
    struct msim_prediction *p = NULL;
    struct msim_side *side[2] = {NULL, NULL};
    struct msim_comparison *c = NULL;
    struct msim_error err = {0};
    char *text, *name;

    made_fill(&m);
    text = made_text(&m.p, msim_report_json);
    REQUIRE(text);
    name = file_of(text);
    REQUIRE(name);
    CHECK(msim_prediction_is_file(name));
    REQUIRE(msim_prediction_read(&p, name, &err) == MSIM_OK);
    CHECK_STR(p->platform, "a100");
    CHECK_STR(p->costs, "model");
    CHECK_STR(p->host, "generic");
    CHECK_UINT(p->ranks, 2);
    CHECK_UINT(p->n_ops, 3);
    CHECK(p->ops[1].communication && !p->ops[0].communication);
    CHECK_UINT(p->n_warnings, 1);
    REQUIRE(msim_side_new(&side[0], &m.p, false) == MSIM_OK);
    REQUIRE(msim_side_new(&side[1], p, true) == MSIM_OK);
    msim_prediction_free(p);
    CHECK_STR(side[1]->input, name);
    REQUIRE(msim_compare(&c, side[0], side[1]) == MSIM_OK);
    CHECK_REL(c->iteration.difference, 0, 0);
    CHECK_REL(c->kernel.difference, 0, 0);
    CHECK_REL(c->ops.total.difference, 0, 0);
    CHECK_REL(c->families.total.difference, 0, 0);
    CHECK_REL(c->breakdown.total.difference, 0, 0);
    CHECK_UINT(c->n_ranks, 2);
    CHECK(c->kernels.absent != NULL);
    CHECK_UINT(c->main_waits.n, m.p.waits.main_thread.n);
    CHECK_REL(c->main_waits.total.difference, 0, 0);
    msim_comparison_free(c);
    msim_side_free(side[0]);
    msim_side_free(side[1]);
    unlink(name);
    free(name);
    free(text);
}

#define HEAD                                                                   \
    "{\"schema\": \"mystique-sim/prediction/1\", \"kernel_us\": "              \
    "{\"predicted\": 1}, "
#define ITERATION "\"iteration_us\": {\"predicted\": 1}, "

static void check_bad(const char *text, enum msim_status want, const char *says)
{
    struct msim_prediction *p = NULL;
    struct msim_error err = {0};
    char *name = file_of(text);

    REQUIRE(name);
    CHECK_INT(msim_prediction_read(&p, name, &err), want);
    CHECK(p == NULL);
    if (!CHECK(strstr(err.text, says) != NULL))
        fprintf(stderr, "  '%s' has no '%s'\n", err.text, says);
    unlink(name);
    free(name);
}

static void test_compare__bad_files(void)
{
    check_bad("{", MSIM_ESYNTAX, "not well-formed JSON");
    check_bad("[]", MSIM_EFORMAT, "schema is ''");
    check_bad("{\"schema\": 7}", MSIM_EFORMAT, "schema is ''");
    check_bad("{\"schema\": \"mystique-sim/prediction/2\"}", MSIM_EFORMAT,
              "schema is 'mystique-sim/prediction/2', want "
              "'mystique-sim/prediction/1'");
    check_bad(HEAD "\"ops\": [], \"iterations\": []}", MSIM_EFORMAT,
              "without 'predicted' in 'iteration_us' or 'kernel_us'");
    check_bad(HEAD ITERATION "\"ops\": []}", MSIM_EFORMAT,
              "without 'iterations'; want an array");
    check_bad(HEAD ITERATION "\"iterations\": []}", MSIM_EFORMAT,
              "without 'ops'; want an array");
    check_bad(HEAD ITERATION "\"iterations\": [3], \"ops\": []}", MSIM_EFORMAT,
              "in one of 'iterations'");
    check_bad(HEAD ITERATION "\"iterations\": [], \"ops\": [{\"name\": null}]}",
              MSIM_EFORMAT, "in one of 'ops'");
    check_bad(HEAD ITERATION "\"iterations\": [], \"ops\": [], \"families\": "
                             "[{}]}",
              MSIM_EFORMAT, "in one of 'families'");
}

/* The least that is a prediction: nothing but its time is known. */
static void test_compare__sparse_file(void)
{
    char *name = file_of(HEAD ITERATION "\"iterations\": [], \"ops\": [], "
                                        "\"ranks_detail\": [{}, null], "
                                        "\"ranks\": -3, \"warnings\": [1]}");
    struct msim_prediction *p = NULL;
    struct msim_side *s = NULL;
    struct msim_comparison *c = NULL;
    char *text;

    REQUIRE(name);
    REQUIRE(msim_prediction_read(&p, name, NULL) == MSIM_OK);
    CHECK_UINT(p->ranks, 1);
    CHECK(!p->waits.main_thread.rows);
    REQUIRE(msim_side_new(&s, p, true) == MSIM_OK);
    REQUIRE(msim_compare(&c, s, s) == MSIM_OK);
    text = text_of(c, msim_report_compare_text);
    CHECK(text != NULL);
    free(text);
    text = text_of(c, msim_report_compare_json);
    CHECK(text != NULL);
    free(text);
    msim_comparison_free(c);
    msim_side_free(s);
    msim_prediction_free(p);
    unlink(name);
    free(name);
}

/* ---- writers ------------------------------------------------------------ */

static void test_compare__hostile_names(void)
{
    struct two t;
    char *text;

    two_fill(&t);
    t.a.ops[0].name = "evil\033[31m\n\"name\",x";
    REQUIRE(two_compare(&t));
    text = text_of(t.c, msim_report_compare_text);
    REQUIRE(text);
    CHECK(strchr(text, '\033') == NULL);
    free(text);
    text = text_of(t.c, msim_report_compare_csv);
    REQUIRE(text);
    CHECK(strstr(text, "\"evil?[31m\n\"\"name\"\",x\"") != NULL);
    free(text);
    two_release(&t);
}

static void test_compare__write_errors(void)
{
    struct two t;
    FILE *full = fopen("/dev/full", "w");

    if (!full)
        SKIP("no /dev/full");
    two_fill(&t);
    REQUIRE(two_compare(&t));
    setvbuf(full, NULL, _IONBF, 0);
    CHECK_INT(msim_report_compare_text(t.c, full), MSIM_EWRITE);
    CHECK_INT(msim_report_compare_json(t.c, full), MSIM_EWRITE);
    CHECK_INT(msim_report_compare_csv(t.c, full), MSIM_EWRITE);
    fclose(full);
    two_release(&t);
}

int main(void)
{
    RUN(test_compare__ops);
    RUN(test_compare__transfers_apart);
    RUN(test_compare__intervals);
    RUN(test_compare__sums);
    RUN(test_compare__waits);
    RUN(test_compare__with_itself);
    RUN(test_compare__headline);
    RUN(test_compare__breakdown);
    RUN(test_compare__iterations);
    RUN(test_compare__ranks);
    RUN(test_compare__warnings);
    RUN(test_compare__odd_iterations);
    RUN(test_compare__round_trip);
    RUN(test_compare__bad_files);
    RUN(test_compare__sparse_file);
    RUN(test_compare__hostile_names);
    RUN(test_compare__write_errors);
    return check_summary();
}
