/*
 * tests/unit/made_kineto.h - Kineto traces written event by event, for tests.
 *
 * Times are whole microseconds. Of a trace, everything is of one rank and on
 * device 0, or on the one that `device` is set to meanwhile; threads and
 * streams are what events name. Example: a launch that takes 2 us and a kernel
 * that starts 5 after it, which a call then waits for.
 *
 *     struct made m = made_trace(0, 1);
 *
 *     made_op(&m, 1, "aten::mm", 0, 14);
 *     made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
 *     made_kernel(&m, 7, "gemm", 15, 100, 1);
 *     made_call(&m, 1, "cudaDeviceSynchronize", 12, 105, 2);
 *     made_free(&m);
 */
#ifndef MSIM_TESTS_UNIT_MADE_KINETO_H
#define MSIM_TESTS_UNIT_MADE_KINETO_H
#include "core/base/status.h"
#include "tests/check.h"

#include <stdarg.h>
#include <stdlib.h>

/* One trace of one rank, still open: made_text() closes it. */
struct made {
    char *text;
    size_t len, cap;
    int rank, world;
    int device;
    int sms; /* of device 0, compute capability 8.0; 0: not said */
};

MSIM_PRINTF(2, 3)
static inline void made_add(struct made *m, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (m->len + (size_t)n + 1 > m->cap) {
        m->cap = 2 * (m->cap + (size_t)n + 1);
        m->text = realloc(m->text, m->cap);
    }
    vsnprintf(m->text + m->len, m->cap - m->len, fmt, again);
    va_end(again);
    m->len += (size_t)n;
}

/* Rank `rank` of `world`. */
static inline struct made made_trace(int rank, int world)
{
    return (struct made){.rank = rank, .world = world};
}

static inline void made_free(struct made *m)
{
    free(m->text);
}

/* The whole file, in memory that the caller frees. */
static inline char *made_text(const struct made *m)
{
    struct made file = {0};

    made_add(&file,
             "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"nccl\","
             "\"rank\":%d,\"world_size\":%d},\"deviceProperties\":[",
             m->rank, m->world);
    if (m->sms)
        made_add(&file,
                 "{\"id\":0,\"name\":\"made\",\"computeMajor\":8,"
                 "\"computeMinor\":0,\"numSms\":%d}",
                 m->sms);
    made_add(&file, "],\"traceEvents\":[%s{\"ph\":\"M\",\"name\":\"end\"}]}",
             m->text ? m->text : "");
    return file.text;
}

static inline void made_event(struct made *m, const char *cat, const char *name,
                              int pid, int tid, int ts, int dur)
{
    made_add(m,
             "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":%d,"
             "\"tid\":%d,\"ts\":%d,\"dur\":%d,\"args\":{",
             cat, name, pid, tid, ts, dur);
}

/* ---- host --------------------------------------------------------------- */

#define MADE_HOST 100 /* the process */

static inline void made_op(struct made *m, int thread, const char *name, int ts,
                           int dur)
{
    made_event(m, "cpu_op", name, MADE_HOST, thread, ts, dur);
    made_add(m, "}},");
}

static inline void made_step(struct made *m, int thread, int number, int ts,
                             int dur)
{
    char name[32];

    snprintf(name, sizeof(name), "ProfilerStep#%d", number);
    made_event(m, "user_annotation", name, MADE_HOST, thread, ts, dur);
    made_add(m, "}},");
}

static inline void made_call(struct made *m, int thread, const char *name,
                             int ts, int dur, int correlation)
{
    const char *cat = !strncmp(name, "hip", 3)    ? "hip_runtime"
                      : !strncmp(name, "cuda", 4) ? "cuda_runtime"
                                                  : "cuda_driver";

    made_event(m, cat, name, MADE_HOST, thread, ts, dur);
    made_add(m, "\"correlation\":%d}},", correlation);
}

/* What CUPTI says of a call that waits, or makes a stream wait: -1 is none.
 * `record` is the correlation of the event's cudaEventRecord. */
static inline void made_sync(struct made *m, const char *kind, int ts, int dur,
                             int correlation, int stream, int wait_stream,
                             int record)
{
    made_event(m, "cuda_sync", kind, 0, stream, ts, dur);
    made_add(m,
             "\"cuda_sync_kind\":\"%s\",\"device\":0,\"stream\":%d,"
             "\"wait_on_stream\":%d,\"wait_on_cuda_event_record_corr_id\":%d,"
             "\"correlation\":%d}},",
             kind, stream, wait_stream, record, correlation);
}

/* ---- device ------------------------------------------------------------- */

static inline void made_gpu(struct made *m, const char *cat, const char *name,
                            int stream, int ts, int dur, int correlation)
{
    made_event(m, cat, name, m->device, stream, ts, dur);
    made_add(m, "\"device\":%d,\"stream\":%d,\"correlation\":%d", m->device,
             stream, correlation);
}

static inline void made_kernel(struct made *m, int stream, const char *name,
                               int ts, int dur, int correlation)
{
    made_gpu(m, "kernel", name, stream, ts, dur, correlation);
    made_add(m, "}},");
}

/* Of `grid` blocks of 1,024 threads, of which an SM holds two. */
static inline void made_grid(struct made *m, int stream, const char *name,
                             int ts, int dur, int correlation, int grid)
{
    made_gpu(m, "kernel", name, stream, ts, dur, correlation);
    made_add(m,
             ",\"grid\":[%d,1,1],\"block\":[1024,1,1],"
             "\"registers per thread\":16,\"shared memory\":0}},",
             grid);
}

/* `way`: as Kineto has it, "HtoD (Pinned -> Device)". */
static inline void made_copy(struct made *m, int stream, const char *way,
                             int ts, int dur, int correlation, long long bytes)
{
    char name[64];

    snprintf(name, sizeof(name), "Memcpy %s", way);
    made_gpu(m, "gpu_memcpy", name, stream, ts, dur, correlation);
    made_add(m, ",\"bytes\":%lld}},", bytes);
}

/* A collective or one side of a pair, as NCCL's metadata names it. */
struct made_comm {
    const char *name, *group, *ranks; /* ranks: "0, 1" */
    int size, elems, sequence;        /* sequence: -1 not recorded */
    int src, dst;                     /* -1: none */
};

static inline void made_nccl(struct made *m, int stream, struct made_comm c,
                             int ts, int dur, int correlation)
{
    made_gpu(m, "kernel", "ncclDevKernel", stream, ts, dur, correlation);
    made_add(m,
             ",\"Collective name\":\"%s\",\"Process Group Name\":\"%s\","
             "\"Process Group Ranks\":\"[%s]\",\"Group size\":%d,"
             "\"In msg nelems\":%d,\"Out msg nelems\":%d,\"dtype\":\"Float\"",
             c.name, c.group, c.ranks, c.size, c.elems, c.elems);
    if (c.sequence >= 0)
        made_add(m, ",\"Seq\":%d", c.sequence);
    if (c.src >= 0)
        made_add(m, ",\"Src Rank\":%d", c.src);
    if (c.dst >= 0)
        made_add(m, ",\"Dst Rank\":%d", c.dst);
    made_add(m, "}},");
}

#endif
