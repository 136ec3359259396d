/*
 * core/graph/rules/graph_device.c - the streams of a rank with times.
 *
 * Each GPU activity becomes a task, with the edges of its launch and of its
 * stream's order. Where GPU times may be read, a cause is sought for each start
 * (core/graph/rules/graph_cause.c); else lags are 0 and the scenario has the
 * latency of a launch.
 */
#include "core/graph/rules/graph_rules_internal.h"

#include <stdlib.h>
#include <string.h>

#define US ((msim_ps)MSIM_PS_PER_US)

/*
 * An activity whose launch is not recorded was in the queue already if its
 * predecessor ended this shortly before; else what delayed it is unknown.
 */
#define QUEUED_MAX (100 * US)

struct device {
    struct msim_graph_builder *b;
    struct msim_rank_tasks *r;
    const struct msim_trace *t;
    struct msim_causes causes; /* with device_times */
    msim_ps *step_over;
    uint32_t first_window;
};

static void find_main_stream(struct device *d)
{
    uint32_t most = 0;

    d->r->main_stream = MSIM_NONE;
    for (uint32_t s = 0; s < d->t->n_streams; s++) {
        const struct msim_stream *status = &d->t->streams[s];
        uint32_t kernels = 0;

        for (uint32_t i = status->gpu_begin; i < status->gpu_end; i++)
            kernels += d->t->gpu[i].kind == MSIM_GPU_KERNEL;
        if (kernels > most) {
            most = kernels;
            d->r->main_stream = s;
        }
    }
}

/* ---- tasks -------------------------------------------------------------- */

/* For the step of a launch without a search through all steps: the latest end
 * of the steps up to each. */
static enum msim_status index_steps(struct device *d)
{
    const struct msim_graph *g = d->b->g;
    msim_ps latest = INT64_MIN;

    d->step_over = malloc(((size_t)d->t->n_steps + 1) * sizeof(*d->step_over));
    if (!d->step_over)
        return MSIM_ENOMEM;
    for (uint32_t s = 0; s < d->t->n_steps; s++) {
        msim_ps end = d->t->steps[s].start + d->t->steps[s].dur;

        latest = end > latest ? end : latest;
        d->step_over[s] = latest;
    }
    /* This rank's windows are those added last, in the order of steps. */
    d->first_window = g->n_windows;
    while (d->first_window > 0 &&
           g->windows[d->first_window - 1].rank == d->r->rank)
        d->first_window--;
    return MSIM_OK;
}

/* The first step that has begun by the launch, or by the start of what has none
 * in the recording, and is not over. */
static uint32_t window_of(const struct device *d, const struct msim_gpu *e)
{
    uint32_t lo = 0, hi = d->t->n_steps;
    msim_ps launch;

    if (e->early)
        return MSIM_NONE;
    if (!hi)
        return d->first_window;
    launch = e->call == MSIM_NONE ? e->start : d->t->calls[e->call].start;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (d->step_over[mid] <= launch)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < d->t->n_steps && d->t->steps[lo].start <= launch
               ? d->first_window + lo
               : MSIM_NONE;
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
    return msim_builder_edge(b, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER,
                             d->r->of_gpu_begin[i], id, 0);
}

static enum msim_status add_streams(struct device *d)
{
    for (uint32_t s = 0; s < d->t->n_streams; s++) {
        const struct msim_stream *status = &d->t->streams[s];
        uint32_t lane;

        MSIM_TRY(msim_builder_lane(d->b, d->r->rank, s, true, &lane));
        for (uint32_t i = status->gpu_begin; i < status->gpu_end; i++)
            MSIM_TRY(add_tasks(d, i, lane));
    }
    return MSIM_OK;
}

/* ---- edges -------------------------------------------------------------- */

/* The task whose end is the start of the launching call. */
static uint32_t before_call(const struct device *d, const struct msim_gpu *e)
{
    uint32_t task;

    if (e->call == MSIM_NONE || d->r->of_call[e->call] == MSIM_NONE)
        return MSIM_NONE;
    task = d->r->of_call[e->call];
    return task - 1; /* every thread begins with an anchor */
}

static void copy(struct device *d, enum msim_copied what, msim_ps ps)
{
    if (ps > 0)
        d->b->g->copied[what] += ps;
}

static void note_unexplained(struct device *d, msim_ps delay)
{
    copy(d, MSIM_COPIED_UNEXPLAINED, delay);
    d->b->g->n_unexplained++;
}

/*
 * Launched before the recording, or by a call that is not in it: the first of
 * a stream comes when it was recorded, any other as long after its predecessor
 * as in the trace.
 */
static enum msim_status link_unlaunched(struct device *d, uint32_t i)
{
    const struct msim_gpu *e = &d->t->gpu[i];
    bool times = d->b->opt->device_times;
    uint32_t task = d->r->of_gpu_begin[i];
    enum msim_edge_kind kind = MSIM_EDGE_STREAM;
    msim_ps gap = 0;

    if (i == d->t->streams[e->stream].gpu_begin || !times)
        MSIM_TRY(
            msim_builder_release(d->b, task, e->start + d->r->base, false));
    if (i == d->t->streams[e->stream].gpu_begin)
        return MSIM_OK;
    if (times)
        gap = e->start - msim_gpu_end(e - 1);
    if (gap > QUEUED_MAX) {
        note_unexplained(d, gap);
        kind = MSIM_EDGE_UNEXPLAINED;
    } else {
        copy(d, MSIM_COPIED_BEFORE, gap);
    }
    return msim_builder_edge(d->b, kind,
                             kind == MSIM_EDGE_STREAM ? MSIM_FROM_ORDER
                                                      : MSIM_FROM_TIMES,
                             d->r->of_gpu[i - 1], task, gap);
}

