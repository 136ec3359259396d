/*
 * core/graph/contention/graph_contention.c - which tasks of a graph share a
 * device, and how (core/graph/contention.h).
 *
 * A device with one stream shares nothing, since the order of a stream is
 * edges.
 */
#include "core/graph/contention/graph_contention.h"

#include "core/graph/contention/graph_contention_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One rank while its tasks are gone through. */
struct rank {
    struct msim_contention_builder b;
    const struct msim_trace *t;
    uint32_t index;
    uint32_t *device; /* of each stream: index of devices, or NONE */
    struct msim_wave_tail tails;
};

/* A kernel, copy or collective of a rank whose GPU events are in the trace. */
static bool is_activity(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] >= MSIM_TASK_KERNEL && g->lane[task] != MSIM_NONE &&
           g->refs[task].index != MSIM_NONE && g->lanes[g->lane[task]].device;
}

/* Is `task` the arrival of the collective whose transfer is the next task? */
static bool is_arrival(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] == MSIM_TASK_JOIN && task + 1 < g->n_tasks &&
           g->kind[task + 1] == MSIM_TASK_COMM &&
           g->lane[task + 1] == g->lane[task];
}

/* A message goes one way; a kernel of several is a collective's. */
static enum msim_demand_kind transfer_kind(const struct msim_trace *t,
                                           const struct msim_gpu *e)
{
    uint8_t what =
        e->comm == MSIM_NONE ? MSIM_COLL_UNKNOWN : t->comms[e->comm].collective;

    return what == MSIM_COLL_SEND   ? MSIM_DEMAND_SEND
           : what == MSIM_COLL_RECV ? MSIM_DEMAND_RECEIVE
                                    : MSIM_DEMAND_TRANSFER;
}

/* How a GPU activity uses its device; KINDS: it shares nothing. */
static enum msim_demand_kind
demand_kind(const struct msim_graph *g, uint32_t task, const struct msim_gpu *e)
{
    if (g->kind[task] == MSIM_TASK_JOIN)
        return is_arrival(g, task) ? MSIM_DEMAND_ARRIVE : MSIM_DEMAND_KINDS;
    if (g->kind[task] == MSIM_TASK_COMM)
        return transfer_kind(g->job->ranks[g->refs[task].rank], e);
    if (g->kind[task] == MSIM_TASK_KERNEL || e->kind == MSIM_GPU_MEMSET)
        return MSIM_DEMAND_KERNEL; /* device memory is set by a kernel */
    if (e->copy_kind == MSIM_COPY_H2D)
        return MSIM_DEMAND_TO_DEVICE;
    return e->copy_kind == MSIM_COPY_D2H ? MSIM_DEMAND_TO_HOST
                                         : MSIM_DEMAND_KINDS;
}

/* ---- devices ------------------------------------------------------------ */

/* Another stream of the same device, after `s`, with activities, or NONE.
 * Streams come device by device. */
static uint32_t next_stream(const struct msim_trace *t, uint32_t s)
{
    for (uint32_t o = s + 1;
         o < t->n_streams && t->streams[o].device == t->streams[s].device; o++)
        if (t->streams[o].gpu_begin < t->streams[o].gpu_end)
            return o;
    return MSIM_NONE;
}

static enum msim_status add_device(struct rank *r, uint32_t *index)
{
    struct msim_sharing *s = r->b.s;
    struct msim_shared_device *devices =
        realloc(s->devices, ((size_t)s->n_devices + 1) * sizeof(*devices));

    if (!devices)
        return MSIM_ENOMEM;
    s->devices = devices;
    *index = s->n_devices++;
    s->devices[*index] = (struct msim_shared_device){
        .host_link = {INFINITY, {0.5, 0.5}},
        .interconnect = {1, {1, 1}},
        .slowdown = 1,
        .engines = {1, 1},
    };
    return MSIM_OK;
}

static enum msim_status find_devices(struct rank *r)
{
    const struct msim_trace *t = r->t;

    for (uint32_t s = 0; s < t->n_streams; s++)
        r->device[s] = MSIM_NONE;
    for (uint32_t s = 0; s < t->n_streams; s++) {
        uint32_t o = next_stream(t, s), device;

        if (r->device[s] != MSIM_NONE || o == MSIM_NONE ||
            t->streams[s].gpu_begin == t->streams[s].gpu_end)
            continue;
        MSIM_TRY(add_device(r, &device));
        r->device[s] = device;
        for (; o != MSIM_NONE; o = next_stream(t, o))
            r->device[o] = device;
    }
    return MSIM_OK;
}

/* ---- demands ------------------------------------------------------------ */

static struct msim_interval_ps when(const struct rank *r, uint32_t task,
                                    enum msim_demand_kind kind)
{
    const struct msim_graph_builder *b = r->b.b;
    struct msim_interval_ps ran = {b->tstart[task], b->tend[task]};

    if (!b->opt->device_times || ran.begin == MSIM_TIME_NONE)
        return (struct msim_interval_ps){MSIM_TIME_NONE, MSIM_TIME_NONE};
    /* The kernel of a collective waits until its transfer, its own work,
     * begins. */
    if (kind == MSIM_DEMAND_ARRIVE)
        ran.end = b->tend[task + 1] - b->g->traced[task + 1];
    if (msim_demand_is_transfer((uint8_t)kind))
        ran.begin = ran.end - b->g->traced[task];
    return ran;
}

