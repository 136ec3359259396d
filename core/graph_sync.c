/*
 * Calls that wait for the GPU. What they waited is taken out of their work
 * and computed again: the call ends when both its own work is done and what
 * it waits for has ended.
 *
 *   device and stream synchronisation   the last activity launched before it,
 *                                       on every stream or on the one waited
 *                                       for (cuda_sync events name it)
 *   event synchronisation, and calls    the last activity that ended while
 *   that hide one (malloc, free, ...)   the call ran: inferred from times
 *   blocking copies                     their own copy
 *
 * Where no GPU time may be read, the order of calls decides instead: a stream
 * synchronisation waits for what its thread launched last, an event
 * synchronisation for what was launched before the last record, a copy blocks
 * if its host memory is pageable.
 */
#include "core/graph_builder.h"

#include <stdlib.h>

#define US ((msim_ps)MSIM_PS_PER_US)
/* Clocks of CPU and GPU agree to about this. */
#define JITTER (2 * US)
/* A call that hides a synchronisation is only suspected above this. */
#define HIDDEN_MIN (20 * US)

struct sync {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    const struct msim_trace *t;
    uint32_t *of_call;        /* msim_sync of each call, or NONE */
    enum msim_edge_kind edge; /* of the call at hand */
    enum msim_edge_source source;
};

/* It has ended when the call returns, as far as times may be read. */
static bool over_by(const struct sync *s, uint32_t i, const struct msim_call *c)
{
    return !s->b->opt->device_times ||
           msim_gpu_end(&s->t->gpu[i]) <= c->start + c->dur + JITTER;
}

/* Let `call` wait for GPU activity `i`; remember the latest such end. */
static enum msim_status wait_for(struct sync *s, uint32_t call, uint32_t i,
                                 msim_ps *latest)
{
    if (msim_gpu_end(&s->t->gpu[i]) > *latest)
        *latest = msim_gpu_end(&s->t->gpu[i]);
    return msim_builder_edge(s->b, s->edge, s->source, s->r->of_gpu[i],
                             s->r->of_call[call], 0);
}

static enum msim_status wait_device(struct sync *s, uint32_t call,
                                    msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];

    for (uint32_t st = 0; st < s->t->n_streams; st++) {
        uint32_t i = msim_graph_last_launched(s->t, st, c->start);

        if (i != MSIM_NONE && over_by(s, i, c))
            MSIM_TRY(wait_for(s, call, i, latest));
    }
    return MSIM_OK;
}

/*
 * The activity that ended last while the call ran: of those launched last on
 * their stream (`any` false), or of all.
 */
static uint32_t ended_during(const struct sync *s, const struct msim_call *c,
                             bool any)
{
    uint32_t best = MSIM_NONE;

    for (uint32_t st = 0; st < s->t->n_streams; st++) {
        uint32_t i = msim_graph_last_launched(s->t, st, c->start);
        uint32_t begin = s->t->streams[st].gpu_begin;

        if (i == MSIM_NONE)
            continue;
        while (any && i > begin &&
               msim_gpu_end(&s->t->gpu[i]) > c->start + c->dur + JITTER)
            i--;
        if (msim_gpu_end(&s->t->gpu[i]) > c->start + c->dur + JITTER ||
            msim_gpu_end(&s->t->gpu[i]) <= c->start)
            continue;
        if (best == MSIM_NONE ||
            msim_gpu_end(&s->t->gpu[i]) > msim_gpu_end(&s->t->gpu[best]))
            best = i;
    }
    return best;
}

/*
 * What the thread launched last before `call`; with `recorded`, before its
 * last event record.
 */
static uint32_t launched_here(const struct sync *s, uint32_t call,
                              bool recorded)
{
    uint32_t begin = s->t->threads[s->t->calls[call].thread].call_begin;

    while (call-- > begin) {
        const struct msim_call *c = &s->t->calls[call];

        if (c->kind == MSIM_CALL_EVENT_RECORD)
            recorded = false;
        if (!recorded && c->gpu != MSIM_NONE)
            return c->gpu;
    }
    return MSIM_NONE;
}

