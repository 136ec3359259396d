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
 * Taking a batch that is there has a cost of its own, which may be
 * milliseconds: it is unpickled, pinned, handed over. A cost is about the same
 * each time. A wait is not: it is what is left of the loader's time when the
 * thread has spent its own,
 *
 *     wait(k) = arrival(k) - arrival(k - 1) - own time of the thread(k)
 *
 * so it varies at least as the thread's own time does. Calls that vary less
 * are work of the host, however long.
 *
 * A loader without processes works on the thread itself; that is host work.
 */
#include "core/base/containers.h"
#include "core/base/quantile.h"
#include "core/graph/rules/graph_rules.h"

#include <string.h>

/* This much more than the loader's usual call may be a wait. */
#define WAIT_MIN ((msim_ps)1000 * MSIM_PS_PER_US)
/* So many long calls show how they vary. */
#define CALLS_MIN 3
/* Waits vary at least as the thread's own time; half of that, as few calls
 * show little. */
#define WAITS_VARY 0.5

/* One call that takes a batch. */
struct fetch {
    uint32_t op, task;
    msim_ps work;  /* of the operators in it */
    msim_ps rest;  /* of the task, without that: cost and wait */
    msim_ps apart; /* own time of the thread since the last, or TIME_NONE */
};

struct loader {
    struct msim_graph_builder *b;
    struct msim_rank_tasks *r;
    struct fetch *fetches;
    uint32_t n_fetches, cap_fetches;
    msim_ps usual;    /* cost of taking a batch that is there */
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

static enum msim_status link_batch(struct loader *l, const struct fetch *f)
{
    struct msim_graph_builder *b = l->b;
    msim_ps work = f->work + l->usual;
    uint32_t arrival;

    MSIM_TRY(add_arrival(l, b->tend[f->task] - work, &arrival));
    b->g->traced[f->task] = work;
    return msim_builder_edge(b, MSIM_EDGE_LOADER, MSIM_FROM_TIMES, arrival,
                             f->task, 0);
}

/* ---- cost or wait ------------------------------------------------------- */

static enum msim_status note_fetch(struct loader *l, uint32_t op)
{
    const struct msim_op *o = &l->r->trace->ops[op];
    struct fetch f = {op, longest_task(l, op), 0, 0, MSIM_TIME_NONE};

    if (f.task == MSIM_NONE)
        return MSIM_OK;
    f.work = work_inside(l, op, f.task);
    f.rest = l->b->g->traced[f.task] - f.work;
    if (l->n_fetches) {
        uint32_t last = l->fetches[l->n_fetches - 1].op;
        const struct msim_op *before = &l->r->trace->ops[last];

        if (before->thread == o->thread)
            f.apart = o->start - before->start - before->dur;
    }
    MSIM_TRY(msim_grow((void **)&l->fetches, &l->cap_fetches, l->n_fetches,
                       sizeof(f)));
    l->fetches[l->n_fetches++] = f;
    return MSIM_OK;
}

static bool may_wait(const struct loader *l, const struct fetch *f)
{
    return f->rest - l->usual >= WAIT_MIN;
}

/* How far values are from their median: the median of that. */
static double variation(double *values, uint32_t n)
{
    double middle = msim_median(values, n);

    for (uint32_t i = 0; i < n; i++)
        values[i] = fabs(values[i] - middle);
    return msim_median(values, n);
}

/* The median of the calls that are too short for a wait; none: 0. What runs
 * inside a call may take longer than its task, where that is cut. */
static msim_ps usual_cost(const struct loader *l, double *values)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < l->n_fetches; i++)
        if (l->fetches[i].rest >= 0 && l->fetches[i].rest < WAIT_MIN)
            values[n++] = (double)l->fetches[i].rest;
    return (msim_ps)msim_median(values, n);
}

/* Do long calls vary as waits do? Few show nothing, and count as waits. */
static bool vary_as_waits(const struct loader *l, double *values)
{
    uint32_t n = 0, apart = 0;
    double calls, own;

    for (uint32_t i = 0; i < l->n_fetches; i++)
        if (may_wait(l, &l->fetches[i]))
            values[n++] = (double)l->fetches[i].rest;
    calls = variation(values, n);
    for (uint32_t i = 0; i < l->n_fetches; i++)
        if (l->fetches[i].apart != MSIM_TIME_NONE)
            values[apart++] = (double)l->fetches[i].apart;
    own = variation(values, apart);
    return n < CALLS_MIN || calls >= WAITS_VARY * own;
}

static enum msim_status link_batches(struct loader *l)
{
    double *values = malloc(((size_t)l->n_fetches + 1) * sizeof(*values));
    bool waits;

    if (!values)
        return MSIM_ENOMEM;
    l->usual = usual_cost(l, values);
    waits = vary_as_waits(l, values);
    free(values);
    for (uint32_t i = 0; i < l->n_fetches && waits; i++)
        if (may_wait(l, &l->fetches[i]))
            MSIM_TRY(link_batch(l, &l->fetches[i]));
    return MSIM_OK;
}

static enum msim_status link_rank(struct loader *l)
{
    const struct msim_trace *t = l->r->trace;

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (msim_graph_takes_batch(t, i))
            MSIM_TRY(note_fetch(l, i));
    return link_batches(l);
}

enum msim_status msim_graph_loader(struct msim_graph_builder *b,
                                   struct msim_rank_tasks *r)
{
    struct loader l = {.b = b, .r = r, .arrival = MSIM_NONE};
    enum msim_status status = link_rank(&l);

    free(l.fetches);
    return status;
}
