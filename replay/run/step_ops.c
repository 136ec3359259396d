/*
 * replay/run/step_ops.c - the operators of one step.
 */
#include "replay/run/replay_plan.h"

#include "core/base/containers.h"
#include "core/trace/trace_steps.h"

#include <stdlib.h>

/* Is an operator, or one around it, called like that? */
static bool is_called(const struct msim_trace *t, uint32_t op, const char *name)
{
    const struct msim_choice only = {.ops = name};

    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (t->ops[op].kind == MSIM_OP_OPERATOR &&
            msim_choice_has(&only, t, op))
            return true;
    return false;
}

static bool is_chosen(const struct msim_choice *c, const struct msim_trace *t,
                      uint32_t op)
{
    struct msim_choice self = *c;

    self.ops = self.exclude = NULL;
    return msim_choice_has(&self, t, op) &&
           (!c->ops || is_called(t, op, c->ops)) &&
           (!c->exclude || !is_called(t, op, c->exclude));
}

static bool earlier(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;
    int64_t x = msim_moment(t, a), y = msim_moment(t, b);

    return x != y ? x < y : a < b;
}

static enum msim_status put_in_order(struct msim_vec *ops,
                                     const struct msim_trace *t)
{
    uint32_t *scratch = malloc(((size_t)ops->n + 1) * sizeof(*scratch));

    if (!scratch)
        return MSIM_ENOMEM;
    msim_sort_index(ops->data, scratch, ops->n, earlier, t);
    free(scratch);
    return MSIM_OK;
}

enum msim_status msim_step_ops(struct msim_vec *ops, const struct msim_trace *t,
                               uint32_t step, const struct msim_choice *choice)
{
    struct msim_step_window w = msim_step_window_of(t, step);

    ops->n = 0;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        uint32_t *slot;

        if (t->ops[i].kind != MSIM_OP_OPERATOR ||
            !msim_step_holds(&w, msim_moment(t, i)) || !is_chosen(choice, t, i))
            continue;
        slot = msim_vec_add(ops, sizeof(*slot));
        if (!slot)
            return MSIM_ENOMEM;
        *slot = i;
    }
    return ops->n ? put_in_order(ops, t) : MSIM_OK;
}
