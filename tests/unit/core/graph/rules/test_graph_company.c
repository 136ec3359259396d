/*
 * What ran on other streams when an activity began, against a search of all
 * activities; and at the instants where it changes.
 */
#include "core/graph/contention.h"
#include "core/graph/rules/graph_rules_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define US      ((msim_ps)MSIM_PS_PER_US)
#define STREAMS 5
#define MOST    200

/* Blocks of 256 threads on 108 SMs, 8 of them on each: a wave is 864. */
static struct msim_launch_config configs[] = {
    {.grid = {10, 1, 1}, .block = {256, 1, 1}},   /* fills nothing */
    {.grid = {864, 1, 1}, .block = {256, 1, 1}},  /* all end at once */
    {.grid = {1728, 1, 1}, .block = {256, 1, 1}}, /* two waves: a half left */
    {.grid = {8640, 1, 1}, .block = {256, 1, 1}}, /* ten: a tenth */
};
static struct msim_gpu gpu[MOST];
static struct msim_stream streams[STREAMS];
static struct msim_trace t;

static void begin(void)
{
    memset(gpu, 0, sizeof(gpu));
    memset(streams, 0, sizeof(streams));
    t = (struct msim_trace){
        .gpu = gpu,
        .streams = streams,
        .configs = configs,
        .n_configs = 4,
        .gpu_properties = {.sms = 108, .cc_major = 8, .cc_minor = 0}};
}

static void stream(int64_t device)
{
    streams[t.n_streams] = (struct msim_stream){
        .device = device, .gpu_begin = t.n_gpu, .gpu_end = t.n_gpu};
    t.n_streams++;
}

static uint32_t activity(msim_ps start, msim_ps dur, uint32_t config)
{
    uint32_t i = t.n_gpu++;

    gpu[i] = (struct msim_gpu){.start = start,
                               .dur = dur,
                               .stream = t.n_streams - 1,
                               .config = config,
                               .kind = config == MSIM_NONE ? MSIM_GPU_MEMCPY
                                                           : MSIM_GPU_KERNEL};
    streams[t.n_streams - 1].gpu_end = t.n_gpu;
    return i;
}

/* Began before `at` and runs until behind it. */
static bool runs(uint32_t i, msim_ps at)
{
    return gpu[i].start < at && gpu[i].start + gpu[i].dur > at;
}

/* Its last blocks, and half as many more, and 25 us. */
static bool leaves_no_room(uint32_t i, msim_ps at)
{
    double tail = msim_occupancy_tail(&t, i), dur = (double)gpu[i].dur;

    return runs(i, at) && tail < 1 &&
           (double)at > (double)(gpu[i].start + gpu[i].dur) -
                            ceil(1.5 * tail * dur + 25e6);
}

static void hold(void)
{
    struct msim_company c;

    REQUIRE(msim_company_init(&c, &t) == MSIM_OK);
    for (uint32_t i = 0; i < t.n_gpu; i++) {
        int64_t device = streams[gpu[i].stream].device;
        uint32_t filled_by = MSIM_NONE;
        bool busy = false;

        for (uint32_t k = 0; k < t.n_gpu; k++) {
            if (gpu[k].stream == gpu[i].stream ||
                streams[gpu[k].stream].device != device)
                continue;
            busy |= runs(k, gpu[i].start);
            if (filled_by == MSIM_NONE && leaves_no_room(k, gpu[i].start))
                filled_by = k;
        }
        CHECK_INT(c.busy[i], busy);
        CHECK_INT(c.filled_by[i], filled_by);
    }
    msim_company_release(&c);
}

/* Two devices, streams of which run one activity behind the other. */
static void test_graph_company__any_activities(void)
{
    unsigned short state[3] = {2, 7, 1};

    for (int round = 0; round < 60; round++) {
        begin();
        for (uint32_t s = 0; s < STREAMS; s++) {
            msim_ps at = nrand48(state) % 50 * US;

            stream(s / 3);
            for (int i = 0; i < 30; i++) {
                uint32_t config = (uint32_t)nrand48(state) % 5;
                msim_ps dur = nrand48(state) % 4 ? nrand48(state) % 300 : 0;

                (void)activity(at, dur * US, config < 4 ? config : MSIM_NONE);
                at += (dur + nrand48(state) % 3 * (nrand48(state) % 60)) * US;
            }
        }
        hold();
    }
}

static void check_at(msim_ps at, bool busy, uint32_t filled_by)
{
    struct msim_company c;

    begin();
    stream(0);
    (void)activity(1000 * US, 1000 * US, 3);
    stream(0);
    (void)activity(at, 10 * US, 0);
    REQUIRE(msim_company_init(&c, &t) == MSIM_OK);
    CHECK_INT(c.busy[1], busy);
    CHECK_INT(c.filled_by[1], filled_by);
    CHECK_INT(c.filled_by[0], MSIM_NONE);
    msim_company_release(&c);
}

/* A kernel of 1000 .. 2000 us in ten waves: from 2000 - 150 - 25 on. */
static void test_graph_company__instants(void)
{
    check_at(1000 * US, false, MSIM_NONE);
    check_at(1000 * US + 1, true, MSIM_NONE);
    check_at(1825 * US - 9, true, MSIM_NONE); /* 9 ps: rounding */
    check_at(1825 * US + 9, true, 0);
    check_at(2000 * US - 1, true, 0);
    check_at(2000 * US, false, MSIM_NONE);
}

/* The next activity of its stream has begun: what was before it is over. */
static void test_graph_company__followed(void)
{
    struct msim_company c;

    begin();
    stream(0);
    (void)activity(0, 100 * US, 2);
    (void)activity(100 * US, 100 * US, 0);
    stream(0);
    (void)activity(50 * US, 10 * US, 0);
    (void)activity(150 * US, 10 * US, 0);
    stream(1);
    (void)activity(60 * US, 10 * US, 0);
    REQUIRE(msim_company_init(&c, &t) == MSIM_OK);
    CHECK_INT(c.filled_by[2], 0);
    CHECK_INT(c.filled_by[3], MSIM_NONE);
    CHECK(c.busy[2] && c.busy[3]);
    CHECK_INT(c.filled_by[4], MSIM_NONE); /* another device */
    CHECK(!c.busy[4]);
    msim_company_release(&c);
    begin();
    hold();
}

int main(void)
{
    RUN(test_graph_company__any_activities);
    RUN(test_graph_company__instants);
    RUN(test_graph_company__followed);
    return check_summary();
}
