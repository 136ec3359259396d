/*
 * Graphs of small made-up Kineto traces: what waits for what, and that no
 * wait is copied. Times in the traces are microseconds.
 */
#include "core/engine.h"
#include "tests/check.h"

#include <stdlib.h>

#define US MSIM_PS_PER_US

/* One main thread 1, streams 7 and 20 of device 0. */
#define OP(name, ts, dur)                                                      \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name                        \
    "\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"dur\":" #dur "},"
#define CALL(name, ts, dur, corr)                                              \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name                  \
    "\",\"pid\":1,\"tid\":1,\"ts\":" #ts ",\"dur\":" #dur                      \
    ",\"args\":{\"correlation\":" #corr "}},"
#define KERNEL(name, stream, ts, dur, corr)                                    \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name                        \
    "\",\"pid\":0,\"tid\":" #stream ",\"ts\":" #ts ",\"dur\":" #dur            \
    ",\"args\":{\"device\":0,\"stream\":" #stream ",\"correlation\":" #corr    \
    "}},"
#define TRACE(events)                                                          \
    "{\"schemaVersion\":1,\"traceEvents\":[" events "{\"ph\":\"M\",\"name\":"  \
    "\"end\",\"pid\":0,\"tid\":0,\"ts\":0,\"args\":{}}]}"

struct fixture {
    struct msim_job *job;
    struct msim_graph *g;
    msim_ps *start, *dur;
};

static bool load(struct fixture *f, const char *text, bool device_times)
{
    struct msim_load_options opt = {.threads = 1};
    struct msim_error err = {0};

    memset(f, 0, sizeof *f);
    if (msim_job_load_memory(&f->job, "made.json", text, strlen(text), &opt,
                             &err) != MSIM_OK ||
        msim_graph_build(
            &f->g, f->job,
            &(struct msim_graph_options){.device_times = device_times,
                                         .peers = device_times ? MSIM_PEERS_FIXED : MSIM_PEERS_TOGETHER},
            &err) != MSIM_OK) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    f->start = malloc(((size_t)f->g->n_tasks + 1) * sizeof *f->start);
    f->dur = malloc(((size_t)f->g->n_tasks + 1) * sizeof *f->dur);
    memcpy(f->dur, f->g->traced, f->g->n_tasks * sizeof *f->dur);
    return true;
}

static void release(struct fixture *f)
{
    free(f->start);
    free(f->dur);
    msim_graph_free(f->g);
    msim_job_free(f->job);
}

/* Simulate, with every kernel `factor` times as long; the last end. */
static msim_ps run(struct fixture *f, msim_ps factor)
{
    struct msim_scenario s = {.dur = f->dur};
    struct msim_engine *e;
    msim_ps last = 0;

    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    for (uint32_t t = 0; t < f->g->n_tasks; t++)
        if (f->g->kind[t] == MSIM_TASK_KERNEL)
            f->dur[t] = f->g->traced[t] * factor;
    CHECK_INT(msim_engine_new(&e, f->g), MSIM_OK);
    CHECK_INT(msim_engine_run(e, &s, f->start, NULL), MSIM_OK);
    msim_engine_free(e);
    for (uint32_t t = 0; t < f->g->n_tasks; t++)
        if (f->start[t] + f->dur[t] > last)
            last = f->start[t] + f->dur[t];
    return last;
}

/* The task of the nth GPU event. */
static uint32_t gpu_task(const struct fixture *f, uint32_t gpu)
{
    for (uint32_t t = 0; t < f->g->n_tasks; t++)
        if (f->g->kind[t] >= MSIM_TASK_KERNEL &&
            f->g->kind[t] <= MSIM_TASK_COMM && f->g->refs[t].index == gpu)
            return t;
    return MSIM_NONE;
}

/*
 * Thread: operator 0..10, launch at 10 (2 us), synchronise from 12 to 117.
 * Kernel: 15..115. So the launch took 5, and 2 us of the synchronisation are
 * work. With kernels twice as long the end is 15 + 200 + 2.
 */
#define LAUNCH_AND_SYNC                                                        \
    TRACE(OP("aten::mm", 0, 14) CALL("cudaLaunchKernel", 10, 2, 1) CALL(       \
        "cudaDeviceSynchronize", 12, 105, 2) KERNEL("gemm", 7, 15, 100, 1))

