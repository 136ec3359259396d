/*
 * core/report/analyse/waits.c - who waited, for what, how long.
 */
#include "core/report/analyse/analysis_internal.h"

#include "core/base/containers.h"
#include "core/graph/contention.h"

#include <stdlib.h>
#include <string.h>

uint32_t *msim_lanes_none(const struct msim_graph *g)
{
    size_t bytes = ((size_t)g->n_lanes + 1) * sizeof(uint32_t);
    uint32_t *before = malloc(bytes);

    if (before)
        memset(before, 0xff, bytes);
    return before;
}

static msim_ps common(const struct msim_window_times *w, msim_ps from,
                      msim_ps to)
{
    from = from > w->begin ? from : w->begin;
    to = to < w->end ? to : w->end;
    return to > from ? to - from : 0;
}

struct waiting {
    const struct msim_graph *g;
    const struct msim_run *run;
    const struct msim_binding *binding;
    const struct msim_window_times *times;
    struct msim_waits *waits;
    uint32_t *main; /* per rank: the lane of its main thread */
    struct msim_windows windows;
};

static enum msim_status index_ranks(struct waiting *a)
{
    const struct msim_graph *g = a->g;

    a->main = msim_main_lanes(g);
    MSIM_TRY(msim_windows_init(&a->windows, g->n_windows, g->job->n_ranks));
    for (uint32_t w = 0; w < g->n_windows; w++)
        msim_windows_add(&a->windows, g->windows[w].rank, w, a->times[w].begin,
                         a->times[w].end);
    msim_windows_place(&a->windows);
    return a->main ? MSIM_OK : MSIM_ENOMEM;
}

/* Add the part of from..to that lies in each window of a rank. */
static void add_idle(const struct waiting *a, uint32_t rank, unsigned hold,
                     msim_ps from, msim_ps to)
{
    const struct msim_windows *x = &a->windows;

    for (uint32_t i = msim_windows_after(x, rank, from);
         i < x->first[rank + 1] && x->of[i].begin < to; i++) {
        uint32_t w = x->of[i].window;

        a->waits[w].idle[hold] += common(&a->times[w], from, to);
    }
}

static void add_host(const struct waiting *a, uint32_t task, unsigned hold,
                     msim_ps wait)
{
    uint32_t rank = a->g->refs[task].rank;
    msim_ps to = a->run->start[task], from = to - wait;
    const struct msim_windows *x = &a->windows;

    for (uint32_t i = msim_windows_after(x, rank, from);
         i < x->first[rank + 1] && x->of[i].begin < to; i++) {
        uint32_t w = x->of[i].window;
        msim_ps part = common(&a->times[w], from, to);

        a->waits[w].host[hold] += part;
        if (a->g->lane[task] == a->main[rank])
            a->waits[w].main[hold] += part;
    }
}

static enum msim_status by_lane(const struct waiting *a)
{
    const struct msim_graph *g = a->g;
    uint32_t *before = msim_lanes_none(g);

    if (!before)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps wait = msim_wait_before(g, a->run, before, t);
        unsigned hold = msim_hold_of(g, a->binding->by[t]);

        if (wait <= 0 || hold == MSIM_HOLDS)
            continue;
        if (!g->lanes[g->lane[t]].device)
            add_host(a, t, hold, wait);
        else if (g->window[t] != MSIM_NONE)
            a->waits[g->window[t]].device[hold] += wait;
    }
    free(before);
    return MSIM_OK;
}

/* ---- the whole GPU ------------------------------------------------------ */

struct activity {
    msim_ps start;
    uint32_t task, rank;
};

static int by_rank_and_start(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    if (x->start != y->start)
        return MSIM_ORDER(x->start, y->start);
    return MSIM_ORDER(x->task, y->task);
}

/* A task that begins on a GPU: of a collective its arrival and its transfer. */
static uint32_t collect(const struct waiting *a, struct activity *found)
{
    const struct msim_graph *g = a->g;
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->lane[t] != MSIM_NONE && g->lanes[g->lane[t]].device)
            found[n++] =
                (struct activity){a->run->start[t], t, g->refs[t].rank};
    if (n)
        qsort(found, n, sizeof(*found), by_rank_and_start);
    return n;
}

/* A collective's kernel runs while it waits for peers, too. */
static msim_ps over_at(const struct waiting *a, uint32_t task)
{
    const struct msim_graph *g = a->g;

    if (task + 1 < g->n_tasks && msim_arrival(g, task + 1) == task)
        return a->run->start[task + 1];
    return msim_run_end(a->run, task);
}

static enum msim_status by_gpu(const struct waiting *a)
{
    struct activity *found =
        malloc(((size_t)a->g->n_tasks + 1) * sizeof(*found));
    msim_ps busy = 0;
    uint32_t n;

    if (!found)
        return MSIM_ENOMEM;
    n = collect(a, found);
    for (uint32_t i = 0; i < n; i++) {
        const struct activity *e = &found[i];
        unsigned hold = msim_hold_of(a->g, a->binding->by[e->task]);

        if (!i || e->rank != found[i - 1].rank)
            busy = 0;
        if (e->start > busy && hold != MSIM_HOLDS)
            add_idle(a, e->rank, hold, busy, e->start);
        if (over_at(a, e->task) > busy)
            busy = over_at(a, e->task);
    }
    free(found);
    return MSIM_OK;
}

enum msim_status msim_waits_find(const struct msim_graph *g,
                                 const struct msim_run *run,
                                 const struct msim_binding *b,
                                 const struct msim_window_times *times,
                                 struct msim_waits *waits)
{
    struct waiting a = {
        .g = g, .run = run, .binding = b, .times = times, .waits = waits};
    enum msim_status status = index_ranks(&a);

    memset(waits, 0, g->n_windows * sizeof(*waits));
    if (status == MSIM_OK)
        status = by_lane(&a);
    if (status == MSIM_OK)
        status = by_gpu(&a);
    free(a.main);
    msim_windows_release(&a.windows);
    return status;
}
