/*
 * plan/synth/synth_linear.c - linear layers and experts, forward and backward.
 */
#include "plan/synth/synth_walk.h"

#include <string.h>

void msim_synth_linear_forward(struct msim_synth_walk *w,
                               const struct msim_part_op *op, uint32_t at)
{
    int64_t m = op->work.u.gemm.m, k = op->work.u.gemm.k;
    struct msim_synth_kept *kept = &w->kept[at];
    const struct msim_etw_tensor *weight =
        &msim_synth_own(w->l, at, MSIM_SYNTH_WEIGHT)->weight;
    const struct msim_etw_tensor *bias =
        &msim_synth_own(w->l, at, MSIM_SYNTH_BIAS)->weight;
    struct msim_etw_tensor x, t;
    struct msim_etw_arg in[3];

    msim_synth_first_tokens(w, op);

    kept->rows.id = 0;
    if (msim_synth_takes_whole(op) && w->y->s->tp > 1) {
        struct msim_etw_tensor rows = w->cur;

        if (msim_synth_gather(w, MSIM_PASS_FORWARD, &w->cur))
            kept->rows = rows;
        w->normed = w->cur;
    }
    x = w->narrow.id && msim_synth_has_elems(&w->narrow, m, k)
            ? w->narrow
            : msim_synth_given(w, m, k);
    kept->in = x;
    in[0] = msim_etw_of(&x);
    in[1] = msim_etw_of(weight);
    in[2] = msim_etw_of(bias);
    msim_etw_open(w->y->e, "aten::linear",
                  "aten::linear(Tensor input, Tensor weight, Tensor? "
                  "bias=None) -> Tensor",
                  in, 3);
    t = msim_synth_transposed(w, weight);
    w->cur = msim_synth_addmm(w, bias, &x, &t);
    msim_etw_close(w->y->e, &w->cur, 1);
    w->narrow.id = 0;
    if (msim_synth_makes_sum(op))
        msim_synth_reduce(w, MSIM_PASS_FORWARD, &w->cur);
}

/* The first gradient that is kept in its own type is taken as it is. */
static void keep(struct msim_synth_walk *w,
                 const struct msim_etw_tensor *gradient,
                 struct msim_synth_parameter *into)
{
    struct msim_etw_arg in[] = {msim_etw_of(gradient)};

    into->grad =
        msim_etw_view(w->y->e, gradient, 1, (int64_t)msim_etw_elems(gradient));
    msim_etw_leaf(w->y->e, "aten::detach",
                  "aten::detach(Tensor(a) self) -> Tensor(a)", in, 1,
                  &into->grad, 1);
}

#define NODE "torch::autograd::AccumulateGrad"

/* The gradient goes to where the optimizer reads it. */
void msim_synth_accumulate(struct msim_synth_walk *w,
                           const struct msim_etw_tensor *gradient,
                           struct msim_synth_parameter *into)
{
    struct msim_etw_arg in[] = {msim_etw_of(&into->grad), msim_etw_of(gradient),
                                msim_etw_int(1)};

    if (!into->weight.id || msim_synth_shares_at_once(w->y))
        return;
    if (into->grad.id)
        msim_etw_backward(w->y->e, NODE);
    else
        msim_etw_backward_of(w->y->e, NODE, gradient, -1);
    if (into->grad.id)
        msim_etw_leaf(w->y->e, "aten::add_",
                      "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, "
                      "Scalar alpha=1) -> Tensor(a!)",
                      in, 3, &into->grad, 1);
    else
        keep(w, gradient, into);
    msim_etw_close(w->y->e, NULL, 0);
}

/* The gradient of what a layer made: at hand, or from an earlier pass. */
static struct msim_etw_tensor gradient_of(const struct msim_synth_walk *w,
                                          int64_t rows, int64_t cols,
                                          uint32_t at)
{
    return w->half == MSIM_SYNTH_WEIGHTS ? w->kept[at].grad
                                         : msim_synth_given(w, rows, cols);
}

/* The input of a layer: as it was kept, or gathered again from the rows that
 * were (Korthikanti et al., "Reducing Activation Recomputation in Large
 * Transformer Models", 2022). */
static struct msim_etw_tensor input_of(struct msim_synth_walk *w, uint32_t at)
{
    struct msim_etw_tensor in = w->kept[at].rows;

    if (!in.id)
        return w->kept[at].in;
    (void)msim_synth_gather(w, MSIM_PASS_BACKWARD, &in);
    return in;
}

/* Each rank has the gradient of its rows of a sum; the layer wants it whole. */
static void gather_gradient(struct msim_synth_walk *w,
                            const struct msim_part_op *forward)
{
    int64_t rows = forward->work.u.gemm.m / w->y->s->tp;

    if (msim_synth_makes_sum(forward) && w->y->s->tp > 1 &&
        msim_synth_has_elems(&w->cur, rows, forward->work.u.gemm.n))
        (void)msim_synth_gather(w, MSIM_PASS_BACKWARD, &w->cur);
}

/* Backward has two products of each layer, listed in this order: the input's
 * gradient, the weight's. `at` is the operator of forward. */
