/*
 * tests/unit/core/report/analyse/test_timeline.c - a run as bars, arrows and
 * counters.
 *
 * A thread and a stream of one rank, in us:
 *
 *     thread  mm 0..10 | launch 10..12 | (waits) | sync 117..119 | gap ..122
 *     stream                  5 later: gemm 17..117 | 3 later: copy 120..140
 *
 * The iteration is from mm to sync.
 */
#include "core/report/analyse/outcome.h"
#include "tests/check.h"

#include <stdlib.h>

#define TASKS 6
#define US    ((msim_ps)MSIM_PS_PER_US)

enum { MM, LAUNCH, SYNC, GAP, GEMM, COPY };

struct made {
    struct msim_graph g;
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_op ops[1];
    struct msim_arg args[1];
    struct msim_arg_block blocks[1];
    struct msim_thread threads[1];
    struct msim_stream streams[1];
    struct msim_gpu gpu[2];
    struct msim_call calls[2];
    struct msim_launch_config configs[1];
    uint8_t kind[TASKS], made_by[TASKS], edge_kind[6];
    uint32_t lane[TASKS], window[TASKS], n_preds[TASKS];
    uint32_t edge_begin[TASKS + 1];
    struct msim_edge edges[6];
    struct msim_lane lanes[2];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS], traced[TASKS];
    struct msim_window windows[1];
    int64_t iterations[1];
    struct msim_outcome o;
    struct msim_timeline *tl;
};

static struct made made;
static int64_t dims[] = {2, 3};
static uint32_t topmost[] = {0};

static uint32_t name_of(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(made.job.strings, text, strlen(text), &id),
              MSIM_OK);
    return id;
}

static void set_task(uint32_t t, uint8_t kind, uint32_t lane, uint32_t index,
                     msim_ps start, msim_ps dur)
{
    made.kind[t] = kind;
    made.lane[t] = lane;
    made.window[t] = lane ? 0 : MSIM_NONE;
    made.refs[t] = (struct msim_task_ref){.index = index, .op = MSIM_NONE};
    made.start[t] = start;
    made.dur[t] = dur;
    made.n_preds[t] = t ? 1 : 0;
}

static void add_edge(uint32_t from, uint32_t to, uint8_t kind, msim_ps lag)
{
    uint32_t e = made.g.n_edges++;

    made.edges[e] = (struct msim_edge){to, lag};
    made.edge_kind[e] = MSIM_EDGE_BYTE(kind, MSIM_FROM_IDS);
    for (uint32_t t = from + 1; t <= TASKS; t++)
        made.edge_begin[t] = made.g.n_edges;
}

static void set_trace(void)
{
    struct msim_trace *t = &made.trace;

    made.ops[0] = msim_op_empty();
    made.ops[0].name = name_of("aten::mm");
    made.ops[0].args = 0;
    made.args[0] = (struct msim_arg){.kind = MSIM_ARG_TENSOR, .n = 2};
    made.blocks[0] = (struct msim_arg_block){0, 1};
    made.threads[0].tid = 11;
    made.streams[0] = (struct msim_stream){.id = 7};
    made.calls[0] =
        (struct msim_call){.name = name_of("cudaLaunchKernel"), .start = 501};
    made.calls[1] = (struct msim_call){.name = name_of("sync"), .start = 502};
    made.gpu[0] = (struct msim_gpu){
        .name = name_of("gemm"), .start = 503, .correlation = 9};
    made.gpu[1] = (struct msim_gpu){
        .name = name_of("copy"), .start = 504, .config = MSIM_NONE};
    *t = (struct msim_trace){.strings = made.job.strings,
                             .ops = made.ops,
                             .n_ops = 1,
                             .topmost = topmost,
                             .args = made.args,
                             .blocks = made.blocks,
                             .n_blocks = 1,
                             .dims = dims,
                             .threads = made.threads,
                             .n_threads = 1,
                             .streams = made.streams,
                             .n_streams = 1,
                             .gpu = made.gpu,
                             .n_gpu = 2,
                             .calls = made.calls,
                             .n_calls = 2,
                             .configs = made.configs,
                             .rank = 4,
                             .has_times = true,
                             .has_gpu_events = true};
}

