/*
 * tests/unit/core/report/compare/test_compare_side.c - what is kept of a
 * prediction, and sums over the tasks of its slowest rank.
 */
#include "core/report/compare/compare.h"
#include "tests/unit/made_prediction.h"

#include "tests/check.h"

#define TASKS 12
#define US    ((msim_ps)MSIM_PS_PER_US)

/* ---- figures ------------------------------------------------------------- */

static struct msim_side *side_of(struct made *m, bool is_file)
{
    struct msim_side *s = NULL;

    CHECK_INT(msim_side_new(&s, &m->p, is_file), MSIM_OK);
    return s;
}

#define CHECK_FIGURE(f, p, l, h)                                               \
    do {                                                                       \
        CHECK_REL((f).predicted, p, 0);                                        \
        CHECK_REL((f).low, l, 0);                                              \
        CHECK_REL((f).high, h, 0);                                             \
    } while (0)

/* A prediction's measured time is of another machine; a measured one has no
 * interval. */
static void test_compare_side__figures(void)
{
    const char *options[] = {"--x", "1"};
    struct msim_side *s;
    struct made m;

    made_fill(&m);
    m.p.scenario = (struct msim_scenario_note){.options = options,
                                               .n_options = 2,
                                               .baseline_us = 5,
                                               .ratio = 6,
                                               .ratio_low = 7,
                                               .ratio_high = 8};
    m.p.external_wait_us = 9;
    m.p.overlapped_copy_us = 11;
    m.p.period.us = (struct msim_figure){950, 900, 990, 940};
    m.ranks[0].waits.main_thread.n = 3;
    s = side_of(&m, false);
    CHECK_STR(s->input, "run/et");
    CHECK_STR(s->options, "--x 1");
    CHECK_REL(s->baseline_us, 5, 0);
    CHECK_REL(s->ratio, 6, 0);
    CHECK_REL(s->ratio_low, 7, 0);
    CHECK_REL(s->ratio_high, 8, 0);
    CHECK_REL(s->external_wait_us, 9, 0);
    CHECK_REL(s->overlapped_communication_us, 70, 0);
    CHECK_REL(s->overlapped_copy_us, 11, 0);
    CHECK_REL(s->transfer_us, 120, 0);
    CHECK_REL(s->wait_us, 10, 0);
    CHECK_FIGURE(s->iteration_us, 1000, 800, 1300);
    CHECK_FIGURE(s->period_us, 950, 900, 990);
    CHECK_FIGURE(s->kernel_us, 880, 720, 1220);
    CHECK(isnan(s->iteration_us.measured) && isnan(s->period_us.measured));
    CHECK_INT(s->rank, 0);
    CHECK_UINT(s->ranks_detail[0].waits.main_thread.n, 0);
    CHECK(isnan(s->ranks_detail[0].kernel_us.measured));
    CHECK_UINT(s->families.n, 3);
    msim_side_free(s);
    m.p.costs = "measured";
    m.p.n_inputs = 0;
    s = side_of(&m, false);
    CHECK_STR(s->input, "");
    CHECK_FIGURE(s->iteration_us, 1000, 1000, 1000);
    CHECK_REL(s->iteration_us.measured, 1000, 0);
    CHECK_UINT(s->families.n, 0);
    CHECK_STR(s->families.absent,
              "a prediction from measured times does not tell what kind of "
              "work they are");
    msim_side_free(s);
    msim_side_free(NULL);
}

/* The slowest rank is the first of several that are. */
static void test_compare_side__slowest(void)
{
    struct msim_side *s;
    struct made m;

    made_fill(&m);
    m.ranks[0].rank = 5;
    m.ranks[1].iteration_us.predicted = m.ranks[0].iteration_us.predicted;
    s = side_of(&m, false);
    CHECK_INT(s->rank, 5);
    msim_side_free(s);
    m.ranks[1].iteration_us.predicted++;
    s = side_of(&m, false);
    CHECK_INT(s->rank, 1);
    msim_side_free(s);
    m.p.n_ranks_detail = 0;
    s = side_of(&m, false);
    CHECK_INT(s->rank, -1);
    msim_side_free(s);
}

