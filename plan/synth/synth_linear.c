/*
 * plan/synth/synth_linear.c - linear layers and experts, forward and backward.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

/* ---- 8 bits ---------------------------------------------------------- */

/*
 * Kernels take both matrices in 8 bits, the first by rows and the second by
 * columns (torch._scaled_mm), each with its scale: so that of
 *
 *     forward      y  = x  w^T     x, w cast
 *     input's      dx = g  w       g cast, w in the other order
 *     weight's     dw = g^T x      g and x in the other order
 *
 * every matrix is cast once, and written once more in the other order. Which
 * products are so is in the part (plan/parts): its works are in 8 bits.
 */
static bool is_narrow(const struct msim_part_op *op)
{
    return op->work.dtype == MSIM_DT_F8;
}

/* A view with the last two dimensions exchanged: by columns where the tensor is
 * by rows. */
static struct msim_etw_tensor by_columns(const struct msim_synth_walk *w,
                                         const struct msim_etw_tensor *of)
{
    struct msim_etw *e = w->y->e;
    struct msim_etw_tensor view =
        of->n == 3
            ? msim_etw_view(e, of, 3, of->dims[0], of->dims[2], of->dims[1])
            : msim_etw_view(e, of, 2, of->dims[1], of->dims[0]);
    const struct msim_etw_arg in[] = {msim_etw_of(of), msim_etw_int(-2),
                                      msim_etw_int(-1)};

    view.transposed = true;
    msim_etw_leaf(e, "aten::transpose",
                  "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> "
                  "Tensor(a)",
                  in, 3, &view, 1);
    return view;
}

/* A copy in the other order. */
static struct msim_etw_tensor turned_of(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *of)
{
    struct msim_etw *e = w->y->e;
    struct msim_etw_tensor view = by_columns(w, of), out = view;
    const struct msim_etw_arg in[] = {msim_etw_of(&view), msim_etw_int(0)};

    out.id = ++e->last;
    out.storage = ++e->last;
    out.transposed = false;
    msim_etw_leaf(e, "aten::clone",
                  "aten::clone(Tensor self, *, MemoryFormat? "
                  "memory_format=None) -> Tensor",
                  in, 2, &out, 1);
    return out;
}

/* A weight of one matrix or of one an expert, in 8 bits: cast once a step, or
 * for every use where it is gathered for each. */
static struct msim_etw_tensor narrow_weight(const struct msim_synth_walk *w,
                                            uint32_t at, bool turned)
{
    struct msim_synth_parameter *own =
        msim_synth_own(w->l, at, MSIM_SYNTH_WEIGHT);
    const struct msim_etw_tensor *of = &own->weight;
    bool again = w->y->s->zero == 3;

    if (again || !own->narrow.id)
        own->narrow = msim_synth_to_type(w, of, MSIM_DT_F8);
    if (turned && (again || !own->turned.id))
        own->turned = turned_of(w, &own->narrow);
    return turned ? own->turned : own->narrow;
}

/* A gradient in 8 bits, cast once for both products. */
static struct msim_etw_tensor
narrow_gradient(const struct msim_synth_walk *w, uint32_t at,
                const struct msim_etw_tensor *gradient)
{
    struct msim_synth_kept *kept = &w->kept[at];

    if (!kept->extra.id)
        kept->extra = msim_synth_to_type(w, gradient, MSIM_DT_F8);
    return kept->extra;
}

static struct msim_etw_tensor scale(const struct msim_synth_walk *w,
                                    int64_t numbers)
{
    return numbers ? msim_etw_new(w->y->e, MSIM_DT_F32, 1, numbers)
                   : msim_etw_new(w->y->e, MSIM_DT_F32, 0);
}

/* `b` is by columns: a transposed view. */
static struct msim_etw_tensor scaled_mm(const struct msim_synth_walk *w,
                                        const struct msim_etw_tensor *bias,
                                        const struct msim_etw_tensor *a,
                                        const struct msim_etw_tensor *b)
{
    struct msim_etw_tensor out = msim_synth_new2(w, a->dims[0], b->dims[1]);
    struct msim_etw_tensor of_a = scale(w, 0), of_b = scale(w, 0);
    const struct msim_etw_arg in[] = {
        msim_etw_of(a),
        msim_etw_of(b),
        msim_etw_of(&of_a),
        msim_etw_of(&of_b),
        bias ? msim_etw_of(bias) : msim_synth_none(),
        msim_synth_none(),
        msim_etw_int(msim_synth_scalar_type(w->y->dtype)),
        msim_synth_flag(false)};

    msim_etw_leaf(w->y->e, "aten::_scaled_mm",
                  "aten::_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, "
                  "Tensor scale_b, Tensor? bias=None, Tensor? "
                  "scale_result=None, ScalarType? out_dtype=None, bool "
                  "use_fast_accum=False) -> Tensor",
                  in, 8, &out, 1);
    return out;
}

