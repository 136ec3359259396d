/*
 * tests/unit/core/report/analyse/test_analysis_rows.c - kernels, work of the
 * host, edges, waits and copied times as rows.
 *
 * Two ranks; two iterations of rank 1 are asked for. Times are in us.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define TASKS 32
#define OPS   8
#define US    ((msim_ps)MSIM_PS_PER_US)

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace traces[2], *ranks[2];
    struct msim_gpu gpu[TASKS];
    struct msim_call calls[TASKS];
    struct msim_op ops[OPS];
    uint32_t topmost[OPS];
    uint8_t kind[TASKS], removed[TASKS], edge_kind[8];
    uint32_t lane[TASKS], window[TASKS], by[TASKS];
    struct msim_edge edges[8];
    struct msim_lane lanes[4];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS], low[TASKS], high[TASKS], traced[TASKS];
    struct msim_window windows[4];
    struct msim_window_times times[4];
    struct msim_binding binding;
    struct msim_outcome o;
    struct msim_prediction p;
    struct msim_findings f;
};

static struct made made;

static uint32_t name_of(struct made *m, const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(m->job.strings, text, strlen(text), &id),
              MSIM_OK);
    return id;
}

/* Iterations [0, 100) and [200, 300) of both ranks: windows 0 to 3. */
static void make(struct made *m)
{
    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = 2;
    m->job.ranks = m->ranks;
    for (int r = 0; r < 2; r++) {
        m->ranks[r] = &m->traces[r];
        m->traces[r] = (struct msim_trace){.strings = m->job.strings,
                                           .gpu = m->gpu,
                                           .calls = m->calls,
                                           .ops = m->ops,
                                           .n_ops = OPS,
                                           .topmost = m->topmost,
                                           .has_times = true,
                                           .has_gpu_events = true};
    }
    for (uint32_t i = 0; i < OPS; i++) {
        m->ops[i] = msim_op_empty();
        m->topmost[i] = i;
    }
    for (uint32_t l = 0; l < 4; l++)
        m->lanes[l] = (struct msim_lane){.rank = l / 2};
    for (uint32_t w = 0; w < 4; w++) {
        m->windows[w] = (struct msim_window){
            .rank = w % 2, .iteration = w / 2, .first = MSIM_NONE};
        m->times[w] = (struct msim_window_times){
            .begin = w / 2 * 200 * US, .end = (w / 2 * 200 + 100) * US};
    }
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .traced = m->traced,
                               .edges = m->edges,
                               .edge_kind = m->edge_kind,
                               .refs = m->refs,
                               .lanes = m->lanes,
                               .n_lanes = 4,
                               .windows = m->windows,
                               .n_windows = 4,
                               .n_iterations = 2};
    m->binding.by = m->by;
    m->o = (struct msim_outcome){
        .graph = &m->g,
        .mid = {.start = m->start, .dur = m->dur, .removed = m->removed},
        .task_low = m->low,
        .task_high = m->high,
        .gpu_times = true,
        .measured = true};
    msim_arena_init(&m->p.arena);
    m->f = (struct msim_findings){.p = &m->p,
                                  .o = &m->o,
                                  .g = &m->g,
                                  .iteration = UINT32_MAX,
                                  .mid = m->times,
                                  .binding = &m->binding};
}

static void release(struct made *m)
{
    msim_arena_release(&m->p.arena);
    msim_strtab_free(m->job.strings);
}

static uint32_t add(struct made *m, uint32_t rank, uint8_t kind,
                    const char *name, msim_ps start, msim_ps dur)
{
    uint32_t t = m->g.n_tasks++;

    m->kind[t] = kind;
    m->lane[t] = 2 * rank;
    m->window[t] = start < 200 ? rank : 2 + rank;
    m->refs[t] = (struct msim_task_ref){
        .rank = (uint16_t)rank, .index = t, .op = MSIM_NONE};
    m->start[t] = start * US;
    m->dur[t] = dur * US;
    m->low[t] = (dur - 1) * US;
    m->high[t] = (dur + 2) * US;
    m->gpu[t].name = m->calls[t].name = name_of(m, name);
    m->gpu[t].dur = (dur + 10) * US;
    return t;
}

/* ---- kernels ------------------------------------------------------------- */

static void check_kernel(uint32_t i, const char *name, const char *kind,
                         double calls, double us, double longest,
                         double measured)
{
    const struct msim_kernel_row *r = &made.p.kernels[i];

    if (!CHECK(i < made.p.n_kernels))
        return;
    CHECK_STR(r->name, name);
    CHECK_STR(r->kind, kind);
    CHECK_REL(r->calls, calls, 1e-12);
    CHECK_REL(r->us, us, 1e-12);
    CHECK_REL(r->longest_us, longest, 1e-12);
    CHECK_REL(r->measured_us, measured, 1e-12);
}

