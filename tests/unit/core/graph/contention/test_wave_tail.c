/*
 * Who fills a device: starts that wait for the last wave, starts that do not,
 * and what both say of streams and of kernels.
 */
#include "core/graph/contention/graph_contention_internal.h"
#include "tests/check.h"

#define US   ((msim_ps)MSIM_PS_PER_US)
#define MOST 64

/* Blocks of 256 threads, 8 on each of 108 SMs: ten waves, and less than one. */
static struct msim_launch_config configs[] = {
    {.grid = {8640, 1, 1}, .block = {256, 1, 1}},
    {.grid = {10, 1, 1}, .block = {256, 1, 1}},
};
static struct msim_gpu gpu[MOST];
static struct msim_call calls[MOST];
static struct msim_stream streams[3];
static struct msim_trace t;

static void begin(void)
{
    memset(gpu, 0, sizeof(gpu));
    memset(calls, 0, sizeof(calls));
    memset(streams, 0, sizeof(streams));
    t = (struct msim_trace){
        .gpu = gpu,
        .calls = calls,
        .streams = streams,
        .configs = configs,
        .n_configs = 2,
        .gpu_properties = {.sms = 108, .cc_major = 8, .cc_minor = 0}};
}

static void stream(int64_t device)
{
    streams[t.n_streams++] = (struct msim_stream){
        .device = device, .gpu_begin = t.n_gpu, .gpu_end = t.n_gpu};
}

/* Launched at `call`; two kernels of one name and launch are alike. */
static uint32_t kernel(uint32_t name, uint32_t config, msim_ps call,
                       msim_ps start, msim_ps dur)
{
    uint32_t i = t.n_gpu++;

    calls[i].start = call;
    t.n_calls = t.n_gpu;
    gpu[i] = (struct msim_gpu){.name = name,
                               .config = config,
                               .call = i,
                               .start = start,
                               .dur = dur,
                               .stream = t.n_streams - 1};
    streams[t.n_streams - 1].gpu_end = t.n_gpu;
    return i;
}

static void count(uint32_t held, uint32_t early, uint32_t uneven)
{
    struct msim_wave_tail f;

    CHECK_INT(msim_wave_tail_init(&f, &t, true), MSIM_OK);
    CHECK_INT(f.held, held);
    CHECK_INT(f.early, early);
    CHECK_INT(f.uneven, uneven);
    msim_wave_tail_release(&f);
}

/* A kernel of 0 .. 1000 us issues its last block at 900. Another stream's next
 * starts at `start`, called at `call`. */
static void hold(msim_ps call, msim_ps start, uint32_t held, uint32_t early)
{
    begin();
    stream(0);
    (void)kernel(1, 0, 0, 0, 1000 * US);
    stream(0);
    (void)kernel(2, 1, call, start, 10 * US);
    count(held, early, early);
}

/* Starts are blurred by 6 us and a fiftieth: 26 here. Early is a wave of 100
 * before that. */
static void test_wave_tail__when_it_started(void)
{
    hold(0, 900 * US, 1, 0);
    hold(0, 873 * US, 0, 0);
    hold(0, 875 * US, 1, 0);
    hold(0, 925 * US, 1, 0);
    hold(0, 927 * US, 0, 0);
    hold(0, 775 * US, 0, 0);
    hold(0, 773 * US, 0, 1);
    hold(0, 1100 * US, 0, 0);
}

/* It must have been ready for 10 us, or nothing held it up. */
static void test_wave_tail__what_was_ready(void)
{
    hold(890 * US, 900 * US, 1, 0);
    hold(890 * US + 1, 900 * US, 0, 0);
    for (int late = 0; late < 2; late++) {
        begin();
        stream(0);
        (void)kernel(1, 0, 0, 0, 1000 * US);
        stream(0);
        (void)kernel(2, 1, 0, 880 * US, 10 * US + late);
        (void)kernel(2, 1, 0, 900 * US, 10 * US);
        /* the first was held, too */
        count(late ? 1 : 2, 0, 0);
    }
    begin();
    stream(0);
    (void)kernel(1, 0, 0, 0, 1000 * US);
    stream(0);
    gpu[kernel(2, 1, 0, 900 * US, 10 * US)].call = MSIM_NONE;
    count(0, 0, 0);
}

/* Neither another device nor its own stream, nor a copy, nor what leaves room
 * tells anything. */
static void test_wave_tail__who_may_be_held(void)
{
    begin();
    stream(0);
    (void)kernel(1, 0, 0, 0, 1000 * US);
    stream(1);
    (void)kernel(2, 1, 0, 900 * US, 10 * US);
    count(0, 0, 0);
    begin();
    stream(0);
    (void)kernel(1, 0, 0, 0, 1000 * US);
    stream(0);
    gpu[kernel(2, 1, 0, 900 * US, 10 * US)].kind = MSIM_GPU_MEMCPY;
    count(0, 0, 0);
    begin();
    stream(0);
    (void)kernel(1, 1, 0, 0, 1000 * US);
    stream(0);
    (void)kernel(2, 1, 0, 900 * US, 10 * US);
    count(0, 0, 0);
}

