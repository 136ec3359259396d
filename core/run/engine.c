/*
 * core/run/engine.c - walk a graph with given durations.
 */
#include "core/run/engine.h"

#include "core/graph/graph.h"
#include "core/run/engine_internal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Where nothing is shared and all edges ascend, a run needs no more than the
 * tasks by their numbers. Else it walks over chains of them: what is ready is
 * visited, and what becomes ready by that; where nothing is shared the next run
 * needs the order alone that the first one came to them in.
 */
struct msim_engine {
    const struct msim_graph *graph;
    bool by_number; /* nothing below is needed, unless a run is laid */
    struct msim_chains chains;
    bool borrows;           /* the chains: they are a course's */
    msim_ps *line;          /* tasks as if they came one by one: n_tasks + 1 */
    msim_ps *start, *takes; /* of each chain */
    uint32_t *missing;      /* predecessors that have not been visited yet */
    uint32_t *ready;        /* a stack: chains to visit, whose ends are known */
    uint32_t n_ready;
    uint32_t *order; /* of chains, once all have been visited: n_ordered */
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

static enum msim_status take_memory(struct msim_engine *e)
{
    size_t n;

    if (!e->borrows)
        MSIM_TRY(msim_chains_find(&e->chains, e->graph));
    n = (size_t)e->chains.n + 1;
    e->line = malloc(((size_t)e->graph->n_tasks + 1) * sizeof(*e->line));
    e->start = malloc(n * sizeof(*e->start));
    e->takes = malloc(n * sizeof(*e->takes));
    e->missing = malloc(n * sizeof(*e->missing));
    e->ready = malloc(n * sizeof(*e->ready));
    if (!e->line || !e->start || !e->takes || !e->missing || !e->ready)
        return MSIM_ENOMEM;
    if (e->graph->sharing)
        return msim_contention_run_new(&e->shared, e->graph);
    e->order = malloc(n * sizeof(*e->order));
    return e->order ? MSIM_OK : MSIM_ENOMEM;
}

struct msim_course {
    const struct msim_graph *graph;
    bool by_number;
    struct msim_chains chains; /* none where by_number */
};

enum msim_status msim_course_new(struct msim_course **out,
                                 const struct msim_graph *g)
{
    struct msim_course *c = calloc(1, sizeof(*c));

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    c->graph = g;
    c->by_number = !g->sharing && ascends(g);
    if (!c->by_number && msim_chains_find(&c->chains, g) != MSIM_OK) {
        msim_course_free(c);
        return MSIM_ENOMEM;
    }
    *out = c;
    return MSIM_OK;
}

void msim_course_free(struct msim_course *c)
{
    if (!c)
        return;
    msim_chains_release(&c->chains);
    free(c);
}

enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g)
{
    return msim_engine_on(out, NULL, g);
}

