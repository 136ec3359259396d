#include "core/waits.h"

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

static void add_host(const struct msim_graph *g,
                     const struct msim_window_times *times,
                     struct msim_waits *waits, uint32_t task, unsigned hold,
                     msim_ps from, msim_ps to)
{
    for (uint32_t w = 0; w < g->n_windows; w++)
        if (g->windows[w].rank == g->refs[task].rank)
            waits[w].host[hold] += common(&times[w], from, to);
}

enum msim_status msim_waits(const struct msim_graph *g,
                            const struct msim_run *run,
                            const struct msim_binding *b,
                            const struct msim_window_times *times,
                            struct msim_waits *waits)
{
    uint32_t *before = msim_lanes_none(g);

    if (!before)
        return MSIM_ENOMEM;
    memset(waits, 0, g->n_windows * sizeof *waits);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps wait = msim_wait_before(g, run, before, t);
        unsigned hold = msim_hold_of(g, b->by[t]);

        if (wait <= 0 || hold == MSIM_HOLDS)
            continue;
        if (!g->lanes[g->lane[t]].device)
            add_host(g, times, waits, t, hold, run->start[t] - wait,
                     run->start[t]);
        else if (g->window[t] != MSIM_NONE)
            waits[g->window[t]].device[hold] += wait;
    }
    free(before);
    return MSIM_OK;
}
