/*
 * tests/unit/core/graph/rules/test_graph_queue.c - calls that wait for room in
 * the launch queue of their stream.
 */
#include "core/graph/rules/graph_rules.h"

#include "tests/check.h"

#include <stdlib.h>

#define MOST 1100
#define US   ((msim_ps)MSIM_PS_PER_US)
#define TOOK (100 * US) /* an activity */

static struct msim_call calls[MOST];
static struct msim_gpu gpu[2 * MOST];
static struct msim_stream streams[2];
static uint32_t of_call[MOST], of_gpu[2 * MOST];
static msim_ps traced[MOST], tstart[MOST], tend[MOST];
static struct msim_trace t;
static struct msim_rank_tasks r;
static struct msim_graph_options opt;
static struct msim_graph g;
static struct msim_job job;
static struct msim_graph_builder b;

/* `n` launches, of which activity i ends at (i + 1) x TOOK, and the last of all
 * long after the calls. Tasks of calls are 0, 1, ..., those of activities
 * 10000, 10001, ... */
static void make(uint32_t n)
{
    memset(streams, 0, sizeof(streams));
    t = (struct msim_trace){.calls = calls,
                            .n_calls = n,
                            .gpu = gpu,
                            .n_gpu = n,
                            .streams = streams,
                            .n_streams = 1};
    streams[0].gpu_end = n;
    job = (struct msim_job){.n_ranks = 1};
    g = (struct msim_graph){.traced = traced};
    opt = (struct msim_graph_options){.device_times = true};
    b = (struct msim_graph_builder){
        .g = &g, .job = &job, .opt = &opt, .tstart = tstart, .tend = tend};
    r = (struct msim_rank_tasks){
        .trace = &t, .of_call = of_call, .of_gpu = of_gpu};
    for (uint32_t i = 0; i < n; i++) {
        gpu[i] = (struct msim_gpu){.start = i * TOOK, .dur = TOOK, .call = i};
        calls[i] = (struct msim_call){.dur = US};
        of_call[i] = i;
        of_gpu[i] = 10000 + i;
    }
}

/* A call that takes `dur` returns at `end`. */
static void set_call(uint32_t i, msim_ps end, msim_ps dur)
{
    calls[i].start = end - dur;
    calls[i].dur = dur;
}

/* From launch `depth` on calls block, and return `later` than the activity that
 * makes room ends. */
static void block(uint32_t depth, msim_ps later, msim_ps dur)
{
    for (uint32_t i = depth; i < t.n_calls; i++)
        set_call(i, (i - depth + 1) * TOOK + later, dur);
}

/* How many edges there are; the nth call that waits does so for the nth
 * activity, with this lag. */
static void check_edges(uint32_t n, uint32_t first, enum msim_edge_source from,
                        msim_ps lag)
{
    for (uint32_t i = 0; i < t.n_calls; i++) {
        tstart[i] = calls[i].start;
        tend[i] = calls[i].start + calls[i].dur;
        traced[i] = calls[i].dur;
    }
    CHECK_INT(msim_graph_queue(&b, &r), MSIM_OK);
    if (CHECK_UINT(b.n_edges, n))
        for (uint32_t i = 0; i < n; i++) {
            CHECK_UINT(b.edges[i].from, 10000 + i);
            CHECK_UINT(b.edges[i].edge.to, first + i);
            CHECK_INT(b.edges[i].edge.lag, lag);
            CHECK_INT(msim_edge_kind_of(b.edges[i].kind), MSIM_EDGE_QUEUE);
            CHECK_INT(msim_edge_source_of(b.edges[i].kind), from);
        }
}

static void done(void)
{
    free(b.edges);
    free(job.warnings);
    msim_arena_release(&job.arena);
}

/* Where nothing shows it, a queue holds 1,024. */
static void test_graph_queue__assumed(void)
{
    make(1024);
    opt.device_times = false;
    check_edges(0, 0, MSIM_FROM_ORDER, 0);
    done();
    make(1026);
    opt.device_times = false;
    check_edges(2, 1024, MSIM_FROM_ORDER, 0);
    CHECK_INT(traced[1024], US); /* no time is read */
    done();
    make(1026); /* one of another host, and one that is not recorded */
    opt.device_times = false;
    gpu[1024].call = MSIM_NONE;
    of_call[1025] = MSIM_NONE;
    check_edges(0, 0, MSIM_FROM_ORDER, 0);
    done();
}

