/*
 * tests/unit/core/graph/contention/test_graph_contention.c - what a graph reads
 * off a trace of what its tasks share.
 *
 * What a graph reads off a trace of what its tasks share: made-up traces of a
 * V100 with streams 7 and 20. Times in the traces are microseconds.
 */
#include "core/graph/build/graph_build.h"
#include "core/graph/contention/graph_contention_internal.h"
#include "core/run/engine.h"
#include "tests/check.h"

#include <stdarg.h>
#include <stdlib.h>

#define US MSIM_PS_PER_US

/* ---- made-up traces ----------------------------------------------------- */

struct made {
    char text[1 << 17];
    size_t length;
    int correlation;
};

MSIM_PRINTF(2, 3)
static void put(struct made *m, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    m->length += (size_t)vsnprintf(m->text + m->length,
                                   sizeof(m->text) - m->length, format, ap);
    va_end(ap);
}

static struct made *made_new(void)
{
    struct made *m = calloc(1, sizeof(*m));

    put(m, "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":"
           "\"V100\",\"totalGlobalMem\":17179869184,\"computeMajor\":7,"
           "\"computeMinor\":0,\"numSms\":80}],\"traceEvents\":[");
    return m;
}

/* A call that launches what comes next; returns its correlation. */
static int call(struct made *m, const char *name, double ts)
{
    put(m,
        "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"%s\",\"pid\":1,"
        "\"tid\":1,\"ts\":%.3f,\"dur\":1,\"args\":{\"correlation\":%d}},",
        name, ts, ++m->correlation);
    return m->correlation;
}

/* A kernel of `waves` waves: 256 threads, so 640 blocks fill the device. */
static void kernel(struct made *m, const char *name, int stream, double launch,
                   double ts, double dur, int waves)
{
    int corr = call(m, "cudaLaunchKernel", launch);

    put(m,
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"%s\",\"pid\":0,\"tid\":%d,"
        "\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"device\":0,\"stream\":%d,"
        "\"correlation\":%d,\"registers per thread\":16,\"shared memory\":0,"
        "\"grid\":[%d,1,1],\"block\":[256,1,1]}},",
        name, stream, ts, dur, stream, corr, waves * 640);
}

static void copy(struct made *m, bool to_host, int stream, double ts,
                 double dur, double bytes)
{
    /* One thread starts one after the other. */
    int corr = call(m, "cudaMemcpyAsync", ts - (to_host ? 20 : 10));

    put(m,
        "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy %s\",\"pid\":0,"
        "\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"device\":0,"
        "\"stream\":%d,\"correlation\":%d,\"bytes\":%.0f}},",
        to_host ? "DtoH (Device -> Pinned)" : "HtoD (Pinned -> Device)", stream,
        ts, dur, stream, corr, bytes);
}

static struct msim_job *load(struct made *m)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_job *job = NULL;
    struct msim_error err = {0};

    put(m, "{\"ph\":\"M\",\"name\":\"end\",\"pid\":0,\"tid\":0,\"ts\":0,"
           "\"args\":{}}]}");
    if (msim_job_load_memory(&job, "made.json", m->text, m->length, &opt,
                             &err) != MSIM_OK)
        fprintf(stderr, "%s\n", err.text);
    free(m);
    return job;
}

/* ---- who fills a device, and for whom ----------------------------------- */

/*
 * Five kernels "big" of four waves and 1000 us, 2000 apart from 100 on: the
 * last wave begins at 750. `at`: when the kernel on stream 20 starts in each,
 * launched 10 us after it began. Then kernels that nothing holds up, so that
 * the usual latency is 10 us.
 */
static struct msim_job *fill(const double *at)
{
    struct made *m = made_new();

    for (int i = 0; i < 5; i++) {
        double begin = 100 + 2000 * i;

        kernel(m, i == 4 ? "cat" : "big", 7, begin - 10, begin, 1000, 4);
        kernel(m, "small", 20, begin + 10, begin + at[i], 50, 1);
    }
    for (int i = 0; i < 20; i++)
        kernel(m, "idle", 7, 12000 + 100 * i, 12010 + 100 * i, 20, 1);
    return load(m);
}

