/*
 * plan/synth/synth_pointwise.c - activations, residuals, embedding and loss.
 */
#include "plan/synth/synth_walk.h"

#include <string.h>

static void activation(struct msim_synth_walk *w, const struct msim_part_op *op,
                       uint32_t at)
{
    int64_t elems = op->work.u.vector.elems;
    bool gated = w->y->m->gated;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor x, out;

    if (op->pass == MSIM_PASS_FORWARD) {
        int64_t cols = w->cur.n == 2 ? w->cur.dims[1] / (gated ? 2 : 1) : elems;
        int64_t rows = elems / (cols ? cols : 1);
        struct msim_etw_arg in[2];

        x = msim_synth_given(w, rows, cols * (gated ? 2 : 1));
        out = msim_synth_new2(w, rows, cols);
        in[0] = msim_etw_of(&x);
        in[1] = msim_etw_int(-1);
        if (!gated)
            in[1] = (struct msim_etw_arg){
                MSIM_ETW_TEXT, 0, {.text = {"none", NULL}}};
        msim_etw_leaf(w->y->e, gated ? "aten::glu" : "aten::gelu",
                      gated ? "aten::glu(Tensor self, int dim=-1) -> Tensor"
                            : "aten::gelu(Tensor self, *, str "
                              "approximate='none') -> Tensor",
                      in, 2, &out, 1);
        kept->in = x;
        kept->out = out;
    } else {
        struct msim_etw_tensor grad =
            msim_synth_given(w, kept->out.dims[0], kept->out.dims[1]);
        struct msim_etw_arg in[] = {msim_etw_of(&grad), msim_etw_of(&kept->in),
                                    msim_etw_int(-1)};

        if (!gated)
            in[2] = (struct msim_etw_arg){
                MSIM_ETW_TEXT, 0, {.text = {"none", NULL}}};
        out = msim_synth_new2(w, kept->in.dims[0], kept->in.dims[1]);
        msim_etw_backward(w->y->e, gated ? "GluBackward0" : "GeluBackward0");
        msim_etw_leaf(w->y->e,
                      gated ? "aten::glu_backward" : "aten::gelu_backward",
                      gated ? "aten::glu_backward(Tensor grad_output, Tensor "
                              "self, int dim) -> Tensor"
                            : "aten::gelu_backward(Tensor grad_output, Tensor "
                              "self, *, str approximate='none') -> Tensor",
                      in, 3, &out, 1);
        msim_etw_close(w->y->e, NULL, 0);
    }
    w->cur = out;
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
    int64_t elems = op->work.u.vector.elems;
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor x = msim_synth_given(w, elems, 1),
                           out[2] = {msim_synth_new2(w, elems, 1)};

    if (op->pass == MSIM_PASS_FORWARD) {
        struct msim_etw_arg in[] = {msim_etw_of(&x), msim_synth_real(0.1),
                                    msim_synth_flag(true)};

        out[1] = msim_etw_new(w->y->e, MSIM_DT_BOOL, 2, elems, (int64_t)1);
        msim_etw_leaf(w->y->e, "aten::native_dropout",
                      "aten::native_dropout(Tensor input, float p, bool? "
                      "train) -> (Tensor, Tensor)",
                      in, 3, out, 2);
        kept->extra = out[1];
    } else {
        struct msim_etw_arg in[] = {msim_etw_of(&x), msim_etw_of(&kept->extra),
                                    msim_synth_real(1.1)};

        msim_etw_leaf(w->y->e, "aten::native_dropout_backward",
                      "aten::native_dropout_backward(Tensor grad_output, "
                      "Tensor mask, float scale) -> Tensor",
                      in, 3, out, 1);
    }
    w->cur = out[0];
}

