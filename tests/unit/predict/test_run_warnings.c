/*
 * predict/run_warnings.c: what a reader of a prediction is told, and what of it
 * is left out or marked, on jobs made by hand.
 */
#include "predict/predict_internal.h"

#include "models/estimate/model.h"
#include "models/platform/platform_data.h"
#include "tests/unit/appended.h"
#include "tests/unit/made_ops.h"

#include <stdlib.h>

static struct build b;

/* One rank out of `b`, and what is asked of it. */
struct made {
    struct msim_job job;
    struct msim_trace *ranks[2];
    struct msim_trace second;
    struct msim_graph g;
    struct msim_predict_settings s;
    struct msim_inputs in;
    struct msim_target to;
    struct msim_platform platform;
};

static void begin(struct made *m)
{
    memset(m, 0, sizeof(*m));
    build_init(&b);
    msim_arena_init(&m->job.arena);
    m->ranks[0] = &b.t;
    m->ranks[1] = &m->second;
    m->job.ranks = m->ranks;
    m->job.n_ranks = 1;
    m->job.strings = b.strings;
    m->g.job = &m->job;
    m->in.job = &m->job;
    m->to.costs = MSIM_COSTS_MEASURED;
    m->s.iteration = MSIM_ITERATION_ALL;
    snprintf(m->platform.name, sizeof(m->platform.name), "old");
}

/* All warnings, one a line; they and the job are gone then. */
static void check_said(struct made *m, const char *want)
{
    char text[4096] = "";

    for (uint32_t i = 0; i < m->job.n_warnings; i++) {
        APPEND(text, "%.1000s\n", m->job.warnings[i]);
    }
    CHECK_STR(text, want);
    free(m->job.warnings);
    msim_arena_release(&m->job.arena);
    build_release(&b);
}

static void add(struct made *m)
{
    msim_run_warnings_add(&m->s, &m->in, &m->to, &m->g);
}

static void test_run_warnings__none(void)
{
    struct made m;

    begin(&m);
    add(&m);
    check_said(&m, "");
}

static void test_run_warnings__unexplained(void)
{
    struct made m;

    begin(&m);
    m.g.n_unexplained = 1;
    m.g.copied[MSIM_COPIED_UNEXPLAINED] = 99900000;
    add(&m);
    check_said(&m, "1 GPU activity began later than the traces explain, by "
                   "99.9 us in all; it keeps its distance from what came "
                   "before it\n");
    begin(&m);
    m.g.n_unexplained = 2;
    m.g.copied[MSIM_COPIED_UNEXPLAINED] = 2500000000;
    add(&m);
    check_said(&m, "2 GPU activities began later than the traces explain, by "
                   "2.5 ms in all; each keeps its distance from what came "
                   "before it\n");
}

/* A number that no step has counts from 0, and whose it is, is said. */
static void test_run_warnings__iteration(void)
{
    static const struct {
        int64_t want;
        const char *said;
    } ROWS[] = {
        {5, ""},
        {1, "no step is marked ProfilerStep#1: this is ProfilerStep#7, the one "
            "at 1 from 0\n"},
        {0, "no step is marked ProfilerStep#0: this is ProfilerStep#5, the one "
            "at 0 from 0\n"},
        {2, ""}, /* is not marked */
        {3, ""},
        {MSIM_ITERATION_ALL, ""}};

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        int64_t numbers[] = {5, 7, -1};
        struct made m;

        begin(&m);
        m.g.iterations = numbers;
        m.g.n_iterations = 3;
        m.s.iteration = ROWS[i].want;
        add(&m);
        check_said(&m, ROWS[i].said);
    }
}

/* One traced rank for eight. */
static void test_run_warnings__folded(void)
{
    struct made m;

    begin(&m);
    m.s.ranks = 1;
    add(&m);
    check_said(&m, "");
    begin(&m);
    m.s.ranks = 8;
    add(&m);
    check_said(&m, "each of the 1 traced ranks stands for 8, but transfers "
                   "take as long as in the traces; '--costs model' costs them "
                   "for 8 ranks\n");
    begin(&m);
    m.s.ranks = 8;
    m.job.n_ranks = 2;
    m.to.costs = MSIM_COSTS_MODEL;
    m.to.gpus_a_node = 4;
    add(&m);
    check_said(&m,
               "each of the 2 traced ranks stands for 4: collectives of all "
               "ranks are costed for 8 ranks, 4 on a node; all-gathers and "
               "reduce-scatters keep the whole that was traced, as sharded "
               "parameters do, gathers grow, all others keep what each rank "
               "sends\n");
}

