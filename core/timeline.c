/* Every task that takes time, as a bar on its lane. */
#include "core/outcome.h"
#include "core/task_text.h"

#include <stdlib.h>

static const char *const categories[] = {[MSIM_TASK_HOST] = "cpu_op",
                                         [MSIM_TASK_GAP] = "",
                                         [MSIM_TASK_CALL] = "cuda_runtime",
                                         [MSIM_TASK_KERNEL] = "kernel",
                                         [MSIM_TASK_COPY] = "gpu_memcpy",
                                         [MSIM_TASK_COMM] = "communication",
                                         [MSIM_TASK_JOIN] = ""};

static const char *lane_name(struct msim_timeline *tl,
                             const struct msim_graph *g, uint32_t lane)
{
    char *name = msim_arena_alloc(&tl->arena, MSIM_LANE_NAME);

    if (name)
        msim_lane_name(name, g, lane);
    return name ? name : "";
}

static int compare(const void *a, const void *b)
{
    const struct msim_span *x = a, *y = b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->lane != y->lane)
        return x->lane < y->lane ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

static void add_spans(struct msim_timeline *tl, const struct msim_outcome *o)
{
    const struct msim_graph *g = o->graph;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        const char *category = categories[g->kind[t]];

        if (!category[0] || o->mid.dur[t] <= 0 || g->lane[t] == MSIM_NONE)
            continue;
        tl->spans[tl->n_spans++] =
            (struct msim_span){msim_task_name(g, t),
                               category,
                               o->made_by_names[o->made_by[t]],
                               o->mid.start[t],
                               o->mid.dur[t],
                               g->refs[t].rank,
                               g->lane[t]};
    }
    qsort(tl->spans, tl->n_spans, sizeof *tl->spans, compare);
}

enum msim_status msim_timeline_new(struct msim_timeline **out,
                                   const struct msim_outcome *o)
{
    const struct msim_graph *g = o->graph;
    struct msim_timeline *tl = calloc(1, sizeof *tl);

    *out = NULL;
    if (!tl)
        return MSIM_ENOMEM;
    msim_arena_init(&tl->arena);
    tl->spans = msim_arena_alloc(&tl->arena,
                                 ((size_t)g->n_tasks + 1) * sizeof *tl->spans);
    tl->lanes = msim_arena_alloc(&tl->arena,
                                 ((size_t)g->n_lanes + 1) * sizeof *tl->lanes);
    if (!tl->spans || !tl->lanes) {
        msim_timeline_free(tl);
        return MSIM_ENOMEM;
    }
    for (tl->n_lanes = 0; tl->n_lanes < g->n_lanes; tl->n_lanes++) {
        const struct msim_lane *l = &g->lanes[tl->n_lanes];

        tl->lanes[tl->n_lanes] =
            (struct msim_lane_info){g->job->ranks[l->rank]->rank, l->device,
                                    lane_name(tl, g, tl->n_lanes)};
    }
    add_spans(tl, o);
    *out = tl;
    return MSIM_OK;
}
