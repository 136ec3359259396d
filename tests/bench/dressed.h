/*
 * tests/bench/dressed.h - a made graph with what analyses ask for: lanes of
 * which every second is a stream, of one rank in one window.
 */
#ifndef MSIM_TESTS_BENCH_DRESSED_H
#define MSIM_TESTS_BENCH_DRESSED_H
#include "tests/unit/made_graph.h"

#include <stdlib.h>

#define DRESSED_LANES 32u

struct dressed {
    struct made_graph m;
    struct msim_job job;
    struct msim_lane lanes[DRESSED_LANES];
    struct msim_window window;
};

/* `*d` stays where it is until dressed_release(). Ends the program where there
 * is no memory. */
static inline void dressed_init(struct dressed *d, uint32_t n)
{
    struct msim_graph *g = &d->m.g;

    d->m = made_graph_new(n, DRESSED_LANES, 42);
    d->job = (struct msim_job){.n_ranks = 1};
    g->job = &d->job;
    g->traced = d->m.dur;
    g->lane = malloc(n * sizeof(*g->lane));
    g->kind = calloc(n, 1);
    g->window = calloc(n, sizeof(*g->window));
    g->refs = calloc(n, sizeof(*g->refs));
    if (!g->lane || !g->kind || !g->window || !g->refs)
        abort();
    for (uint32_t i = 0; i < DRESSED_LANES; i++)
        d->lanes[i] = (struct msim_lane){0, i, i % 2 == 1};
    for (uint32_t t = 0; t < n; t++) {
        g->lane[t] = t % DRESSED_LANES;
        g->kind[t] = t % 2 ? MSIM_TASK_KERNEL : MSIM_TASK_HOST;
    }
    d->window = (struct msim_window){.last = n - 1, .step = MSIM_NONE};
    g->lanes = d->lanes;
    g->n_lanes = DRESSED_LANES;
    g->windows = &d->window;
    g->n_windows = 1;
}

static inline void dressed_release(struct dressed *d)
{
    free(d->m.g.lane);
    free(d->m.g.kind);
    free(d->m.g.window);
    free(d->m.g.refs);
    made_graph_free(&d->m);
}

#endif
