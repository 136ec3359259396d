/*
 * core/rewrite/weave/draft_finish.c - a draft that is a trace.
 */
#include "core/base/containers.h"
#include "core/rewrite/weave/draft.h"
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>
#include <string.h>

static bool by_thread(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_op *ops = ctx;

    return ops[a].thread < ops[b].thread;
}

/* Operators by thread; what refers to one follows. */
static void settle(struct msim_trace *o, const struct msim_op *old,
                   const uint32_t *order, uint32_t *place)
{
    for (uint32_t i = 0; i < o->n_ops; i++)
        place[order[i]] = i;
    for (uint32_t i = 0; i < o->n_ops; i++) {
        struct msim_op *op = &o->ops[i];

        *op = old[order[i]];
        op->end = i + 1;
        if (op->parent != MSIM_NONE)
            op->parent = place[op->parent];
    }
    for (uint32_t i = o->n_ops; i-- > 0;) {
        uint32_t p = o->ops[i].parent;

        if (p != MSIM_NONE && o->ops[p].end < o->ops[i].end)
            o->ops[p].end = o->ops[i].end;
    }
    for (uint32_t i = 0; i < o->n_comms; i++)
        if (o->comms[i].op != MSIM_NONE)
            o->comms[i].op = place[o->comms[i].op];
}

static enum msim_status order_ops(struct msim_trace *o)
{
    size_t n = (size_t)o->n_ops + 1;
    struct msim_op *old = malloc(n * sizeof(*old));
    uint32_t *order = malloc(n * sizeof(*order));
    uint32_t *place = malloc(n * sizeof(*place));
    enum msim_status status = MSIM_ENOMEM;

    if (old && order && place) {
        memcpy(old, o->ops, o->n_ops * sizeof(*old));
        for (uint32_t i = 0; i < o->n_ops; i++)
            order[i] = i;
        msim_sort_index(order, place, o->n_ops, by_thread, old);
        settle(o, old, order, place);
        status = MSIM_OK;
    }
    free(old);
    free(order);
    free(place);
    return status;
}

/* Steps that the recorded trace does not count, such as one that the recording
 * cuts, are none of the new one either. */
static void keep_steps(struct msim_draft *d)
{
    struct msim_trace *out = d->out;
    uint32_t n = 0;

    for (uint32_t i = 0; d->t->n_steps && i < out->n_steps; i++)
        for (uint32_t k = 0; k < d->t->n_steps; k++)
            if (d->t->steps[k].number == out->steps[i].number) {
                out->steps[n++] = out->steps[i];
                break;
            }
    if (n)
        out->n_steps = n;
}

enum msim_status msim_draft_finish(struct msim_draft *d,
                                   struct msim_trace **out)
{
    if (d->out->n_ops)
        MSIM_TRY(order_ops(d->out));
    MSIM_TRY(msim_order_topmost(d->out));
    msim_order_thread_ranges(d->out);
    MSIM_TRY(msim_order_steps(d->out));
    keep_steps(d);
    MSIM_TRY(msim_steps_left_as(d->out, d->t));
    *out = d->out;
    d->out = NULL;
    return MSIM_OK;
}
