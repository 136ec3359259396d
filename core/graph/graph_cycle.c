/*
 * core/graph/graph_cycle.c - tasks that wait for each other in a circle.
 */
#include "core/graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At most so many dependencies are listed, and not the order of a thread or
 * stream. */
#define LISTED_MAX 4

struct search {
    const struct msim_graph *g;
    uint32_t *missing; /* predecessors that were not visited */
    uint32_t *work;    /* one a task */
};

/* Visit the tasks that wait for nothing, then those that waited for these, and
 * so on. Returns how many were visited. */
static uint32_t visit(struct search *s)
{
    const struct msim_graph *g = s->g;
    uint32_t n_ready = 0, visited = 0;

    memcpy(s->missing, g->n_preds, (size_t)g->n_tasks * sizeof(*s->missing));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (!s->missing[t])
            s->work[n_ready++] = t;
    for (; n_ready > 0; visited++) {
        uint32_t t = s->work[--n_ready];

        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            if (!--s->missing[g->edges[i].to])
                s->work[n_ready++] = g->edges[i].to;
    }
    return visited;
}

uint32_t msim_edge_from(const struct msim_graph *g, uint32_t edge)
{
    uint32_t lo = 0, hi = g->n_tasks;

    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (g->edge_begin[mid] <= edge)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

/* Into `work`, for each task that is stuck, an edge from another stuck task:
 * there always is one. Returns one stuck task. */
static uint32_t find_stuck(struct search *s)
{
    const struct msim_graph *g = s->g;
    uint32_t stuck = MSIM_NONE;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (!s->missing[t])
            continue;
        stuck = t;
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            s->work[g->edges[i].to] = i;
    }
    return stuck;
}

/* Walk back from stuck task to stuck task: after `n_stuck` steps the walk is
 * on a cycle. */
static enum msim_status collect(struct search *s, struct msim_cycle *out)
{
    uint32_t t = find_stuck(s), first;

    for (uint32_t i = 0; i < out->n_stuck; i++)
        t = msim_edge_from(s->g, s->work[t]);
    first = t;
    out->edges = malloc((size_t)out->n_stuck * sizeof(*out->edges));
    if (!out->edges)
        return MSIM_ENOMEM;
    do {
        out->edges[out->n++] = s->work[t];
        t = msim_edge_from(s->g, s->work[t]);
    } while (t != first);
    return MSIM_OK;
}

enum msim_status msim_cycle_find(struct msim_cycle *out,
                                 const struct msim_graph *g)
{
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(uint32_t);
    struct search s = {g, malloc(bytes), malloc(bytes)};
    enum msim_status status = s.missing && s.work ? MSIM_OK : MSIM_ENOMEM;

    memset(out, 0, sizeof(*out));
    if (status == MSIM_OK)
        out->n_stuck = g->n_tasks - visit(&s);
    if (out->n_stuck)
        status = collect(&s, out);
    free(s.missing);
    free(s.work);
    return status;
}

void msim_cycle_release(struct msim_cycle *c)
{
    free(c->edges);
    memset(c, 0, sizeof(*c));
}

/* ---- in words ----------------------------------------------------------- */

static void name_task(char *text, size_t room, const struct msim_graph *g,
                      uint32_t task)
{
    char lane[MSIM_LANE_NAME];

    msim_lane_name(lane, g, g->lane[task]);
    snprintf(text, room, "%s %u '%.24s' (rank %lld, %s)",
             msim_task_kind_text((enum msim_task_kind)g->kind[task]), task,
             msim_task_name(g, task),
             (long long)g->job->ranks[g->refs[task].rank]->rank, lane);
}

void msim_edge_tell(char *text, size_t room, const struct msim_graph *g,
                    uint32_t edge)
{
    size_t used = strlen(text);
    char from[120], to[120];

    name_task(from, sizeof(from), g, msim_edge_from(g, edge));
    name_task(to, sizeof(to), g, g->edges[edge].to);
    snprintf(text + used, room - used, "%s%s for %s: %s", used ? "; " : "", to,
             from, msim_edge_text(msim_edge_kind_of(g->edge_kind[edge])));
}

static bool own_order(const struct msim_graph *g, uint32_t edge)
{
    enum msim_edge_kind kind = msim_edge_kind_of(g->edge_kind[edge]);

    return kind == MSIM_EDGE_PROGRAM || kind == MSIM_EDGE_STREAM;
}

enum msim_status msim_cycle_fail(const struct msim_graph *g,
                                 struct msim_error *err)
{
    struct msim_cycle c;
    enum msim_status status = msim_cycle_find(&c, g);
    uint32_t listed = 0;
    char text[440] = "";

    for (uint32_t i = 0; i < c.n && listed < LISTED_MAX; i++)
        if (!own_order(g, c.edges[i])) {
            msim_edge_tell(text, sizeof(text), g, c.edges[i]);
            listed++;
        }
    if (c.n && !listed)
        msim_edge_tell(text, sizeof(text), g, c.edges[0]);
    if (status == MSIM_OK)
        status = msim_fail(err, MSIM_ECYCLE, NULL, MSIM_OFFSET_NONE,
                           "%u of %u tasks wait for each other: %s", c.n_stuck,
                           g->n_tasks, text);
    msim_cycle_release(&c);
    return status;
}
