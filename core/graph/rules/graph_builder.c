/*
 * core/graph/rules/graph_builder.c - tasks, lanes and edges of a growing
 * graph.
 */
#include "core/graph/rules/graph_rules.h"

#include "core/base/containers.h"

#include <stdlib.h>

static int compare_keyed(const void *a, const void *b)
{
    const struct msim_keyed *x = a, *y = b;

    if (x->key != y->key)
        return MSIM_ORDER(x->key, y->key);
    return MSIM_ORDER(x->index, y->index);
}

static bool comes_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_keyed *keys = ctx;

    return compare_keyed(&keys[a], &keys[b]) < 0;
}

/* Most are in order, or are a few runs that are. */
void msim_keyed_sort(struct msim_keyed *keys, uint32_t n)
{
    if (n && msim_sort_rows(keys, n, sizeof(*keys), comes_before, keys))
        qsort(keys, n, sizeof(*keys), compare_keyed); /* needs no memory */
}

/* Columns of a task that the finished graph keeps, and two that it drops. */
static enum msim_status grow_tasks(struct msim_graph_builder *b)
{
    struct msim_graph *g = b->g;
    struct {
        void **data;
        size_t elem;
    } columns[] = {
        {(void **)&g->kind, sizeof(*g->kind)},
        {(void **)&g->lane, sizeof(*g->lane)},
        {(void **)&g->window, sizeof(*g->window)},
        {(void **)&g->traced, sizeof(*g->traced)},
        {(void **)&g->refs, sizeof(*g->refs)},
        {(void **)&b->tstart, sizeof(*b->tstart)},
        {(void **)&b->tend, sizeof(*b->tend)},
    };
    uint32_t capacity = b->cap_tasks;

    if (g->n_tasks < b->cap_tasks)
        return MSIM_OK;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        capacity = b->cap_tasks;
        MSIM_TRY(
            msim_grow(columns[i].data, &capacity, g->n_tasks, columns[i].elem));
    }
    b->cap_tasks = capacity;
    return MSIM_OK;
}

enum msim_status msim_builder_task(struct msim_graph_builder *b,
                                   enum msim_task_kind kind, uint32_t lane,
                                   struct msim_task_ref ref, msim_ps start,
                                   msim_ps dur, uint32_t *id)
{
    struct msim_graph *g = b->g;

    MSIM_TRY(grow_tasks(b));
    *id = g->n_tasks++;
    g->kind[*id] = (uint8_t)kind;
    g->lane[*id] = lane;
    g->window[*id] = MSIM_NONE;
    g->traced[*id] = dur;
    g->refs[*id] = ref;
    b->tstart[*id] = start;
    b->tend[*id] = start == MSIM_TIME_NONE ? start : start + dur;
    return MSIM_OK;
}

enum msim_status msim_builder_edge(struct msim_graph_builder *b,
                                   enum msim_edge_kind kind,
                                   enum msim_edge_source source, uint32_t from,
                                   uint32_t to, msim_ps lag)
{
    if (b->opt->without & 1u << kind)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&b->edges, &b->cap_edges, b->n_edges,
                       sizeof(*b->edges)));
    b->edges[b->n_edges++] = (struct msim_pending_edge){
        .from = from, .edge = {to, lag}, .kind = MSIM_EDGE_BYTE(kind, source)};
    return MSIM_OK;
}

void msim_builder_waited(struct msim_graph_builder *b, uint32_t task,
                         msim_ps until)
{
    msim_ps *work = &b->g->traced[task], tail = b->tend[task] - until;

    if (tail < 0)
        tail = 0;
    if (until <= b->tstart[task] || tail >= *work)
        return;
    /* It is known to have waited before, and its work has been counted. */
    if (*work < b->tend[task] - b->tstart[task])
        b->g->copied[MSIM_COPIED_RETURN] -= *work;
    *work = tail;
    b->g->copied[MSIM_COPIED_RETURN] += tail;
}

enum msim_status msim_builder_lane(struct msim_graph_builder *b, uint32_t rank,
                                   uint32_t index, bool device, uint32_t *id)
{
    struct msim_graph *g = b->g;

    MSIM_TRY(msim_grow((void **)&g->lanes, &g->cap_lanes, g->n_lanes,
                       sizeof(*g->lanes)));
    *id = g->n_lanes++;
    g->lanes[*id] = (struct msim_lane){rank, index, device};
    return MSIM_OK;
}

enum msim_status msim_builder_release(struct msim_graph_builder *b,
                                      uint32_t task, msim_ps at, bool external)
{
    struct msim_graph *g = b->g;

    MSIM_TRY(msim_grow((void **)&g->releases, &g->cap_releases, g->n_releases,
                       sizeof(*g->releases)));
    g->releases[g->n_releases++] =
        (struct msim_release){task, at, external, at};
    return MSIM_OK;
}

static enum msim_status find_iteration(struct msim_graph_builder *b,
                                       int64_t number, uint32_t *index)
{
    struct msim_graph *g = b->g;
    uint32_t *known;

    MSIM_TRY(msim_idmap_put(&b->iterations, (uint64_t)number, g->n_iterations,
                            &known));
    *index = *known;
    if (*index < g->n_iterations)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&g->iterations, &g->cap_iterations,
                       g->n_iterations, sizeof(*g->iterations)));
    g->iterations[g->n_iterations++] = number;
    return MSIM_OK;
}

enum msim_status msim_builder_window(struct msim_graph_builder *b,
                                     struct msim_window w, int64_t number)
{
    struct msim_graph *g = b->g;

    MSIM_TRY(find_iteration(b, number, &w.iteration));
    MSIM_TRY(msim_grow((void **)&g->windows, &g->cap_windows, g->n_windows,
                       sizeof(*g->windows)));
    g->windows[g->n_windows++] = w;
    return MSIM_OK;
}

enum msim_status msim_builder_meet(struct msim_graph_builder *b,
                                   struct msim_meeting m)
{
    MSIM_TRY(msim_grow((void **)&b->meetings, &b->cap_meetings, b->n_meetings,
                       sizeof(*b->meetings)));
    b->meetings[b->n_meetings++] = m;
    return MSIM_OK;
}

/* Edges by source, in the order they were added: a counting sort. */
enum msim_status msim_builder_finish(struct msim_graph_builder *b)
{
    struct msim_graph *g = b->g;
    uint32_t *at;

    free(g->edge_begin);
    free(g->n_preds);
    free(g->edges);
    free(g->edge_kind);
    g->n_edges = b->n_edges;
    g->edge_begin = calloc((size_t)g->n_tasks + 2, sizeof(*g->edge_begin));
    g->n_preds = calloc((size_t)g->n_tasks + 1, sizeof(*g->n_preds));
    g->edges = malloc(((size_t)g->n_edges + 1) * sizeof(*g->edges));
    g->edge_kind = malloc((size_t)g->n_edges + 1);
    if (!g->edge_begin || !g->n_preds || !g->edges || !g->edge_kind)
        return MSIM_ENOMEM;
    /* Shifted by one, so that filling leaves edge_begin[t] right. */
    at = g->edge_begin + 1;
    for (uint32_t i = 0; i < b->n_edges; i++)
        at[b->edges[i].from + 1]++;
    for (uint32_t t = 1; t <= g->n_tasks; t++)
        at[t] += at[t - 1];
    for (uint32_t i = 0; i < b->n_edges; i++) {
        uint32_t k = at[b->edges[i].from]++;

        g->edges[k] = b->edges[i].edge;
        g->edge_kind[k] = b->edges[i].kind;
        g->n_preds[b->edges[i].edge.to]++;
    }
    return MSIM_OK;
}