static void fill_kernels(void)
{
    uint32_t t;

    make(&made);
    add(&made, 1, MSIM_TASK_KERNEL, "b", 0, 4);
    add(&made, 1, MSIM_TASK_KERNEL, "gemm", 5, 10);
    add(&made, 1, MSIM_TASK_KERNEL, "gemm", 205, 30);
    add(&made, 1, MSIM_TASK_COPY, "gemm", 210, 4);
    add(&made, 1, MSIM_TASK_COMM, "a", 210, 4);
    /* What is not counted: another rank's, a thread's, a meeting, what has no
     * name, what is removed, what no iteration launched. */
    add(&made, 0, MSIM_TASK_KERNEL, "gemm", 5, 500);
    add(&made, 1, MSIM_TASK_CALL, "gemm", 5, 500);
    add(&made, 1, MSIM_TASK_JOIN, "gemm", 5, 500);
    add(&made, 1, MSIM_TASK_KERNEL, "", 5, 500);
    made.removed[add(&made, 1, MSIM_TASK_KERNEL, "gemm", 5, 500)] = 1;
    t = add(&made, 1, MSIM_TASK_KERNEL, "gemm", 5, 500);
    made.window[t] = MSIM_NONE;
}

/* By name and kind, most time first; means over iterations. */
static void test_analysis_kernels__rows(void)
{
    fill_kernels();
    REQUIRE(msim_analyse_kernels(&made.f, 1) == MSIM_OK);
    REQUIRE(made.p.n_kernels == 4);
    check_kernel(0, "gemm", "kernel", 1, 20, 30, 30);
    check_kernel(1, "a", "communication", 0.5, 2, 4, 7);
    check_kernel(2, "b", "kernel", 0.5, 2, 4, 7);
    check_kernel(3, "gemm", "copy", 0.5, 2, 4, 7);
    release(&made);
}

static void test_analysis_kernels__of_one_iteration(void)
{
    fill_kernels();
    made.f.iteration = 0;
    REQUIRE(msim_analyse_kernels(&made.f, 1) == MSIM_OK);
    REQUIRE(made.p.n_kernels == 2);
    check_kernel(0, "gemm", "kernel", 1, 10, 10, 20);
    check_kernel(1, "b", "kernel", 1, 4, 4, 14);
    release(&made);
}

/* A model knows operators, not their kernels. */
static void test_analysis_kernels__none(void)
{
    fill_kernels();
    made.o.gpu_times = false;
    CHECK_INT(msim_analyse_kernels(&made.f, 1), MSIM_OK);
    CHECK_UINT(made.p.n_kernels, 0);
    made.o.gpu_times = true;
    made.traces[1].has_gpu_events = false;
    CHECK_INT(msim_analyse_kernels(&made.f, 1), MSIM_OK);
    CHECK_UINT(made.p.n_kernels, 0);
    release(&made);
}

/* ---- the host ------------------------------------------------------------ */

static void check_host(uint32_t i, const char *name, const char *kind,
                       double calls, double us, double low, double high)
{
    const struct msim_host_row *r = &made.p.host_ops[i];

    if (!CHECK(i < made.p.n_host_ops))
        return;
    CHECK_STR(r->name, name);
    CHECK_STR(r->kind, kind);
    CHECK_REL(r->calls, calls, 1e-12);
    CHECK_REL(r->us.predicted, us, 1e-12);
    CHECK_REL(r->us.low, low, 1e-12);
    CHECK_REL(r->us.high, high, 1e-12);
    CHECK(isnan(r->us.measured));
}

static void host_op(msim_ps start, msim_ps dur, uint32_t op)
{
    made.refs[add(&made, 1, MSIM_TASK_HOST, "", start, dur)].op = op;
}

/* Operators 0 ("mm") and 2 ("add"), in which 1 and 3 are; 4 is a label of the
 * compiler with 5 in it, 6 a label of the program with 7 in it. */
static void fill_host(void)
{
    static const char *const NAMES[] = {
        "mm",  "copy", "add", "empty", "compile_inner (dynamo_timed)",
        "mul", "step", "relu"};

    make(&made);
    for (uint32_t i = 0; i < OPS; i++) {
        made.ops[i].name = name_of(&made, NAMES[i]);
        made.ops[i].parent = i % 2 ? i - 1 : MSIM_NONE;
        made.topmost[i] = i < 4 ? i & ~1u : i % 2 ? i : MSIM_NONE;
        made.ops[i].kind = i == 4 || i == 6 ? MSIM_OP_ANNOTATION : 0;
    }
}

