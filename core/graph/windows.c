/*
 * core/graph/windows.c - spans of time of each rank.
 */
#include "core/graph/contention.h"

#include "core/base/containers.h"
#include "core/base/units.h"

#include <stdlib.h>

enum msim_status msim_windows_init(struct msim_windows *w, uint32_t most,
                                   uint32_t ranks)
{
    w->n = 0;
    w->ranks = ranks;
    w->of = malloc(((size_t)most + 1) * sizeof(*w->of));
    w->first = calloc((size_t)ranks + 1, sizeof(*w->first));
    return w->of && w->first ? MSIM_OK : MSIM_ENOMEM;
}

void msim_windows_release(struct msim_windows *w)
{
    free(w->of);
    free(w->first);
}

void msim_windows_add(struct msim_windows *w, uint32_t rank, uint32_t window,
                      msim_ps begin, msim_ps end)
{
    w->of[w->n++] = (struct msim_placed){begin, end, rank, window};
}

static int by_rank_and_begin(const void *a, const void *b)
{
    const struct msim_placed *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    if (x->begin != y->begin)
        return MSIM_ORDER(x->begin, y->begin);
    return MSIM_ORDER(x->window, y->window);
}

void msim_windows_place(struct msim_windows *w)
{
    struct msim_placed *p = w->of;

    if (w->n)
        qsort(p, w->n, sizeof(*p), by_rank_and_begin);
    for (uint32_t i = 1; i < w->n; i++)
        if (p[i].rank == p[i - 1].rank && p[i].latest < p[i - 1].latest)
            p[i].latest = p[i - 1].latest;
    for (uint32_t r = 0, i = 0; r <= w->ranks; r++) {
        while (i < w->n && p[i].rank < r)
            i++;
        w->first[r] = i;
    }
}

uint32_t msim_windows_after(const struct msim_windows *w, uint32_t rank,
                            msim_ps at)
{
    return msim_first_after(&w->of->latest, sizeof(*w->of), w->first[rank],
                            w->first[rank + 1], at);
}

uint32_t msim_windows_at(const struct msim_windows *w, uint32_t rank,
                         msim_ps at)
{
    uint32_t i = msim_windows_after(w, rank, at);

    return i < w->first[rank + 1] && w->of[i].begin <= at ? w->of[i].window
                                                          : UINT32_MAX;
}
