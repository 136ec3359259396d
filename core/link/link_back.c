/*
 * core/link/link_back.c - what an execution trace is told by the Kineto trace
 * of its rank: which steps there are, and which of its nodes each of them ran.
 *
 * A step that the ET marks itself has the nodes of that mark. Else it has those
 * that the operators in its time were linked to, from the first to the last: of
 * an ET of one step beside a Kineto trace of many, all of them, again and
 * again.
 */
#include "core/base/containers.h"
#include "core/link/link_et.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>

/* ---- steps --------------------------------------------------------------- */

static void widen(struct msim_step *s, uint32_t node)
{
    if (s->node_to == 0 || node < s->node_from)
        s->node_from = node;
    if (node >= s->node_to)
        s->node_to = node + 1;
}

/* The steps of `k` with the nodes of the operators in their time. */
static void nodes_by_time(struct msim_step *steps, const struct msim_trace *k)
{
    for (uint32_t i = 0; i < k->n_ops; i++) {
        const struct msim_op *op = &k->ops[i];
        uint32_t s = op->et_id && op->kind == MSIM_OP_OPERATOR
                         ? msim_step_at(k, op->start)
                         : MSIM_NONE;

        if (s != MSIM_NONE)
            widen(&steps[s], op->et_id);
    }
}

/* Marks of the ET itself say it exactly. */
static enum msim_status nodes_by_mark(struct msim_step *steps, uint32_t n,
                                      const struct msim_trace *e)
{
    struct msim_idmap by_number = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *slot;

    for (uint32_t i = 0; i < e->n_steps && status == MSIM_OK; i++)
        status =
            msim_idmap_put(&by_number, (uint64_t)e->steps[i].number, i, &slot);
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        uint32_t own = msim_idmap_get(&by_number, (uint64_t)steps[i].number);

        if (own == MSIM_NONE)
            continue;
        steps[i].op = e->steps[own].op;
        steps[i].node_from = e->steps[own].node_from;
        steps[i].node_to = e->steps[own].node_to;
    }
    msim_idmap_release(&by_number);
    return status;
}

static enum msim_status tell_steps(struct msim_trace *e,
                                   const struct msim_trace *k)
{
    struct msim_step *steps;
    enum msim_status status;

    if (k->n_steps == 0)
        return MSIM_OK; /* those that the ET marks */
    MSIM_TRY(msim_steps_left_as(e, k));
    steps = malloc(k->n_steps * sizeof(*steps));
    if (!steps)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < k->n_steps; i++) {
        steps[i] = k->steps[i];
        steps[i].op = MSIM_NONE;
        steps[i].node_from = steps[i].node_to = 0;
    }
    nodes_by_time(steps, k);
    status = nodes_by_mark(steps, k->n_steps, e);
    free(e->steps);
    e->steps = steps;
    e->n_steps = e->cap_steps = k->n_steps;
    return status;
}

/* ---- groups -------------------------------------------------------------- */

/* Members that `from` lists and `to` does not. */
static enum msim_status tell_members(struct msim_trace *e,
                                     struct msim_group *to,
                                     const struct msim_trace *k,
                                     const struct msim_group *from)
{
    if (to->name != from->name || to->count || !from->count)
        return MSIM_OK;
    to->size = from->size;
    to->first = e->n_group_ranks;
    for (uint32_t i = 0; i < from->count; i++) {
        MSIM_TRY(msim_grow((void **)&e->group_ranks, &e->cap_group_ranks,
                           e->n_group_ranks, sizeof(*e->group_ranks)));
        e->group_ranks[e->n_group_ranks++] = k->group_ranks[from->first + i];
        to->count++;
    }
    return MSIM_OK;
}

static enum msim_status tell_groups(struct msim_trace *e,
                                    const struct msim_trace *k)
{
    for (uint32_t i = 0; i < e->n_groups; i++)
        for (uint32_t j = 0; j < k->n_groups; j++)
            MSIM_TRY(tell_members(e, &e->groups[i], k, &k->groups[j]));
    return MSIM_OK;
}

enum msim_status msim_link_back(struct msim_trace *k)
{
    struct msim_trace *e = k->et;

    if (!e)
        return MSIM_OK;
    e->rank = k->rank;
    e->world_size = k->world_size;
    e->cpu_only = k->cpu_only;
    MSIM_TRY(tell_groups(e, k));
    return tell_steps(e, k);
}
