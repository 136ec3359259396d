/*
 * core/graph/graph.c - the words of a graph, and its end.
 */
#include "core/graph/graph.h"

#include "core/graph/contention.h"

#include <stdlib.h>

const char *msim_edge_text(enum msim_edge_kind kind)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_EDGE_MAP(X)
#undef X
    };

    return TEXT[kind];
}

const char *msim_edge_source_text(enum msim_edge_source source)
{
    static const char *const TEXT[] = {"program order", "recorded ids",
                                       "measured times"};

    return TEXT[source];
}

const char *msim_copied_text(enum msim_copied what)
{
    static const char *const TEXT[] = {
#define X(name, text) text,
        MSIM_COPIED_MAP(X)
#undef X
    };

    return TEXT[what];
}

void msim_graph_free(struct msim_graph *g)
{
    if (!g)
        return;
    free(g->kind);
    free(g->lane);
    free(g->window);
    free(g->n_preds);
    free(g->edge_begin);
    free(g->edges);
    free(g->edge_kind);
    free(g->traced);
    free(g->refs);
    free(g->own_name);
    free(g->releases);
    free(g->lanes);
    free(g->windows);
    free(g->iterations);
    msim_sharing_free(g->sharing);
    free(g);
}

void msim_warn_queued_idle(struct msim_job *job, const struct msim_graph *g)
{
    const struct msim_queued_idle *q = &g->queued_idle;
    const struct msim_trace *t;

    if (!q->n)
        return;
    t = job->ranks[q->rank];
    msim_job_warn(
        job,
        "incomplete trace: the GPU is idle in %u place%s, %.1f us in "
        "all, although work is queued, longest %.1f us before '%.60s' "
        "at %.1f us: what ran there, or held it up, is not recorded",
        q->n, q->n == 1 ? "" : "s", (double)q->total / MSIM_PS_PER_US,
        (double)q->longest / MSIM_PS_PER_US,
        msim_trace_text(t, t->gpu[q->gpu].name),
        (double)t->gpu[q->gpu].start / MSIM_PS_PER_US);
}

uint32_t msim_graph_around(const struct msim_graph *g, uint32_t task)
{
    const struct msim_task_ref *ref = &g->refs[task];
    const struct msim_trace *t = g->job->ranks[ref->rank];
    uint32_t call = MSIM_NONE;

    if (ref->op != MSIM_NONE || ref->index == MSIM_NONE)
        return ref->op;
    if (g->kind[task] == MSIM_TASK_CALL)
        call = ref->index;
    else if (g->kind[task] >= MSIM_TASK_KERNEL)
        call = t->gpu[ref->index].call;
    return call == MSIM_NONE ? MSIM_NONE : t->calls[call].op;
}