static void test_graph__computes_a_synchronisation(void)
{
    struct fixture f;

    REQUIRE(load(&f, LAUNCH_AND_SYNC, true));
    CHECK_INT(run(&f, 1), 117 * US);
    CHECK_INT(f.start[gpu_task(&f, 0)], 15 * US);
    CHECK_INT(run(&f, 2), 217 * US);
    CHECK_INT(run(&f, 0), 17 * US);
    release(&f);
}

/* Queued behind each other: k2 starts 1 us after k1 whatever k1 takes. */
static void test_graph__keeps_stream_order(void)
{
    struct fixture f;

    REQUIRE(load(&f,
                 TRACE(OP("aten::mm", 0, 30) CALL("cudaLaunchKernel", 10, 2, 1)
                           CALL("cudaLaunchKernel", 20, 2, 2)
                               KERNEL("k1", 7, 15, 100, 1)
                                   KERNEL("k2", 7, 116, 50, 2)),
                 true));
    CHECK_INT(run(&f, 1), 166 * US);
    CHECK_INT(run(&f, 3), (15 + 300 + 1 + 150) * US);
    release(&f);
}

/*
 * k2 on stream 20 starts when k1 on stream 7 ends, long after its launch:
 * an event wait, though no call in the trace says so.
 */
static void test_graph__infers_an_event_wait(void)
{
    struct fixture f;

    REQUIRE(load(&f,
                 TRACE(OP("aten::mm", 0, 30) CALL("cudaLaunchKernel", 10, 2, 1)
                           CALL("cudaLaunchKernel", 20, 2, 2)
                               KERNEL("k1", 7, 15, 1000, 1)
                                   KERNEL("k2", 20, 1017, 50, 2)),
                 true));
    CHECK_INT(run(&f, 1), 1067 * US);
    CHECK_INT(run(&f, 2), (15 + 2000 + 2 + 100) * US);
    release(&f);
}

/* The same without GPU times: only a cudaStreamWaitEvent call shows it. */
static void test_graph__reads_no_device_times_when_told(void)
{
    static const char text[] =
        TRACE(OP("aten::mm", 0, 30) CALL("cudaLaunchKernel", 10, 2, 1) CALL(
            "cudaStreamWaitEvent", 14, 1, 3) CALL("cudaLaunchKernel", 20, 2, 2)
                  KERNEL("k1", 7, 15, 1000, 1) KERNEL("k2", 20, 1017, 50, 2));
    struct fixture f;

    REQUIRE(load(&f, text, false));
    CHECK(run(&f, 1) >= (1000 + 50) * US);
    CHECK(f.start[gpu_task(&f, 1)] >=
          f.start[gpu_task(&f, 0)] + f.dur[gpu_task(&f, 0)]);
    release(&f);
}

/* A blocking copy holds its thread until it is done. */
static void test_graph__lets_a_copy_block(void)
{
    struct fixture f;

    REQUIRE(
        load(&f,
             TRACE(OP("aten::copy_", 0, 120) CALL("cudaMemcpyAsync", 10, 95, 1)
                       CALL("cudaLaunchKernel", 110, 5, 2) KERNEL(
                           "k", 7, 116, 10,
                           2) "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":"
                              "\"Memcpy DtoH (Device -> Pageable)\",\"pid\":0,"
                              "\"tid\":7,\"ts\":15,\"dur\":85,\"args\":{"
                              "\"device\":0,\"stream\":7,\"correlation\":1,"
                              "\"bytes\":4096}},"),
             true));
    CHECK_INT(run(&f, 1), 126 * US);
    f.dur[gpu_task(&f, 0)] = 185 * US; /* 100 us more for the copy */
    CHECK_INT(run(&f, 1), 226 * US);
    release(&f);
}

int main(void)
{
    RUN(test_graph__computes_a_synchronisation);
    RUN(test_graph__keeps_stream_order);
    RUN(test_graph__infers_an_event_wait);
    RUN(test_graph__reads_no_device_times_when_told);
    RUN(test_graph__lets_a_copy_block);
    return check_summary();
}
