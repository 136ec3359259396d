/*
 * core/graph/rules/graph_sync.c - calls that wait for the GPU.
 *
 * The time that a call waited is taken out of its work and computed again: the
 * call ends when its own work is done and what it waits for has ended.
 *
 *   device synchronisation   the last activity launched before it on every
 *                            stream; cudaFree has that meaning, too
 *   stream, event            what cuda_sync events name; else the activity
 *                            whose end ended the call, if one did; else what
 *                            the thread itself launched last
 *   cudaMalloc,              hide a synchronisation now and then: only where
 *   cudaEventElapsedTime     an activity's end ended a long call
 *   blocking copies          their own copy, if its memory is pageable or
 *                            the call is synchronous; to the device, all but
 *                            the part that was staged last
 *
 * Where no GPU time may be read, the order of calls decides instead. A wait
 * for work that is not recorded is no work of the host: it is kept as a delay
 * without a cause.
 */
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>

#define US ((msim_ps)MSIM_PS_PER_US)
/* Clocks of CPU and GPU agree to about this. */
#define JITTER (2 * US)
/*
 * On some ranks they differ by tens of microseconds: by the GPU's clock, an
 * activity may end so much after the call that waited for it.
 */
#define SKEW (50 * US)
/*
 * Pageable memory up to this many bytes is staged while the call runs. For
 * more, a call returns when the last part is staged (CUDA Runtime API, "API
 * synchronization behavior").
 */
#define STAGED_MAX 65536u
/* A shorter call is not suspected to hide a synchronisation. */
#define HIDDEN_MIN (20 * US)

struct sync {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    const struct msim_trace *t;
    uint32_t *of_call; /* msim_sync of each call, or NONE */
    uint32_t *launched, *recorded;
    bool lost; /* launched on the thread at hand, and not waited for yet */
    enum msim_edge_kind edge; /* of the call at hand */
    enum msim_edge_source source;
};

static msim_ps call_end(const struct msim_call *c)
{
    return c->start + c->dur;
}

/* It has ended when the call returns, as far as times may be read. */
static bool over_by(const struct sync *s, uint32_t i, const struct msim_call *c)
{
    return !s->b->opt->device_times ||
           msim_gpu_end(&s->t->gpu[i]) <= call_end(c) + SKEW;
}

/*
 * Let `call` wait for GPU activity `i`, except for as much of it as followed
 * the call in the trace. Remember the latest such end.
 */
static enum msim_status wait_for(struct sync *s, uint32_t call, uint32_t i,
                                 msim_ps *latest)
{
    msim_ps end = msim_gpu_end(&s->t->gpu[i]), lag = 0;

    if (s->b->opt->device_times && end > call_end(&s->t->calls[call]))
        lag = call_end(&s->t->calls[call]) - end;
    if (end + lag > *latest)
        *latest = end + lag;
    return msim_builder_edge(s->b, s->edge, s->source, s->r->of_gpu[i],
                             s->r->of_call[call], lag);
}

/*
 * The last activity of a stream that was launched before call `c`, or NONE. Of
 * those whose launch is not recorded, the last that has ended by then: others
 * may have been launched later. In a stream, what begins later ends later.
 */
static uint32_t last_before(const struct sync *s, uint32_t stream,
                            const struct msim_call *c)
{
    uint32_t i = msim_graph_last_launched(s->r, stream, c->start);
    uint32_t begin = s->t->streams[stream].gpu_begin, lo = begin, hi = i;

    if (i == MSIM_NONE || s->t->gpu[i].call != MSIM_NONE || over_by(s, i, c))
        return i;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (over_by(s, mid, c))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > begin ? lo - 1 : MSIM_NONE;
}

static enum msim_status wait_device(struct sync *s, uint32_t call,
                                    msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];

    for (uint32_t status = 0; status < s->t->n_streams; status++) {
        uint32_t i = last_before(s, status, c);

        if (i != MSIM_NONE && over_by(s, i, c))
            MSIM_TRY(wait_for(s, call, i, latest));
    }
    return MSIM_OK;
}

/*
 * The activity that ended last while the call ran: of all, or (`any` false) of
 * those launched last on their stream; of several, on the first stream.
 */
