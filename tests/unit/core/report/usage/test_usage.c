/*
 * tests/unit/core/report/usage/test_usage.c - what a GPU does over time, of a
 * run that is made by hand.
 */
#include "core/report/usage/usage.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

#define TASKS  4
#define US(us) ((msim_ps)(us)*MSIM_PS_PER_US)

/* One rank: its host works for 40 us, its GPU has two streams. */
struct made {
    struct msim_job job;
    struct msim_trace trace, *ranks[1];
    struct msim_stream streams[2];
    struct msim_graph g;
    struct msim_lane lanes[3];
    struct msim_window windows[1];
    uint8_t kind[TASKS];
    uint32_t lane[TASKS], window[TASKS], edge_begin[TASKS + 1];
    struct msim_task_ref refs[TASKS];
    msim_ps start[TASKS], dur[TASKS];
    struct msim_outcome o;
    struct msim_holding holding[TASKS];
    float flops[TASKS];
    struct msim_limits limits[TASKS];
    struct msim_prediction p;
    struct msim_usage_ask ask;
};

static void made_init(struct made *m)
{
    *m = (struct made){
        .lanes = {{0, 0, false}, {0, 0, true}, {0, 1, true}},
        .windows = {{.first = MSIM_NONE, .last = MSIM_NONE}},
        .lane = {0, 1, 2, 1},
        .dur = {US(40)},
    };
    m->trace.rank = 3;
    m->trace.streams = m->streams;
    m->trace.n_streams = 2;
    m->ranks[0] = &m->trace;
    m->job.ranks = m->ranks;
    m->job.n_ranks = 1;
    m->g = (struct msim_graph){.job = &m->job,
                               .kind = m->kind,
                               .lane = m->lane,
                               .window = m->window,
                               .edge_begin = m->edge_begin,
                               .refs = m->refs,
                               .n_tasks = 1,
                               .lanes = m->lanes,
                               .n_lanes = 3,
                               .windows = m->windows,
                               .n_windows = 1,
                               .n_iterations = 1};
    m->o = (struct msim_outcome){.graph = &m->g,
                                 .mid = {.start = m->start, .dur = m->dur},
                                 .flops = m->flops,
                                 .limits = m->limits};
    m->ask = (struct msim_usage_ask){
        .o = &m->o,
        .iteration = UINT32_MAX,
        .device = {.bandwidth = 1e12, .idle_watts = 100, .limit_watts = 400},
        .holding = m->holding};
    msim_arena_init(&m->p.arena);
}

/* A kernel that holds `sms` and `threads` from `start` for `us`. */
static void kernel(struct made *m, double start, double us, double sms,
                   double threads)
{
    uint32_t t = m->g.n_tasks++;

    m->kind[t] = MSIM_TASK_KERNEL;
    m->start[t] = US(start);
    m->dur[t] = US(us);
    m->holding[t] = (struct msim_holding){.n = 1, .of = {{1, sms, threads}}};
}

static const struct msim_usage_note *found(struct made *m)
{
    CHECK_INT(msim_usage_find(&m->ask, &m->p), MSIM_OK);
    CHECK_UINT(m->p.n_usage, 1);
    return m->p.usage;
}

static void made_end(struct made *m)
{
    msim_arena_release(&m->p.arena);
}

/* The example of usage.h: half of the SMs for 10 of 40 us. */
static void test_usage__weighs_by_time(void)
{
    const struct msim_usage_figure *f;
    const struct msim_usage_note *n;
    struct made m;

    made_init(&m);
    kernel(&m, 10, 10, 0.5, 0.25);
    n = found(&m);
    f = &n->of[MSIM_USAGE_SMS];
    CHECK_INT(n->rank, 3);
    CHECK_INT(n->end - n->begin, US(40));
    CHECK_REL(f->mean, 0.125, 1e-9);
    CHECK(f->p10 == 0 && f->median == 0);
    CHECK_REL(f->p90, 0.5, 1e-9);
    CHECK_REL(f->most, 0.5, 1e-9);
    CHECK_REL(n->of[MSIM_USAGE_OCCUPANCY].mean, 0.0625, 1e-9);
    CHECK_UINT(n->n_steps, 3);
    CHECK_INT(n->steps[1].at, US(10));
    CHECK_INT(n->steps[2].at, US(20));
    made_end(&m);
}

/* Two kernels of 0.75 at once for 5 of their 10 us: no more than all SMs. */
static void test_usage__no_more_than_there_is(void)
{
    const struct msim_usage_note *n;
    struct made m;

    made_init(&m);
    kernel(&m, 0, 10, 0.75, 0.25);
    kernel(&m, 5, 10, 0.75, 0.25);
    n = found(&m);
    CHECK_REL(n->of[MSIM_USAGE_SMS].mean, (5 * 0.75 + 5 + 5 * 0.75) / 40, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_OCCUPANCY].mean, 20 * 0.25 / 40, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_SMS].most, 1, 1e-9);
    made_end(&m);
}