static void note_idle(struct device *d, uint32_t i, msim_ps idle)
{
    struct msim_queued_idle *q = &d->b->g->queued_idle;

    if (idle <= QUEUED_MAX)
        return;
    q->n++;
    q->total += idle;
    if (idle <= q->longest)
        return;
    q->longest = idle;
    q->rank = d->r->rank;
    q->gpu = i;
}

static void note_cause(struct device *d, uint32_t i, const struct msim_cause *c)
{
    d->r->cause[i] = (uint8_t)c->kind;
    switch (c->kind) {
    case MSIM_CAUSE_LAUNCH:
        copy(d, MSIM_COPIED_LAUNCH, c->launch_lag);
        break;
    case MSIM_CAUSE_STREAM:
        /* What the kernels of a CUDA graph wait for is not in the trace. */
        copy(d, d->t->gpu[i].in_graph ? MSIM_COPIED_GRAPH : MSIM_COPIED_STREAM,
             c->stream_lag);
        break;
    case MSIM_CAUSE_EVENT:
        copy(d, MSIM_COPIED_EVENT, c->event_lag);
        break;
    case MSIM_CAUSE_FULL:
        break;
    case MSIM_CAUSE_UNKNOWN:
        note_unexplained(d, c->unknown);
        note_idle(d, i, c->idle);
        break;
    }
}

/* A start without a cause keeps its distance from what came before. */
static enum msim_status link_unexplained(struct device *d, uint32_t i,
                                         uint32_t call,
                                         const struct msim_cause *c)
{
    uint32_t from = c->after_stream ? d->r->of_gpu[i - 1] : call;
    msim_ps after = c->after_stream ? c->before : c->launch;

    if (c->kind != MSIM_CAUSE_UNKNOWN)
        return MSIM_OK;
    return msim_builder_edge(d->b, MSIM_EDGE_UNEXPLAINED, MSIM_FROM_TIMES, from,
                             d->r->of_gpu_begin[i], d->t->gpu[i].start - after);
}

static enum msim_status link(struct device *d, uint32_t i)
{
    const struct msim_gpu *e = &d->t->gpu[i];
    uint32_t from = before_call(d, e), task = d->r->of_gpu_begin[i];
    bool first = i == d->t->streams[e->stream].gpu_begin;
    struct msim_cause c = {.event = MSIM_NONE};

    if (from == MSIM_NONE)
        return link_unlaunched(d, i);
    if (d->b->opt->device_times) {
        c = msim_cause_of(&d->causes, i, true, d->r->recorded_end[i]);
        note_cause(d, i, &c);
    }
    MSIM_TRY(msim_builder_edge(d->b, MSIM_EDGE_LAUNCH, MSIM_FROM_IDS, from,
                               task, c.launch_lag));
    if (!first)
        MSIM_TRY(msim_builder_edge(d->b, MSIM_EDGE_STREAM, MSIM_FROM_ORDER,
                                   d->r->of_gpu[i - 1], task, c.stream_lag));
    MSIM_TRY(link_unexplained(d, i, from, &c));
    if (c.event == MSIM_NONE)
        return MSIM_OK;
    return msim_builder_edge(d->b, MSIM_EDGE_EVENT, MSIM_FROM_TIMES,
                             d->r->of_gpu[c.event], task, c.event_lag);
}

/* ---- collectives -------------------------------------------------------- */

/* An activity launched before the recording comes before all that were
 * launched in it. */
static msim_ps launched_at(const struct msim_trace *t, const struct msim_gpu *e)
{
    return e->call == MSIM_NONE ? INT64_MIN / 2 + e->start
                                : t->calls[e->call].start;
}

/* Collectives of this rank in the order of their launch, group by group. */
static enum msim_status meet(struct device *d)
{
    const struct msim_trace *t = d->t;
    struct msim_keyed *order = malloc(((size_t)t->n_gpu + 1) * sizeof(*order));
    msim_ps first_step = t->n_steps ? t->steps[0].start : INT64_MIN / 4;
    enum msim_status status = MSIM_OK;
    uint32_t n = 0;

    if (!order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];

        if (e->kind == MSIM_GPU_COMM && e->comm != MSIM_NONE)
            order[n++] = (struct msim_keyed){launched_at(t, e), i};
    }
    msim_keyed_sort(order, n);
    for (uint32_t k = 0; k < n && status == MSIM_OK; k++) {
        uint32_t i = order[k].index, comm = t->gpu[i].comm;

        status = msim_builder_meet(
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
    return status;
}

static enum msim_status build(struct device *d)
{
    find_main_stream(d);
    if (d->b->opt->device_times)
        MSIM_TRY(msim_causes_init(&d->causes, d->r));
    MSIM_TRY(index_steps(d));
    MSIM_TRY(add_streams(d));
    MSIM_TRY(msim_graph_recorded_waits(d->r));
    for (uint32_t i = 0; i < d->t->n_gpu; i++)
        MSIM_TRY(link(d, i));
    return meet(d);
}

enum msim_status msim_graph_device(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r)
{
    struct device d = {.b = b, .r = r, .t = r->trace};
    enum msim_status status = build(&d);

    msim_causes_release(&d.causes);
    free(d.step_over);
    return status;
}
