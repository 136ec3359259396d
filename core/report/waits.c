#include "core/report/waits.h"

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
    /* Per rank: the lane of its main thread, its first window; per window the
     * next of its rank. */
    uint32_t *main, *first, *next;
};

static enum msim_status index_ranks(struct waiting *a)
{
    const struct msim_graph *g = a->g;
    size_t bytes;

    bytes = ((size_t)g->job->n_ranks + 1) * sizeof *a->first;
    a->main = msim_main_lanes(g);
    a->first = malloc(bytes);
    a->next = malloc(((size_t)g->n_windows + 1) * sizeof *a->next);
    if (!a->main || !a->first || !a->next)
        return MSIM_ENOMEM;
    memset(a->first, 0xff, bytes);
    for (uint32_t w = 0; w < g->n_windows; w++) {
        a->next[w] = a->first[g->windows[w].rank];
        a->first[g->windows[w].rank] = w;
    }
    return MSIM_OK;
}

/* Add the part of from..to that lies in each window of a rank. */
static void add_idle(const struct waiting *a, uint32_t rank, unsigned hold,
                     msim_ps from, msim_ps to)
{
    for (uint32_t w = a->first[rank]; w != MSIM_NONE; w = a->next[w])
        a->waits[w].idle[hold] += common(&a->times[w], from, to);
}

static void add_host(const struct waiting *a, uint32_t task, unsigned hold,
                     msim_ps wait)
{
    uint32_t rank = a->g->refs[task].rank;
    msim_ps to = a->run->start[task];

    for (uint32_t w = a->first[rank]; w != MSIM_NONE; w = a->next[w]) {
        msim_ps part = common(&a->times[w], to - wait, to);

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

/* ---- the whole GPU ------------------------------------------------------- */

struct activity {
    msim_ps start;
    uint32_t task, rank;
};

static int by_rank_and_start(const void *a, const void *b)
{
    const struct activity *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->task > y->task) - (x->task < y->task);
}

/* All that begins on a GPU: of a collective its arrival and its transfer. */
static uint32_t collect(const struct waiting *a, struct activity *found)
{
    const struct msim_graph *g = a->g;
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->lane[t] != MSIM_NONE && g->lanes[g->lane[t]].device)
            found[n++] =
                (struct activity){a->run->start[t], t, g->refs[t].rank};
    if (n)
        qsort(found, n, sizeof *found, by_rank_and_start);
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
        malloc(((size_t)a->g->n_tasks + 1) * sizeof *found);
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

enum msim_status msim_waits(const struct msim_graph *g,
                            const struct msim_run *run,
                            const struct msim_binding *b,
                            const struct msim_window_times *times,
                            struct msim_waits *waits)
{
    struct waiting a = {
        .g = g, .run = run, .binding = b, .times = times, .waits = waits};
    enum msim_status st = index_ranks(&a);

    memset(waits, 0, g->n_windows * sizeof *waits);
    if (st == MSIM_OK)
        st = by_lane(&a);
    if (st == MSIM_OK)
        st = by_gpu(&a);
    free(a.main);
    free(a.first);
    free(a.next);
    return st;
}