#define IN_FILE "a prediction's file does not hold them"

/* Tables that a file of an older version has not. */
static void test_compare_side__absent(void)
{
    struct msim_host_row host = {.name = "h", .kind = "no such kind"};
    struct msim_side *s;
    struct made m;

    made_fill(&m);
    m.p.host_ops = &host;
    s = side_of(&m, true);
    CHECK(!s->host_ops.absent && !s->owners.absent && !s->main_waits.absent &&
          !s->gpu_idle.absent);
    CHECK_STR(s->kernels.absent, IN_FILE);
    CHECK_STR(s->streams.absent, IN_FILE);
    msim_side_free(s);
    m.p.n_host_ops = 1;
    m.p.waits.main_thread.rows = NULL;
    m.p.waits.main_thread.n = 0;
    m.p.owners = NULL;
    m.p.n_owners = 0;
    s = side_of(&m, true);
    CHECK_STR(s->owners.absent, IN_FILE);
    CHECK(!s->main_waits.absent); /* the GPU's are there */
    CHECK_STR(s->host_ops.rows[0].kind, "other");
    msim_side_free(s);
    m.p.waits.gpu_idle.rows = NULL;
    m.p.waits.gpu_idle.n = m.p.n_host_ops = 0;
    m.p.host_ops = NULL;
    s = side_of(&m, true);
    CHECK_STR(s->main_waits.absent, IN_FILE);
    CHECK_STR(s->gpu_idle.absent, IN_FILE);
    CHECK_STR(s->host_ops.absent, IN_FILE);
    msim_side_free(s);
    s = side_of(&m, false); /* a trace that has none */
    CHECK(!s->main_waits.absent && !s->host_ops.absent && !s->owners.absent);
    msim_side_free(s);
}

/* Owners of one operator and kind are one row; by name where none is theirs. */
static void test_compare_side__owners(void)
{
    struct msim_owner_row rows[] = {
        {.name = "k1", .op = "op", .kind = "kernel", .us = 5, .pieces = 1},
        {.name = "op", .kind = "host", .us = 7, .pieces = 2},
        {.name = "k2", .op = "op", .kind = "kernel", .us = 11, .pieces = 4},
        {.kind = "held", .us = 1, .pieces = 1},
    };
    struct msim_side *s;
    struct made m;

    made_fill(&m);
    m.p.owners = rows;
    m.p.n_owners = 4;
    s = side_of(&m, false);
    REQUIRE(s && s->owners.n == 3);
    CHECK_STR(s->owners.rows[0].name, "op");
    CHECK_STR(s->owners.rows[0].kind, "kernel");
    CHECK_REL(s->owners.rows[0].calls, 5, 0);
    CHECK_FIGURE(s->owners.rows[0].us, 16, 16, 16);
    CHECK_STR(s->owners.rows[1].kind, "host");
    CHECK_REL(s->owners.rows[1].us.predicted, 7, 0);
    CHECK_STR(s->owners.rows[2].name, "");
    msim_side_free(s);
}

/* ---- tasks --------------------------------------------------------------- */

/* Two ranks of two iterations each. */
struct tasks {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace traces[2], *ranks[2];
    struct msim_gpu gpu[TASKS];
    struct msim_stream streams[2];
    struct msim_window windows[4];
    uint8_t kind[TASKS];
    uint32_t window[TASKS];
    struct msim_task_ref refs[TASKS];
    msim_ps dur[TASKS], low[TASKS], high[TASKS];
    struct msim_outcome o;
};

