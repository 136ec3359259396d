/*
 * replay/run/step_ops.c - the operators of one step.
 */
#include "replay/run/step_ops.h"

#include "core/base/sort.h"

#include <stdlib.h>

/* When an operator began: its time, else its node. */
static int64_t moment(const struct msim_trace *t, uint32_t op)
{
    return t->has_times ? t->ops[op].start : (int64_t)t->ops[op].et_id;
}

/* From the step's mark to that of the next one. */
static void window(const struct msim_trace *t, uint32_t step, int64_t *from,
                   int64_t *to)
{
    *from = INT64_MIN;
    *to = INT64_MAX;
    if (step == MSIM_NONE)
        return;
    *from = moment(t, t->steps[step].op);
    for (uint32_t i = 0; i < t->n_steps; i++) {
        int64_t at = moment(t, t->steps[i].op);

        if (at > *from && at < *to)
            *to = at;
    }
}

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
    int64_t x = moment(t, a), y = moment(t, b);

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
    int64_t from, to;

    window(t, step, &from, &to);
    ops->n = 0;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        int64_t at = moment(t, i);
        uint32_t *slot;

        if (t->ops[i].kind != MSIM_OP_OPERATOR || at < from || at >= to ||
            !is_chosen(choice, t, i))
            continue;
        slot = msim_vec_add(ops, sizeof(*slot));
        if (!slot)
            return MSIM_ENOMEM;
        *slot = i;
    }
    return ops->n ? put_in_order(ops, t) : MSIM_OK;
}