/* The last of three waves holds a fifth. */
static void test_usage__waves(void)
{
    const struct msim_usage_note *n;
    struct made m;

    made_init(&m);
    kernel(&m, 0, 30, 1, 1);
    m.holding[1] = (struct msim_holding){
        .n = 2, .of = {{2 / 3.0, 1, 0.8}, {1 / 3.0, 0.2, 0.1}}};
    n = found(&m);
    CHECK_REL(n->of[MSIM_USAGE_SMS].mean, (20 + 10 * 0.2) / 40, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_OCCUPANCY].mean, (20 * 0.8 + 1) / 40, 1e-6);
    CHECK_INT(n->steps[1].at, US(20));
    made_end(&m);
}

/* 10 us of memory and 4 of tensor cores in 20 us: half of the bandwidth, and
 * half of what lies between idle and the limit; 2e6 operations in 40 us. */
static void test_usage__memory_arithmetic_power(void)
{
    const struct msim_usage_note *n;
    struct made m;

    made_init(&m);
    kernel(&m, 0, 20, 1, 1);
    m.limits[1] = (struct msim_limits){.tensor = 4, .memory = 10};
    m.flops[1] = 2e6F;
    n = found(&m);
    CHECK_REL(n->of[MSIM_USAGE_MEMORY].mean, 0.25e12, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_MEMORY].most, 0.5e12, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_FLOPS].mean, 2e6 / 40e-6, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_POWER].mean, 100 + 300 * 0.25, 1e-6);
    CHECK_REL(n->of[MSIM_USAGE_POWER].p10, 100, 1e-6);
    m.o.limits = NULL; /* as traced */
    n = found(&m);
    CHECK(isnan(n->of[MSIM_USAGE_MEMORY].mean));
    CHECK(isnan(n->of[MSIM_USAGE_POWER].mean));
    CHECK_REL(n->of[MSIM_USAGE_SMS].mean, 0.5, 1e-6);
    made_end(&m);
}

/* A twentieth of the time of kernels may be without a launch, not more. Copies
 * hold nothing, and that is known. */
static void test_usage__unknown(void)
{
    const struct msim_usage_note *n;
    struct made m;

    made_init(&m);
    kernel(&m, 0, 19, 1, 0.5);
    kernel(&m, 20, 1, 0, 0);
    m.holding[2].n = 0;
    CHECK_REL(found(&m)->of[MSIM_USAGE_SMS].mean, 19 / 40.0, 1e-6);
    m.dur[2] = US(2);
    n = found(&m);
    CHECK(isnan(n->of[MSIM_USAGE_SMS].mean));
    CHECK(isnan(n->of[MSIM_USAGE_OCCUPANCY].mean));
    m.kind[2] = MSIM_TASK_COPY;
    CHECK_REL(found(&m)->of[MSIM_USAGE_SMS].mean, 19 / 40.0, 1e-6);
    m.holding[1].of[0].threads = NAN;
    n = found(&m);
    CHECK(isnan(n->of[MSIM_USAGE_OCCUPANCY].mean));
    CHECK_REL(n->of[MSIM_USAGE_SMS].mean, 19 / 40.0, 1e-6);
    made_end(&m);
}

/* Two GPUs of one rank, each with a curve of its own. */
static void test_usage__every_gpu(void)
{
    struct made m;

    made_init(&m);
    m.streams[1].device = 1;
    kernel(&m, 0, 10, 1, 1);
    kernel(&m, 0, 20, 1, 1);
    CHECK_INT(msim_usage_find(&m.ask, &m.p), MSIM_OK);
    CHECK_UINT(m.p.n_usage, 2);
    CHECK_INT(m.p.usage[0].device, 0);
    CHECK_INT(m.p.usage[1].device, 1);
    CHECK_REL(m.p.usage[0].of[MSIM_USAGE_SMS].mean, 0.25, 1e-6);
    CHECK_REL(m.p.usage[1].of[MSIM_USAGE_SMS].mean, 0.5, 1e-6);
    made_end(&m);
}

/* A collective spins on its SMs from its arrival on. */
static void test_usage__collective_waits(void)
{
    struct made m;

    made_init(&m);
    kernel(&m, 0, 0, 0, 0);
    m.kind[1] = MSIM_TASK_JOIN;
    m.lane[2] = 1;
    kernel(&m, 10, 10, 0.5, 0.5);
    m.kind[2] = MSIM_TASK_COMM;
    CHECK_REL(found(&m)->of[MSIM_USAGE_SMS].mean, 0.25, 1e-6);
    made_end(&m);
}

int main(void)
{
    RUN(test_usage__weighs_by_time);
    RUN(test_usage__no_more_than_there_is);
    RUN(test_usage__waves);
    RUN(test_usage__memory_arithmetic_power);
    RUN(test_usage__unknown);
    RUN(test_usage__every_gpu);
    RUN(test_usage__collective_waits);
    return check_summary();
}