enum msim_status msim_engine_on(struct msim_engine **out,
                                const struct msim_course *c,
                                const struct msim_graph *g)
{
    struct msim_engine *e = calloc(1, sizeof(*e));
    bool known = c && c->graph == g;

    *out = NULL;
    if (!e)
        return MSIM_ENOMEM;
    e->graph = g;
    e->by_number = known ? c->by_number : !g->sharing && ascends(g);
    e->borrows = known && !c->by_number;
    if (e->borrows)
        e->chains = c->chains;
    if (!e->by_number && take_memory(e) != MSIM_OK) {
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
    if (!e->borrows)
        msim_chains_release(&e->chains);
    free(e->line);
    free(e->start);
    free(e->takes);
    free(e->missing);
    free(e->ready);
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

/* Are any tasks removed, of `n`? */
static bool removes(const struct msim_scenario *s, uint32_t n)
{
    const uint8_t *r = s->removed;

    return r && n && (r[0] || memcmp(r, r + 1, n - 1));
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

/* When an edge lets its successor start, a task. A removed one is not delayed,
 * and does not wait for a peer at all. */
static msim_ps edge_time_any(const struct msim_scenario *s,
                             const struct lags *l, uint8_t byte, msim_ps lag,
                             uint32_t to, msim_ps end)
{
    if (is_out(s, to))
        return from_peers(byte) ? 0 : end;
    if (l->stretch[byte] == 1)
        return end + l->fixed[byte] + (lag & l->own[byte]);
    return end + llround((double)lag * l->stretch[byte]);
}

static inline msim_ps edge_time(const struct msim_scenario *s,
                                const struct lags *l, uint8_t byte, msim_ps lag,
                                uint32_t to, msim_ps end)
{
    if (!l->simple)
        return edge_time_any(s, l, byte, lag, to, end);
    return end + l->fixed[byte] + (lag & l->own[byte]);
}

/* ---- tasks by their numbers ---------------------------------------------- */

static void begin_times(const struct msim_graph *g,
                        const struct msim_scenario *s, msim_ps *start)
{
    memset(start, 0, (size_t)g->n_tasks * sizeof(*start));
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (start[r->task] < r->at && !is_out(s, r->task))
            start[r->task] = r->at;
    }
}

/* False: the run gets too long. */
static bool sweep_tasks(const struct msim_graph *g,
                        const struct msim_scenario *s, const struct lags *lags,
                        msim_ps *start)
{
    begin_times(g, s, start);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps end = start[t] + (is_out(s, t) ? 0 : s->dur[t]);

        if (end > MSIM_RUN_MAX)
            return false;
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            const struct msim_edge *edge = &g->edges[i];
            msim_ps at =
                edge_time(s, lags, g->edge_kind[i], edge->lag, edge->to, end);

            if (start[edge->to] < at)
                start[edge->to] = at;
        }
    }
    return true;
}

/* ---- chains -------------------------------------------------------------- */

/* The demand of a chain that shares something in this scenario, or NONE. */
static uint32_t demand_of(const struct msim_engine *e,
                          const struct msim_scenario *s, uint32_t chain)
{
    return is_out(s, e->chains.first[chain]) ? MSIM_NONE
                                             : e->chains.demand[chain];
}

/* What passes from the start of a task to that of the next one of its chain. */
static msim_ps passes(const struct msim_engine *e,
                      const struct msim_scenario *s, msim_ps step,
                      uint32_t task)
{
    const uint32_t *of = e->chains.of_task;
    bool more = task + 1 < e->graph->n_tasks && of[task + 1] == of[task];

    return (is_out(s, task) ? 0 : s->dur[task]) +
           (more && !is_out(s, task + 1) ? step : 0);
}

/* Where tasks are as if all came one behind another, modulo the largest number.
 * Returns the longest of the times that these are sums of. */
static msim_ps line_up(struct msim_engine *e, const struct msim_scenario *s,
                       msim_ps step)
{
    bool plain = !s->removed && !step;
    msim_ps most = 0;
    uint64_t at = 0;
    uint32_t t;

    for (t = 0; t < e->graph->n_tasks; t++) {
        msim_ps by = plain ? s->dur[t] : passes(e, s, step, t);

        e->line[t] = (msim_ps)at;
        at += (uint64_t)by;
        most = by > most ? by : most;
    }
    e->line[t] = (msim_ps)at;
    return most;
}

/* More than RUN_MAX: too long. */
static msim_ps sum_chain(const struct msim_engine *e,
                         const struct msim_scenario *s, msim_ps step,
                         uint32_t chain)
{
    const uint32_t *first = e->chains.first;
    msim_ps sum = 0;

    for (uint32_t t = first[chain]; t < first[chain + 1] && sum <= MSIM_RUN_MAX;
         t++)
        sum += passes(e, s, step, t);
    return sum;
}