/* The gemm takes `gemm` ps; what waits for it is of kind `sync`. */
static void make(msim_ps gemm, uint8_t sync)
{
    static const char *const NAMES[] = {"measured"};
    struct made *m = &made;
    msim_ps end = 17 * US + gemm;

    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->job.strings), MSIM_OK);
    m->job.n_ranks = 1;
    m->job.ranks = m->ranks;
    m->ranks[0] = &m->trace;
    set_trace();
    set_task(MM, MSIM_TASK_HOST, 0, 0, 0, 10 * US);
    set_task(LAUNCH, MSIM_TASK_CALL, 0, 0, 10 * US, 2 * US);
    set_task(SYNC, sync, 0, sync == MSIM_TASK_CALL ? 1 : MSIM_NONE, end,
             2 * US);
    set_task(GAP, MSIM_TASK_GAP, 0, MSIM_NONE, end + 2 * US, 3 * US);
    set_task(GEMM, MSIM_TASK_KERNEL, 1, 0, 17 * US, gemm);
    set_task(COPY, MSIM_TASK_COPY, 1, 1, end + 3 * US, 20 * US);
    m->n_preds[SYNC] = 2;
    m->refs[MM].op = m->refs[GEMM].op = 0;
    add_edge(MM, LAUNCH, MSIM_EDGE_PROGRAM, 0);
    add_edge(LAUNCH, SYNC, MSIM_EDGE_PROGRAM, 0);
    add_edge(LAUNCH, GEMM, MSIM_EDGE_LAUNCH, 5 * US);
    add_edge(SYNC, GAP, MSIM_EDGE_PROGRAM, 0);
    add_edge(GEMM, SYNC, MSIM_EDGE_DEVICE_SYNC, 0);
    add_edge(GEMM, COPY, MSIM_EDGE_STREAM, 3 * US);
    m->lanes[1].device = true;
    m->windows[0] = (struct msim_window){.first = MM, .last = SYNC};
    m->iterations[0] = 5;
    m->g = (struct msim_graph){.job = &m->job,
                               .n_tasks = TASKS,
                               .n_edges = 6,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .n_preds = m->n_preds,
                               .edge_begin = m->edge_begin,
                               .edges = m->edges,
                               .edge_kind = m->edge_kind,
                               .traced = m->traced,
                               .refs = m->refs,
                               .lanes = m->lanes,
                               .n_lanes = 2,
                               .windows = m->windows,
                               .n_windows = 1,
                               .iterations = m->iterations,
                               .n_iterations = 1};
    m->o = (struct msim_outcome){.graph = &m->g,
                                 .mid = {.start = m->start, .dur = m->dur},
                                 .made_by = m->made_by,
                                 .made_by_names = NAMES,
                                 .n_made_by = 1,
                                 .measured = true};
    CHECK_INT(msim_timeline_new(&m->tl, &m->o), MSIM_OK);
}

static void release(void)
{
    msim_timeline_free(made.tl);
    msim_strtab_free(made.job.strings);
}

static void check_span(uint32_t i, const char *name, const char *category,
                       uint32_t lane, msim_ps start, msim_ps dur, bool critical)
{
    const struct msim_span *s = &made.tl->spans[i];

    if (!CHECK(i < made.tl->n_spans))
        return;
    CHECK_STR(s->name, name);
    CHECK_STR(s->category, category);
    CHECK_UINT(s->lane, lane);
    CHECK_UINT(s->rank, 0);
    CHECK_INT(s->start, start);
    CHECK_INT(s->dur, dur);
    CHECK_INT(s->critical, critical);
    CHECK_INT(s->work, strcmp(category, "wait") != 0);
}