static void add_demand(struct rank *r, uint32_t task)
{
    const struct msim_graph *g = r->b.b->g;
    uint32_t event = g->refs[task].index;
    const struct msim_gpu *e = &r->t->gpu[event];
    enum msim_demand_kind kind = demand_kind(g, task, e);
    struct msim_sharing *s = r->b.s;

    if (kind == MSIM_DEMAND_KINDS || r->device[e->stream] == MSIM_NONE)
        return;
    s->of_task[task] = s->n_demands;
    r->b.ran[s->n_demands] = when(r, task, kind);
    s->demands[s->n_demands++] = (struct msim_demand){
        .alone = 1,
        .tail = r->tails.tail[event],
        .task = task,
        .device = r->device[e->stream],
        .kind = (uint8_t)kind,
        .first = r->tails.first[e->stream],
    };
}

static enum msim_status note_wave_tails(struct rank *r, int64_t device)
{
    const struct msim_wave_tail *f = &r->tails;
    uint32_t all = f->held + f->early;

    if (!all)
        return MSIM_OK;
    return msim_contention_figure_add(
        r->b.s,
        (struct msim_contention_figure){
            .what = "share of kernels that waited for another's last wave, of "
                    "those that should have",
            .value = (double)f->held / all,
            .evidence = f->held,
            .against = f->early,
            .rank = r->index,
            .device = device,
            .rule = MSIM_CONTENTION_SM,
            .source = MSIM_CONTENTION_PHYSICAL});
}

/* Tasks of one rank lie together. */
static enum msim_status add_demands(struct rank *r, uint32_t first_task)
{
    const struct msim_graph *g = r->b.b->g;
    uint32_t first_device = r->b.s->n_devices, first = r->b.s->n_demands;

    MSIM_TRY(find_devices(r));
    if (first_device == r->b.s->n_devices)
        return MSIM_OK;
    MSIM_TRY(msim_wave_tail_init(&r->tails, r->t, r->b.b->opt->device_times));
    for (uint32_t task = first_task;
         task < g->n_tasks && g->refs[task].rank == r->index; task++)
        if (is_activity(g, task))
            add_demand(r, task);
    for (uint32_t stream = 0; stream < r->t->n_streams; stream++) {
        if (r->device[stream] == MSIM_NONE || r->device[stream] < first_device)
            continue;
        first_device = r->device[stream] + 1;
        MSIM_TRY(note_wave_tails(r, r->t->streams[stream].device));
        MSIM_TRY(
            msim_contention_fit(&r->b, r->index, r->t->streams[stream].device,
                                r->device[stream], first, r->b.s->n_demands));
    }
    return MSIM_OK;
}

static enum msim_status add_rank(const struct msim_contention_builder *b,
                                 uint32_t first_task)
{
    struct rank r = {.b = *b, .index = b->b->g->refs[first_task].rank};
    enum msim_status status;

    r.t = b->b->job->ranks[r.index];
    r.device = malloc(((size_t)r.t->n_streams + 1) * sizeof(*r.device));
    status = r.device ? add_demands(&r, first_task) : MSIM_ENOMEM;
    msim_wave_tail_release(&r.tails);
    free(r.device);
    return status;
}

/* ---- the whole ---------------------------------------------------------- */

static uint32_t count_activities(const struct msim_graph *g)
{
    uint32_t n = 0;

    for (uint32_t task = 0; task < g->n_tasks; task++)
        n += is_activity(g, task);
    return n;
}

static enum msim_status fill(struct msim_contention_builder *b)
{
    const struct msim_graph *g = b->b->g;
    uint32_t n = count_activities(g), rank = MSIM_NONE;

    b->s->of_task = malloc(((size_t)g->n_tasks + 1) * sizeof(uint32_t));
    b->s->demands = malloc(((size_t)n + 1) * sizeof(*b->s->demands));
    b->ran = malloc(((size_t)n + 1) * sizeof(*b->ran));
    if (!b->s->of_task || !b->s->demands || !b->ran)
        return MSIM_ENOMEM;
    memset(b->s->of_task, 0xff, (size_t)g->n_tasks * sizeof(uint32_t));
    for (uint32_t task = 0; task < g->n_tasks; task++) {
        if (g->refs[task].rank == rank || !is_activity(g, task))
            continue;
        rank = g->refs[task].rank;
        MSIM_TRY(add_rank(b, task));
    }
    return b->b->opt->device_times ? msim_contention_alone(b) : MSIM_OK;
}

enum msim_status msim_graph_contention(struct msim_graph_builder *b)
{
    struct msim_contention_builder sb = {.b = b, .s = calloc(1, sizeof(*sb.s))};
    enum msim_status status;

    if (!sb.s)
        return MSIM_ENOMEM;
    sb.s->rules =
        ~b->opt->without_sharing & ((1u << MSIM_CONTENTION_RULES) - 1);
    status = fill(&sb);
    free(sb.ran);
    if (status != MSIM_OK || !sb.s->n_demands)
        msim_sharing_free(sb.s);
    else
        b->g->sharing = sb.s;
    return status;
}