/* What chains take that share nothing. */
static void find_takes(struct msim_engine *e, const struct msim_scenario *s,
                       const struct lags *lags)
{
    msim_ps step = lags->fixed[MSIM_EDGE_PROGRAM];
    bool fits =
        line_up(e, s, step) < MSIM_RUN_MAX / ((msim_ps)e->graph->n_tasks + 1);
    const uint32_t *first = e->chains.first;

    for (uint32_t c = 0; c < e->chains.n; c++)
        e->takes[c] = fits ? (msim_ps)((uint64_t)e->line[first[c + 1]] -
                                       (uint64_t)e->line[first[c]])
                           : sum_chain(e, s, step, c);
}

/* `start` holds each chain's earliest start as known so far. */
static void begin_chains(struct msim_engine *e, const struct msim_scenario *s)
{
    const struct msim_graph *g = e->graph;

    memset(e->start, 0, (size_t)e->chains.n * sizeof(*e->start));
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];
        msim_ps *start = &e->start[e->chains.of_release[i]];

        if (*start < r->at && !is_out(s, r->task))
            *start = r->at;
    }
}

/* All predecessors of a chain have been visited. Its start is known now, or
 * depends on the tasks that it shares with. */
static void make_ready(struct msim_engine *e, const struct msim_scenario *s,
                       uint32_t chain)
{
    uint32_t demand = demand_of(e, s, chain);

    if (demand == MSIM_NONE)
        e->ready[e->n_ready++] = chain;
    else
        msim_contention_run_ready(e->shared, demand, e->start[chain]);
}

/* What a chain that ends lets start. */
static void leave(struct msim_engine *e, const struct msim_scenario *s,
                  const struct lags *lags, uint32_t chain, msim_ps end)
{
    const struct msim_chains *c = &e->chains;

    for (uint32_t i = c->edge_begin[chain]; i < c->edge_begin[chain + 1]; i++) {
        const struct msim_chain_edge *x = &c->edges[i];
        msim_ps at = edge_time(s, lags, x->kind, x->lag, c->first[x->to], end);

        if (e->start[x->to] < at)
            e->start[x->to] = at;
        if (!--e->missing[x->to])
            make_ready(e, s, x->to);
    }
}

/* Visit all chains that are ready, and those that become ready by that; returns
 * how many. Stops when the run gets too long. */
static uint32_t visit(struct msim_engine *e, const struct msim_scenario *s,
                      const struct lags *lags)
{
    uint32_t visited = 0;

    while (e->n_ready > 0) {
        uint32_t c = e->ready[--e->n_ready];
        msim_ps end = e->start[c] + e->takes[c];

        if (end > MSIM_RUN_MAX) {
            e->too_long = true;
            break;
        }
        visited++;
        if (e->order)
            e->order[e->n_ordered++] = c;
        leave(e, s, lags, c, end);
    }
    return visited;
}

static uint32_t walk(struct msim_engine *e, const struct msim_scenario *s,
                     const struct lags *lags)
{
    const struct msim_chains *c = &e->chains;
    uint32_t visited, d;
    msim_ps end;

    memcpy(e->missing, c->n_preds, (size_t)c->n * sizeof(*e->missing));
    e->n_ready = e->n_ordered = 0;
    for (uint32_t i = c->n_roots; i-- > 0;)
        make_ready(e, s, c->roots[i]);
    visited = visit(e, s, lags);
    while (e->shared && !e->too_long &&
           (d = msim_contention_run_next(e->shared, &end)) != MSIM_NONE) {
        uint32_t chain = c->of_demand[d];

        e->too_long = end > MSIM_RUN_MAX;
        e->takes[chain] = msim_contention_run_took(e->shared, d);
        e->start[chain] = end - e->takes[chain];
        visited++;
        leave(e, s, lags, chain, end);
        visited += visit(e, s, lags);
    }
    return visited;
}

