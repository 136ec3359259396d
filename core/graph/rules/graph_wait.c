/*
 * core/graph/rules/graph_wait.c - streams that wait for each other, as far as
 * the host's calls show it.
 *
 * For a cudaStreamWaitEvent, cuda_sync events name the stream that waits and
 * the cudaEventRecord that it waits for. The work that the recorded stream got
 * before the record comes before the work that the waiting stream gets after
 * the wait.
 *
 * Other traces name neither stream nor event, and often not even the record.
 * There a wait between two launches makes the stream of the next launch wait
 * for the work that other streams had got by then: the main stream waits for
 * all others, any other stream for the main one. Where GPU times may be read,
 * an edge that the traced times contradict is left out.
 */
#include "core/base/containers.h"
#include "core/graph/rules/graph_rules_internal.h"

#include <stdlib.h>

#define JITTER ((msim_ps)MSIM_PS_PER_US)
/* Waits across streams resolve within tens of microseconds. */
#define RESOLVE_MAX (25 * JITTER)

struct waits {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    const struct msim_trace *t;
};

void msim_graph_find_launches(const struct msim_graph_builder *b,
                              struct msim_rank_tasks *r)
{
    const struct msim_trace *t = r->trace;

    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];
        bool first = i == t->streams[e->stream].gpu_begin;

        if (e->call != MSIM_NONE)
            r->launched[i] = t->calls[e->call].start;
        else if (!b->opt->device_times)
            r->launched[i] = e->start;
        else
            r->launched[i] = first ? INT64_MIN : r->launched[i - 1];
    }
}

