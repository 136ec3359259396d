/*
 * Streams of a rank with times: a task for each GPU activity, and why it
 * started when it did. In order of what a trace can tell:
 *
 *   its launch       by correlation id
 *   stream order     the activity before it on its stream
 *   an event wait    another stream's activity, inferred: nothing above
 *                    explains the start, and that activity ended just then
 *
 * Whichever explains the start keeps its traced latency as the edge's lag;
 * the others get the trace's typical latency, so that they hold when they
 * come to bind. Where no GPU time may be read, lags are 0 and the scenario
 * says what a launch takes.
 */
#include "core/graph_builder.h"

#include <stdlib.h>
#include <string.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/*
 * Clocks of CPU and GPU in one trace agree to about a microsecond, and old
 * traces are rounded to one. A start later than this after all that explains
 * it has another cause.
 */
#define UNEXPLAINED_MIN (2 * US)
/* From the end of what an event wait waited for to the start of a kernel:
 * cross-stream dependencies resolve within tens of microseconds. */
#define EVENT_MAX (25 * US)
/* More than this from launch to start on an idle stream is not a latency. */
#define LATENCY_MAX (100 * US)

struct device {
    struct msim_graph_builder *b;
    struct msim_rank_tasks *r;
    const struct msim_trace *t;
    uint32_t *by_end;     /* GPU events sorted by end */
    msim_ps latency, gap; /* typical: launch to start; end to next start */
};

/* ---- typical latencies ------------------------------------------------- */

/* The 10th percentile: what remains when nothing else holds a start up. */
static msim_ps low_percentile(struct msim_keyed *v, uint32_t n,
                              msim_ps otherwise)
{
    if (!n)
        return otherwise;
    msim_keyed_sort(v, n);
    return v[n / 10].key;
}

static enum msim_status typical(struct device *d)
{
    const struct msim_trace *t = d->t;
    struct msim_keyed *latency = calloc((size_t)t->n_gpu + 1, sizeof *latency);
    struct msim_keyed *gap = calloc((size_t)t->n_gpu + 1, sizeof *gap);
    uint32_t n_latency = 0, n_gap = 0;

    if (!latency || !gap) {
        free(latency);
        free(gap);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];
        msim_ps launch, before;

        if (e->call == MSIM_NONE)
            continue;
        launch = t->calls[e->call].start;
        if (e->start >= launch)
            latency[n_latency++].key = e->start - launch;
        if (i == t->streams[e->stream].gpu_begin)
            continue;
        before = msim_gpu_end(e - 1);
        /* Queued behind its predecessor: the gap is the device's own. */
        if (launch + LATENCY_MAX < before && e->start >= before)
            gap[n_gap++].key = e->start - before;
    }
    d->latency = low_percentile(latency, n_latency, 5 * US);
    d->gap = low_percentile(gap, n_gap, US);
    free(latency);
    free(gap);
    return MSIM_OK;
}

/* ---- lookups ----------------------------------------------------------- */

static enum msim_status sort_by_end(struct device *d)
{
    uint32_t n = d->t->n_gpu;
    struct msim_keyed *keys = malloc(((size_t)n + 1) * sizeof *keys);

