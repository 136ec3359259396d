/*
 * tests/fuzz/played_job.h - made-up jobs, as Kineto traces, for fuzzing.
 *
 * A job is played: threads call, streams take what they are given in order,
 * waits last as long as what they wait for, ranks meet. So its times are such
 * as a real run could have. made_job_damage() then puts into it what no run
 * has: lost and doubled events, times, streams and ids of other events, values
 * at and beyond the end of their range.
 *
 * Private to tests. Times are nanoseconds.
 */
#ifndef MSIM_TESTS_FUZZ_PLAYED_JOB_H
#define MSIM_TESTS_FUZZ_PLAYED_JOB_H
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MADE_RANKS   3
#define MADE_THREADS 3
#define MADE_STREAMS 5
#define MADE_EVENTS  1200
#define MADE_DEPTH   6

struct made_event {
    const char *cat, *name;
    int64_t tid, start, dur, correlation, device, stream;
    int64_t wait_stream, record; /* cuda_sync: what is waited for */
    const char *collective;      /* NULL: no metadata */
    int64_t group, size, sequence, peer, elements;
    int64_t bytes, grid, block, registers, shared;
    int step; /* of ProfilerStep#; else -1 */
};

struct made_rank {
    struct made_event events[MADE_EVENTS];
    uint32_t n;
    int64_t now[MADE_THREADS];
    uint32_t open[MADE_THREADS][MADE_DEPTH]; /* operators that run */
    uint32_t depth[MADE_THREADS];
    int64_t over[MADE_STREAMS];  /* when all that it was given has ended */
    int64_t hold[MADE_STREAMS];  /* until when it waits for an event */
    int64_t recorded, record_id; /* the last cudaEventRecord */
    int64_t record_stream;
    int64_t correlation;
    uint32_t step; /* the event of the one that runs; EVENTS: none */
};

struct made_job {
    uint64_t random;
    struct made_rank ranks[MADE_RANKS];
    uint32_t n_ranks, threads, streams;
    uint32_t devices;  /* streams take turns on them */
    bool syncs;        /* cuda_sync events are recorded */
    bool metadata;     /* collectives say what they are */
    bool world;        /* ranks beyond those that are there */
    bool whole_us;     /* times are truncated, as in old traces */
    int64_t gpu_clock; /* how far ahead of the host's */
    int64_t sequence;
    int steps;
};

static inline uint32_t made_any(struct made_job *j, uint32_t below)
{
    j->random ^= j->random << 13;
    j->random ^= j->random >> 7;
    j->random ^= j->random << 17;
    return (uint32_t)(j->random >> 32) % below;
}

static inline bool made_once_in(struct made_job *j, uint32_t n)
{
    return made_any(j, n) == 0;
}

/* A time of up to `below` ns; short ones are as likely as long ones. */
static inline int64_t made_time(struct made_job *j, uint32_t below)
{
    return made_any(j, 1 + (below >> made_any(j, 8)));
}

static inline int64_t made_later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The next event; once there is no room, always the last. */
static inline struct made_event *made_add(struct made_rank *r, const char *cat,
                                          const char *name, int64_t start,
                                          int64_t dur)
{
    struct made_event *e = &r->events[r->n];

    if (r->n + 1 < MADE_EVENTS)
        r->n++;
    *e = (struct made_event){.cat = cat,
                             .name = name,
                             .start = start,
                             .dur = dur,
                             .stream = -1,
                             .wait_stream = -1,
                             .record = -1,
                             .peer = -1,
                             .sequence = -1,
                             .step = -1};
    return e;
}

/* ---- what a thread does -------------------------------------------------- */

struct made_turn {
    struct made_job *j;
    struct made_rank *r;
    uint32_t thread, stream;
};

static inline int64_t *made_now(const struct made_turn *k)
{
    return &k->r->now[k->thread];
}

/* A call that works for `dur` and returns not before `until`. */
static inline struct made_event *
made_call(struct made_turn *k, const char *name, int64_t dur, int64_t until)
{
    int64_t start = *made_now(k), end = made_later(start + dur, until);
    struct made_event *e =
        made_add(k->r, "cuda_runtime", name, start, end - start);

    e->tid = k->thread + 1;
    e->correlation = ++k->r->correlation;
    *made_now(k) = end;
    return e;
}

static inline const char *made_launch_name(struct made_job *j)
{
    static const char *const NAMES[] = {"cudaLaunchKernel",
                                        "cudaLaunchKernelExC",
                                        "cudaLaunchCooperativeKernel",
                                        "hipModuleLaunchKernel",
                                        "cuLaunchKernel",
                                        "cuLaunchKernelEx"};

    return NAMES[made_any(j, 6)];
}

static inline int64_t made_device(const struct made_job *j, uint32_t stream)
{
    return stream % j->devices;
}