/* A product for each of `local` experts, into `out`; rows or sums of all of
 * them stand one behind the other, and a list says where each ends. */
static void scaled_grouped(const struct msim_synth_walk *w, int64_t local,
                           const struct msim_etw_tensor *a,
                           const struct msim_etw_tensor *b,
                           const struct msim_etw_tensor *out)
{
    struct msim_etw *e = w->y->e;
    struct msim_etw_tensor ends = msim_etw_new(e, MSIM_DT_I32, 1, local);
    struct msim_etw_tensor of_a =
        scale(w, b->n == 3 ? a->dims[0] : local * a->dims[0]);
    struct msim_etw_tensor of_b =
        b->n == 3 ? msim_etw_new(e, MSIM_DT_F32, 2, local, b->dims[2])
                  : scale(w, local * b->dims[1]);
    const struct msim_etw_arg in[] = {
        msim_etw_of(a),
        msim_etw_of(b),
        msim_etw_of(&of_a),
        msim_etw_of(&of_b),
        msim_etw_of(&ends),
        msim_synth_none(),
        msim_synth_none(),
        msim_etw_int(msim_synth_scalar_type(w->y->dtype)),
        msim_synth_flag(false)};

    msim_synth_write_empty(e, &ends);
    msim_etw_leaf(e, "aten::_scaled_grouped_mm",
                  "aten::_scaled_grouped_mm(Tensor self, Tensor mat2, Tensor "
                  "scale_a, Tensor scale_b, Tensor? offs=None, Tensor? "
                  "bias=None, Tensor? scale_result=None, ScalarType? "
                  "out_dtype=None, bool use_fast_accum=False) -> Tensor",
                  in, 9, out, 1);
}

/* ---- linear layers ---------------------------------------------------- */

/* Experts stand between what the router and these are given. */
static bool is_shared_input(const struct msim_part_op *op)
{
    return !strcmp(op->name, "shared_up");
}