/* More often early than held: kernels of that name and launch hold nobody up.
 * One that has another name does. */
static void test_wave_tail__uneven_kernels(void)
{
    struct msim_wave_tail f;

    begin();
    stream(0);
    (void)kernel(1, 0, 0, 0, 1000 * US);
    (void)kernel(1, 0, 0, 1000 * US, 1000 * US);
    (void)kernel(3, 0, 0, 2000 * US, 1000 * US);
    stream(0);
    (void)kernel(2, 1, 0, 700 * US, 10 * US);
    (void)kernel(2, 1, 0, 2900 * US, 10 * US);
    CHECK_INT(msim_wave_tail_init(&f, &t, true), MSIM_OK);
    CHECK_INT(f.early, 1);
    CHECK_INT(f.held, 1);
    CHECK_INT(f.uneven, 2);
    CHECK_REL(f.tail[0], 1, 0);
    CHECK_REL(f.tail[1], 1, 0);
    CHECK_REL(f.tail[2], 0.1, 1e-6);
    CHECK_REL(f.tail[3], 1, 0);
    CHECK(!f.first[0] && !f.first[1]);
    msim_wave_tail_release(&f);
    /* without times, what launches say */
    CHECK_INT(msim_wave_tail_init(&f, &t, false), MSIM_OK);
    CHECK_INT(f.early + f.held + f.uneven, 0);
    CHECK_REL(f.tail[0], 0.1, 1e-6);
    msim_wave_tail_release(&f);
}

/* Three early starts, and fewer held ones: a stream of higher priority, whose
 * starts say nothing of kernels. */
static void test_wave_tail__priorities(void)
{
    for (int starts = 2; starts <= 3; starts++) {
        struct msim_wave_tail f;

        begin();
        stream(0);
        for (int i = 0; i < 5; i++)
            (void)kernel(1, 0, 0, i * 1000 * US, 1000 * US);
        stream(0);
        for (int i = 0; i < starts; i++)
            (void)kernel(2, 1, 0, (i * 1000 + 500) * US, 10 * US);
        CHECK_INT(msim_wave_tail_init(&f, &t, true), MSIM_OK);
        CHECK_INT(f.first[1], starts == 3);
        CHECK(!f.first[0]);
        CHECK_INT(f.early, starts == 3 ? 0 : 2);
        CHECK_INT(f.uneven, starts == 3 ? 0 : 5);
        msim_wave_tail_release(&f);
    }
}

/* As many starts were held as were early: no priority. */
static void test_wave_tail__as_many_held(void)
{
    for (int held = 2; held <= 3; held++) {
        struct msim_wave_tail f;

        begin();
        stream(0);
        for (int i = 0; i < 6; i++)
            (void)kernel(1, 0, 0, i * 1000 * US, 1000 * US);
        stream(0);
        for (int i = 0; i < 3 + held; i++)
            (void)kernel(2, 1, 0, (i * 1000 + (i < 3 ? 500 : 900)) * US,
                         10 * US);
        CHECK_INT(msim_wave_tail_init(&f, &t, true), MSIM_OK);
        CHECK_INT(f.first[1], held == 2);
        CHECK_INT(f.held, held == 2 ? 0 : 3);
        msim_wave_tail_release(&f);
    }
}

/* Whichever stream it is. */
static void test_wave_tail__priority_of_the_first(void)
{
    struct msim_wave_tail f;

    begin();
    stream(0);
    for (int i = 0; i < 3; i++)
        (void)kernel(2, 1, 0, (i * 1000 + 500) * US, 10 * US);
    stream(0);
    for (int i = 0; i < 3; i++)
        (void)kernel(1, 0, 0, i * 1000 * US, 1000 * US);
    CHECK_INT(msim_wave_tail_init(&f, &t, true), MSIM_OK);
    CHECK(f.first[0] && !f.first[1]);
    CHECK_INT(f.early + f.held + f.uneven, 0);
    msim_wave_tail_release(&f);
}

int main(void)
{
    RUN(test_wave_tail__when_it_started);
    RUN(test_wave_tail__what_was_ready);
    RUN(test_wave_tail__who_may_be_held);
    RUN(test_wave_tail__uneven_kernels);
    RUN(test_wave_tail__priorities);
    RUN(test_wave_tail__as_many_held);
    RUN(test_wave_tail__priority_of_the_first);
    return check_summary();
}