static inline int64_t made_stream_id(uint32_t stream)
{
    return 7 + 13 * (int64_t)stream;
}

static inline void made_shape(struct made_job *j, struct made_event *e)
{
    e->grid = 1 << made_any(j, 14);
    e->block = 32 << made_any(j, 6);
    e->registers = 16 + made_any(j, 100);
    e->shared = made_once_in(j, 3) ? made_any(j, 49152) : 0;
}

/* The activity that a call at `launch` gave to the turn's stream. */
static inline struct made_event *made_activity(struct made_turn *k,
                                               const char *cat,
                                               const char *name, int64_t launch,
                                               int64_t dur)
{
    int64_t *over = &k->r->over[k->stream], *hold = &k->r->hold[k->stream];
    int64_t start = launch + 800 + made_time(k->j, 9000);
    struct made_event *e;

    start = made_later(start, *over + made_time(k->j, 2000));
    start = made_later(start, *hold + made_time(k->j, 2000));
    e = made_add(k->r, cat, name, start, dur);
    e->device = made_device(k->j, k->stream);
    e->stream = made_stream_id(k->stream);
    e->correlation = k->r->correlation;
    made_shape(k->j, e);
    *over = start + dur;
    return e;
}

static inline void made_launch(struct made_turn *k)
{
    static const char *const NAMES[] = {"gemm", "elementwise", "reduce"};
    struct made_job *j = k->j;
    int64_t at = *made_now(k), dur = 1000 + made_time(j, 12000);
    struct made_event *e = made_call(k, made_launch_name(j), dur, 0);

    /* The runtime's call makes the driver's; no call makes itself. */
    if (made_once_in(j, 5) && strncmp(e->name, "cuda", 4) == 0) {
        e = made_add(k->r, "cuda_driver", "cuLaunchKernel", at + dur / 4,
                     dur / 2);
        e->tid = k->thread + 1;
        e->correlation = k->r->correlation;
        if (made_once_in(j, 2))
            e->correlation = ++k->r->correlation;
    }
    made_activity(k, "kernel", NAMES[made_any(j, 3)], at,
                  made_time(j, made_once_in(j, 9) ? 900000 : 90000));
}

static inline void made_graph_launch(struct made_turn *k)
{
    int64_t at = *made_now(k);
    uint32_t n = 1 + made_any(k->j, 5);

    made_call(k, "cudaGraphLaunch", 5000, 0);
    while (n--)
        made_activity(k, "kernel", "node", at, made_time(k->j, 20000));
}

static inline void made_copy(struct made_turn *k)
{
    static const char *const NAMES[] = {
        "Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pageable -> Device)",
        "Memcpy DtoH (Device -> Pinned)", "Memcpy DtoH (Device -> Pageable)",
        "Memcpy DtoD (Device -> Device)"};
    struct made_job *j = k->j;
    uint32_t what = made_any(j, 5);
    bool waits = made_once_in(j, 4), blocks = waits || what % 2;
    int64_t at = *made_now(k);
    struct made_event *e;

    made_call(k, waits ? "cudaMemcpy" : "cudaMemcpyAsync", 3000, 0);
    e = made_activity(k, "gpu_memcpy", NAMES[what], at,
                      1000 + made_time(j, 400000));
    e->bytes = e->dur * 12;
    if (!blocks)
        return;
    *made_now(k) = made_later(*made_now(k), e->start + e->dur + 900);
    e[-1].dur = *made_now(k) - e[-1].start;
}

static inline void made_set(struct made_turn *k)
{
    int64_t at = *made_now(k);

    made_call(k, "cudaMemsetAsync", 2000, 0);
    made_activity(k, "gpu_memset", "Memset (Device)", at, made_time(k->j, 9000))
        ->bytes = 4096;
}

/* What a cuda_sync event says of the call before it. */
static inline void made_note(struct made_turn *k, const char *name,
                             int64_t stream, int64_t wait_stream,
                             int64_t record)
{
    const struct made_event *call = &k->r->events[k->r->n - 1];
    struct made_event *e;

    if (!k->j->syncs)
        return;
    e = made_add(k->r, "cuda_sync", name, call->start, call->dur);
    e->correlation = k->r->correlation;
    e->device = made_device(k->j, k->stream);
    e->stream = stream;
    e->wait_stream = wait_stream;
    e->record = record;
}

static inline int64_t made_all_over(const struct made_job *j,
                                    const struct made_rank *r, int64_t device)
{
    int64_t end = 0;

    for (uint32_t s = 0; s < j->streams; s++)
        if (made_device(j, s) == device)
            end = made_later(end, r->over[s]);
    return end;
}

