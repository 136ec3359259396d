#include "core/engine.h"

#include <stdlib.h>
#include <string.h>

struct msim_engine {
    const struct msim_graph *graph;
    uint32_t *missing; /* predecessors that have not been visited yet */
    uint32_t *ready;   /* a stack: tasks whose predecessors all have been */
};

/*
 * What an edge adds to its predecessor's end, by the byte that says its kind:
 * `fixed` + `per_ns` * its own lag. One of the two is 0.
 */
struct lags {
    msim_ps fixed[UINT8_MAX + 1], per_ns[UINT8_MAX + 1];
};

enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g)
{
    struct msim_engine *e = calloc(1, sizeof *e);

    *out = NULL;
    if (!e)
        return MSIM_ENOMEM;
    e->graph = g;
    e->missing = malloc(((size_t)g->n_tasks + 1) * sizeof *e->missing);
    e->ready = malloc(((size_t)g->n_tasks + 1) * sizeof *e->ready);
    if (!e->missing || !e->ready) {
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
    free(e);
}

static void fill_lags(struct lags *l, const struct msim_scenario *s)
{
    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        enum msim_edge_kind kind = msim_edge_kind((uint8_t)byte);
        msim_ps lag = kind < MSIM_EDGE_KINDS ? s->lag[kind] : -1;

        l->fixed[byte] = lag >= 0 ? lag : 0;
        l->per_ns[byte] = lag >= 0 ? 0 : 1000;
    }
}

static bool is_out(const struct msim_scenario *s, uint32_t task)
{
    return s->out && s->out[task];
}

/* Does an edge of this kind mean that another rank is waited for? */
static bool from_peers(uint8_t byte)
{
    enum msim_edge_kind kind = msim_edge_kind(byte);

    return kind == MSIM_EDGE_COLLECTIVE || kind == MSIM_EDGE_POINT_TO_POINT;
}

/* `start` holds each task's earliest start as known so far. Returns how many
 * tasks are ready. */
static uint32_t begin(struct msim_engine *e, const struct msim_scenario *s,
                      msim_ps *start)
{
    const struct msim_graph *g = e->graph;
    uint32_t n = 0;

    memcpy(e->missing, g->n_preds, (size_t)g->n_tasks * sizeof *e->missing);
    memset(start, 0, (size_t)g->n_tasks * sizeof *start);
    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (start[r->task] < r->at && !is_out(s, r->task))
            start[r->task] = r->at;
    }
    for (uint32_t t = g->n_tasks; t-- > 0;)
        if (!e->missing[t])
            e->ready[n++] = t;
    return n;
}

static enum msim_status name_cycle(const struct msim_engine *e, uint32_t ended,
                                   struct msim_error *err)
{
    const struct msim_graph *g = e->graph;
    char names[200] = "";
    uint32_t shown = 0;

    for (uint32_t t = 0; t < g->n_tasks && shown < 3; t++) {
        const struct msim_trace *tr = g->job->ranks[g->refs[t].rank];
        uint32_t op = g->refs[t].op;
        size_t used = strlen(names);

        if (!e->missing[t])
            continue;
        snprintf(names + used, sizeof names - used, "%s%u '%.40s'",
                 shown++ ? ", " : "", t,
                 op == MSIM_NONE ? "" : msim_trace_text(tr, tr->ops[op].name));
    }
    return msim_fail(err, MSIM_ECYCLE, NULL, MSIM_OFFSET_NONE,
                     "%u of %u tasks wait for each other, among them %s",
                     g->n_tasks - ended, g->n_tasks, names);
}

/* When the edge `i` lets its successor start; one taken out is not delayed,
 * and a peer does not hold it at all. */
static msim_ps edge_time(const struct msim_graph *g,
                         const struct msim_scenario *s, const struct lags *l,
                         uint32_t i, msim_ps end)
{
    uint8_t byte = g->edge_kind[i];

    if (is_out(s, g->edges[i].to))
        return from_peers(byte) ? 0 : end;
    return end + l->fixed[byte] + l->per_ns[byte] * g->edges[i].lag_ns;
}

enum msim_status msim_engine_run(struct msim_engine *e,
                                 const struct msim_scenario *s, msim_ps *start,
                                 struct msim_error *err)
{
    const struct msim_graph *g = e->graph;
    uint32_t n = begin(e, s, start), visited = 0;
    struct lags lags;

    fill_lags(&lags, s);
    while (n > 0) {
        uint32_t t = e->ready[--n];
        uint32_t last = g->edge_begin[t + 1];
        msim_ps end = start[t] + (is_out(s, t) ? 0 : s->dur[t]);

        visited++;
        for (uint32_t i = g->edge_begin[t]; i < last; i++) {
            uint32_t to = g->edges[i].to;
            msim_ps at = edge_time(g, s, &lags, i, end);

            if (start[to] < at)
                start[to] = at;
            if (!--e->missing[to])
                e->ready[n++] = to;
        }
    }
    return visited == g->n_tasks ? MSIM_OK : name_cycle(e, visited, err);
}
