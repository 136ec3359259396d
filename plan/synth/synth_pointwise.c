/*
 * plan/synth/synth_pointwise.c - activations, residuals, dropout, rotations.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

/* How PyTorch calls an activation. */
struct activation {
    const char *name, *schema, *node, *back, *back_schema;
    bool halves; /* its input is twice as wide */
    bool keeps;  /* backward reads its result, not its input */
    bool takes;  /* an argument of its own follows the tensors */
};

enum { GLU, GELU, RELU, SILU, TANH };

static const struct activation ACTIVATIONS[] = {
    [GLU] = {"aten::glu", "aten::glu(Tensor self, int dim=-1) -> Tensor",
             "GluBackward0", "aten::glu_backward",
             "aten::glu_backward(Tensor grad_output, Tensor self, int dim) -> "
             "Tensor",
             .halves = true, .takes = true},
    [GELU] = {"aten::gelu",
              "aten::gelu(Tensor self, *, str approximate='none') -> Tensor",
              "GeluBackward0", "aten::gelu_backward",
              "aten::gelu_backward(Tensor grad_output, Tensor self, *, str "
              "approximate='none') -> Tensor",
              .takes = true},
    [RELU] = {"aten::relu", "aten::relu(Tensor self) -> Tensor",
              "ReluBackward0", "aten::threshold_backward",
              "aten::threshold_backward(Tensor grad_output, Tensor self, "
              "Scalar threshold) -> Tensor",
              .keeps = true},
    [SILU] = {"aten::silu", "aten::silu(Tensor self) -> Tensor",
              "SiluBackward0", "aten::silu_backward",
              "aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor"},
    [TANH] = {"aten::tanh", "aten::tanh(Tensor self) -> Tensor",
              "TanhBackward0", "aten::tanh_backward",
              "aten::tanh_backward(Tensor grad_output, Tensor output) -> "
              "Tensor",
              .keeps = true}};

static int activation_of(const struct msim_described *m, const char *name)
{
    static const int OWN[] = {[MSIM_ACTIVATION_GELU] = GELU,
                              [MSIM_ACTIVATION_RELU] = RELU,
                              [MSIM_ACTIVATION_SILU] = SILU};

    if (!strcmp(name, "pooler_activation"))
        return TANH;
    if (!strcmp(name, "transform_activation"))
        return GELU;
    return m->gated ? GLU : OWN[m->activation];
}

static struct msim_etw_arg own_argument(int which)
{
    if (which == GELU)
        return (struct msim_etw_arg){
            MSIM_ETW_TEXT, 0, {.text = {"none", NULL}}};
    return msim_etw_int(which == GLU ? -1 : 0);
}

static void activate(struct msim_synth_walk *w, int which, int64_t elems,
                     struct msim_synth_kept *kept)
{
    const struct activation *a = &ACTIVATIONS[which];
    int64_t wide = a->halves ? 2 : 1;
    int64_t cols = w->cur.n == 2 ? w->cur.dims[1] / wide : elems;
    int64_t rows = elems / (cols ? cols : 1);
    struct msim_etw_tensor x = msim_synth_given(w, rows, cols * wide);
    struct msim_etw_tensor out = msim_synth_new2(w, rows, cols);
    struct msim_etw_arg in[] = {msim_etw_of(&x), own_argument(which)};

    msim_etw_leaf(w->y->e, a->name, a->schema, in, a->takes ? 2 : 1, &out, 1);
    kept->in = x;
    w->cur = kept->out = out;
}

static void activate_back(struct msim_synth_walk *w, int which,
                          const struct msim_synth_kept *kept)
{
    const struct activation *a = &ACTIVATIONS[which];
    struct msim_etw_tensor grad =
        msim_synth_given(w, kept->out.dims[0], kept->out.dims[1]);
    struct msim_etw_tensor out =
        msim_synth_new2(w, kept->in.dims[0], kept->in.dims[1]);
    struct msim_etw_arg in[] = {msim_etw_of(&grad),
                                msim_etw_of(a->keeps ? &kept->out : &kept->in),
                                own_argument(which)};

    msim_etw_backward(w->y->e, a->node);
    msim_etw_leaf(w->y->e, a->back, a->back_schema, in,
                  a->takes || which == RELU ? 3 : 2, &out, 1);
    msim_etw_close(w->y->e, NULL, 0);
    w->cur = out;
}