static uint32_t ended_during(const struct sync *s, const struct msim_call *c,
                             bool any)
{
    const struct msim_gpu *gpu = s->t->gpu;
    uint32_t best = MSIM_NONE;

    for (uint32_t k = msim_graph_ended_by(s->r, call_end(c) + JITTER);
         k-- > 0;) {
        uint32_t i = s->r->by_end[k], last;

        if (msim_gpu_end(&gpu[i]) <= c->start ||
            (best != MSIM_NONE &&
             msim_gpu_end(&gpu[i]) < msim_gpu_end(&gpu[best])))
            break;
        last = last_before(s, gpu[i].stream, c);
        if (last != MSIM_NONE && (any ? i <= last : i == last))
            best = i;
    }
    return best;
}

/*
 * What each call's thread launched last before it, and before its last event
 * record.
 */
static enum msim_status find_launched(struct sync *s)
{
    const struct msim_trace *t = s->t;
    uint32_t last = MSIM_NONE, recorded = MSIM_NONE;
    size_t bytes = ((size_t)t->n_calls + 1) * sizeof(uint32_t);

    s->launched = malloc(bytes);
    s->recorded = malloc(bytes);
    if (!s->launched || !s->recorded)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const struct msim_call *c = &t->calls[i];

        if (i == 0 || c->thread != c[-1].thread)
            last = recorded = MSIM_NONE;
        s->launched[i] = last;
        s->recorded[i] = recorded;
        if (c->kind == MSIM_CALL_EVENT_RECORD)
            recorded = last;
        if (c->gpu != MSIM_NONE)
            last = c->gpu;
    }
    return MSIM_OK;
}

/* Nothing ended with the call except, by a clock that is off, `here`: what its
 * thread launched last. `i` ended during the call, or is NONE. */
static bool fits_better(const struct sync *s, const struct msim_call *c,
                        uint32_t here, uint32_t i)
{
    const struct msim_gpu *gpu = s->t->gpu;

    if (here == MSIM_NONE || i == MSIM_NONE)
        return i == MSIM_NONE;
    return msim_gpu_end(&gpu[i]) < call_end(c) - SKEW && over_by(s, here, c) &&
           msim_gpu_end(&gpu[here]) > msim_gpu_end(&gpu[i]);
}

/*
 * The stream is not named. The call waited for the activity that ended when it
 * did. Where none did, its stream was idle, and is taken to be the stream that
 * its thread used last.
 */
static enum msim_status wait_inferred(struct sync *s, uint32_t call, bool any,
                                      msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];
    uint32_t i = MSIM_NONE, here;

    here = any ? s->recorded[call] : s->launched[call];

    if (s->b->opt->device_times)
        i = ended_during(s, c, any);
    if (fits_better(s, c, here, i))
        i = here;
    if (i == MSIM_NONE || !over_by(s, i, c))
        return MSIM_OK;
    return wait_for(s, call, i, latest);
}

/* The stream and, for an event, the record that a cuda_sync event names. */
static enum msim_status wait_recorded(struct sync *s, uint32_t call,
                                      const struct msim_sync *sync,
                                      msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];
    uint32_t stream =
        sync->wait_stream != MSIM_NONE ? sync->wait_stream : sync->stream;
    msim_ps until = sync->record_call == MSIM_NONE
                        ? c->start
                        : s->t->calls[sync->record_call].start;
    uint32_t i = msim_graph_last_launched(s->r, stream, until);

    s->source = MSIM_FROM_IDS;
    if (i == MSIM_NONE || !over_by(s, i, c))
        return MSIM_OK;
    return wait_for(s, call, i, latest);
}

static enum msim_status wait_named(struct sync *s, uint32_t call, bool event,
                                   msim_ps *latest)
{
    uint32_t k = s->of_call[call];
    const struct msim_sync *sync = k == MSIM_NONE ? NULL : &s->t->syncs[k];

    if (!sync || (sync->wait_stream == MSIM_NONE && sync->stream == MSIM_NONE))
        return wait_inferred(s, call, event, latest);
    return wait_recorded(s, call, sync, latest);
}

/* Is it synchronous, or does the driver have to stage its host memory? */
static bool may_block(const struct msim_trace *t, const struct msim_call *c)
{
    const struct msim_gpu *e = &t->gpu[c->gpu];

    return c->kind == MSIM_CALL_MEMCPY_SYNC || e->pageable ||
           e->copy_kind == MSIM_COPY_UNKNOWN;
}

/*
 * Has the copy ended when the call returned? Or has it begun, to be staged
 * part by part? Its last part may still be on its way then, but no part begins
 * before the stream's earlier work has ended.
 */