static inline void made_wait(struct made_turn *k)
{
    struct made_rank *r = k->r;
    int64_t all = made_all_over(k->j, r, made_device(k->j, k->stream));
    int64_t id = made_stream_id(k->stream), back = made_time(k->j, 3000);

    switch (made_any(k->j, 6)) {
    case 0:
        made_call(k, "cudaDeviceSynchronize", 900, all + back);
        made_note(k, "Context Sync", -1, -1, -1);
        break;
    case 1:
        made_call(k, "cudaStreamSynchronize", 900, r->over[k->stream] + back);
        made_note(k, "Stream Sync", id, -1, -1);
        break;
    case 2:
        made_call(k, "cudaEventSynchronize", 900, r->recorded + back);
        made_note(k, "Event Sync", -1, r->record_stream, r->record_id);
        break;
    case 3:
        made_call(k, "cudaFree", 2000, all + back);
        break;
    case 4:
        made_call(k, "cudaMalloc", 2000 + made_time(k->j, 90000),
                  made_once_in(k->j, 3) ? all + back : 0);
        break;
    default:
        made_call(k, "cudaEventElapsedTime", 500,
                  made_once_in(k->j, 3) ? r->recorded + back : 0);
        break;
    }
}

static inline void made_record(struct made_turn *k)
{
    made_call(k, "cudaEventRecord", 700, 0);
    k->r->recorded = k->r->over[k->stream];
    k->r->record_stream = made_stream_id(k->stream);
    k->r->record_id = k->r->correlation;
    if (made_once_in(k->j, 3))
        return;
    k->stream = made_any(k->j, k->j->streams);
    made_call(k, "cudaStreamWaitEvent", 600, 0);
    k->r->hold[k->stream] = made_later(k->r->hold[k->stream], k->r->recorded);
    made_note(k, "Stream Wait Event", made_stream_id(k->stream),
              k->r->record_stream, k->r->record_id);
}

/* ---- operators and steps ------------------------------------------------- */

static inline void made_open(struct made_turn *k)
{
    static const char *const NAMES[] = {
        "aten::mm", "aten::copy_", "autograd::engine::evaluate_function: Mul",
        "aten::to",
        "enumerate(DataLoader)#_MultiProcessingDataLoaderIter."
        "__next__"};
    struct made_rank *r = k->r;
    uint32_t *depth = &r->depth[k->thread];
    struct made_event *e;

    if (*depth == MADE_DEPTH)
        return;
    e = made_add(r, made_once_in(k->j, 9) ? "user_annotation" : "cpu_op",
                 NAMES[made_any(k->j, 5)], *made_now(k), 0);
    e->tid = k->thread + 1;
    r->open[k->thread][(*depth)++] = (uint32_t)(e - r->events);
    if (made_once_in(k->j, 20)) /* a batch is waited for */
        *made_now(k) += made_time(k->j, 4000000);
    *made_now(k) += made_time(k->j, 3000);
}

static inline void made_close(struct made_turn *k)
{
    uint32_t *depth = &k->r->depth[k->thread];
    struct made_event *e;

    if (!*depth)
        return;
    *made_now(k) += made_time(k->j, 3000);
    e = &k->r->events[k->r->open[k->thread][--*depth]];
    e->dur = *made_now(k) - e->start;
}

/* Steps are marks of the first thread, between its operators. */
static inline void made_step(struct made_job *j, struct made_rank *r, int step)
{
    struct made_turn k = {j, r, 0, 0};
    struct made_event *e;

    while (r->depth[0])
        made_close(&k);
    if (r->step < MADE_EVENTS) {
        e = &r->events[r->step];
        e->dur = r->now[0] - e->start;
        r->step = MADE_EVENTS;
    }
    if (step < 0)
        return;
    r->now[0] += made_time(j, 5000);
    e = made_add(r, "user_annotation", "ProfilerStep#", r->now[0], 0);
    e->tid = 1;
    e->step = step;
    r->step = (uint32_t)(e - r->events);
}

/* Whoever is first goes on, so that streams get their work in order. */
static inline void made_act(struct made_job *j, struct made_rank *r)
{
    struct made_turn k = {j, r, 0, made_any(j, j->streams)};
    uint32_t what = made_any(j, 20);

    for (uint32_t t = 1; t < j->threads; t++)
        if (r->now[t] < r->now[k.thread])
            k.thread = t;
    if (what < 7)
        made_launch(&k);
    else if (what < 10)
        made_open(&k);
    else if (what < 12)
        made_close(&k);
    else if (what < 14)
        made_copy(&k);
    else if (what == 14)
        made_wait(&k);
    else if (what == 15)
        made_record(&k);
    else if (what == 16)
        made_set(&k);
    else if (what == 17 && made_once_in(j, 3))
        made_graph_launch(&k);
    else
        *made_now(&k) += made_time(j, made_once_in(j, 9) ? 900000 : 30000);
}

/* ---- collectives --------------------------------------------------------- */