static void begin(struct tasks *k)
{
    memset(k, 0, sizeof(*k));
    CHECK_INT(msim_strtab_new(&k->job.strings), MSIM_OK);
    k->job.n_ranks = 2;
    k->job.ranks = k->ranks;
    k->streams[0] = (struct msim_stream){.device = 3, .id = 7};
    k->streams[1] = (struct msim_stream){.device = 3, .id = 20};
    for (int r = 0; r < 2; r++) {
        k->ranks[r] = &k->traces[r];
        k->traces[r] = (struct msim_trace){.strings = k->job.strings,
                                           .rank = r,
                                           .gpu = k->gpu,
                                           .streams = k->streams,
                                           .n_streams = 2,
                                           .has_gpu_events = true};
    }
    for (uint32_t w = 0; w < 4; w++)
        k->windows[w] = (struct msim_window){
            .rank = w % 2, .iteration = w / 2, .first = MSIM_NONE};
    k->g = (struct msim_graph){.job = &k->job,
                               .kind = k->kind,
                               .window = k->window,
                               .refs = k->refs,
                               .windows = k->windows,
                               .n_windows = 4,
                               .n_iterations = 2};
    k->o = (struct msim_outcome){.graph = &k->g,
                                 .mid = {.dur = k->dur},
                                 .task_low = k->low,
                                 .task_high = k->high};
}

/* It takes `dur` us, one less to three more; measured ten more. */
static void add(struct tasks *k, uint32_t window, uint8_t kind,
                const char *name, uint32_t stream, msim_ps dur)
{
    uint32_t t = k->g.n_tasks++;

    k->kind[t] = kind;
    k->window[t] = window;
    k->refs[t] =
        (struct msim_task_ref){.rank = (uint16_t)(window % 2), .index = t};
    k->dur[t] = dur * US;
    k->low[t] = (dur - 1) * US;
    k->high[t] = (dur + 3) * US;
    k->gpu[t].dur = (dur + 10) * US;
    k->gpu[t].stream = stream;
    CHECK_INT(
        msim_strtab_add(k->job.strings, name, strlen(name), &k->gpu[t].name),
        MSIM_OK);
}

/* Windows 1 and 3 are rank 1's. */
static void fill(struct tasks *k)
{
    begin(k);
    add(k, 1, MSIM_TASK_KERNEL, "gemm", 0, 10);
    add(k, 3, MSIM_TASK_KERNEL, "gemm", 0, 30);
    add(k, 3, MSIM_TASK_COPY, "gemm", 1, 6);
    add(k, 1, MSIM_TASK_COMM, "comm", 1, 8);
    add(k, 0, MSIM_TASK_KERNEL, "gemm", 0, 500); /* another rank's */
    add(k, 1, MSIM_TASK_CALL, "gemm", 0, 500);
    add(k, 1, MSIM_TASK_JOIN, "gemm", 0, 500);
    add(k, 1, MSIM_TASK_KERNEL, "gemm", 0, 500);
    k->refs[7].index = MSIM_NONE; /* recorded nowhere */
    add(k, 1, MSIM_TASK_KERNEL, "gemm", 0, 500);
    k->window[8] = MSIM_NONE; /* of no iteration */
}

static void check_row(const struct msim_side_rows *r, uint32_t i,
                      const char *name, const char *kind, double calls,
                      double us, double low, double high)
{
    REQUIRE(i < r->n);
    CHECK_STR(r->rows[i].name, name);
    CHECK_STR(r->rows[i].kind, kind);
    CHECK_REL(r->rows[i].calls, calls, 1e-12);
    CHECK_REL(r->rows[i].us.predicted, us, 1e-12);
    CHECK_REL(r->rows[i].us.low, low, 1e-12);
    CHECK_REL(r->rows[i].us.high, high, 1e-12);
}

static struct msim_side *side_with(struct tasks *k, struct made *m,
                                   const char *costs, uint32_t iteration,
                                   const struct msim_side_families *families)
{
    struct msim_side *s;

    made_fill(m);
    m->p.costs = costs;
    m->ranks[1].iteration_us.predicted = 9999; /* rank 1 is the slowest */
    s = side_of(m, false);
    CHECK_INT(msim_side_add_tasks(s, &k->o, iteration, families), MSIM_OK);
    return s;
}