/* Whose times they are, and that they are carried. */
static void test_run_warnings__scaled(void)
{
    struct msim_platform source = {.name = "new"};
    struct msim_correction *any = (struct msim_correction *)&source;
    struct made m;

    begin(&m);
    m.to.platform = &m.platform;
    m.to.source = &source;
    add(&m);
    check_said(&m, "GPU times were measured on new and are scaled to old; "
                   "launch latencies, gaps and dependencies are those of the "
                   "traced run\n");
    begin(&m);
    m.to.platform = &m.platform;
    m.to.source = &m.platform; /* itself */
    add(&m);
    check_said(&m, "");
    begin(&m);
    m.to.platform = &m.platform;
    m.to.source = &source;
    m.to.correction = any;
    m.s.source_trace = "other.json";
    add(&m);
    check_said(&m, "GPU times are those of models, corrected by the times in "
                   "'other.json'; the job's own GPU times are not used\n");
}

/* An SM's clock, and one that no GPU has. */
static void test_run_warnings__clock(void)
{
    for (int fast = 0; fast < 2; fast++) {
        struct made m;

        begin(&m);
        m.to.platform = &m.platform;
        m.platform.clock.ratio = fast ? 1.25 : 1.2;
        add(&m);
        CHECK_UINT(m.job.n_warnings, 1);
        CHECK(strstr(m.job.warnings[0], fast ? "takes 0.8 times as long"
                                             : "takes 0.833 times as long"));
        CHECK_INT(strstr(m.job.warnings[0], "no such GPU runs as fast") != NULL,
                  fast);
        m.job.n_warnings = 0;
        check_said(&m, "");
    }
}

/* ---- types --------------------------------------------------------------- */

static void test_run_warnings__emulated(void)
{
    struct msim_costs c = {.emulated = 0};
    struct made m;

    begin(&m);
    msim_warn_emulated(&m.job, &m.platform, &c);
    check_said(&m, "");
    begin(&m);
    c.emulated = 1u << MSIM_EMULATED_BF16 | 1u << MSIM_EMULATED_INT8 |
                 1u << MSIM_EMULATED_FP8 | 1u << MSIM_EMULATED_FP4;
    msim_warn_emulated(&m.job, &m.platform, &c);
    check_said(&m,
               "bfloat16 is not supported on old: computed in fp32, with a "
               "wide interval\n"
               "int8 is not supported on old: priced at the rate of the next "
               "wider type, with a wide interval\n"
               "fp8 is not supported on old, and libraries refuse it: its "
               "products are priced at the rate of the next wider type, with "
               "a wide interval\n"
               "fp4 is not supported on old, and libraries refuse it: its "
               "products are priced at the rate of the next wider type, with "
               "a wide interval\n");
}

/* ---- guards -------------------------------------------------------------- */

/* Two tasks of 10 us: a convolution that would take 40 at the peak, and one of
 * a product that would take `other`. An MFU of 1.5. */
static msim_guard_marks guarded(struct made *m, float other, bool told,
                                struct msim_prediction *p)
{
    msim_ps mid[] = {10000000, 10000000};
    uint8_t made_by[] = {MSIM_FAMILY_CONV, MSIM_FAMILY_GEMM};
    struct msim_limits limits[] = {{.tensor = 30, .vector = 10},
                                   {.tensor = other}};
    struct msim_costs c = {.mid = mid, .made_by = made_by, .limits = limits};
    struct msim_task_ref refs[2] = {{.rank = 0}};

    *p = (struct msim_prediction){.mfu = 1.5};
    p->period.us = p->iteration_us = p->kernel_us =
        (struct msim_figure){20, 15, 25, NAN};
    m->g.n_tasks = 2;
    m->g.refs = refs;
    msim_run_guard(told ? &m->job : NULL, &m->g, &c, p);
    m->g.refs = NULL;
    CHECK(isnan(p->mfu));
    return p->marks;
}

/* Convolutions may save multiplications; of what exceeds the peak, others may
 * have a hundredth. */