/* The first on stream 20: 25 on stream 7 come before. */
#define SMALL 25

static struct msim_wave_tail read_wave_tail(const struct msim_job *job)
{
    struct msim_wave_tail f;

    CHECK_INT(msim_wave_tail_init(&f, job->ranks[0], true), MSIM_OK);
    return f;
}

static void test_wave_tail__counts_who_waited(void)
{
    static const double at[] = {750, 752, 748, 760, 900};
    struct msim_job *job = fill(at);
    struct msim_wave_tail f;

    REQUIRE(job != NULL);
    f = read_wave_tail(job);
    CHECK_INT(f.held, 4); /* the last was waited for by something else */
    CHECK_INT(f.early, 0);
    CHECK_INT(f.uneven, 0);
    CHECK(!f.first[0] && !f.first[1]);
    CHECK_REL(f.tail[0], 0.25, 1e-6);
    msim_wave_tail_release(&f);
    msim_job_free(job);
}

/* Stream 20 mostly starts at once: it has priority, and says nothing of the
 * kernels that it overlaps. */
static void test_wave_tail__finds_a_stream_of_priority(void)
{
    static const double at[] = {15, 15, 750, 15, 15};
    struct msim_job *job = fill(at);
    struct msim_wave_tail f;

    REQUIRE(job != NULL);
    f = read_wave_tail(job);
    CHECK(!f.first[0] && f.first[1]);
    CHECK_INT(f.uneven, 0);
    CHECK_REL(f.tail[4], 0.25, 1e-6);
    msim_wave_tail_release(&f);
    msim_job_free(job);
}

/* Stream 20 waits for all but one kernel: that one's blocks are uneven. */
static void test_wave_tail__finds_uneven_blocks(void)
{
    static const double at[] = {750, 750, 750, 750, 15};
    struct msim_job *job = fill(at);
    struct msim_wave_tail f;

    REQUIRE(job != NULL);
    f = read_wave_tail(job);
    CHECK(!f.first[0] && !f.first[1]);
    CHECK_INT(f.uneven, 1);
    CHECK_REL(f.tail[0], 0.25, 1e-6);
    CHECK_REL(f.tail[4], 1, 1e-6);
    msim_wave_tail_release(&f);
    CHECK_INT(msim_wave_tail_init(&f, job->ranks[0], false), MSIM_OK);
    CHECK_REL(f.tail[4], 0.25, 1e-6); /* times may not be read */
    msim_wave_tail_release(&f);
    msim_job_free(job);
}

/* ---- graphs ------------------------------------------------------------- */

struct fixture {
    struct msim_job *job;
    struct msim_graph *g;
    struct msim_times times;
    msim_ps *dur;
    uint8_t *removed;
};

static bool build_as(struct fixture *f, struct msim_job *job,
                     const struct msim_graph_options *opt)
{
    size_t n;

    *f = (struct fixture){.job = job};
    if (!job || msim_graph_build(&f->g, job, opt, NULL) != MSIM_OK)
        return false;
    n = (size_t)f->g->n_tasks + 1;
    f->times.start = malloc(n * sizeof(msim_ps));
    f->times.dur = malloc(n * sizeof(msim_ps));
    f->times.held_by = malloc(n * sizeof(uint32_t));
    f->dur = malloc(n * sizeof(msim_ps));
    f->removed = calloc(n, 1);
    memcpy(f->dur, f->g->traced, (n - 1) * sizeof(msim_ps));
    return true;
}

static bool build(struct fixture *f, struct msim_job *job, uint32_t without)
{
    struct msim_graph_options opt = {.device_times = true,
                                     .peers = MSIM_PEERS_FIXED,
                                     .without_sharing = without};

    return build_as(f, job, &opt);
}

static void release(struct fixture *f)
{
    free(f->times.start);
    free(f->times.dur);
    free(f->times.held_by);
    free(f->dur);
    free(f->removed);
    msim_graph_free(f->g);
}