/* Means over two iterations: 40 / 2, 6 / 2, 8 / 2. */
static void test_compare_side__tasks(void)
{
    struct msim_side *s;
    struct tasks k;
    struct made m;

    fill(&k);
    s = side_with(&k, &m, "measured", UINT32_MAX, NULL);
    CHECK(!s->kernels.absent && !s->streams.absent);
    CHECK_UINT(s->kernels.n, 3);
    check_row(&s->kernels, 0, "gemm", "kernel", 1, 20, 20, 20);
    check_row(&s->kernels, 1, "gemm", "copy", 0.5, 3, 3, 3);
    check_row(&s->kernels, 2, "comm", "communication", 0.5, 4, 4, 4);
    CHECK_REL(s->kernels.rows[0].us.measured, 30, 1e-12);
    CHECK_REL(s->kernels.rows[1].us.measured, 8, 1e-12);
    CHECK_UINT(s->streams.n, 2);
    check_row(&s->streams, 0, "stream 7", NULL, 1, 20, 20, 20);
    check_row(&s->streams, 1, "stream 20", NULL, 1, 7, 7, 7);
    msim_side_free(s);
    s = side_with(&k, &m, "model", 0, NULL);
    CHECK_STR(s->kernels.absent, "a model knows an operator's time, not how "
                                 "its kernels share it");
    k.streams[0].device = 4; /* of two devices */
    msim_side_free(s);
    s = side_with(&k, &m, "model", 0, NULL);
    CHECK_UINT(s->streams.n, 2);
    check_row(&s->streams, 0, "device 4 stream 7", NULL, 1, 10, 9, 13);
    check_row(&s->streams, 1, "device 3 stream 20", NULL, 1, 8, 7, 11);
    CHECK_UINT(s->families.n, 3); /* the prediction's */
    msim_side_free(s);
    msim_strtab_free(k.job.strings);
}

/* Copies are of no family. */
static void test_compare_side__families(void)
{
    static const uint8_t OF[TASKS] = {1, 1, 1, 0};
    static const char *const NAMES[] = {"collective", "gemm", "none"};
    const struct msim_side_families families = {OF, NAMES, 3};
    struct msim_side *s;
    struct tasks k;
    struct made m;

    fill(&k);
    s = side_with(&k, &m, "measured", UINT32_MAX, &families);
    CHECK(!s->families.absent);
    CHECK_UINT(s->families.n, 2);
    check_row(&s->families, 0, "collective", NULL, 0.5, 4, 4, 4);
    check_row(&s->families, 1, "gemm", NULL, 1, 20, 20, 20);
    msim_side_free(s);
    k.traces[1].has_gpu_events = false;
    s = side_with(&k, &m, "measured", UINT32_MAX, &families);
    CHECK_STR(s->kernels.absent, "the trace has no GPU activities");
    CHECK_STR(s->streams.absent, "the trace has no GPU activities");
    CHECK_STR(s->families.absent, "the trace has no GPU activities");
    msim_side_free(s);
    s = side_with(&k, &m, "model", UINT32_MAX, &families);
    CHECK(!s->families.absent);
    msim_side_free(s);
    k.traces[1].rank = 8; /* the rank is in no trace */
    s = side_of(&m, false);
    CHECK_INT(msim_side_add_tasks(s, &k.o, UINT32_MAX, NULL), MSIM_EINTERNAL);
    msim_side_free(s);
    msim_strtab_free(k.job.strings);
}

int main(void)
{
    RUN(test_compare_side__figures);
    RUN(test_compare_side__slowest);
    RUN(test_compare_side__absent);
    RUN(test_compare_side__owners);
    RUN(test_compare_side__tasks);
    RUN(test_compare_side__families);
    return check_summary();
}