static bool seen_to_block(const struct msim_trace *t, const struct msim_call *c)
{
    const struct msim_gpu *e = &t->gpu[c->gpu];

    if (msim_gpu_end(e) <= call_end(c) + JITTER)
        return true;
    return e->pageable && e->copy_kind == MSIM_COPY_H2D &&
           e->bytes > STAGED_MAX && e->start < call_end(c);
}

static enum msim_status wait_copy(struct sync *s, uint32_t call,
                                  msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];
    bool blocks;

    if (c->gpu == MSIM_NONE || !may_block(s->t, c))
        return MSIM_OK;
    blocks = s->b->opt->device_times ? seen_to_block(s->t, c)
                                     : c->kind == MSIM_CALL_MEMCPY_SYNC ||
                                           s->t->gpu[c->gpu].pageable;
    s->source = MSIM_FROM_ORDER;
    return blocks ? wait_for(s, call, c->gpu, latest) : MSIM_OK;
}

/* A long call that may have waited for an activity that ended while it ran. */
static enum msim_status wait_hidden(struct sync *s, uint32_t call,
                                    msim_ps *latest)
{
    const struct msim_call *c = &s->t->calls[call];
    uint32_t i;

    if (c->dur < HIDDEN_MIN)
        return MSIM_OK;
    if (!s->b->opt->device_times)
        return wait_device(s, call, latest);
    i = ended_during(s, c, true);
    return i == MSIM_NONE ? MSIM_OK : wait_for(s, call, i, latest);
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
        return wait_named(s, call, false, latest);
    case MSIM_CALL_EVENT_SYNC:
        return wait_named(s, call, true, latest);
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
        return wait_copy(s, call, latest);
    case MSIM_CALL_FREE:
        s->source = MSIM_FROM_ORDER;
        return wait_device(s, call, latest);
    case MSIM_CALL_MALLOC:
    case MSIM_CALL_EVENT_ELAPSED:
        return wait_hidden(s, call, latest);
    default:
        return MSIM_OK;
    }
}

static bool is_wait(uint8_t call_kind)
{
    return call_kind >= MSIM_CALL_DEVICE_SYNC &&
           call_kind <= MSIM_CALL_EVENT_SYNC;
}

/* Calls come by thread, then start. A call that waited for nothing that is
 * recorded waited for what its thread launched and the recording lost. */
static enum msim_status wait_for_lost(struct sync *s, uint32_t call,
                                      msim_ps latest)
{
    const struct msim_call *c = &s->t->calls[call];
    uint32_t task = s->r->of_call[call];
    bool lost = s->lost && (call == 0 || c->thread == c[-1].thread);

    s->lost = c->lost || (lost && !is_wait(c->kind));
    if (!lost || !is_wait(c->kind) || latest > c->start || task == MSIM_NONE ||
        !s->b->opt->device_times)
        return MSIM_OK;
    msim_builder_waited(s->b, task, call_end(c));
    s->b->g->copied[MSIM_COPIED_UNEXPLAINED] += c->dur;
    return msim_builder_edge(s->b, MSIM_EDGE_UNEXPLAINED, MSIM_FROM_TIMES,
                             task - 1, task, c->dur);
}

static enum msim_status link_calls(struct sync *s)
{
    s->of_call = malloc(((size_t)s->t->n_calls + 1) * sizeof(*s->of_call));
    if (!s->of_call)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->t->n_calls; i++)
        s->of_call[i] = MSIM_NONE;
    for (uint32_t i = 0; i < s->t->n_syncs; i++)
        if (s->t->syncs[i].call != MSIM_NONE)
            s->of_call[s->t->syncs[i].call] = i;
    MSIM_TRY(find_launched(s));
    for (uint32_t i = 0; i < s->t->n_calls; i++) {
        msim_ps latest = MSIM_TIME_NONE;

        MSIM_TRY(link_call(s, i, &latest));
        MSIM_TRY(wait_for_lost(s, i, latest));
        if (latest != MSIM_TIME_NONE && s->b->opt->device_times)
            msim_builder_waited(s->b, s->r->of_call[i], latest);
    }
    return MSIM_OK;
}

enum msim_status msim_graph_sync(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r)
{
    struct sync s = {.b = b, .r = r, .t = r->trace};
    enum msim_status status = link_calls(&s);

    free(s.of_call);
    free(s.launched);
    free(s.recorded);
    return status;
}
