/*
 * core/run/engine.c - walk a graph with given durations.
 */
#include "core/run/engine.h"

#include "core/graph/graph_cycle.h"
#include "core/run/contention_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct msim_engine {
    const struct msim_graph *graph;
    uint32_t *missing; /* predecessors that have not been visited yet */
    uint32_t *ready;   /* a stack: tasks to visit, whose ends are known */
    uint32_t n_ready;
    bool too_long;                      /* the run does not end by RUN_MAX */
    struct msim_contention_run *shared; /* NULL: the graph shares nothing */
};

/*
 * What an edge adds to its predecessor's end: `fixed`, or, where that is -1,
 * its own lag times `stretch`. One entry for each byte that has an edge's kind.
 */
struct lags {
    msim_ps fixed[UINT8_MAX + 1];
    double stretch[UINT8_MAX + 1];
};

enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g)
{
    struct msim_engine *e = calloc(1, sizeof(*e));

    *out = NULL;
    if (!e)
        return MSIM_ENOMEM;
    e->graph = g;
    e->missing = malloc(((size_t)g->n_tasks + 1) * sizeof(*e->missing));
    e->ready = malloc(((size_t)g->n_tasks + 1) * sizeof(*e->ready));
    if (!e->missing || !e->ready ||
        (g->sharing && msim_contention_run_new(&e->shared, g) != MSIM_OK)) {
        msim_engine_free(e);
        return MSIM_ENOMEM;
    }
    *out = e;
    return MSIM_OK;
}

void msim_engine_free(struct msim_engine *e)
{
    if (!e)
        return;
    free(e->missing);
    free(e->ready);
    msim_contention_run_free(e->shared);
    free(e);
}

static void fill_lags(struct lags *l, const struct msim_scenario *s)
{
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        enum msim_edge_kind kind = msim_edge_kind_of((uint8_t)byte);
        double stretch = kind < MSIM_EDGE_KINDS ? s->stretch[kind] : 0;

        l->fixed[byte] = kind < MSIM_EDGE_KINDS ? s->lag[kind] : -1;
        l->stretch[byte] = stretch > 0 ? stretch : 1;
    }
}

static bool is_out(const struct msim_scenario *s, uint32_t task)
{
    return s->removed && s->removed[task];
}

/* Does an edge of this kind wait for another rank? */
static bool from_peers(uint8_t byte)
{
    enum msim_edge_kind kind = msim_edge_kind_of(byte);

    return kind == MSIM_EDGE_COLLECTIVE || kind == MSIM_EDGE_POINT_TO_POINT;
}

/* The demand of a task that shares something in this scenario, or NONE. */
static uint32_t demand_of(const struct msim_engine *e,
                          const struct msim_scenario *s, uint32_t task)
{
    return !e->shared || is_out(s, task) ? MSIM_NONE
                                         : e->graph->sharing->of_task[task];
}

/* All predecessors of a task have been visited. Its start is known now, or
 * depends on the tasks that it shares with. */
static void make_ready(struct msim_engine *e, const struct msim_scenario *s,
                       uint32_t task, msim_ps start)
{
    uint32_t demand = demand_of(e, s, task);

    if (demand == MSIM_NONE)
        e->ready[e->n_ready++] = task;
    else
        msim_contention_run_ready(e->shared, demand, start);
}

static msim_ps took(const struct msim_engine *e, const struct msim_scenario *s,
                    uint32_t task)
{
    uint32_t demand = demand_of(e, s, task);

    if (demand != MSIM_NONE)
        return msim_contention_run_took(e->shared, demand);
    return is_out(s, task) ? 0 : s->dur[task];
}

/* `start` holds each task's earliest start as known so far. */
static void begin(struct msim_engine *e, const struct msim_scenario *s,
                  const struct msim_times *times)
{
    const struct msim_graph *g = e->graph;

    memcpy(e->missing, g->n_preds, (size_t)g->n_tasks * sizeof(*e->missing));
    memset(times->start, 0, (size_t)g->n_tasks * sizeof(*times->start));
    if (times->held_by)
        memset(times->held_by, 0xff,
               (size_t)g->n_tasks * sizeof(*times->held_by));
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (times->start[r->task] < r->at && !is_out(s, r->task))
            times->start[r->task] = r->at;
    }
    if (e->shared)
        msim_contention_run_begin(e->shared, s->dur, s->removed, times->start,
                                  times->held_by);
    e->n_ready = 0;
    e->too_long = false;
    for (uint32_t t = g->n_tasks; t-- > 0;)
        if (!e->missing[t])
            make_ready(e, s, t, times->start[t]);
}

/* When edge `i` lets its successor start. A removed successor is not delayed,
 * and does not wait for a peer at all. */
static msim_ps edge_time(const struct msim_graph *g,
                         const struct msim_scenario *s, const struct lags *l,
                         uint32_t i, msim_ps end)
{
    uint8_t byte = g->edge_kind[i];

    if (is_out(s, g->edges[i].to))
        return from_peers(byte) ? 0 : end;
    if (l->fixed[byte] >= 0)
        return end + l->fixed[byte];
    if (l->stretch[byte] == 1)
        return end + g->edges[i].lag;
    return end + llround((double)g->edges[i].lag * l->stretch[byte]);
}

/* Visit all tasks that are ready, and those that become ready by that; returns
 * how many. Stops when the run gets too long. */
static uint32_t visit(struct msim_engine *e, const struct msim_scenario *s,
                      const struct lags *lags, msim_ps *start)
{
    const struct msim_graph *g = e->graph;
    uint32_t visited = 0;

    while (e->n_ready > 0) {
        uint32_t t = e->ready[--e->n_ready], last = g->edge_begin[t + 1];
        msim_ps end = start[t] + took(e, s, t);

        if (end > MSIM_RUN_MAX) {
            e->too_long = true;
            break;
        }
        visited++;
        for (uint32_t i = g->edge_begin[t]; i < last; i++) {
            uint32_t to = g->edges[i].to;
            msim_ps at = edge_time(g, s, lags, i, end);

            if (start[to] < at)
                start[to] = at;
            if (!--e->missing[to])
                make_ready(e, s, to, start[to]);
        }
    }
    return visited;
}

enum msim_status msim_engine_simulate(struct msim_engine *e,
                                      const struct msim_scenario *s,
                                      const struct msim_times *times,
                                      struct msim_error *err)
{
    uint32_t visited, t = MSIM_NONE;
    struct lags lags;

    fill_lags(&lags, s);
    begin(e, s, times);
    visited = visit(e, s, &lags, times->start);
    while (e->shared && !e->too_long &&
           (t = msim_contention_run_next(e->shared)) != MSIM_NONE) {
        e->ready[e->n_ready++] = t;
        visited += visit(e, s, &lags, times->start);
    }
    if (e->too_long)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "the simulated run lasts more than 26 days; want "
                         "shorter durations or a smaller '--scale'");
    if (visited < e->graph->n_tasks)
        return msim_cycle_fail(e->graph, err);
    for (t = 0; times->dur && t < e->graph->n_tasks; t++)
        times->dur[t] = took(e, s, t);
    return MSIM_OK;
}