uint32_t msim_graph_last_launched(const struct msim_rank_tasks *r,
                                  uint32_t stream, msim_ps at)
{
    const struct msim_trace *t = r->trace;
    uint32_t lo = t->streams[stream].gpu_begin, begin = lo;
    uint32_t hi = t->streams[stream].gpu_end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (r->launched[mid] < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > begin ? lo - 1 : MSIM_NONE;
}

uint32_t msim_graph_running(const struct msim_trace *t, uint32_t stream,
                            msim_ps at)
{
    uint32_t lo = t->streams[stream].gpu_begin, begin = lo;
    uint32_t hi = t->streams[stream].gpu_end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (t->gpu[mid].start < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == begin || msim_gpu_end(&t->gpu[lo - 1]) <= at)
        return MSIM_NONE;
    return lo - 1;
}

enum msim_status msim_graph_sort_ends(struct msim_rank_tasks *r)
{
    uint32_t n = r->trace->n_gpu;
    struct msim_keyed *keys = malloc(((size_t)n + 1) * sizeof(*keys));

    r->by_end = malloc(((size_t)n + 1) * sizeof(*r->by_end));
    if (!keys || !r->by_end) {
        free(keys);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct msim_keyed){msim_gpu_end(&r->trace->gpu[i]), i};
    msim_keyed_sort(keys, n);
    for (uint32_t i = 0; i < n; i++)
        r->by_end[i] = keys[i].index;
    free(keys);
    return MSIM_OK;
}

uint32_t msim_graph_ended_by(const struct msim_rank_tasks *r, msim_ps at)
{
    uint32_t lo = 0, hi = r->trace->n_gpu;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (msim_gpu_end(&r->trace->gpu[r->by_end[mid]]) <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Let GPU event `i` start after `before` has ended, if that can be true. */
static enum msim_status wait_for(struct waits *w, enum msim_edge_kind kind,
                                 uint32_t before, uint32_t i)
{
    const struct msim_gpu *x = &w->t->gpu[before], *y = &w->t->gpu[i];
    msim_ps lag = 0;

    if (w->b->opt->device_times) {
        msim_ps late = x->start + x->dur - y->start;

        if (late > JITTER || x->start > y->start ||
            (x->start == y->start && before >= i))
            return MSIM_OK;
        lag = late > 0 ? -late : 0;
    }
    return msim_builder_edge(w->b, kind, MSIM_FROM_TIMES, w->r->of_gpu[before],
                             w->r->of_gpu_begin[i], lag);
}

static enum msim_status wait_for_stream(struct waits *w,
                                        enum msim_edge_kind kind,
                                        uint32_t stream, msim_ps at, uint32_t i)
{
    uint32_t before = msim_graph_last_launched(w->r, stream, at);

    return before == MSIM_NONE ? MSIM_OK : wait_for(w, kind, before, i);
}

/* For the main stream, of its device; on the main stream, for all others. */
static enum msim_status wait_for_others(struct waits *w, msim_ps at, uint32_t i)
{
    uint32_t stream = w->t->gpu[i].stream, main = w->r->main_stream;
    bool on_main = stream == main;
    uint32_t s = on_main ? 0 : main, end = on_main ? w->t->n_streams : main + 1;

    for (; main != MSIM_NONE && s < end; s++)
        if (s != stream &&
            w->t->streams[s].device == w->t->streams[stream].device)
            MSIM_TRY(wait_for_stream(w, MSIM_EDGE_EVENT, s, at, i));
    return MSIM_OK;
}

/* Is there a stream-wait call between this launch and the one before? */
static uint32_t wait_before(const struct waits *w, uint32_t call)
{
    uint32_t begin = w->t->threads[w->t->calls[call].thread].call_begin;

    while (call-- > begin) {
        const struct msim_call *c = &w->t->calls[call];

        if (c->kind == MSIM_CALL_STREAM_WAIT)
            return call;
        if (c->gpu != MSIM_NONE)
            break;
    }
    return MSIM_NONE;
}

/* ---- recorded ids ------------------------------------------------------- */

/* The first activity of a stream that was launched after `at`, or NONE. */
static uint32_t first_launched(const struct msim_rank_tasks *r, uint32_t stream,
                               msim_ps at)
{
    const struct msim_trace *t = r->trace;
    uint32_t last = msim_graph_last_launched(r, stream, at);
    uint32_t next = last == MSIM_NONE ? t->streams[stream].gpu_begin : last + 1;

    return next < t->streams[stream].gpu_end ? next : MSIM_NONE;
}

static enum msim_status note_wait(struct msim_rank_tasks *r,
                                  const struct msim_sync *s)
{
    const struct msim_trace *t = r->trace;
    struct msim_wait w;
    msim_ps end;

    if (s->kind != MSIM_CALL_STREAM_WAIT || s->stream == MSIM_NONE ||
        s->wait_stream == MSIM_NONE || s->record_call == MSIM_NONE)
        return MSIM_OK;
    w.source = msim_graph_last_launched(r, s->wait_stream,
                                        t->calls[s->record_call].start);
    w.target = first_launched(r, s->stream,
                              s->call == MSIM_NONE ? s->start
                                                   : t->calls[s->call].start);
    if (w.source == MSIM_NONE || w.target == MSIM_NONE ||
        s->stream == s->wait_stream)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&r->waits, &r->cap_waits, r->n_waits,
                       sizeof(*r->waits)));
    r->waits[r->n_waits++] = w;
    end = msim_gpu_end(&t->gpu[w.source]);
    if (end > r->recorded_end[w.target])
        r->recorded_end[w.target] = end;
    return MSIM_OK;
}

enum msim_status msim_graph_recorded_waits(struct msim_rank_tasks *r)
{
    for (uint32_t i = 0; i < r->trace->n_syncs; i++)
        MSIM_TRY(note_wait(r, &r->trace->syncs[i]));
    return MSIM_OK;
}

/* A wait that bound keeps its latency; any other has the typical one at
 * most. */
static msim_ps recorded_lag(struct waits *w, const struct msim_wait *wait)
{
    const struct msim_gpu *y = &w->t->gpu[wait->target];
    msim_ps end = msim_gpu_end(&w->t->gpu[wait->source]);
    msim_ps lag = y->start - end, most = JITTER;

    if (!w->b->opt->device_times)
        return 0;
    if (w->r->cause[wait->target] == MSIM_CAUSE_EVENT &&
        end == w->r->recorded_end[wait->target])
        most = RESOLVE_MAX;
    if (lag > most)
        lag = most;
    if (most == RESOLVE_MAX && lag > 0)
        w->b->g->copied[MSIM_COPIED_EVENT] += lag;
    return lag;
}

static enum msim_status add_recorded(struct waits *w)
{
    for (uint32_t i = 0; i < w->r->n_waits; i++) {
        const struct msim_wait *wait = &w->r->waits[i];

        MSIM_TRY(msim_builder_edge(
            w->b, MSIM_EDGE_EVENT, MSIM_FROM_IDS, w->r->of_gpu[wait->source],
            w->r->of_gpu_begin[wait->target], recorded_lag(w, wait)));
    }
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

enum msim_status msim_graph_wait(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r)
{
    struct waits w = {b, r, r->trace};

    /* Work without times was generated, with all that it waits for. */
    if (r->n_waits || !w.t->has_times)
        return add_recorded(&w);
    for (uint32_t i = 0; i < w.t->n_gpu; i++) {
        const struct msim_gpu *e = &w.t->gpu[i];
        uint32_t call;

        if (e->call == MSIM_NONE || w.t->calls[e->call].gpu != i)
            continue;
        call = wait_before(&w, e->call);
        if (call != MSIM_NONE)
            MSIM_TRY(wait_for_others(&w, w.t->calls[call].start, i));
        else if (e->comm != MSIM_NONE && r->main_stream != MSIM_NONE &&
                 r->main_stream != e->stream)
            /* Process groups wait for the stream that computes their input. */
            MSIM_TRY(wait_for_stream(&w, MSIM_EDGE_INPUT, r->main_stream,
                                     w.t->calls[e->call].start, i));
    }
    return MSIM_OK;
}