/* All activities of a CUDA graph are one launch, whose last one makes room. */
static void test_graph_queue__graphs(void)
{
    make(1027);
    opt.device_times = false;
    gpu[1].call = 0;
    CHECK_INT(msim_graph_queue(&b, &r), MSIM_OK);
    REQUIRE(b.n_edges == 2);
    CHECK_UINT(b.edges[0].from, 10001);
    CHECK_UINT(b.edges[0].edge.to, 1025);
    CHECK_UINT(b.edges[1].from, 10002);
    CHECK_UINT(b.edges[1].edge.to, 1026);
    done();
}

/* Calls that block show the depth: eight of them, long, of 128 launches at
 * least, which return soon behind the end of an activity. */
static void test_graph_queue__found(void)
{
    static const struct {
        uint32_t depth, n;
        int later, dur; /* us */
        bool found;
    } cases[] = {
        {200, 8, 5, 20, true},  {200, 20, 5, 50, true},  {200, 7, 5, 20, false},
        {200, 8, 5, 19, false}, {128, 8, 5, 20, true},   {127, 8, 5, 20, false},
        {200, 8, 25, 60, true}, {200, 8, 26, 60, false}, {200, 8, -2, 20, true},
        {200, 8, 19, 20, true}, {200, 8, 20, 20, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t n = cases[i].found ? cases[i].n : 0, depth = cases[i].depth;
        msim_ps later = cases[i].later * US;

        make(depth + cases[i].n);
        block(depth, later, cases[i].dur * US);
        check_edges(n, depth, MSIM_FROM_TIMES, later < 0 ? later : 0);
        /* what is behind the end is work of the call */
        CHECK_INT(traced[depth], !cases[i].found ? cases[i].dur * US
                                 : later > 0     ? later
                                                 : 0);
        done();
    }
}

/* A call that does not block has the depth of the others. */
static void test_graph_queue__others(void)
{
    make(200 + 30);
    block(200, 5 * US, 20 * US);
    set_call(225, calls[225].start + 20 * US, 2 * US); /* short, yet full */
    for (uint32_t i = 0; i < t.n_calls; i++) {
        tstart[i] = calls[i].start;
        tend[i] = calls[i].start + calls[i].dur;
        traced[i] = calls[i].dur;
    }
    CHECK_INT(msim_graph_queue(&b, &r), MSIM_OK);
    REQUIRE(b.n_edges == 30);
    CHECK_UINT(b.edges[25].from, 10025);
    CHECK_UINT(b.edges[25].edge.to, 225);
    CHECK_INT(msim_edge_source_of(b.edges[25].kind), MSIM_FROM_ORDER);
    CHECK_INT(b.edges[25].edge.lag, 0);
    done();
}

/* What ends on another stream of the device makes room, too. */
static void test_graph_queue__other_streams(void)
{
    for (int64_t device = 0; device < 2; device++) {
        make(208);
        block(200, 40 * US, 60 * US);
        for (uint32_t i = 0; i < 8; i++) {
            gpu[208 + i] = (struct msim_gpu){
                .start = i * TOOK, .dur = TOOK + 30 * US, .call = MSIM_NONE};
            of_gpu[208 + i] = 10000 + i;
        }
        streams[1] = (struct msim_stream){
            .device = device, .gpu_begin = 208, .gpu_end = 216};
        t.n_streams = 2;
        t.n_gpu = 216;
        check_edges(device ? 0 : 8, 200, MSIM_FROM_TIMES, 0);
        CHECK_UINT(job.n_warnings, device ? 1 : 0);
        done();
    }
}

/* Long calls at the largest backlog that end with nothing are said, where they
 * take a hundredth of the calls' time. */
static void test_graph_queue__unexplained(void)
{
    static const struct {
        uint32_t n;
        msim_ps rest; /* of all other calls */
        bool said;
    } cases[] = {
        {8, 0, true},
        {7, 0, false},
        {8, 99 * 8 * 60 * US, true},
        {8, 99 * 8 * 60 * US + 100 * US, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        make(200 + cases[i].n);
        block(200, 40 * US, 60 * US);
        for (uint32_t k = 0; k < 200; k++)
            calls[k].dur = k ? 0 : cases[i].rest;
        check_edges(0, 0, MSIM_FROM_TIMES, 0);
        REQUIRE(job.n_warnings == cases[i].said);
        if (cases[i].said)
            CHECK_STR(job.warnings[0],
                      "8 launches of rank 0 took 0.5 ms in all with the launch "
                      "queue at 175 or more, and no activity ended just before "
                      "they returned: their time counts as host work");
        done();
    }
}

int main(void)
{
    RUN(test_graph_queue__assumed);
    RUN(test_graph_queue__graphs);
    RUN(test_graph_queue__found);
    RUN(test_graph_queue__others);
    RUN(test_graph_queue__other_streams);
    RUN(test_graph_queue__unexplained);
    return check_summary();
}
