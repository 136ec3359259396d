/*
 * Streams that wait for each other, as far as the host's calls show it.
 *
 * A cudaStreamWaitEvent between two launches makes the stream of the next
 * launch wait for what other streams had been given by then. Traces name
 * neither stream nor event of that call (only cuda_sync events do), so: a
 * stream beside the main one waits for the main one, the main one for all.
 * Where GPU times may be read, an edge that the traced times contradict is
 * left out.
 */
#include "core/graph_builder.h"

#define JITTER ((msim_ps)MSIM_PS_PER_US)

struct waits {
    struct msim_graph_builder *b;
    const struct msim_rank_tasks *r;
    const struct msim_trace *t;
};

uint32_t msim_graph_last_launched(const struct msim_trace *t, uint32_t stream,
                                  msim_ps at)
{
    uint32_t lo = t->streams[stream].gpu_begin, begin = lo;
    uint32_t hi = t->streams[stream].gpu_end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        uint32_t call = t->gpu[mid].call;
        msim_ps launch =
            call == MSIM_NONE ? t->gpu[mid].start : t->calls[call].start;

        if (launch < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > begin ? lo - 1 : MSIM_NONE;
}

/* Let GPU event `i` start after `before` has ended, if that can be true. */
static enum msim_status wait_for(struct waits *w, uint32_t before, uint32_t i)
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
    return msim_builder_edge(w->b, MSIM_EDGE_EVENT, MSIM_FROM_TIMES,
                             w->r->of_gpu[before], w->r->of_gpu_begin[i], lag);
}

static enum msim_status wait_for_stream(struct waits *w, uint32_t stream,
                                        msim_ps at, uint32_t i)
{
    uint32_t before = msim_graph_last_launched(w->t, stream, at);

    return before == MSIM_NONE ? MSIM_OK : wait_for(w, before, i);
}

static enum msim_status wait_for_others(struct waits *w, msim_ps at, uint32_t i)
{
    uint32_t stream = w->t->gpu[i].stream, main = w->r->main_stream;

    for (uint32_t s = 0; s < w->t->n_streams; s++) {
        if (s == stream || (stream != main && s != main) ||
            w->t->streams[s].device != w->t->streams[stream].device)
            continue;
        MSIM_TRY(wait_for_stream(w, s, at, i));
    }
    return MSIM_OK;
}

/* A stream-wait call among those between this launch and the one before? */
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

enum msim_status msim_graph_wait(struct msim_graph_builder *b,
                                 struct msim_rank_tasks *r)
{
    struct waits w = {b, r, r->trace};

    for (uint32_t i = 0; i < w.t->n_gpu; i++) {
        const struct msim_gpu *e = &w.t->gpu[i];
        uint32_t call;

        if (e->call == MSIM_NONE || w.t->calls[e->call].gpu != i)
            continue;
        call = wait_before(&w, e->call);
        if (call != MSIM_NONE)
            MSIM_TRY(wait_for_others(&w, w.t->calls[call].start, i));
        else if (e->kind == MSIM_GPU_COMM && r->main_stream != MSIM_NONE &&
                 r->main_stream != e->stream)
            /* Process groups wait for the stream that computes their input. */
            MSIM_TRY(wait_for_stream(&w, r->main_stream,
                                     w.t->calls[e->call].start, i));
    }
    return MSIM_OK;
}