void msim_synth_embedding(struct msim_synth_walk *w,
                          const struct msim_part_op *op, uint32_t at)
{
    int64_t h = w->y->m->hidden, rows = op->work.u.vector.elems / h;
    const struct msim_etw_tensor *table = &w->l->weights[at];
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor out;

    if (op->pass == MSIM_PASS_FORWARD) {
        struct msim_etw_arg in[] = {msim_etw_of(table), msim_synth_none(),
                                    msim_etw_int(-1), msim_synth_flag(false),
                                    msim_synth_flag(false)};

        kept->in = msim_etw_new(w->y->e, MSIM_DT_I64, 1, rows);
        in[1] = msim_etw_of(&kept->in);
        out = msim_synth_new2(w, rows, h);
        msim_etw_leaf(w->y->e, "aten::embedding",
                      "aten::embedding(Tensor weight, Tensor indices, SymInt "
                      "padding_idx=-1, bool scale_grad_by_freq=False, bool "
                      "sparse=False) -> Tensor",
                      in, 5, &out, 1);
        w->cur = w->stream = out;
    } else {
        struct msim_etw_tensor grad = msim_synth_given(w, rows, h);
        struct msim_etw_arg in[] = {msim_etw_of(&grad), msim_etw_of(&kept->in),
                                    msim_etw_int(table->dims[0]),
                                    msim_etw_int(-1), msim_synth_flag(false)};

        out = msim_synth_new2(w, table->dims[0], h);
        msim_etw_backward(w->y->e, "EmbeddingBackward0");
        msim_etw_leaf(w->y->e, "aten::embedding_dense_backward",
                      "aten::embedding_dense_backward(Tensor grad_output, "
                      "Tensor indices, SymInt num_weights, SymInt "
                      "padding_idx, bool scale_grad_by_freq) -> Tensor",
                      in, 5, &out, 1);
        msim_etw_close(w->y->e, NULL, 0);
        msim_synth_accumulate(w, &out, at);
    }
}

static void log_softmax(struct msim_synth_walk *w, uint32_t at, bool back)
{
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor out, grad;

    if (!back) {
        struct msim_etw_arg in[] = {msim_etw_of(&w->cur), msim_etw_int(1),
                                    msim_synth_flag(false)};

        out = msim_etw_new(w->y->e, MSIM_DT_F32, 2, w->cur.dims[0],
                           w->cur.dims[1]);
        msim_etw_leaf(w->y->e, "aten::_log_softmax",
                      "aten::_log_softmax(Tensor self, int dim, bool "
                      "half_to_float) -> Tensor",
                      in, 3, &out, 1);
        kept->out = w->cur = out;
        return;
    }
    grad =
        msim_synth_empty(w, MSIM_DT_F32, kept->out.dims[0], kept->out.dims[1]);
    {
        struct msim_etw_arg in[] = {msim_etw_of(&grad), msim_etw_of(&kept->out),
                                    msim_etw_int(1), msim_etw_int(6)};

        out = msim_etw_new(w->y->e, MSIM_DT_F32, 2, grad.dims[0], grad.dims[1]);
        msim_etw_backward(w->y->e, "LogSoftmaxBackward0");
        msim_etw_leaf(w->y->e, "aten::_log_softmax_backward_data",
                      "aten::_log_softmax_backward_data(Tensor grad_output, "
                      "Tensor output, int dim, ScalarType input_dtype) -> "
                      "Tensor",
                      in, 4, &out, 1);
        msim_etw_close(w->y->e, NULL, 0);
    }
    w->cur = out;
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

/* Logits in fp32 forward; backward, which is walked from its end, their
 * gradient back in the type of activations with the loss's own. */
void msim_synth_loss(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at)
{
    bool back = op->pass == MSIM_PASS_BACKWARD;

    if (!strcmp(op->name, "log_softmax")) {
        log_softmax(w, at, back);
        if (back)
            w->cur = msim_synth_to_type(w, &w->cur, w->y->dtype);
    } else if (!back) {
        w->cur = msim_synth_to_type(w, &w->cur, MSIM_DT_F32);
    }
}