static void test_timeline__bars(void)
{
    const struct msim_span *s;

    make(100 * US, MSIM_TASK_CALL);
    REQUIRE(made.tl != NULL && made.tl->n_spans == 6);
    check_span(0, "aten::mm", "cpu_op", 0, 0, 10 * US, true);
    check_span(1, "cudaLaunchKernel", "cuda_runtime", 0, 10 * US, 2 * US, true);
    check_span(2, "wait: device synchronisation", "wait", 0, 12 * US, 105 * US,
               false);
    check_span(3, "sync", "cuda_runtime", 0, 117 * US, 2 * US, true);
    check_span(4, "gemm", "kernel", 1, 17 * US, 100 * US, true);
    check_span(5, "copy", "gpu_memcpy", 1, 120 * US, 20 * US, false);
    s = made.tl->spans;
    CHECK_STR(s[0].detail, "measured");
    CHECK(s[0].op == NULL && s[0].shapes == NULL && s[0].config == NULL);
    CHECK_INT(s[0].traced, MSIM_TIME_NONE);
    CHECK_INT(s[1].traced, 501);
    CHECK_INT(s[1].arrival, 10 * US);
    CHECK_INT(s[3].traced, 502);
    CHECK_INT(s[3].arrival, 12 * US); /* it came then, and waited */
    CHECK_INT(s[4].traced, 503);
    CHECK_INT(s[4].arrival, 17 * US);
    CHECK_STR(s[4].op, "aten::mm");
    CHECK_STR(s[4].shapes, "[2,3]");
    CHECK_UINT(s[4].correlation, 9);
    CHECK(s[4].config == &made.configs[0]);
    CHECK_INT(s[5].traced, 504);
    CHECK_INT(s[5].arrival, 120 * US); /* a kernel's wait is its stream's */
    CHECK(s[5].op == NULL && s[5].config == NULL);
    CHECK_INT(s[0].slack, 0);
    CHECK_UINT(made.tl->n_lanes, 2);
    CHECK_STR(made.tl->lanes[0].name, "thread 11");
    CHECK_STR(made.tl->lanes[1].name, "stream 7");
    CHECK_INT(made.tl->lanes[1].rank, 4);
    CHECK(!made.tl->lanes[0].device && made.tl->lanes[1].device);
    release();
}

/* Times of a trace are told of measured runs. */
static void test_timeline__predicted(void)
{
    struct msim_timeline *tl = NULL;

    make(100 * US, MSIM_TASK_CALL);
    made.o.measured = false;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK);
    for (uint32_t i = 0; i < tl->n_spans; i++)
        if (tl->spans[i].work)
            CHECK_INT(tl->spans[i].traced, MSIM_TIME_NONE);
    msim_timeline_free(tl);
    release();
}

static void check_mark(const struct msim_mark *m, const char *name,
                       const char *kind, msim_ps start, msim_ps dur,
                       uint32_t lane)
{
    CHECK_STR(m->name, name);
    CHECK_STR(m->kind, kind);
    CHECK_INT(m->start, start);
    CHECK_INT(m->dur, dur);
    CHECK_INT(m->rank, 4);
    CHECK_UINT(m->lane, lane);
}

/* Without a gap from the begin of the iteration to its end. */
static void test_timeline__path(void)
{
    const struct msim_mark *p;

    make(100 * US, MSIM_TASK_CALL);
    REQUIRE(made.tl != NULL && made.tl->n_path == 5);
    p = made.tl->path;
    check_mark(&p[0], "aten::mm", "host", 0, 10 * US, 0);
    check_mark(&p[1], "cudaLaunchKernel", "call", 10 * US, 2 * US, 0);
    check_mark(&p[2], "launch", "latency", 12 * US, 5 * US, 1);
    check_mark(&p[3], "gemm", "kernel", 17 * US, 100 * US, 1);
    check_mark(&p[4], "sync", "call", 117 * US, 2 * US, 0);
    REQUIRE(made.tl->n_steps == 1);
    check_mark(made.tl->steps, "ProfilerStep#5", "step", 0, 119 * US,
               MSIM_NONE);
    release();
}

/* A recording without marks is one; the first step may be number 0. */
static void test_timeline__steps(void)
{
    struct msim_timeline *tl = NULL;

    make(100 * US, MSIM_TASK_CALL);
    made.iterations[0] = -1;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK && tl->n_steps == 1);
    CHECK_STR(tl->steps[0].name, "trace");
    msim_timeline_free(tl);
    made.iterations[0] = 0;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK && tl->n_steps == 1);
    CHECK_STR(tl->steps[0].name, "ProfilerStep#0");
    msim_timeline_free(tl);
    release();
}

static void check_arrow(const struct msim_arrow *a, const char *name,
                        msim_ps from_at, msim_ps to_at, uint32_t from,
                        bool to_wait)
{
    CHECK_STR(a->name, name);
    CHECK_INT(a->from_at, from_at);
    CHECK_INT(a->to_at, to_at);
    CHECK_UINT(a->from_lane, from);
    CHECK_UINT(a->to_lane, 1 - from);
    CHECK_INT(a->to_wait, to_wait);
}

/* From lane to lane: a launch leaves as its call ends, all else just before
 * the bar ends, if that is longer than a nanosecond. */
