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
    uint32_t *roots; /* tasks without predecessors */
    uint32_t n_roots;
    /* One a task: it leads to the next one alone, which waits for nothing else
     * and shares nothing. Most of a host's tasks do. */
    bool *leads;
    /*
     * Where nothing is shared no run needs more than the tasks, each behind all
     * of its predecessors: as their numbers have them where all edges ascend,
     * else as the first run came to them.
     */
    bool sweeps;
    uint32_t *order; /* n_ordered of them; NULL: their numbers, or no sweep */
    uint32_t n_ordered;
    bool too_long;                      /* the run does not end by RUN_MAX */
    struct msim_contention_run *shared; /* NULL: the graph shares nothing */
};

/*
 * What an edge adds to its predecessor's end, by the byte that has its kind:
 * `fixed`, and the bits of its own lag that `own` has, which is all or none.
 * Lags that are stretched, and tasks that are out, are not so simple.
 */
struct lags {
    msim_ps fixed[UINT8_MAX + 1], own[UINT8_MAX + 1];
    double stretch[UINT8_MAX + 1];
    bool simple;
};

static bool ascends(const struct msim_graph *g)
{
    bool does = true;

    for (uint32_t t = 0; t < g->n_tasks && does; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            does &= g->edges[i].to > t;
    return does;
}

static bool is_led(const struct msim_graph *g, uint32_t task)
{
    uint32_t edge = g->edge_begin[task - 1];

    return g->edge_begin[task] - edge == 1 && g->edges[edge].to == task &&
           g->n_preds[task] == 1 &&
           !(g->sharing && g->sharing->of_task[task] != MSIM_NONE);
}

static enum msim_status take_memory(struct msim_engine *e)
{
    const struct msim_graph *g = e->graph;
    size_t n = (size_t)g->n_tasks + 1;

    e->missing = malloc(n * sizeof(*e->missing));
    e->ready = malloc(n * sizeof(*e->ready));
    e->roots = malloc(((size_t)e->n_roots + 1) * sizeof(*e->roots));
    e->leads = calloc(n, sizeof(*e->leads));
    if (!e->missing || !e->ready || !e->roots || !e->leads)
        return MSIM_ENOMEM;
    if (g->sharing)
        return msim_contention_run_new(&e->shared, g);
    e->order = malloc(n * sizeof(*e->order));
    return e->order ? MSIM_OK : MSIM_ENOMEM;
}

/* What all runs walk alike. */
static enum msim_status find_ways(struct msim_engine *e)
{
    const struct msim_graph *g = e->graph;

    e->sweeps = !g->sharing && ascends(g);
    if (e->sweeps)
        return MSIM_OK;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        e->n_roots += !g->n_preds[t];
    MSIM_TRY(take_memory(e));
    e->n_roots = 0;
    for (uint32_t t = g->n_tasks; t-- > 0;) {
        if (!g->n_preds[t])
            e->roots[e->n_roots++] = t;
        if (t > 0)
            e->leads[t - 1] = is_led(g, t);
    }
    return MSIM_OK;
}

enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g)
{
    struct msim_engine *e = calloc(1, sizeof(*e));

    *out = NULL;
    if (!e)
        return MSIM_ENOMEM;
    e->graph = g;
    if (find_ways(e) != MSIM_OK) {
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
    free(e->roots);
    free(e->leads);
    free(e->order);
    msim_contention_run_free(e->shared);
    free(e);
}

static void fill_lags(struct lags *l, const struct msim_scenario *s)
{
    l->simple = !s->removed;
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        enum msim_edge_kind kind = msim_edge_kind_of((uint8_t)byte);
        bool is_kind = kind < MSIM_EDGE_KINDS;
        bool fixed = is_kind && s->lag[kind] >= 0;

        l->fixed[byte] = fixed ? s->lag[kind] : 0;
        l->own[byte] = fixed ? 0 : -1;
        l->stretch[byte] =
            is_kind && s->stretch[kind] > 0 && !fixed ? s->stretch[kind] : 1;
        l->simple &= l->stretch[byte] == 1;
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
static void begin_times(const struct msim_graph *g,
                        const struct msim_scenario *s,
                        const struct msim_times *times)
{
    memset(times->start, 0, (size_t)g->n_tasks * sizeof(*times->start));
    if (times->held_by)
        memset(times->held_by, 0xff,
               (size_t)g->n_tasks * sizeof(*times->held_by));
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (times->start[r->task] < r->at && !is_out(s, r->task))
            times->start[r->task] = r->at;
    }
}

static void begin_walk(struct msim_engine *e, const struct msim_scenario *s,
                       const struct msim_times *times)
{
    const struct msim_graph *g = e->graph;

    memcpy(e->missing, g->n_preds, (size_t)g->n_tasks * sizeof(*e->missing));
    if (e->shared)
        msim_contention_run_begin(e->shared, s->dur, s->removed, times->start,
                                  times->held_by);
    e->n_ready = e->n_ordered = 0;
    for (uint32_t i = 0; i < e->n_roots; i++)
        make_ready(e, s, e->roots[i], times->start[e->roots[i]]);
}

/* When edge `i` lets its successor start. A removed successor is not delayed,
 * and does not wait for a peer at all. */
static msim_ps edge_time_any(const struct msim_graph *g,
                             const struct msim_scenario *s,
                             const struct lags *l, uint32_t i, msim_ps end)
{
    uint8_t byte = g->edge_kind[i];

    if (is_out(s, g->edges[i].to))
        return from_peers(byte) ? 0 : end;
    if (l->stretch[byte] == 1)
        return end + l->fixed[byte] + (g->edges[i].lag & l->own[byte]);
    return end + llround((double)g->edges[i].lag * l->stretch[byte]);
}

static inline msim_ps edge_time(const struct msim_graph *g,
                                const struct msim_scenario *s,
                                const struct lags *l, uint32_t i, msim_ps end)
{
    uint8_t byte = g->edge_kind[i];

    if (!l->simple)
        return edge_time_any(g, s, l, i, end);
    return end + l->fixed[byte] + (g->edges[i].lag & l->own[byte]);
}

/* Visit what a task leads to; returns the last of it, and when that ends. */
static uint32_t follow(struct msim_engine *e, const struct msim_scenario *s,
                       const struct lags *lags, msim_ps *start, uint32_t task,
                       msim_ps *end)
{
    const struct msim_graph *g = e->graph;

    while (e->leads[task] && *end <= MSIM_RUN_MAX) {
        msim_ps at = edge_time(g, s, lags, g->edge_begin[task], *end);

        task++;
        if (start[task] < at)
            start[task] = at;
        *end = start[task] + (is_out(s, task) ? 0 : s->dur[task]);
    }
    return task;
}

/* Visit all tasks that are ready, and those that become ready by that; returns
 * how many. Stops when the run gets too long. */
static uint32_t visit(struct msim_engine *e, const struct msim_scenario *s,
                      const struct lags *lags, msim_ps *start)
{
    const struct msim_graph *g = e->graph;
    uint32_t visited = 0;

    while (e->n_ready > 0) {
        uint32_t first = e->ready[--e->n_ready];
        msim_ps end = start[first] + took(e, s, first);
        uint32_t t = follow(e, s, lags, start, first, &end);

        if (end > MSIM_RUN_MAX) {
            e->too_long = true;
            break;
        }
        visited += t - first + 1;
        for (uint32_t i = first; e->order && i <= t; i++)
            e->order[e->n_ordered++] = i;
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
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

static uint32_t walk(struct msim_engine *e, const struct msim_scenario *s,
                     const struct lags *lags, const struct msim_times *times)
{
    uint32_t visited, t;

    begin_walk(e, s, times);
    visited = visit(e, s, lags, times->start);
    while (e->shared && !e->too_long &&
           (t = msim_contention_run_next(e->shared)) != MSIM_NONE) {
        e->ready[e->n_ready++] = t;
        visited += visit(e, s, lags, times->start);
    }
    e->sweeps = e->order && visited == e->graph->n_tasks;
    return visited;
}

/* False: the run gets too long. */
static bool sweep_over(const struct msim_engine *e,
                       const struct msim_scenario *s, const struct lags *lags,
                       msim_ps *start)
{
    const struct msim_graph *g = e->graph;

    for (uint32_t n = 0; n < g->n_tasks; n++) {
        uint32_t t = e->order ? e->order[n] : n;
        msim_ps end = start[t] + (is_out(s, t) ? 0 : s->dur[t]);

        if (end > MSIM_RUN_MAX)
            return false;
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            msim_ps *to = &start[g->edges[i].to];
            msim_ps at = edge_time(g, s, lags, i, end);

            *to = *to < at ? at : *to;
        }
    }
    return true;
}

static uint32_t sweep(struct msim_engine *e, const struct msim_scenario *s,
                      const struct lags *lags, msim_ps *start)
{
    e->too_long = !sweep_over(e, s, lags, start);
    return e->graph->n_tasks;
}

/* What every task took. */
static void set_durations(const struct msim_engine *e,
                          const struct msim_scenario *s, msim_ps *dur)
{
    const struct msim_graph *g = e->graph;

    memcpy(dur, s->dur, (size_t)g->n_tasks * sizeof(*dur));
    for (uint32_t t = 0; s->removed && t < g->n_tasks; t++)
        if (s->removed[t])
            dur[t] = 0;
    for (uint32_t d = 0; e->shared && d < g->sharing->n_demands; d++) {
        uint32_t t = g->sharing->demands[d].task;

        if (!is_out(s, t))
            dur[t] = msim_contention_run_took(e->shared, d);
    }
}

enum msim_status msim_engine_simulate(struct msim_engine *e,
                                      const struct msim_scenario *s,
                                      const struct msim_times *times,
                                      struct msim_error *err)
{
    uint32_t visited;
    struct lags lags;

    fill_lags(&lags, s);
    begin_times(e->graph, s, times);
    e->too_long = false;
    visited =
        e->sweeps ? sweep(e, s, &lags, times->start) : walk(e, s, &lags, times);
    if (e->too_long)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "the simulated run lasts more than 26 days; want "
                         "shorter durations or a smaller '--scale'");
    if (visited < e->graph->n_tasks)
        return msim_cycle_fail(e->graph, err);
    if (times->dur)
        set_durations(e, s, times->dur);
    return MSIM_OK;
}