static void activation(struct msim_synth_walk *w, const struct msim_part_op *op,
                       uint32_t at)
{
    int which = activation_of(w->y->m, op->name);

    if (op->pass == MSIM_PASS_FORWARD)
        activate(w, which, op->work.u.vector.elems, &w->kept[at]);
    else
        activate_back(w, which, &w->kept[at]);
}

static void residual(struct msim_synth_walk *w)
{
    int64_t rows = (int64_t)w->y->parts->seq_tokens, h = w->y->m->hidden;
    struct msim_etw_tensor a = w->stream, b;

    if (!msim_synth_has_elems(&a, rows, h))
        a = msim_synth_empty(w, w->y->dtype, rows, h);
    b = msim_synth_has_elems(&w->cur, rows, h)
            ? msim_synth_view2(w, &w->cur, rows, h)
            : msim_synth_given(w, rows, h);
    a = msim_synth_view2(w, &a, rows, h);
    w->stream = w->cur = msim_synth_add(w, &a, &b);
}

/* Rotates queries and keys where they are. */
static void rope(struct msim_synth_walk *w, const struct msim_part_op *op)
{
    int64_t elems = op->work.u.vector.elems;
    struct msim_etw_tensor x = w->cur, part, angle = {0};
    struct msim_etw_arg in[2];

    if (msim_etw_elems(&x) < (uint64_t)elems)
        x = msim_synth_empty(w, w->y->dtype, elems, 1);
    part = msim_etw_view(w->y->e, &x, 2, elems, (int64_t)1);
    angle = msim_synth_empty(w, w->y->dtype, 1, 1);
    in[0] = msim_etw_of(&part);
    in[1] = msim_etw_of(&angle);
    msim_etw_leaf(w->y->e, "aten::mul_",
                  "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> "
                  "Tensor(a!)",
                  in, 2, &part, 1);
}

static void dropout(struct msim_synth_walk *w, const struct msim_part_op *op,
                    uint32_t at)
{
    int64_t h = w->y->m->hidden, rows = op->work.u.vector.elems / h;
    double share = w->y->m->dropout > 0 ? w->y->m->dropout : 0.1;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor x = msim_synth_given(w, rows, h),
                           out[2] = {msim_synth_new2(w, rows, h)};

    if (op->pass == MSIM_PASS_FORWARD) {
        struct msim_etw_arg in[] = {msim_etw_of(&x), msim_synth_real(share),
                                    msim_synth_flag(true)};

        out[1] = msim_etw_new(w->y->e, MSIM_DT_BOOL, 2, rows, h);
        msim_etw_leaf(w->y->e, "aten::native_dropout",
                      "aten::native_dropout(Tensor input, float p, bool? "
                      "train) -> (Tensor, Tensor)",
                      in, 3, out, 2);
        kept->extra = out[1];
    } else {
        struct msim_etw_arg in[] = {msim_etw_of(&x), msim_etw_of(&kept->extra),
                                    msim_synth_real(1 / (1 - share))};

        msim_etw_backward(w->y->e, "NativeDropoutBackward0");
        msim_etw_leaf(w->y->e, "aten::native_dropout_backward",
                      "aten::native_dropout_backward(Tensor grad_output, "
                      "Tensor mask, float scale) -> Tensor",
                      in, 3, out, 1);
        msim_etw_close(w->y->e, NULL, 0);
    }
    w->cur = out[0];
    if (w->l->part->kind == MSIM_PART_EMBEDDING)
        w->stream = w->cur;
}

void msim_synth_pointwise(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at)
{
    if (!strcmp(op->name, "residual"))
        residual(w);
    else if (!strcmp(op->name, "rope"))
        rope(w, op);
    else if (!strcmp(op->name, "dropout"))
        dropout(w, op, at);
    else if (!strcmp(op->name, "permute"))
        msim_synth_permute(w, op);
    else
        activation(w, op, at);
}