static inline void made_describe(struct made_job *j, struct made_event *e,
                                 const char *collective, int64_t peer)
{
    if (!j->metadata)
        return;
    e->collective = collective;
    e->group = j->world;
    e->size = j->world ? 8 : j->n_ranks;
    e->sequence = j->sequence;
    e->peer = peer;
    e->elements = 1024;
}

/* All ranks meet; the last arrival lets all go on. */
static inline void made_meet(struct made_job *j)
{
    static const char *const KINDS[] = {"allreduce", "all_to_all", "send"};
    static const char *const NAMES[] = {"ncclDevKernel_AllReduce_Sum",
                                        "ncclDevKernel_SendRecv",
                                        "ncclDevKernel_SendRecv"};
    uint32_t what = made_any(j, 3), stream = j->streams - 1;
    struct made_event *kernels[MADE_RANKS];
    int64_t last = 0, work = made_time(j, 200000);

    j->sequence++;
    for (uint32_t i = 0; i < j->n_ranks; i++) {
        struct made_turn k = {j, &j->ranks[i], 0, stream};
        int64_t at;

        for (uint32_t t = 1; t < j->threads; t++)
            if (k.r->now[t] < *made_now(&k))
                k.thread = t;
        at = *made_now(&k);
        made_call(&k, "cudaLaunchKernelExC", 4000, 0);
        kernels[i] = made_activity(&k, "kernel", NAMES[what], at, 0);
        last = made_later(last, kernels[i]->start);
        made_describe(j, kernels[i], what == 2 && i ? "recv" : KINDS[what],
                      what == 2 ? (int64_t)(i + 1) % 2 : -1);
    }
    if (j->world)
        last += made_time(j, 300000);
    for (uint32_t i = 0; i < j->n_ranks; i++) {
        kernels[i]->dur = last + work - kernels[i]->start;
        j->ranks[i].over[stream] = last + work;
    }
}

/* ---- the whole ----------------------------------------------------------- */

static inline void made_begin_rank(struct made_job *j, uint32_t i)
{
    struct made_rank *r = &j->ranks[i];

    memset(r, 0, sizeof(*r));
    r->step = MADE_EVENTS;
    for (uint32_t t = 0; t < MADE_THREADS; t++)
        r->now[t] = 100000 + made_time(j, 200000);
    r->recorded = 0;
}

static inline void made_end_rank(struct made_job *j, struct made_rank *r)
{
    made_step(j, r, -1);
    for (uint32_t t = 0; t < j->threads; t++) {
        struct made_turn k = {j, r, t, 0};

        while (r->depth[t])
            made_close(&k);
    }
}

/* Host and GPU have clocks of their own, and old traces whole microseconds. */
static inline void made_clocks(struct made_job *j, struct made_rank *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        struct made_event *e = &r->events[i];

        if (e->stream >= 0 && strcmp(e->cat, "cuda_sync") != 0)
            e->start += j->gpu_clock;
        if (j->whole_us) {
            e->start -= e->start % 1000;
            e->dur -= e->dur % 1000;
        }
    }
}

static inline void made_job_new(struct made_job *j, uint64_t seed)
{
    uint32_t rounds;

    j->random = seed * 0x9e3779b97f4a7c15u | 1;
    for (int i = 0; i < 8; i++)
        made_any(j, 2);
    j->n_ranks = made_once_in(j, 3) ? 2 + made_any(j, MADE_RANKS - 1) : 1;
    j->threads = 1 + made_any(j, MADE_THREADS);
    j->streams = 1 + made_any(j, MADE_STREAMS);
    j->devices = made_once_in(j, 5) ? 2 : 1;
    j->syncs = made_once_in(j, 3);
    j->metadata = !made_once_in(j, 3);
    j->world = made_once_in(j, 4);
    j->whole_us = made_once_in(j, 3);
    j->gpu_clock = made_once_in(j, 3) ? (int64_t)made_any(j, 1600) - 800 : 0;
    j->sequence = 0;
    j->steps = (int)made_any(j, 4);
    for (uint32_t i = 0; i < j->n_ranks; i++)
        made_begin_rank(j, i);
    rounds = 1 + made_any(j, 6);
    for (uint32_t k = 0; k < rounds; k++) {
        for (uint32_t i = 0; i < j->n_ranks; i++) {
            uint32_t acts = made_any(j, 60);

            if ((int)k <= j->steps && j->steps)
                made_step(j, &j->ranks[i], (int)k < j->steps ? (int)k : -1);
            while (acts--)
                made_act(j, &j->ranks[i]);
        }
        if (j->n_ranks > 1 || made_once_in(j, 4))
            made_meet(j);
    }
    for (uint32_t i = 0; i < j->n_ranks; i++) {
        made_end_rank(j, &j->ranks[i]);
        made_clocks(j, &j->ranks[i]);
    }
}

#endif