/* Pieces of one operator are one call; a mean over iterations. */
static void test_analysis_host__operators(void)
{
    fill_host();
    host_op(0, 3, 0);
    host_op(5, 4, 1);
    host_op(10, 9, 0);
    host_op(210, 8, 2);
    host_op(230, 6, 7); /* below a label: its own */
    host_op(240, 2, MSIM_NONE);
    add(&made, 1, MSIM_TASK_CALL, "launch", 20, 1);
    add(&made, 1, MSIM_TASK_CALL, "launch", 22, 1);
    add(&made, 1, MSIM_TASK_GAP, "", 250, 20);
    REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
    REQUIRE(made.p.n_host_ops == 6);
    check_host(0, "between operators", "gap", 0.5, 10, 9.5, 11);
    check_host(1, "mm", "host", 0.5, 8, 6.5, 11);
    check_host(2, "add", "host", 0.5, 4, 3.5, 5);
    check_host(3, "relu", "host", 0.5, 3, 2.5, 4);
    check_host(4, "launch", "call", 1, 1, 0, 3);
    check_host(5, "no operator", "host", 0.5, 1, 0.5, 2);
    release(&made);
}

/* All in the compiler's marks is compilation, gaps and calls as well. */
static void test_analysis_host__compilation(void)
{
    static const char *const MARKS[] = {"x (dynamo_timed)", "compile_inner",
                                        "an async_compile.wait"};

    for (int i = 0; i < 4; i++) {
        fill_host();
        made.ops[4].name = name_of(&made, i < 3 ? MARKS[i] : "compile");
        host_op(0, 3, 5);
        made.refs[add(&made, 1, MSIM_TASK_CALL, "launch", 20, 1)].op = 4;
        made.refs[add(&made, 1, MSIM_TASK_GAP, "", 30, 2)].op = 4;
        REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
        CHECK_UINT(made.p.n_host_ops, i < 3 ? 1 : 3);
        if (i < 3)
            check_host(0, "compilation", "compilation", 1.5, 3, 1.5, 6);
        release(&made);
    }
    fill_host(); /* an operator of that name is no mark */
    made.ops[4].kind = MSIM_OP_OPERATOR;
    host_op(0, 3, 5);
    REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
    check_host(0, "mul", "host", 0.5, 1.5, 1, 2.5);
    release(&made);
}

/* Another rank's, a kernel, what takes no time, what begins in no iteration,
 * and a gap of another thread are none of it. */
static void test_analysis_host__left_out(void)
{
    fill_host();
    add(&made, 0, MSIM_TASK_CALL, "x", 0, 5);
    add(&made, 1, MSIM_TASK_KERNEL, "x", 0, 5);
    add(&made, 1, MSIM_TASK_CALL, "x", 0, 0);
    add(&made, 1, MSIM_TASK_CALL, "x", 100, 5);
    add(&made, 1, MSIM_TASK_CALL, "x", 300, 5);
    made.lane[add(&made, 1, MSIM_TASK_GAP, "", 0, 5)] = 3;
    REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
    CHECK_UINT(made.p.n_host_ops, 0);
    made.lane[add(&made, 1, MSIM_TASK_CALL, "x", 99, 5)] = 3;
    REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
    REQUIRE(made.p.n_host_ops == 1);
    check_host(0, "x", "call", 0.5, 2.5, 2, 3.5);
    release(&made);
}

/* Of equal times by name, then by kind. */
static void test_analysis_host__ties(void)
{
    fill_host();
    add(&made, 1, MSIM_TASK_CALL, "mm", 0, 5);
    add(&made, 1, MSIM_TASK_CALL, "add", 5, 5);
    host_op(10, 5, 0);
    REQUIRE(msim_analyse_host(&made.f, 1) == MSIM_OK);
    REQUIRE(made.p.n_host_ops == 3);
    CHECK_STR(made.p.host_ops[0].name, "add");
    CHECK_STR(made.p.host_ops[1].kind, "call");
    CHECK_STR(made.p.host_ops[2].kind, "host");
    release(&made);
}

/* ---- edges, waits, copies ------------------------------------------------ */