static void run(struct fixture *f)
{
    struct msim_scenario s = {.dur = f->dur, .removed = f->removed};
    struct msim_engine *e;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    CHECK_INT(msim_engine_new(&e, f->g), MSIM_OK);
    CHECK_INT(msim_engine_simulate(e, &s, &f->times, NULL), MSIM_OK);
    msim_engine_free(e);
}

/* The task of the nth GPU event of a kind. */
static uint32_t task_of(const struct fixture *f, enum msim_task_kind kind,
                        uint32_t n)
{
    for (uint32_t t = 0; t < f->g->n_tasks; t++)
        if (f->g->kind[t] == kind && n-- == 0)
            return t;
    return 0;
}

/* Largest difference between what a GPU task took and takes, in ps. */
static msim_ps off_by(const struct fixture *f)
{
    msim_ps worst = 0;

    for (uint32_t t = 0; t < f->g->n_tasks; t++) {
        msim_ps by = llabs(f->times.dur[t] - f->g->traced[t]);

        if (f->g->kind[t] >= MSIM_TASK_KERNEL)
            worst = by > worst ? by : worst;
    }
    return worst;
}

/* The value of the nth figure of a rule, or NAN. */
static double figure(const struct fixture *f, enum msim_contention_rule rule,
                     uint32_t n)
{
    const struct msim_sharing *s = f->g->sharing;

    for (uint32_t i = 0; s && i < s->n_figures; i++)
        if (s->figures[i].rule == rule && n-- == 0)
            return s->figures[i].value;
    return NAN;
}

/* A kernel on a full device starts with the last wave, and moves with it. */
static void test_graph_share__full_device(void)
{
    static const double at[] = {750, 750, 750, 750, 750};
    struct msim_job *job = fill(at);
    struct fixture f;
    msim_ps held;

    REQUIRE(build(&f, job, 0));
    run(&f);
    held = f.times.start[task_of(&f, MSIM_TASK_KERNEL, SMALL)] -
           f.times.start[task_of(&f, MSIM_TASK_KERNEL, 0)];
    CHECK_INT(held, 750 * US);
    CHECK_INT(f.times.held_by[task_of(&f, MSIM_TASK_KERNEL, SMALL)],
              task_of(&f, MSIM_TASK_KERNEL, 0));
    f.dur[task_of(&f, MSIM_TASK_KERNEL, 0)] /= 2;
    run(&f);
    held = f.times.start[task_of(&f, MSIM_TASK_KERNEL, SMALL)] -
           f.times.start[task_of(&f, MSIM_TASK_KERNEL, 0)];
    CHECK_INT(held, 375 * US);
    release(&f);
    REQUIRE(build(&f, job, 1u << MSIM_CONTENTION_SM));
    run(&f);
    held = f.times.start[task_of(&f, MSIM_TASK_KERNEL, SMALL)] -
           f.times.start[task_of(&f, MSIM_TASK_KERNEL, 0)];
    CHECK(held < 100 * US);
    release(&f);
    msim_job_free(job);
}

/*
 * Thirty kernels of 100 us alone and thirty of 150 beside a collective of
 * 5000: the slowdown is 1.5. The traced run comes out as it was; without the
 * collective each takes 100.
 */
static void test_graph_share__slowdown(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;

    for (int i = 0; i < 30; i++)
        kernel(m, "work", 7, 10 + 200 * i, 20 + 200 * i, 100, 1);
    kernel(m, "ncclKernel_AllReduce_RING_LL_Sum_float", 20, 6990, 7000, 5000,
           1);
    for (int i = 0; i < 30; i++)
        kernel(m, "work", 7, 7010 + 160 * i, 7020 + 160 * i, 150, 1);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_SLOWDOWN, 0), 1.5, 1e-12);
    run(&f);
    CHECK(off_by(&f) <= 1);
    for (uint32_t t = 0; t < f.g->n_tasks; t++)
        f.removed[t] = f.g->kind[t] >= MSIM_TASK_COMM;
    run(&f);
    for (uint32_t i = 0; i < 60; i++)
        CHECK(llabs(f.times.dur[task_of(&f, MSIM_TASK_KERNEL, i)] - 100 * US) <=
              1);
    release(&f);
    REQUIRE(build(&f, job, 1u << MSIM_CONTENTION_SLOWDOWN));
    for (uint32_t t = 0; t < f.g->n_tasks; t++)
        f.removed[t] = f.g->kind[t] >= MSIM_TASK_COMM;
    run(&f);
    CHECK_INT(f.times.dur[task_of(&f, MSIM_TASK_KERNEL, 59)], 150 * US);
    release(&f);
    msim_job_free(job);
}