    d->by_end = malloc(((size_t)n + 1) * sizeof *d->by_end);
    if (!keys || !d->by_end) {
        free(keys);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (struct msim_keyed){msim_gpu_end(&d->t->gpu[i]), i};
    msim_keyed_sort(keys, n);
    for (uint32_t i = 0; i < n; i++)
        d->by_end[i] = keys[i].index;
    free(keys);
    return MSIM_OK;
}

static void find_main_stream(struct device *d)
{
    uint32_t most = 0;

    d->r->main_stream = MSIM_NONE;
    for (uint32_t s = 0; s < d->t->n_streams; s++) {
        const struct msim_stream *st = &d->t->streams[s];
        uint32_t kernels = 0;

        for (uint32_t i = st->gpu_begin; i < st->gpu_end; i++)
            kernels += d->t->gpu[i].kind == MSIM_GPU_KERNEL;
        if (kernels > most) {
            most = kernels;
            d->r->main_stream = s;
        }
    }
}

/* A strict order of causes and effects, so that no cycle can be inferred. */
static bool earlier(const struct msim_trace *t, uint32_t a, uint32_t b)
{
    msim_ps x = t->gpu[a].start, y = t->gpu[b].start;

    return x != y ? x < y : a < b;
}

/* Latest activity on another stream that ended when GPU event `i` began. */
static uint32_t ended_before(const struct device *d, uint32_t i)
{
    const struct msim_trace *t = d->t;
    uint32_t lo = 0, hi = t->n_gpu, stream = t->gpu[i].stream;
    msim_ps at = t->gpu[i].start + US;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (msim_gpu_end(&t->gpu[d->by_end[mid]]) <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    while (lo-- > 0) {
        const struct msim_gpu *e = &t->gpu[d->by_end[lo]];

        if (msim_gpu_end(e) < at - EVENT_MAX)
            break;
        if (e->stream != stream && earlier(t, d->by_end[lo], i) &&
            t->streams[e->stream].device == t->streams[stream].device)
            return d->by_end[lo];
    }
    return MSIM_NONE;
}

/* ---- why it started when it did ---------------------------------------- */

static msim_ps least(msim_ps a, msim_ps b)
{
    return a < b ? a : b;
}

struct cause {
    msim_ps start;
    msim_ps launch, before; /* when launched; end of the one before it */
    uint32_t event;         /* GPU activity on another stream, or NONE */
    msim_ps launch_lag, stream_lag;
};

/* Time that neither launch nor stream order explains. */
static msim_ps slack(const struct device *d, const struct cause *c)
{
    msim_ps by = MSIM_TIME_NONE;

    if (c->launch != MSIM_TIME_NONE)
        by = c->launch + d->latency;
    if (c->before != MSIM_TIME_NONE && c->before + d->gap > by)
        by = c->before + d->gap;
    return by == MSIM_TIME_NONE ? 0 : c->start - by;
}

static void explain(const struct device *d, uint32_t i, struct cause *c)
{
    msim_ps lag_l = c->launch == MSIM_TIME_NONE ? 0 : c->start - c->launch;
    msim_ps lag_s = c->before == MSIM_TIME_NONE ? 0 : c->start - c->before;
    bool by_stream;

    c->launch_lag = least(lag_l, d->latency);
    c->stream_lag = least(lag_s, d->gap);
    if (slack(d, c) > UNEXPLAINED_MIN)
        c->event = ended_before(d, i);
    if (c->event != MSIM_NONE) {
        msim_ps end = msim_gpu_end(&d->t->gpu[c->event]);

        if (end > c->before && (c->launch == MSIM_TIME_NONE || end > c->launch))
            return;
        c->event = MSIM_NONE;
    }
    by_stream = c->launch == MSIM_TIME_NONE ||
                (c->before != MSIM_TIME_NONE &&
                 c->before + d->gap > c->launch + d->latency);
    if (by_stream)
        c->stream_lag = lag_s;
    else
        c->launch_lag = lag_l;
    if (slack(d, c) > LATENCY_MAX)
        d->b->g->unexplained += slack(d, c);
}

/* ---- tasks ------------------------------------------------------------- */

static uint32_t window_of(const struct device *d, const struct msim_gpu *e)
{
    const struct msim_graph *g = d->b->g;
    uint32_t first = g->n_windows;
    msim_ps launch;

    if (e->call == MSIM_NONE)
        return MSIM_NONE;
    /* This rank's windows are the last ones added, in the order of steps. */
    while (first > 0 && g->windows[first - 1].rank == d->r->rank)
        first--;
    if (!d->t->n_steps)
        return first;
    launch = d->t->calls[e->call].start;
    for (uint32_t s = 0; s < d->t->n_steps; s++)
        if (launch >= d->t->steps[s].start &&
            launch < d->t->steps[s].start + d->t->steps[s].dur)
            return first + s;
    return MSIM_NONE;
}

static enum msim_task_kind task_kind(const struct msim_gpu *e)
{
    if (e->kind == MSIM_GPU_COMM)
        return MSIM_TASK_COMM;
    return e->kind == MSIM_GPU_KERNEL ? MSIM_TASK_KERNEL : MSIM_TASK_COPY;
}

static enum msim_status add_tasks(struct device *d, uint32_t i, uint32_t lane)
{
    const struct msim_gpu *e = &d->t->gpu[i];
    struct msim_task_ref ref = {i, e->op, MSIM_NONE, (uint16_t)d->r->rank, 0};
    struct msim_graph_builder *b = d->b;
    uint32_t id, window = window_of(d, e);

    if (e->kind == MSIM_GPU_COMM) {
        MSIM_TRY(
            msim_builder_task(b, MSIM_TASK_JOIN, lane, ref, e->start, 0, &id));
        d->r->of_gpu_begin[i] = id;
        b->g->window[id] = window;
    }
    MSIM_TRY(
        msim_builder_task(b, task_kind(e), lane, ref, e->start, e->dur, &id));
    d->r->of_gpu[i] = id;
    b->g->window[id] = window;
    if (e->kind != MSIM_GPU_COMM) {
        d->r->of_gpu_begin[i] = id;
        return MSIM_OK;
    }
    return msim_builder_edge(b, MSIM_EDGE_STREAM, MSIM_FROM_ORDER,
                             d->r->of_gpu_begin[i], id, 0);
}

static enum msim_status add_streams(struct device *d)
{
    for (uint32_t s = 0; s < d->t->n_streams; s++) {
        const struct msim_stream *st = &d->t->streams[s];
        uint32_t lane;

        MSIM_TRY(msim_builder_lane(d->b, d->r->rank, s, true, &lane));
        for (uint32_t i = st->gpu_begin; i < st->gpu_end; i++)
            MSIM_TRY(add_tasks(d, i, lane));
    }
    return MSIM_OK;
}

/* ---- edges ------------------------------------------------------------- */

/* The task whose end is the start of the launching call. */
static uint32_t before_call(const struct device *d, const struct msim_gpu *e)
{
    uint32_t task;

    if (e->call == MSIM_NONE || d->r->of_call[e->call] == MSIM_NONE)
        return MSIM_NONE;
    task = d->r->of_call[e->call];
    return task - 1; /* every thread begins with an anchor */
}

static enum msim_status link_launch(struct device *d, uint32_t i,
                                    const struct cause *c)
{
    const struct msim_gpu *e = &d->t->gpu[i];
    uint32_t from = before_call(d, e), task = d->r->of_gpu_begin[i];

    if (from != MSIM_NONE)
        return msim_builder_edge(d->b, MSIM_EDGE_LAUNCH, MSIM_FROM_IDS, from,
                                 task, c->launch_lag);
    /* Launched before the window: it comes when it came. */
    return msim_builder_release(d->b, task, e->start + d->r->base, false);
}

static enum msim_status link(struct device *d, uint32_t i)
{
    const struct msim_trace *t = d->t;
    const struct msim_gpu *e = &t->gpu[i];
    uint32_t task = d->r->of_gpu_begin[i];
    bool first = i == t->streams[e->stream].gpu_begin;
    struct cause c = {.start = e->start,
                      .launch = before_call(d, e) == MSIM_NONE
                                    ? MSIM_TIME_NONE
                                    : t->calls[e->call].start,
                      .before = first ? MSIM_TIME_NONE : msim_gpu_end(e - 1)};

    c.event = MSIM_NONE;
    if (d->b->opt->device_times)
        explain(d, i, &c);
    MSIM_TRY(link_launch(d, i, &c));
    if (!first)
        MSIM_TRY(msim_builder_edge(d->b, MSIM_EDGE_STREAM, MSIM_FROM_ORDER,
                                   d->r->of_gpu[i - 1], task, c.stream_lag));
    if (c.event == MSIM_NONE)
        return MSIM_OK;
    return msim_builder_edge(d->b, MSIM_EDGE_EVENT, MSIM_FROM_TIMES,
                             d->r->of_gpu[c.event], task,
                             e->start - msim_gpu_end(&t->gpu[c.event]));
}

/* ---- collectives ------------------------------------------------------- */

/* Launched before the window is before all that was launched in it. */
static msim_ps launched_at(const struct msim_trace *t, const struct msim_gpu *e)
{
    return e->call == MSIM_NONE ? INT64_MIN / 2 + e->start
                                : t->calls[e->call].start;
}

/* Collectives of this rank in the order of their launch, group by group. */
static enum msim_status meet(struct device *d)
{
    const struct msim_trace *t = d->t;
    struct msim_keyed *order = malloc(((size_t)t->n_gpu + 1) * sizeof *order);
    msim_ps first_step = t->n_steps ? t->steps[0].start : INT64_MIN / 4;
    enum msim_status st = MSIM_OK;
    uint32_t n = 0;

    if (!order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];

        if (e->kind == MSIM_GPU_COMM && e->comm != MSIM_NONE)
            order[n++] = (struct msim_keyed){launched_at(t, e), i};
    }
    msim_keyed_sort(order, n);
    for (uint32_t k = 0; k < n && st == MSIM_OK; k++) {
        uint32_t i = order[k].index, comm = t->gpu[i].comm;

        st = msim_builder_meet(
            d->b, (struct msim_meeting){
                      .group = msim_graph_group_key(d->b, d->r->rank, comm),
                      .ordinal = k,
                      .early = order[k].key < first_step,
                      .rank = d->r->rank,
                      .comm = comm,
                      .arrive = d->r->of_gpu_begin[i],
                      .transfer = d->r->of_gpu[i]});
    }
    free(order);
    return st;
}

enum msim_status msim_graph_device(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r)
{
    struct device d = {.b = b, .r = r, .t = r->trace};
    enum msim_status st = MSIM_OK;

    find_main_stream(&d);
    if (b->opt->device_times)
        st = typical(&d);
    if (b->opt->device_times && st == MSIM_OK)
        st = sort_by_end(&d);
    if (st == MSIM_OK)
        st = add_streams(&d);
    for (uint32_t i = 0; i < r->trace->n_gpu && st == MSIM_OK; i++)
        st = link(&d, i);
    if (st == MSIM_OK)
        st = meet(&d);
    free(d.by_end);
    return st;
}
