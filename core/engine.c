#include "core/engine.h"

#include "core/evq.h"

#include <stdlib.h>
#include <string.h>

struct msim_engine {
    const struct msim_graph *graph;
    uint32_t *missing; /* predecessors that have not ended yet */
    struct msim_evq queue;
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
    if (!e->missing || msim_evq_init(&e->queue, g->n_tasks) != MSIM_OK) {
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
    msim_evq_release(&e->queue);
    free(e->missing);
    free(e);
}

/* `start` holds each task's earliest start as known so far. */
static void begin(struct msim_engine *e, const msim_ps *dur, msim_ps *start)
{
    const struct msim_graph *g = e->graph;

    memcpy(e->missing, g->n_preds, (size_t)g->n_tasks * sizeof *e->missing);
    memset(start, 0, (size_t)g->n_tasks * sizeof *start);
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (start[g->releases[i].task] < g->releases[i].at)
            start[g->releases[i].task] = g->releases[i].at;
    e->queue.length = 0;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (!e->missing[t])
            msim_evq_push(&e->queue, start[t] + dur[t], t);
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

enum msim_status msim_engine_run(struct msim_engine *e,
                                 const struct msim_scenario *s, msim_ps *start,
                                 struct msim_error *err)
{
    const struct msim_graph *g = e->graph;
    const msim_ps *dur = s->dur;
    uint32_t ended = 0;

    begin(e, dur, start);
    while (e->queue.length) {
        struct msim_event ev = msim_evq_pop(&e->queue);
        uint32_t end = g->edge_begin[ev.seq + 1];

        ended++;
        for (uint32_t i = g->edge_begin[ev.seq]; i < end; i++) {
            uint32_t to = g->edges[i].to;
            msim_ps lag = s->lag[msim_edge_kind(g->edge_kind[i])];
            msim_ps at =
                ev.time + (lag >= 0 ? lag : (msim_ps)g->edges[i].lag_ns * 1000);

            if (start[to] < at)
                start[to] = at;
            if (!--e->missing[to])
                msim_evq_push(&e->queue, start[to] + dur[to], to);
        }
    }
    return ended == g->n_tasks ? MSIM_OK : name_cycle(e, ended, err);
}