/* In the order of the first run. */
static uint32_t sweep_chains(struct msim_engine *e,
                             const struct msim_scenario *s,
                             const struct lags *lags)
{
    const struct msim_chains *c = &e->chains;

    for (uint32_t n = 0; n < e->n_ordered && !e->too_long; n++) {
        uint32_t chain = e->order[n];
        msim_ps end = e->start[chain] + e->takes[chain];

        e->too_long = end > MSIM_RUN_MAX;
        for (uint32_t i = c->edge_begin[chain]; i < c->edge_begin[chain + 1];
             i++) {
            const struct msim_chain_edge *x = &c->edges[i];
            msim_ps at =
                edge_time(s, lags, x->kind, x->lag, c->first[x->to], end);

            if (e->start[x->to] < at)
                e->start[x->to] = at;
        }
    }
    return e->n_ordered;
}

/* When every task starts. */
static void spread(const struct msim_engine *e, msim_ps *start)
{
    const struct msim_chains *c = &e->chains;

    for (uint32_t t = 0; t < e->graph->n_tasks; t++) {
        uint32_t chain = c->of_task[t];

        start[t] = (msim_ps)((uint64_t)e->start[chain] + (uint64_t)e->line[t] -
                             (uint64_t)e->line[c->first[chain]]);
    }
}

/* Returns whether all chains have been visited. */
static bool run_chains(struct msim_engine *e, const struct msim_scenario *s,
                       const struct lags *lags, uint32_t *held_by)
{
    begin_chains(e, s);
    if (e->shared)
        msim_contention_run_begin(e->shared, s->dur, s->removed, held_by);
    return (e->order && e->n_ordered == e->chains.n
                ? sweep_chains(e, s, lags)
                : walk(e, s, lags)) == e->chains.n;
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

/* What became of a run. */
static enum msim_status judge(const struct msim_engine *e, bool visited,
                              struct msim_error *err)
{
    if (e->too_long)
        return msim_fail(err, MSIM_ELIMIT, NULL, MSIM_OFFSET_NONE,
                         "the simulated run lasts more than 26 days; want "
                         "shorter durations or a smaller '--scale'");
    return visited ? MSIM_OK : msim_cycle_fail(e->graph, err);
}

/* The scenario as a run asks it: as a rule nothing is removed. */
static struct msim_scenario begin(struct msim_engine *e,
                                  const struct msim_scenario *scenario,
                                  struct lags *lags)
{
    struct msim_scenario s = *scenario;

    if (!removes(&s, e->graph->n_tasks))
        s.removed = NULL;
    fill_lags(lags, &s);
    e->too_long = false;
    return s;
}

enum msim_status msim_engine_lay(struct msim_engine *e,
                                 const struct msim_scenario *scenario,
                                 bool anew, struct msim_laid *laid,
                                 struct msim_error *err)
{
    struct lags lags;
    struct msim_scenario s = begin(e, scenario, &lags);

    assert(!lags.fixed[MSIM_EDGE_PROGRAM]);
    if (!e->line)
        MSIM_TRY(take_memory(e));
    if (anew)
        find_takes(e, &s, &lags);
    MSIM_TRY(judge(e, run_chains(e, &s, &lags, NULL), err));
    *laid = (struct msim_laid){.of_task = e->chains.of_task,
                               .first = e->chains.first,
                               .line = e->line,
                               .starts = e->start,
                               .takes = e->takes};
    return MSIM_OK;
}

enum msim_status msim_engine_simulate(struct msim_engine *e,
                                      const struct msim_scenario *scenario,
                                      const struct msim_times *times,
                                      struct msim_error *err)
{
    const struct msim_graph *g = e->graph;
    bool visited = true;
    struct lags lags;
    struct msim_scenario s = begin(e, scenario, &lags);

    if (times->held_by)
        memset(times->held_by, 0xff,
               (size_t)g->n_tasks * sizeof(*times->held_by));
    if (e->by_number) {
        e->too_long = !sweep_tasks(g, &s, &lags, times->start);
    } else {
        find_takes(e, &s, &lags);
        visited = run_chains(e, &s, &lags, times->held_by);
    }
    MSIM_TRY(judge(e, visited, err));
    if (!e->by_number)
        spread(e, times->start);
    if (times->dur)
        set_durations(e, &s, times->dur);
    return MSIM_OK;
}
