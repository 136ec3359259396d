/*
 * core/graph/rules/graph_begin.c - ranks whose recording begins later.
 *
 * A recording begins where its rank then is in the job, and that hangs on what
 * all ranks did before. So the rank that began first says when the others do:
 * one of them begins as long after what the first rank had done last by then as
 * it did in the trace. When the first rank gets there sooner, so do they.
 *
 * The distance costs what the first rank's host does then. In a call, and where
 * no GPU time may be read, it may be a wait: then it costs what such a call
 * does at most. But in an iteration that counts the wait is the iteration's
 * own, and lasts as long as it did.
 */
#include "core/graph/rules/graph_rules.h"

#include <stdlib.h>

struct beginning {
    struct msim_graph_builder *b;
    uint32_t *own;       /* the earliest release of each rank, or NONE */
    uint32_t *tie;       /* of each rank: what its releases follow, or NONE */
    uint32_t first;      /* the rank that began first, or NONE */
    uint32_t begin, end; /* its tasks */
    msim_ps base;        /* from its times to times of release */
};

static const struct msim_release *own_release(const struct beginning *x,
                                              uint32_t rank)
{
    uint32_t i = x->own[rank];

    return i == MSIM_NONE ? NULL : &x->b->g->releases[i];
}

static void find_first(struct beginning *x)
{
    const struct msim_graph *g = x->b->g;
    const struct msim_release *best = NULL;

    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];
        uint32_t rank = g->refs[r->task].rank;
        const struct msim_release *own = own_release(x, rank);

        if (own && own->at <= r->at)
            continue;
        x->own[rank] = i;
    }
    for (uint32_t rank = 0; rank < g->job->n_ranks; rank++) {
        const struct msim_release *own = own_release(x, rank);

        if (own && (!best || own->at < best->at)) {
            best = own;
            x->first = rank;
        }
    }
    if (!best)
        return;
    x->base = best->at - x->b->tstart[best->task];
    while (x->begin < g->n_tasks && g->refs[x->begin].rank != x->first)
        x->begin++;
    x->end = x->begin;
    while (x->end < g->n_tasks && g->refs[x->end].rank == x->first)
        x->end++;
}

/* What the first rank had done last by `at`, a time of its own. */
static uint32_t last_done(const struct beginning *x, msim_ps at)
{
    const struct msim_graph_builder *b = x->b;
    uint32_t best = MSIM_NONE;

    for (uint32_t t = x->begin; t < x->end; t++) {
        bool gpu = b->g->kind[t] >= MSIM_TASK_KERNEL;

        if (b->g->kind[t] == MSIM_TASK_JOIN || b->tend[t] > at ||
            (gpu && !b->opt->device_times))
            continue;
        if (best == MSIM_NONE || b->tend[t] >= b->tend[best])
            best = t;
    }
    return best;
}

/* Is the first rank in an iteration that counts at `at`, a time of its own? */
static bool in_iteration(const struct beginning *x, msim_ps at)
{
    const struct msim_graph *g = x->b->g;

    for (uint32_t i = 0; i < g->n_windows; i++) {
        const struct msim_window *w = &g->windows[i];

        if (w->rank == x->first &&
            (msim_window_is_whole(w) ||
             (!w->empty && x->b->tstart[w->first] <= at &&
              at < x->b->tend[w->last])))
            return true;
    }
    return false;
}

/* Where a rank begins that does so `apart` after the end of `done`. */
struct place {
    uint32_t done;
    msim_ps begin, apart;
    bool call; /* the distance is a part of the call that came next */
};

static struct place place_of(const struct beginning *x, msim_ps begin)
{
    const struct msim_graph *g = x->b->g;
    struct place p = {.done = last_done(x, begin - x->base), .begin = begin};
    uint32_t next = p.done + 1;

    if (p.done == MSIM_NONE)
        return p;
    p.apart = begin - x->base - x->b->tend[p.done];
    p.call = next < x->end && g->kind[next] == MSIM_TASK_CALL &&
             g->lane[next] == g->lane[p.done];
    return p;
}

/* The task that stands for the distance: a part of the call, or time of the
 * host; none, where it is to last. It is on no lane, for the work of the first
 * rank's threads is theirs. */
static enum msim_status add_distance(struct beginning *x, const struct place *p,
                                     uint32_t *task)
{
    struct msim_task_ref ref = {MSIM_NONE, MSIM_NONE, MSIM_NONE,
                                (uint16_t)x->first, 0};
    bool lasts = p->call && in_iteration(x, p->begin - x->base);
    enum msim_task_kind kind = lasts     ? MSIM_TASK_JOIN
                               : p->call ? MSIM_TASK_CALL
                                         : MSIM_TASK_GAP;
    msim_ps takes = lasts ? 0 : p->apart;

    if (kind == MSIM_TASK_CALL)
        ref = x->b->g->refs[p->done + 1];
    MSIM_TRY(msim_builder_task(x->b, kind, MSIM_NONE, ref, p->begin - takes,
                               takes, task));
    return msim_builder_edge(x->b, MSIM_EDGE_BEGIN, MSIM_FROM_TIMES, p->done,
                             *task, lasts ? p->apart : 0);
}

static enum msim_status tie_rank(struct beginning *x, uint32_t rank)
{
    const struct msim_release *own = own_release(x, rank);
    struct place p;

    if (!own || own->at <= own_release(x, x->first)->at)
        return MSIM_OK;
    p = place_of(x, own->at);
    return p.done == MSIM_NONE ? MSIM_OK : add_distance(x, &p, &x->tie[rank]);
}

/* What of a rank came at an instant comes as long after its begin. */
static enum msim_status follow(struct beginning *x)
{
    struct msim_graph *g = x->b->g;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release r = g->releases[i];
        uint32_t tie = x->tie[g->refs[r.task].rank];

        if (tie == MSIM_NONE)
            g->releases[n++] = r;
        else
            MSIM_TRY(msim_builder_edge(x->b, MSIM_EDGE_BEGIN, MSIM_FROM_TIMES,
                                       tie, r.task, r.at - x->b->tend[tie]));
    }
    g->n_releases = n;
    return MSIM_OK;
}

static enum msim_status tie(struct beginning *x)
{
    uint32_t n = x->b->job->n_ranks;

    x->own = malloc(((size_t)n + 1) * sizeof(*x->own));
    x->tie = malloc(((size_t)n + 1) * sizeof(*x->tie));
    if (!x->own || !x->tie)
        return MSIM_ENOMEM;
    for (uint32_t rank = 0; rank < n; rank++)
        x->own[rank] = x->tie[rank] = MSIM_NONE;
    find_first(x);
    for (uint32_t rank = 0; rank < n && x->first != MSIM_NONE; rank++)
        MSIM_TRY(tie_rank(x, rank));
    return follow(x);
}

enum msim_status msim_graph_begin(struct msim_graph_builder *b)
{
    struct beginning x = {.b = b, .first = MSIM_NONE};
    enum msim_status status = MSIM_OK;

    if (b->job->n_ranks > 1 && !(b->opt->without & 1u << MSIM_EDGE_BEGIN))
        status = tie(&x);
    free(x.own);
    free(x.tie);
    return status;
}

bool msim_graph_is_begin(const struct msim_graph *g, uint32_t edge)
{
    return msim_edge_kind_of(g->edge_kind[edge]) == MSIM_EDGE_BEGIN &&
           g->lane[g->edges[edge].to] == MSIM_NONE;
}
