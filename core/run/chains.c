/*
 * core/run/chains.c - tasks that only follow each other, as one.
 */
#include "core/run/engine_internal.h"

#include <stdlib.h>

static bool shares(const struct msim_graph *g, uint32_t task)
{
    return g->sharing && g->sharing->of_task[task] != MSIM_NONE;
}

/* Does a task come behind the one before it, and nothing else? */
static bool follows(const struct msim_graph *g, uint32_t task)
{
    uint32_t edge = task ? g->edge_begin[task - 1] : 0;

    return task && g->edge_begin[task] - edge == 1 &&
           g->edges[edge].to == task && !g->edges[edge].lag &&
           msim_edge_kind_of(g->edge_kind[edge]) == MSIM_EDGE_PROGRAM &&
           g->n_preds[task] == 1 && !shares(g, task - 1) && !shares(g, task);
}

/* `of[t]`: 1 where a chain begins, then the chain of each task. Returns how
 * many there are. */
static uint32_t number_chains(const struct msim_graph *g, uint32_t *of)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        of[t] = !follows(g, t);
    for (uint32_t i = 0; i < g->n_releases; i++)
        of[g->releases[i].task] = 1;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        n += of[t];
        of[t] = n - 1;
    }
    return n;
}

static bool ends_chain(const struct msim_graph *g, const uint32_t *of,
                       uint32_t task)
{
    return task + 1 == g->n_tasks || of[task + 1] != of[task];
}

static enum msim_status take_memory(struct msim_chains *c,
                                    const struct msim_graph *g,
                                    const uint32_t *of)
{
    size_t n = (size_t)c->n + 1, n_edges = 0;
    size_t n_demands = g->sharing ? g->sharing->n_demands : 0;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (ends_chain(g, of, t))
            n_edges += g->edge_begin[t + 1] - g->edge_begin[t];
    c->first = malloc(n * sizeof(*c->first));
    c->n_preds = malloc(n * sizeof(*c->n_preds));
    c->demand = malloc(n * sizeof(*c->demand));
    c->roots = malloc(n * sizeof(*c->roots));
    c->edge_begin = malloc(n * sizeof(*c->edge_begin));
    c->edges = malloc((n_edges + 1) * sizeof(*c->edges));
    c->of_demand = malloc((n_demands + 1) * sizeof(*c->of_demand));
    c->of_release =
        malloc(((size_t)g->n_releases + 1) * sizeof(*c->of_release));
    return c->first && c->n_preds && c->demand && c->roots && c->edge_begin &&
                   c->edges && c->of_demand && c->of_release
               ? MSIM_OK
               : MSIM_ENOMEM;
}

static void add_edges(struct msim_chains *c, const struct msim_graph *g,
                      const uint32_t *of, uint32_t task)
{
    struct msim_chain_edge *to = &c->edges[c->edge_begin[of[task]]];

    for (uint32_t i = g->edge_begin[task]; i < g->edge_begin[task + 1]; i++)
        *to++ = (struct msim_chain_edge){g->edges[i].lag, of[g->edges[i].to],
                                         g->edge_kind[i]};
    c->edge_begin[of[task] + 1] = (uint32_t)(to - c->edges);
}

static void fill(struct msim_chains *c, const struct msim_graph *g,
                 const uint32_t *of)
{
    c->edge_begin[0] = 0;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (!t || of[t] != of[t - 1]) {
            c->first[of[t]] = t;
            c->n_preds[of[t]] = g->n_preds[t];
            if (!g->n_preds[t])
                c->roots[c->n_roots++] = of[t];
            c->demand[of[t]] = g->sharing ? g->sharing->of_task[t] : MSIM_NONE;
        }
        if (ends_chain(g, of, t))
            add_edges(c, g, of, t);
    }
    c->first[c->n] = g->n_tasks;
    for (uint32_t d = 0; g->sharing && d < g->sharing->n_demands; d++)
        c->of_demand[d] = of[g->sharing->demands[d].task];
    for (uint32_t i = 0; i < g->n_releases; i++)
        c->of_release[i] = of[g->releases[i].task];
}

enum msim_status msim_chains_find(struct msim_chains *c,
                                  const struct msim_graph *g)
{
    uint32_t *of = malloc(((size_t)g->n_tasks + 1) * sizeof(*of));

    *c = (struct msim_chains){.of_task = of};
    if (!of)
        return MSIM_ENOMEM;
    c->n = number_chains(g, of);
    MSIM_TRY(take_memory(c, g, of));
    fill(c, g, of);
    return MSIM_OK;
}

void msim_chains_release(struct msim_chains *c)
{
    free(c->of_task);
    free(c->first);
    free(c->n_preds);
    free(c->demand);
    free(c->roots);
    free(c->edge_begin);
    free(c->edges);
    free(c->of_demand);
    free(c->of_release);
}
