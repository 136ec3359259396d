/*
 * core/reshape/pass_sizes.c - samples, tokens and context of a recorded pass.
 */
#include "core/reshape/reshape.h"

#include <string.h>

/* The sizes of argument `i`, a tensor of that rank; NULL. */
static const int64_t *sizes_of(const struct msim_trace *t,
                               const struct msim_op *op, uint32_t i,
                               uint32_t rank)
{
    const struct msim_arg *a =
        i < msim_args_count(t, op->args) ? msim_args_get(t, op->args, i) : NULL;

    return a && a->kind == MSIM_ARG_TENSOR && a->n == rank ? msim_arg_dims(t, a)
                                                           : NULL;
}

/* Positions are looked up, too, once for all samples: what is wider counts. */
static void look_up(struct msim_pass_sizes *out, const struct msim_trace *t,
                    const struct msim_op *op)
{
    const int64_t *d = strcmp(msim_trace_text(t, op->name), "aten::embedding")
                           ? NULL
                           : sizes_of(t, op, 1, 2);

    if (!d || d[0] < 1 || d[1] < 1 || d[0] <= out->batch)
        return;
    out->batch = d[0];
    out->tokens = d[1];
}

/* The first attention whose queries are those of the pass. */
static void attend(struct msim_pass_sizes *out, const struct msim_trace *t,
                   const struct msim_op *op)
{
    const int64_t *q, *k;

    if (out->context >= 0 || !msim_op_is_attention(t, op))
        return;
    q = sizes_of(t, op, 0, 4);
    k = sizes_of(t, op, 1, 4);
    if (!q || !k || q[0] < 1 || q[2] < 1 || k[2] < q[2] ||
        (out->tokens && q[2] != out->tokens))
        return;
    out->context = k[2] - q[2];
    if (!out->batch)
        out->batch = q[0];
    out->tokens = q[2];
}

static bool is_backward(const struct msim_trace *t, const struct msim_op *op)
{
    static const char ENGINE[] = "autograd::engine::evaluate_function";

    return op->scope == 1 || strncmp(msim_trace_text(t, op->name), ENGINE,
                                     sizeof(ENGINE) - 1) == 0;
}

void msim_pass_sizes_of(struct msim_pass_sizes *out, const struct msim_trace *t)
{
    *out = (struct msim_pass_sizes){.context = -1};
    for (uint32_t i = 0; i < t->n_ops; i++) {
        out->trains |= is_backward(t, &t->ops[i]);
        look_up(out, t, &t->ops[i]);
    }
    for (uint32_t i = 0; i < t->n_ops; i++)
        attend(out, t, &t->ops[i]);
    if (!out->batch)
        out->batch = msim_axis_batch_of(t);
}
