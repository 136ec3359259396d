/*
 * core/run/peers.c - ranks whose traces are absent, and that follow this one.
 */
#include "core/run/engine.h"

#include <stdlib.h>

static bool follows(const struct msim_release *r)
{
    return r->external && r->at == MSIM_TIME_NONE;
}

/* The lag from an arrival to its transfer, the task after it. */
static msim_ps *lag_of(struct msim_graph *g, uint32_t transfer)
{
    uint32_t arrive = transfer - 1;

    for (uint32_t e = g->edge_begin[arrive]; e < g->edge_begin[transfer]; e++)
        if (g->edges[e].to == transfer &&
            msim_edge_kind_of(g->edge_kind[e]) == MSIM_EDGE_COLLECTIVE)
            return &g->edges[e].lag;
    return NULL;
}

/* Let absent ranks arrive when they did, or again as long after this one. */
static uint32_t hold(struct msim_graph *g, bool *held, bool on)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n_releases; i++) {
        struct msim_release *r = &g->releases[i];
        msim_ps *lag;

        if (on)
            held[i] = follows(r);
        if (!held[i])
            continue;
        n++;
        r->at = on ? r->traced : MSIM_TIME_NONE;
        lag = lag_of(g, r->task);
        if (on && lag)
            *lag = 0;
    }
    return n;
}

static void set_lags(struct msim_graph *g, const bool *held,
                     const msim_ps *start)
{
    for (uint32_t i = 0; i < g->n_releases; i++) {
        uint32_t transfer = g->releases[i].task;
        msim_ps *lag = held[i] ? lag_of(g, transfer) : NULL;

        if (lag)
            *lag = start[transfer] - start[transfer - 1];
    }
}

static enum msim_status replay(const struct msim_graph *g, msim_ps *dur,
                               msim_ps *start, struct msim_error *err)
{
    struct msim_scenario s = {.dur = dur};
    struct msim_engine *e;
    enum msim_status status;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        dur[t] = g->traced[t] > 0 ? g->traced[t] : 0;
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    MSIM_TRY(msim_engine_new(&e, g));
    status =
        msim_engine_simulate(e, &s, &(struct msim_times){.start = start}, err);
    msim_engine_free(e);
    return status;
}

enum msim_status msim_peers_follow(struct msim_graph *g, struct msim_error *err)
{
    size_t n = (size_t)g->n_tasks + 1;
    msim_ps *dur = malloc(n * sizeof(*dur)), *start = malloc(n * sizeof(*dur));
    bool *held = calloc((size_t)g->n_releases + 1, sizeof(*held));
    enum msim_status status = dur && start && held ? MSIM_OK : MSIM_ENOMEM;

    if (status == MSIM_OK && hold(g, held, true)) {
        status = replay(g, dur, start, err);
        if (status == MSIM_OK)
            set_lags(g, held, start);
        hold(g, held, false);
    }
    free(dur);
    free(start);
    free(held);
    return status;
}