static void check_arrows(msim_ps gemm, uint8_t sync, msim_ps before_from,
                         msim_ps before_to)
{
    msim_ps end = 17 * US + gemm;

    make(gemm, sync);
    REQUIRE(made.tl != NULL && made.tl->n_arrows == 2);
    check_arrow(&made.tl->arrows[0], "launch", 12 * US, 17 * US, 0, false);
    check_arrow(&made.tl->arrows[1], "device synchronisation",
                end - before_from, end - before_to, 1, sync == MSIM_TASK_GAP);
    REQUIRE(made.tl->n_launches == 1);
    check_arrow(&made.tl->launches[0], "launch", 12 * US, 17 * US, 0, false);
    release();
}

static void test_timeline__arrows(void)
{
    check_arrows(100 * US, MSIM_TASK_CALL, 1000, 0);
    check_arrows(1001, MSIM_TASK_CALL, 1000, 0);
    check_arrows(1000, MSIM_TASK_CALL, 0, 0);
    check_arrows(100 * US, MSIM_TASK_GAP, 1000, 1000); /* to its wait */
}

/* A kernel may start before its call returns: the arrow is upright then. */
static void test_timeline__launch_before_return(void)
{
    struct msim_timeline *tl = NULL;

    make(100 * US, MSIM_TASK_CALL);
    made.start[GEMM] = 11 * US;
    made.dur[GEMM] = 106 * US;
    made.edges[2].lag = -1 * US;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK);
    REQUIRE(tl->n_launches == 1);
    CHECK_INT(tl->launches[0].from_at, 11 * US);
    CHECK_INT(tl->launches[0].to_at, 11 * US);
    for (uint32_t i = 0; i < tl->n_loads; i++) /* nothing is queued */
        CHECK_INT(tl->loads[i].queued, 0);
    msim_timeline_free(tl);
    made.start[GEMM] = 9 * US; /* before the call itself: none */
    made.edges[2].lag = -3 * US;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK);
    CHECK_UINT(tl->n_launches, 0);
    msim_timeline_free(tl);
    release();
}

/* What runs on the GPU and what is queued, at each instant of a change. */
static void test_timeline__loads(void)
{
    static const struct {
        msim_ps us;
        int32_t busy, queued;
    } WANT[] = {{12, 0, 1}, {17, 1, 0}, {117, 0, 0}, {120, 1, 0}, {140, 0, 0}};

    make(100 * US, MSIM_TASK_CALL);
    REQUIRE(made.tl != NULL && made.tl->n_loads == 5);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(made.tl->loads[i].at, WANT[i].us * US);
        CHECK_INT(made.tl->loads[i].rank, 4);
        CHECK_INT(made.tl->loads[i].busy, WANT[i].busy);
        CHECK_INT(made.tl->loads[i].queued, WANT[i].queued);
    }
    release();
}

/* What takes no time has no bar, and runs at no instant; any task may launch
 * another. */
static void test_timeline__no_time(void)
{
    struct msim_timeline *tl = NULL;

    make(100 * US, MSIM_TASK_CALL);
    made.dur[COPY] = 0;
    made.edge_kind[0] = MSIM_EDGE_BYTE(MSIM_EDGE_LAUNCH, MSIM_FROM_IDS);
    made.edges[0].lag = 1 * US;
    made.start[LAUNCH] = 11 * US;
    made.dur[LAUNCH] = 1 * US;
    REQUIRE(msim_timeline_new(&tl, &made.o) == MSIM_OK);
    for (uint32_t i = 0; i < tl->n_spans; i++)
        CHECK(strcmp(tl->spans[i].name, "copy") != 0);
    REQUIRE(tl->n_loads == 5); /* 10, 11, 12, 17 and 117 */
    CHECK_INT(tl->loads[0].at, 10 * US);
    CHECK_INT(tl->loads[0].queued, 1);
    CHECK_INT(tl->loads[1].queued, 0);
    CHECK_INT(tl->loads[4].at, 117 * US);
    msim_timeline_free(tl);
    release();
}

int main(void)
{
    RUN(test_timeline__bars);
    RUN(test_timeline__predicted);
    RUN(test_timeline__path);
    RUN(test_timeline__steps);
    RUN(test_timeline__arrows);
    RUN(test_timeline__launch_before_return);
    RUN(test_timeline__loads);
    RUN(test_timeline__no_time);
    return check_summary();
}
