/*
 * core/graph/rules/graph_loader.c - data loaders whose processes are not in the
 * trace.
 *
 * A thread that takes the next batch of a loader with worker processes waits
 * until one of them has it. Batches come at the loader's own rate, whatever the
 * rest of the job does. So a batch that was waited for comes as long after the
 * last such batch as it did in the trace:
 *
 *     arrival(k) = arrival(k - 1) + traced interval
 *
 * A loader without processes works on the thread itself; that is host work.
 */
#include "core/graph/rules/graph_rules.h"

#include <string.h>

/* Taking a batch that is ready takes less; a longer time was a wait. */
#define WAIT_MIN ((msim_ps)1000 * MSIM_PS_PER_US)

struct loader {
    struct msim_graph_builder *b;
    struct msim_rank_tasks *r;
    uint32_t lane;    /* of the loader's processes */
    uint32_t arrival; /* task of the last batch that was waited for, or NONE */
};

bool msim_graph_takes_batch(const struct msim_trace *t, uint32_t op)
{
    const char *name = msim_trace_text(t, t->ops[op].name);

    return strstr(name, "DataLoaderIter.__next__") && !strstr(name, "_Single");
}

/* The longest stretch of the thread in `op`, which is where it waits. */
static uint32_t longest_task(const struct loader *l, uint32_t op)
{
    const struct msim_op *o = &l->r->trace->ops[op];
    const struct msim_graph_builder *b = l->b;
    uint32_t best = MSIM_NONE;

    for (uint32_t t = l->r->thread_first[o->thread] + 1;
         t < l->r->thread_end[o->thread] && b->tstart[t] < o->start + o->dur;
         t++)
        if (b->g->kind[t] != MSIM_TASK_CALL && b->tstart[t] >= o->start &&
            (best == MSIM_NONE || b->g->traced[t] > b->g->traced[best]))
            best = t;
    return best;
}

/* Work of `op`'s own operators while task `task` ran. */
static msim_ps work_inside(const struct loader *l, uint32_t op, uint32_t task)
{
    const struct msim_trace *t = l->r->trace;
    msim_ps work = 0;

    for (uint32_t i = op + 1; i < t->ops[op].end; i = t->ops[i].end)
        if (t->ops[i].start >= l->b->tstart[task] &&
            t->ops[i].start < l->b->tend[task])
            work += t->ops[i].dur;
    return work;
}

/* A batch comes at `at`, a time of the trace. */
static enum msim_status add_arrival(struct loader *l, msim_ps at, uint32_t *id)
{
    struct msim_graph_builder *b = l->b;
    uint32_t before = l->arrival;
    msim_ps interval = before == MSIM_NONE ? 0 : at - b->tend[before];
    struct msim_task_ref ref = {MSIM_NONE, MSIM_NONE, MSIM_NONE,
                                (uint16_t)l->r->rank, 0};

    if (interval < 0) /* two threads take batches */
        interval = 0;
    if (before == MSIM_NONE)
        MSIM_TRY(msim_builder_lane(b, l->r->rank, MSIM_NONE, false, &l->lane));
    MSIM_TRY(msim_builder_task(b, MSIM_TASK_GAP, l->lane, ref, at - interval,
                               interval, id));
    b->g->copied[MSIM_COPIED_LOADER] += interval;
    l->arrival = *id;
    if (before == MSIM_NONE)
        return msim_builder_release(b, *id, at + l->r->base, false);
    return msim_builder_edge(b, MSIM_EDGE_LOADER, MSIM_FROM_TIMES, before, *id,
                             0);
}

static enum msim_status link_batch(struct loader *l, uint32_t op)
{
    struct msim_graph_builder *b = l->b;
    uint32_t task = longest_task(l, op), arrival;
    msim_ps work;

    if (task == MSIM_NONE)
        return MSIM_OK;
    work = work_inside(l, op, task);
    if (b->g->traced[task] - work < WAIT_MIN)
        return MSIM_OK;
    MSIM_TRY(add_arrival(l, b->tend[task] - work, &arrival));
    b->g->traced[task] = work;
    return msim_builder_edge(b, MSIM_EDGE_LOADER, MSIM_FROM_TIMES, arrival,
                             task, 0);
}

enum msim_status msim_graph_loader(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r)
{
    struct loader l = {.b = b, .r = r, .arrival = MSIM_NONE};
    const struct msim_trace *t = r->trace;

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (msim_graph_takes_batch(t, i))
            MSIM_TRY(link_batch(&l, i));
    return MSIM_OK;
}