static void test_run_guard__more_than_the_peak(void)
{
    static const char SAVED[] =
        "MFU is left out: it is 150.0 %, since convolutions by Winograd's "
        "algorithm do fewer multiplications than are counted\n";
    struct msim_prediction p;
    struct made m;

    begin(&m);
    CHECK_UINT(guarded(&m, 5, true, &p), 0);
    check_said(&m, SAVED);
    begin(&m);
    CHECK_UINT(guarded(&m, 10.25f, true, &p), 0);
    check_said(&m, SAVED);
    begin(&m);
    CHECK_UINT(guarded(&m, 20, true, &p), MSIM_GUARD_BIT(PEAK));
    check_said(&m, "MFU is left out: works are predicted to take less than "
                   "they would at the peak rate, by 0.04 ms in all\n");
    begin(&m);
    CHECK_UINT(guarded(&m, 20, false, &p), MSIM_GUARD_BIT(PEAK));
    check_said(&m, "");
}

/* An interval that does not hold its time, of each of three figures; a figure
 * that is not known breaks nothing. */
static void test_run_guard__order(void)
{
    const struct msim_figure right = {20, 15, 25, NAN},
                             wrong = {20, 21, 25, NAN}, none = {NAN, 1, 0, NAN};

    for (int i = 0; i < 5; i++) {
        struct msim_costs c = {.marks = MSIM_GUARD_BIT(MEMORY)};
        struct msim_prediction p = {.mfu = 1};
        struct made m;

        p.period.us = i == 0 ? wrong : right;
        p.iteration_us = i == 1 ? wrong : right;
        p.kernel_us = i == 2 ? wrong : i == 3 ? none : right;
        begin(&m);
        msim_run_guard(&m.job, &m.g, &c, &p);
        CHECK_UINT(p.marks, MSIM_GUARD_BIT(MEMORY) |
                                (i < 3 ? MSIM_GUARD_BIT(ORDER) : 0));
        CHECK_REL(p.mfu, 1, 0);
        check_said(&m, i < 3 ? "the interval of a time does not hold the time\n"
                             : "");
    }
}

/* ---- bounds -------------------------------------------------------------- */

static void test_run_warnings__bounded(void)
{
    struct msim_costs c = {.n_bounded = 2, .n_unsized = 1, .unsized = "send"};
    struct made m;

    c.bounded[0].name = "aten::mm";
    c.bounded[0].times = 1;
    c.bounded[0].why = MSIM_BOUNDED_MEMORY;
    c.bounded[1].name = "aten::add";
    c.bounded[1].times = 3;
    c.bounded[1].why = MSIM_BOUNDED_BELOW;
    begin(&m);
    msim_run_warnings_bounded(&m.job, &c);
    check_said(&m,
               "the size of 1 transfer, such as 'send', is not recorded: "
               "guessed from what was computed before, and not covered\n"
               "estimate of 'aten::mm' bounded, in 1 call: its sizes are more "
               "than the device's memory; its law or its sizes are off\n"
               "estimate of 'aten::add' bounded, in 3 calls: it was below half "
               "of what its bytes and FLOPs take at peak; its law or its "
               "sizes are off\n");
    begin(&m);
    c.n_unsized = 2;
    c.n_bounded = 0;
    msim_run_warnings_bounded(&m.job, &c);
    check_said(&m, "the size of 2 transfers, such as 'send', is not recorded: "
                   "guessed from what was computed before, and not covered\n");
}

/* Eight are named. */
static void test_run_warnings__more_bounded(void)
{
    for (uint32_t n = 8; n <= 10; n += 2) {
        struct msim_costs c = {.n_bounded = n};
        struct made m;

        for (int i = 0; i < MSIM_COST_BOUNDED_MAX; i++)
            c.bounded[i].name = "a";
        begin(&m);
        msim_run_warnings_bounded(&m.job, &c);
        CHECK_UINT(m.job.n_warnings, n == 8 ? 8 : 9);
        if (n > 8)
            CHECK_STR(m.job.warnings[8],
                      "estimates of 2 further operators bounded");
        m.job.n_warnings = 0;
        check_said(&m, "");
    }
}

int main(void)
{
    RUN(test_run_guard__more_than_the_peak);
    RUN(test_run_guard__order);
    RUN(test_run_warnings__bounded);
    RUN(test_run_warnings__clock);
    RUN(test_run_warnings__emulated);
    RUN(test_run_warnings__folded);
    RUN(test_run_warnings__iteration);
    RUN(test_run_warnings__more_bounded);
    RUN(test_run_warnings__none);
    RUN(test_run_warnings__scaled);
    RUN(test_run_warnings__unexplained);
    return check_summary();
}