/*
 * Without device times a trace says nothing of it, and what is known from
 * elsewhere is taken: kernels of 100 us take 150 beside a collective of 5000
 * that they all fit into, and 100 where the rule is left out.
 */
static void test_graph_share__slowdown_from_elsewhere(void)
{
    struct made *m = made_new();
    struct msim_graph_options o = {.slowdown = 1.5};
    struct msim_job *job;
    struct fixture f;

    kernel(m, "ncclKernel_AllReduce_RING_LL_Sum_float", 20, 5, 10, 5000, 1);
    for (int i = 0; i < 5; i++)
        kernel(m, "work", 7, 30 + 160 * i, 40 + 160 * i, 100, 1);
    job = load(m);
    for (int left_out = 0; left_out < 2; left_out++) {
        o.without_sharing = left_out ? 1u << MSIM_CONTENTION_SLOWDOWN : 0;
        REQUIRE(build_as(&f, job, &o));
        CHECK_REL(figure(&f, MSIM_CONTENTION_SLOWDOWN, 0), 1.5, 1e-12);
        run(&f);
        for (uint32_t i = 0; i < 5; i++)
            CHECK_INT(f.times.dur[task_of(&f, MSIM_TASK_KERNEL, i)],
                      (left_out ? 100 : 150) * US);
        release(&f);
    }
    msim_job_free(job);
}

/*
 * Copies of 10 MB, alone in 1000 us: together 1250 to the device and 1600 to
 * the host, so at 0.8 and 0.625 of their rates. Alone again, the last two take
 * 1000 each (the one to the host is by itself at the end: 350 us of it).
 */
static void test_graph_share__link_seen_both_ways(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;
    uint32_t last;

    for (int i = 0; i < 3; i++) {
        copy(m, false, 7, 100 + 4000 * i, 1000, 1e7);
        copy(m, true, 20, 2000 + 4000 * i, 1000, 1e7);
    }
    for (int i = 0; i < 3; i++) {
        copy(m, false, 7, 20000 + 4000 * i, 1250, 1e7);
        copy(m, true, 20, 20000 + 4000 * i, 1250, 1e7 * 1.25 * 0.625);
    }
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_HOST_LINK, 0), 0.8, 1e-9);
    CHECK_REL(figure(&f, MSIM_CONTENTION_HOST_LINK, 1), 0.625, 1e-9);
    run(&f);
    CHECK(off_by(&f) <= 1);
    last = task_of(&f, MSIM_TASK_COPY, 5); /* the last to the device */
    for (uint32_t t = last + 1; t < f.g->n_tasks; t++)
        f.removed[t] = f.g->kind[t] == MSIM_TASK_COPY;
    run(&f);
    CHECK(llabs(f.times.dur[last] - 1000 * US) <= 1);
    release(&f);
    msim_job_free(job);
}

/*
 * No copy ran alone: three pairs of 10 MB, to the host in 1000 us, to the
 * device in 1500. One pipe then moved 20 MB in 1500 us, 13.33 GB/s, of which
 * the copy to the host had 10: three quarters. Alone each takes 750.
 */
