/*
 * predict/edit/edit_basis.c - a basis with edits: one after the other.
 */

#include "core/base/containers.h"
#include "predict/edit/edit_internal.h"

#include <stdlib.h>
#include <string.h>

static msim_edit_fn *const MAKE[] = {
    [MSIM_EDIT_QUANTISE] = msim_edit_quantise,
    [MSIM_EDIT_FUSE] = msim_edit_fuse,
    [MSIM_EDIT_REPLACE] = msim_edit_replace,
    [MSIM_EDIT_INSERT] = msim_edit_insert,
    [MSIM_EDIT_OVERLAP] = msim_edit_overlap,
    [MSIM_EDIT_STRAGGLE] = msim_edit_straggle,
};

static int in_order(const void *a, const void *b)
{
    const struct msim_edit *x = a, *y = b;

    if (x->kind != y->kind)
        return MSIM_ORDER(x->kind, y->kind);
    return strcmp(x->text, y->text);
}

/* One edit of the basis. */
static enum msim_status change(struct msim_basis *b, struct msim_remake *d)
{
    struct msim_task_groups *groups;
    struct msim_costs *costs;
    struct msim_graph *graph;
    enum msim_status status;

    MSIM_TRY(msim_costs_scaled(&costs, b->costs, b->graph, NULL, 0));
    status = msim_remake_init(d, costs);
    if (status == MSIM_OK)
        status = MAKE[d->edit->kind](d);
    if (status == MSIM_OK)
        status = msim_remake_finish(d, &graph, &groups, &costs);
    msim_remake_release(d);
    MSIM_TRY(status);
    msim_costs_free(b->costs);
    b->costs = costs;
    if (!graph)
        return MSIM_OK;
    if (!b->borrows_graph) {
        msim_task_groups_free(b->groups);
        msim_graph_free(b->graph);
    }
    b->groups = groups;
    b->graph = graph;
    b->borrows_graph = false;
    return MSIM_OK;
}

/* All of the base but what changes. */
static enum msim_status begin(struct msim_basis *b,
                              const struct msim_basis *base)
{
    size_t plans = ((size_t)base->n_ranks + 1) * sizeof(*b->plans);
    size_t texts = ((size_t)base->n_warnings + 1) * sizeof(*b->warnings);

    *b = *base;
    b->costs = NULL;
    b->borrows_graph = b->borrows_memory = true;
    b->n_ranks = 0; /* the plans are the base's */
    b->plans = malloc(plans);
    b->warnings = malloc(texts);
    if (!b->plans || !b->warnings)
        return MSIM_ENOMEM;
    memcpy(b->plans, base->plans, base->n_ranks * sizeof(*b->plans));
    if (base->n_warnings)
        memcpy(b->warnings, base->warnings, texts - sizeof(*b->warnings));
    return msim_costs_scaled(&b->costs, base->costs, base->graph, NULL, 0);
}

enum msim_status msim_basis_edited(struct msim_basis **out,
                                   const struct msim_basis *base,
                                   struct msim_edit *edits, uint32_t n,
                                   const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_target *to,
                                   struct msim_error *err)
{
    struct msim_basis *b = calloc(1, sizeof(*b));
    enum msim_status status = b ? begin(b, base) : MSIM_ENOMEM;
    struct msim_asked asked = {.views = NULL};

    if (status == MSIM_OK)
        status = msim_asked_views(&asked, in, &s->reshape, err);

    if (n > 1)
        qsort(edits, n, sizeof(*edits), in_order);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        struct msim_remake d = {.g = b->graph,
                                .ranks = msim_asked_ranks(&asked, in),
                                .edit = &edits[i],
                                .s = s,
                                .in = in,
                                .to = to,
                                .err = err};

        status = change(b, &d);
    }
    msim_asked_release(&asked);
    *out = status == MSIM_OK ? b : NULL;
    if (status != MSIM_OK)
        msim_basis_free(b);
    return status;
}