void msim_synth_linear_backward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at)
{
    const struct msim_part_op *forward = &w->l->part->ops[at];
    int64_t rows = forward->work.u.gemm.m, out = forward->work.u.gemm.n;
    bool weight = op->work.u.gemm.m == out && op->work.u.gemm.k == rows &&
                  op != forward + 1 && op[-1].kind == MSIM_PART_OP_LINEAR &&
                  op[-1].pass == MSIM_PASS_BACKWARD;
    struct msim_synth_parameter *own =
        msim_synth_own(w->l, at, MSIM_SYNTH_WEIGHT);
    struct msim_synth_parameter *own_bias =
        msim_synth_own(w->l, at, MSIM_SYNTH_BIAS);
    struct msim_etw_tensor grad, in, t, d, bias;
    bool has_bias = own_bias->weight.id != 0;

    gather_gradient(w, forward);
    grad = gradient_of(w, rows, out, at);
    if (weight && w->half == MSIM_SYNTH_INPUTS) {
        w->kept[at].grad = w->cur = grad;
        return;
    }

    if (weight)
        in = input_of(w, at);
    msim_etw_backward(w->y->e, has_bias ? "AddmmBackward0" : "MmBackward0");
    if (weight) {
        t = msim_synth_transposed(w, &grad);
        d = msim_synth_mm(w, &t, &in);
        if (has_bias) {
            bias = msim_synth_sum(w, &grad, 0);
            bias = msim_synth_flat(w, &bias);
        }
        w->cur = grad;
    } else {
        w->cur = msim_synth_mm(w, &grad, &own->weight);
    }
    msim_etw_close(w->y->e, NULL, 0);
    if (weight) {
        msim_synth_accumulate(w, &d, own);
        if (has_bias)
            msim_synth_accumulate(w, &bias, own_bias);
        return;
    }
    if (msim_synth_takes_whole(forward))
        msim_synth_reduce(w, MSIM_PASS_BACKWARD, &w->cur);
    msim_synth_first_tokens(w, op);
}

/* Tokens, once for each of their experts; or the sum of what those made. */
void msim_synth_permute(struct msim_synth_walk *w,
                        const struct msim_part_op *op)
{
    int64_t h = w->y->m->hidden, rows = op->work.u.vector.elems / h;
    struct msim_etw_tensor x = w->normed, index, out;
    struct msim_etw_arg in[3];

    if (x.n != 2 || x.dims[1] != h)
        x = msim_synth_empty(w, w->y->dtype, (int64_t)w->y->parts->seq_tokens,
                             h);
    if (op->pass == MSIM_PASS_BACKWARD)
        x = msim_synth_given(w, rows, h);
    index = msim_synth_empty(w, MSIM_DT_I64, 1, rows);
    index.n = 1;
    index.dims[0] = rows;
    out = msim_synth_new2(w, rows, h);
    in[0] = msim_etw_of(&x);
    in[1] = msim_etw_int(0);
    in[2] = msim_etw_of(&index);
    msim_etw_leaf(w->y->e, "aten::index_select",
                  "aten::index_select(Tensor self, int dim, Tensor index) -> "
                  "Tensor",
                  in, 3, &out, 1);
    w->cur = out;
    if (op->pass == MSIM_PASS_FORWARD)
        msim_synth_dispatch(w, MSIM_PASS_FORWARD);
}

void msim_synth_experts_forward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at)
{
    int64_t m = op->work.u.gemm.m, n = op->work.u.gemm.n, k = op->work.u.gemm.k,
            local = op->work.u.gemm.batch;
    struct msim_etw_tensor x = msim_synth_given(w, m * local, k);

    w->kept[at].in = x;
    w->cur = msim_synth_bmm(w, local, m, k, n, &x,
                            &w->l->own[at][MSIM_SYNTH_WEIGHT].weight);
    w->cur = msim_synth_view2(w, &w->cur, m * local, n);
    if (!strcmp(op->name, "expert_down"))
        msim_synth_dispatch(w, MSIM_PASS_FORWARD);
}

void msim_synth_experts_backward(struct msim_synth_walk *w,
                                 const struct msim_part_op *op, uint32_t at)
{
    const struct msim_work *f = &w->l->part->ops[at].work;
    int64_t rows = f->u.gemm.m, out = f->u.gemm.n, in = f->u.gemm.k,
            local = f->u.gemm.batch;
    bool weight =
        op[-1].kind == MSIM_PART_OP_EXPERT && op[-1].pass == MSIM_PASS_BACKWARD;
    struct msim_etw_tensor grad = gradient_of(w, rows * local, out, at), d;

    if (weight && w->half == MSIM_SYNTH_INPUTS) {
        w->kept[at].grad = w->cur = grad;
        return;
    }
    msim_etw_backward(w->y->e, "BmmBackward0");
    if (weight) {
        d = msim_synth_bmm(w, local, out, rows, in, &grad, &w->kept[at].in);
        w->cur = grad;
    } else {
        d = msim_synth_bmm(w, local, rows, out, in, &grad,
                           &w->l->own[at][MSIM_SYNTH_WEIGHT].weight);
        w->cur = msim_synth_view2(w, &d, rows * local, in);
    }
    msim_etw_close(w->y->e, NULL, 0);
    if (weight)
        msim_synth_accumulate(w, &d, &w->l->own[at][MSIM_SYNTH_WEIGHT]);
    else if (!strcmp(op->name, "expert_up"))
        msim_synth_dispatch(w, MSIM_PASS_BACKWARD);
}