void msim_synth_linear_forward(struct msim_synth_walk *w,
                               const struct msim_part_op *op, uint32_t at)
{
    int64_t m = op->work.u.gemm.m, k = op->work.u.gemm.k;
    struct msim_synth_kept *kept = &w->kept[at];
    const struct msim_etw_tensor *weight =
        &msim_synth_own(w->l, at, MSIM_SYNTH_WEIGHT)->weight;
    const struct msim_etw_tensor *bias =
        &msim_synth_own(w->l, at, MSIM_SYNTH_BIAS)->weight;
    struct msim_etw_tensor x, t, narrow;
    struct msim_etw_arg in[3]; /* written once it is closed */

    msim_synth_first_tokens(w, op);

    kept->rows.id = 0;
    if (msim_synth_takes_whole(op) && w->y->s->tp > 1) {
        struct msim_etw_tensor rows = is_shared_input(op) ? w->normed : w->cur;

        w->cur = rows;
        if (msim_synth_gather(w, MSIM_PASS_FORWARD, &w->cur))
            kept->rows = rows;
        w->normed = w->cur;
    }
    x = msim_synth_given(w, m, k);
    in[0] = msim_etw_of(&x);
    in[1] = msim_etw_of(weight);
    in[2] = msim_etw_of(bias);
    msim_etw_open(w->y->e, "aten::linear",
                  "aten::linear(Tensor input, Tensor weight, Tensor? "
                  "bias=None) -> Tensor",
                  in, 3);
    kept->in = x;
    if (is_narrow(op)) {
        kept->in = msim_synth_to_type(w, &x, MSIM_DT_F8);
        narrow = narrow_weight(w, at, false);
        t = msim_synth_transposed(w, &narrow);
        w->cur = scaled_mm(w, bias, &kept->in, &t);
    } else {
        t = msim_synth_transposed(w, weight);
        w->cur = msim_synth_addmm(w, bias, &x, &t);
    }
    kept->extra.id = 0;
    msim_etw_close(w->y->e, &w->cur, 1);
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

/* Both products of backward, of the gradient of [rows, out]. */
static struct msim_etw_tensor weights_gradient(struct msim_synth_walk *w,
                                               const struct msim_part_op *op,
                                               uint32_t at,
                                               struct msim_etw_tensor *grad,
                                               struct msim_etw_tensor *in)
{
    struct msim_etw_tensor g, x = *in, t;

    if (!is_narrow(op)) {
        t = msim_synth_transposed(w, grad);
        return msim_synth_mm(w, &t, in);
    }
    g = narrow_gradient(w, at, grad);
    g = turned_of(w, &g);
    if (x.dtype != MSIM_DT_F8) /* gathered again */
        x = msim_synth_to_type(w, &x, MSIM_DT_F8);
    x = turned_of(w, &x);
    t = msim_synth_transposed(w, &x);
    return scaled_mm(w, NULL, &g, &t);
}

static struct msim_etw_tensor inputs_gradient(struct msim_synth_walk *w,
                                              const struct msim_part_op *op,
                                              uint32_t at,
                                              struct msim_etw_tensor *grad)
{
    struct msim_etw_tensor g, t;

    if (!is_narrow(op))
        return msim_synth_mm(
            w, grad, &msim_synth_own(w->l, at, MSIM_SYNTH_WEIGHT)->weight);
    g = narrow_gradient(w, at, grad);
    t = narrow_weight(w, at, true);
    t = msim_synth_transposed(w, &t);
    return scaled_mm(w, NULL, &g, &t);
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
    struct msim_etw_tensor grad, in, d, bias;
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
        d = weights_gradient(w, op, at, &grad, &in);
        if (has_bias) {
            bias = msim_synth_sum(w, &grad, 0);
            bias = msim_synth_flat(w, &bias);
        }
        w->cur = grad;
    } else {
        w->cur = inputs_gradient(w, op, at, &grad);
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
    int64_t tokens = (int64_t)w->y->parts->tokens;
    bool back = op->pass == MSIM_PASS_BACKWARD;
    struct msim_etw_tensor x = w->normed, index, out;
    struct msim_etw_arg in[3];

    if (x.n != 2 || x.dims[1] != h)
        x = msim_synth_empty(w, w->y->dtype, (int64_t)w->y->parts->seq_tokens,
                             h);
    if (back) {
        x = msim_synth_given(w, rows, h);
    } else {
        w->cur = x;
        msim_synth_expert_rows(w, MSIM_PASS_FORWARD, false, tokens);
        x = w->cur;
    }
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
    if (back) {
        msim_synth_expert_sum(w, MSIM_PASS_BACKWARD, false, tokens);
        return;
    }
    msim_synth_dispatch(w, MSIM_PASS_FORWARD);
    msim_synth_expert_rows(w, MSIM_PASS_FORWARD, true,
                           rows * msim_expert_shares(w->y->s));
}

/* ---- experts ------------------------------------------------------------- */

/* Products of `local` experts: of `rows` rows each with [n, k] of an expert. */
static struct msim_etw_tensor experts_forward(struct msim_synth_walk *w,
                                              const struct msim_part_op *op,
                                              uint32_t at)
{
    int64_t m = op->work.u.gemm.m, n = op->work.u.gemm.n, k = op->work.u.gemm.k,
            local = op->work.u.gemm.batch;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor x = msim_synth_given(w, m * local, k), t, out;

    kept->in = x;
    kept->extra.id = 0;
    if (!is_narrow(op)) {
        out = msim_synth_bmm(w, MSIM_SYNTH_SECOND_TURNED, local, m, k, n, &x,
                             &w->l->own[at][MSIM_SYNTH_WEIGHT].weight);
        return msim_synth_view2(w, &out, m * local, n);
    }
    kept->in = msim_synth_to_type(w, &x, MSIM_DT_F8);
    t = narrow_weight(w, at, false);
    t = by_columns(w, &t);
    out = msim_synth_new2(w, m * local, n);
    scaled_grouped(w, local, &kept->in, &t, &out);
    return out;
}

void msim_synth_experts_forward(struct msim_synth_walk *w,
                                const struct msim_part_op *op, uint32_t at)
{
    w->cur = experts_forward(w, op, at);
    if (strcmp(op->name, "expert_down") != 0)
        return;
    msim_synth_expert_sum(w, MSIM_PASS_FORWARD, true,
                          op->work.u.gemm.m * op->work.u.gemm.batch);
    msim_synth_dispatch(w, MSIM_PASS_FORWARD);
    msim_synth_expert_sum(w, MSIM_PASS_FORWARD, false,
                          (int64_t)w->y->parts->tokens);
}

/* Backward of forward's work `f`. */
static struct msim_etw_tensor experts_weights(struct msim_synth_walk *w,
                                              const struct msim_part_op *op,
                                              uint32_t at,
                                              struct msim_etw_tensor *grad)
{
    const struct msim_work *f = &w->l->part->ops[at].work;
    int64_t rows = f->u.gemm.m, out = f->u.gemm.n, in = f->u.gemm.k,
            local = f->u.gemm.batch;
    struct msim_etw_tensor g, x, d;

    if (!is_narrow(op))
        return msim_synth_bmm(w, MSIM_SYNTH_FIRST_TURNED, local, out, rows, in,
                              grad, &w->kept[at].in);
    g = narrow_gradient(w, at, grad);
    g = turned_of(w, &g);
    x = turned_of(w, &w->kept[at].in);
    x = by_columns(w, &x);
    d = msim_etw_new(w->y->e, w->y->dtype, 3, local, out, in);
    scaled_grouped(w, local, &g, &x, &d);
    return d;
}

static struct msim_etw_tensor experts_inputs(struct msim_synth_walk *w,
                                             const struct msim_part_op *op,
                                             uint32_t at,
                                             struct msim_etw_tensor *grad)
{
    const struct msim_work *f = &w->l->part->ops[at].work;
    int64_t rows = f->u.gemm.m, out = f->u.gemm.n, in = f->u.gemm.k,
            local = f->u.gemm.batch;
    struct msim_etw_tensor g, t, d;

    if (!is_narrow(op)) {
        d = msim_synth_bmm(w, MSIM_SYNTH_NONE_TURNED, local, rows, out, in,
                           grad, &w->l->own[at][MSIM_SYNTH_WEIGHT].weight);
        return msim_synth_view2(w, &d, rows * local, in);
    }
    g = narrow_gradient(w, at, grad);
    t = narrow_weight(w, at, true);
    t = by_columns(w, &t);
    d = msim_synth_new2(w, rows * local, in);
    scaled_grouped(w, local, &g, &t, &d);
    return d;
}

/* The gradient of `rows` that experts made, to where these are. */
static struct msim_etw_tensor sent_gradient(struct msim_synth_walk *w,
                                            int64_t rows)
{
    int64_t share = w->y->s->ep > 1 ? msim_expert_shares(w->y->s) : 1;

    msim_synth_expert_rows(w, MSIM_PASS_BACKWARD, false,
                           (int64_t)w->y->parts->tokens);
    w->cur = msim_synth_given(w, rows / share, w->y->m->hidden);
    msim_synth_dispatch(w, MSIM_PASS_BACKWARD);
    msim_synth_expert_rows(w, MSIM_PASS_BACKWARD, true, rows);
    return w->cur;
}

/* Gradients of what experts made, to where these are; and those of what they
 * were given, back. */
static bool is_named(const struct msim_part_op *op, const char *name)
{
    return !strcmp(op->name, name);
}

void msim_synth_experts_backward(struct msim_synth_walk *w,
                                 const struct msim_part_op *op, uint32_t at)
{
    const struct msim_work *f = &w->l->part->ops[at].work;
    int64_t rows = f->u.gemm.m * f->u.gemm.batch;
    bool weight =
        op[-1].kind == MSIM_PART_OP_EXPERT && op[-1].pass == MSIM_PASS_BACKWARD;
    bool sent =
        weight && w->half != MSIM_SYNTH_WEIGHTS && is_named(op, "expert_down");
    struct msim_etw_tensor grad, d;

    grad =
        sent ? sent_gradient(w, rows) : gradient_of(w, rows, f->u.gemm.n, at);
    if (weight && w->half == MSIM_SYNTH_INPUTS) {
        w->kept[at].grad = w->cur = grad;
        return;
    }
    msim_etw_backward(w->y->e, "BmmBackward0");
    if (weight) {
        d = experts_weights(w, op, at, &grad);
        w->cur = grad;
    } else {
        w->cur = experts_inputs(w, op, at, &grad);
    }
    msim_etw_close(w->y->e, NULL, 0);
    if (weight)
        msim_synth_accumulate(w, &d, &w->l->own[at][MSIM_SYNTH_WEIGHT]);
    else if (is_named(op, "expert_up")) {
        msim_synth_expert_sum(w, MSIM_PASS_BACKWARD, true, rows);
        msim_synth_dispatch(w, MSIM_PASS_BACKWARD);
    }
}