static void test_analysis_known__edges(void)
{
    static const uint8_t KINDS[] = {
        MSIM_EDGE_BYTE(MSIM_EDGE_STREAM, MSIM_FROM_ORDER),
        MSIM_EDGE_BYTE(MSIM_EDGE_LAUNCH, MSIM_FROM_TIMES),
        MSIM_EDGE_BYTE(MSIM_EDGE_LAUNCH, MSIM_FROM_IDS),
        MSIM_EDGE_BYTE(MSIM_EDGE_LAUNCH, MSIM_FROM_IDS),
        MSIM_EDGE_BYTE(MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER)};
    static const uint32_t BY[] = {0, 3, 2, MSIM_BY_SM, MSIM_BY_NOTHING, 3};

    make(&made);
    memcpy(made.edge_kind, KINDS, sizeof(KINDS));
    memcpy(made.by, BY, sizeof(BY));
    made.g.n_edges = 5;
    made.g.n_tasks = 6;
    REQUIRE(msim_analyse_edges(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_edges == 4);
    CHECK_STR(made.p.edges[0].kind, msim_edge_text(MSIM_EDGE_PROGRAM));
    CHECK_UINT(made.p.edges[0].count, 1);
    CHECK_UINT(made.p.edges[0].binding, 0);
    for (int i = 0; i < 3; i++) {
        const struct msim_edge_row *r = &made.p.edges[i + 1];

        CHECK_STR(r->kind,
                  msim_edge_text(i < 2 ? MSIM_EDGE_LAUNCH : MSIM_EDGE_STREAM));
        CHECK_STR(r->source, msim_edge_source_text(i == 0   ? MSIM_FROM_IDS
                                                   : i == 1 ? MSIM_FROM_TIMES
                                                            : MSIM_FROM_ORDER));
        CHECK_UINT(r->count, i ? 1 : 2);
        CHECK_UINT(r->binding, i == 0 ? 3 : i == 1 ? 0 : 1);
    }
    release(&made);
}

static void check_list(const struct msim_wait_list *l, uint32_t n,
                       const char *first, double us, const char *last,
                       double last_us)
{
    if (!CHECK_UINT(l->n, n))
        return;
    CHECK_STR(l->rows[0].name, first);
    CHECK_REL(l->rows[0].us, us, 1e-12);
    CHECK_STR(l->rows[n - 1].name, last);
    CHECK_REL(l->rows[n - 1].us, last_us, 1e-12);
}

/* Of one rank's windows, longest first, then by name. */
static void test_analysis_known__waits(void)
{
    struct msim_waits w[4] = {0};
    struct msim_wait_rows rows;

    make(&made);
    w[1].main[MSIM_EDGE_LAUNCH] = 10 * US;
    w[3].main[MSIM_EDGE_LAUNCH] = 30 * US;
    w[3].main[MSIM_HOLD_UNKNOWN] = 90 * US;
    w[0].main[MSIM_EDGE_QUEUE] = 70 * US; /* another rank's */
    w[1].host[MSIM_EDGE_QUEUE] = 8 * US;
    w[3].idle[MSIM_EDGE_LAUNCH] = 6 * US;
    w[3].idle[MSIM_EDGE_EVENT] = 6 * US;
    w[1].device[0] = 2 * US;
    REQUIRE(msim_analyse_waits(&made.f, w, 1, &rows) == MSIM_OK);
    check_list(&rows.main_thread, 2, "unknown", 45, "launch", 20);
    check_list(&rows.threads, 1, "launch queue full", 4, "launch queue full",
               4);
    check_list(&rows.gpu_idle, 2, "launch", 3, "stream waits for event", 3);
    check_list(&rows.streams, 1, "program order", 1, "program order", 1);
    made.f.iteration = 0;
    REQUIRE(msim_analyse_waits(&made.f, w, 1, &rows) == MSIM_OK);
    check_list(&rows.main_thread, 1, "launch", 10, "launch", 10);
    CHECK_UINT(rows.gpu_idle.n, 0);
    release(&made);
}

/* In the order of kinds; of measured durations alone. */
static void test_analysis_known__copied(void)
{
    make(&made);
    made.g.copied[MSIM_COPIED_HOST] = 3 * US;
    made.g.copied[MSIM_COPIED_KERNEL] = 5 * US;
    made.g.copied[MSIM_COPIED_UNEXPLAINED] = 7 * US;
    REQUIRE(msim_analyse_copied(&made.f) == MSIM_OK);
    REQUIRE(made.p.n_copied == 3);
    CHECK_STR(made.p.copied[0].name, "host work in operators");
    CHECK_REL(made.p.copied[0].us, 3, 1e-12);
    CHECK_STR(made.p.copied[1].name, "kernels");
    CHECK_STR(made.p.copied[2].name, "delays without a cause");
    CHECK_REL(made.p.unexplained_us, 7, 1e-12);
    made.p.n_copied = 0;
    made.o.measured = false;
    REQUIRE(msim_analyse_copied(&made.f) == MSIM_OK);
    CHECK_UINT(made.p.n_copied, 0);
    release(&made);
}

int main(void)
{
    RUN(test_analysis_kernels__rows);
    RUN(test_analysis_kernels__of_one_iteration);
    RUN(test_analysis_kernels__none);
    RUN(test_analysis_host__operators);
    RUN(test_analysis_host__compilation);
    RUN(test_analysis_host__left_out);
    RUN(test_analysis_host__ties);
    RUN(test_analysis_known__edges);
    RUN(test_analysis_known__waits);
    RUN(test_analysis_known__copied);
    return check_summary();
}