static enum msim_status wait_ended(struct sync *s, uint32_t call, bool any,
                                   msim_ps *latest)
{
    uint32_t i = s->b->opt->device_times
                     ? ended_during(s, &s->t->calls[call], any)
                     : launched_here(s, call, any);

    return i == MSIM_NONE ? MSIM_OK : wait_for(s, call, i, latest);
}

static enum msim_status wait_stream(struct sync *s, uint32_t call,
                                    msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];
    uint32_t sync = s->of_call[call], i;

    if (sync == MSIM_NONE || s->t->syncs[sync].wait_stream == MSIM_NONE)
        return wait_ended(s, call, false, latest);
    s->source = MSIM_FROM_IDS;
    i = msim_graph_last_launched(s->t, s->t->syncs[sync].wait_stream, c->start);
    if (i == MSIM_NONE || !over_by(s, i, c))
        return MSIM_OK;
    return wait_for(s, call, i, latest);
}

static enum msim_status wait_copy(struct sync *s, uint32_t call,
                                  msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];

    bool blocks = c->kind == MSIM_CALL_MEMCPY_SYNC;

    if (c->gpu == MSIM_NONE)
        return MSIM_OK;
    blocks |= s->b->opt->device_times ? over_by(s, c->gpu, c)
                                      : s->t->gpu[c->gpu].pageable;
    if (!blocks)
        return MSIM_OK;
    return wait_for(s, call, c->gpu, latest);
}

static enum msim_edge_kind edge_of(uint8_t call_kind)
{
    switch (call_kind) {
    case MSIM_CALL_DEVICE_SYNC:
        return MSIM_EDGE_DEVICE_SYNC;
    case MSIM_CALL_STREAM_SYNC:
        return MSIM_EDGE_STREAM_SYNC;
    case MSIM_CALL_EVENT_SYNC:
        return MSIM_EDGE_EVENT_SYNC;
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
        return MSIM_EDGE_COPY_SYNC;
    default:
        return MSIM_EDGE_HIDDEN_SYNC;
    }
}

static enum msim_status link_call(struct sync *s, uint32_t call,
                                  msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];

    s->edge = edge_of(c->kind);
    s->source = MSIM_FROM_TIMES;
    switch (c->kind) {
    case MSIM_CALL_DEVICE_SYNC:
        s->source = MSIM_FROM_ORDER;
        return wait_device(s, call, latest);
    case MSIM_CALL_STREAM_SYNC:
        return wait_stream(s, call, latest);
    case MSIM_CALL_EVENT_SYNC:
        return wait_ended(s, call, true, latest);
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
        return wait_copy(s, call, latest);
    case MSIM_CALL_MALLOC:
    case MSIM_CALL_FREE:
    case MSIM_CALL_EVENT_ELAPSED:
        if (c->dur < HIDDEN_MIN)
            return MSIM_OK;
        return s->b->opt->device_times ? wait_ended(s, call, true, latest)
                                       : wait_device(s, call, latest);
    default:
        return MSIM_OK;
    }
}

/* The work of a call that waited is what followed the wait. */
static void remove_wait(struct sync *s, uint32_t call, msim_ps latest)
{
    uint32_t task = s->r->of_call[call];
    msim_ps tail = s->b->tend[task] - latest;

    if (latest > s->b->tstart[task])
        s->b->g->traced[task] = tail > 0 ? tail : 0;
}

enum msim_status msim_graph_sync(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r)
{
    struct sync s = {.b = b, .r = r, .t = r->trace};
    enum msim_status st = MSIM_OK;

    s.of_call = malloc(((size_t)s.t->n_calls + 1) * sizeof *s.of_call);
    if (!s.of_call)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s.t->n_calls; i++)
        s.of_call[i] = MSIM_NONE;
    for (uint32_t i = 0; i < s.t->n_syncs; i++)
        if (s.t->syncs[i].call != MSIM_NONE)
            s.of_call[s.t->syncs[i].call] = i;
    for (uint32_t i = 0; i < s.t->n_calls && st == MSIM_OK; i++) {
        msim_ps latest = MSIM_TIME_NONE;

        st = link_call(&s, i, &latest);
        if (st == MSIM_OK && latest != MSIM_TIME_NONE && b->opt->device_times)
            remove_wait(&s, i, latest);
    }
    free(s.of_call);
    return st;
}