static void test_graph_share__link_assumed_one_pipe(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;

    for (int i = 0; i < 3; i++) {
        copy(m, true, 20, 100 + 4000 * i, 1000, 1e7);
        copy(m, false, 7, 100 + 4000 * i, 1500, 1e7);
    }
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_HOST_LINK, 0), 0.75, 1e-9);
    CHECK_REL(figure(&f, MSIM_CONTENTION_HOST_LINK, 1), 40 / 3.0, 1e-9);
    run(&f);
    CHECK(off_by(&f) <= 1);
    for (uint32_t i = 0; i < 3; i++)
        f.removed[task_of(&f, MSIM_TASK_COPY, i)] = 1;
    run(&f);
    CHECK(llabs(f.times.dur[task_of(&f, MSIM_TASK_COPY, 3)] - 750 * US) <= 1);
    release(&f);
    REQUIRE(build(&f, job, 1u << MSIM_CONTENTION_HOST_LINK));
    for (uint32_t i = 0; i < 3; i++)
        f.removed[task_of(&f, MSIM_TASK_COPY, i)] = 1;
    run(&f);
    CHECK_INT(f.times.dur[task_of(&f, MSIM_TASK_COPY, 3)], 1000 * US);
    release(&f);
    msim_job_free(job);
}

/*
 * Two streams copy to the device, launched together: one engine, so the second
 * starts when the first, taking twice as long now, ends. A trace that has two
 * at once has two engines.
 */
static void test_graph_share__copy_engines(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;
    uint32_t first, second;

    copy(m, false, 7, 100, 1000, 1e7);
    copy(m, false, 20, 1102, 1000, 1e7);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    first = task_of(&f, MSIM_TASK_COPY, 0);
    second = task_of(&f, MSIM_TASK_COPY, 1);
    CHECK_REL(figure(&f, MSIM_CONTENTION_COPY_ENGINE, 0), 1, 1e-12);
    f.dur[first] *= 2;
    run(&f);
    CHECK(f.times.start[second] >= f.times.start[first] + 2000 * US);
    release(&f);
    REQUIRE(build(&f, job, 1u << MSIM_CONTENTION_COPY_ENGINE));
    f.dur[first] *= 2;
    run(&f);
    CHECK(f.times.start[second] < f.times.start[first] + 2000 * US);
    release(&f);
    msim_job_free(job);

    m = made_new();
    copy(m, false, 7, 100, 1000, 1e7);
    copy(m, false, 20, 500, 1000, 1e7);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_COPY_ENGINE, 0), 2, 1e-12);
    run(&f);
    CHECK(off_by(&f) <= 1);
    release(&f);
    msim_job_free(job);
}

/* So has one in which a short copy runs within a long one; two short ones that
 * clocks make overlap prove nothing. */
static void test_graph_share__short_copies_show_engines(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;

    copy(m, false, 7, 100, 1000, 1e7);
    copy(m, false, 20, 500, 4, 1e4);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_COPY_ENGINE, 0), 2, 1e-12);
    run(&f);
    CHECK(off_by(&f) <= 1);
    release(&f);
    msim_job_free(job);

    m = made_new();
    copy(m, false, 7, 100, 4, 1e4);
    copy(m, false, 20, 103, 4, 1e4);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK_REL(figure(&f, MSIM_CONTENTION_COPY_ENGINE, 0), 1, 1e-12);
    release(&f);
    msim_job_free(job);
}

/* One stream: its order is edges, and nothing is shared. */
static void test_graph_share__one_stream_shares_nothing(void)
{
    struct made *m = made_new();
    struct msim_job *job;
    struct fixture f;

    kernel(m, "big", 7, 0, 10, 1000, 4);
    copy(m, true, 7, 1100, 1000, 1e7);
    job = load(m);
    REQUIRE(build(&f, job, 0));
    CHECK(f.g->sharing == NULL);
    release(&f);
    msim_job_free(job);
}

int main(void)
{
    RUN(test_wave_tail__counts_who_waited);
    RUN(test_wave_tail__finds_a_stream_of_priority);
    RUN(test_wave_tail__finds_uneven_blocks);
    RUN(test_graph_share__full_device);
    RUN(test_graph_share__slowdown);
    RUN(test_graph_share__slowdown_from_elsewhere);
    RUN(test_graph_share__link_seen_both_ways);
    RUN(test_graph_share__link_assumed_one_pipe);
    RUN(test_graph_share__copy_engines);
    RUN(test_graph_share__short_copies_show_engines);
    RUN(test_graph_share__one_stream_shares_nothing);
    return check_summary();
}
