/*
 * plan/synth/synth_loss.c - the loss, and what a head takes of a sequence.
 */
#include "plan/synth/synth_internal.h"

#include <string.h>

/* Do tensor parallel ranks have a part of the logits each? Then the loss takes
 * the largest, the sum and what its target has from all of them (Megatron-LM's
 * vocab_parallel_cross_entropy). */
static bool is_shared(const struct msim_synth_walk *w, int64_t logits)
{
    const struct msim_described *m = w->y->m;
    int64_t tp = w->y->s->tp;

    return tp > 1 && m->head != MSIM_MODEL_CLASSIFIER &&
           logits == m->vocab / tp;
}

static void log_softmax(struct msim_synth_walk *w, uint32_t at)
{
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_arg in[] = {msim_etw_of(&w->cur), msim_etw_int(1),
                                msim_synth_flag(false)};
    struct msim_etw_tensor out =
        msim_etw_new(w->y->e, MSIM_DT_F32, 2, w->cur.dims[0], w->cur.dims[1]);

    msim_etw_leaf(w->y->e, "aten::_log_softmax",
                  "aten::_log_softmax(Tensor self, int dim, bool "
                  "half_to_float) -> Tensor",
                  in, 3, &out, 1);
    kept->out = w->cur = out;
    if (is_shared(w, out.dims[1]))
        msim_synth_sum_numbers(w, out.dims[0], 2);
}

/* The mean over rows of what each says of its target. */
static void nll_loss(struct msim_synth_walk *w, uint32_t at)
{
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor out[2];
    struct msim_etw_arg in[] = {msim_etw_of(&kept->out), msim_synth_none(),
                                msim_synth_none(), msim_etw_int(1),
                                msim_etw_int(-100)};

    kept->in = msim_etw_new(w->y->e, MSIM_DT_I64, 1, kept->out.dims[0]);
    in[1] = msim_etw_of(&kept->in);
    for (int i = 0; i < 2; i++) /* the loss, the sum of weights */
        out[i] = msim_etw_new(w->y->e, MSIM_DT_F32, 0);
    msim_etw_leaf(w->y->e, "aten::nll_loss_forward",
                  "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? "
                  "weight, int reduction, SymInt ignore_index) -> (Tensor "
                  "output, Tensor total_weight)",
                  in, 5, out, 2);
    kept->other = out[0];
    kept->extra = out[1];
    if (is_shared(w, kept->out.dims[1]))
        msim_synth_sum_numbers(w, kept->out.dims[0], 1);
}

static struct msim_etw_tensor nll_loss_back(struct msim_synth_walk *w,
                                            const struct msim_synth_kept *kept)
{
    struct msim_etw_tensor one = msim_etw_new(w->y->e, MSIM_DT_F32, 0);
    struct msim_etw_tensor out = msim_etw_new(
        w->y->e, MSIM_DT_F32, 2, kept->out.dims[0], kept->out.dims[1]);
    struct msim_etw_arg in[] = {
        msim_etw_of(&one),        msim_etw_of(&kept->out),
        msim_etw_of(&kept->in),   msim_synth_none(),
        msim_etw_int(1),          msim_etw_int(-100),
        msim_etw_of(&kept->extra)};

    msim_etw_backward(w->y->e, "NllLossBackward0");
    msim_etw_leaf(w->y->e, "aten::nll_loss_backward",
                  "aten::nll_loss_backward(Tensor grad_output, Tensor self, "
                  "Tensor target, Tensor? weight, int reduction, SymInt "
                  "ignore_index, Tensor total_weight) -> Tensor",
                  in, 7, &out, 1);
    msim_etw_close(w->y->e, NULL, 0);
    return out;
}

static void log_softmax_back(struct msim_synth_walk *w, uint32_t at)
{
    struct msim_synth_kept *kept = &w->kept[at];
    struct msim_etw_tensor grad = nll_loss_back(w, kept), out;
    struct msim_etw_arg in[] = {msim_etw_of(&grad), msim_etw_of(&kept->out),
                                msim_etw_int(1), msim_etw_int(6)};

    out = msim_etw_new(w->y->e, MSIM_DT_F32, 2, grad.dims[0], grad.dims[1]);
    msim_etw_backward(w->y->e, "LogSoftmaxBackward0");
    msim_etw_leaf(w->y->e, "aten::_log_softmax_backward_data",
                  "aten::_log_softmax_backward_data(Tensor grad_output, "
                  "Tensor output, int dim, ScalarType input_dtype) -> Tensor",
                  in, 4, &out, 1);
    msim_etw_close(w->y->e, NULL, 0);
    w->cur = out;
}

/* Logits in fp32 forward; backward, which is walked from its end, their
 * gradient back in the type of activations with the loss's own. */
void msim_synth_loss(struct msim_synth_walk *w, const struct msim_part_op *op,
                     uint32_t at)
{
    bool back = op->pass == MSIM_PASS_BACKWARD;
    bool narrow = w->y->dtype != MSIM_DT_F32;

    if (strcmp(op->name, "log_softmax")) {
        if (!back && narrow)
            w->cur = msim_synth_to_type(w, &w->cur, MSIM_DT_F32);
        return;
    }
    if (!back) {
        log_softmax(w, at);
        nll_loss(w, at);
        return;
    }
    log_softmax_back(w, at);
    if (narrow)
        w->cur = msim_synth_to_type(w, &w->cur, w->y->dtype);
}

/* ---- the first token of every sequence ------------------------------------
 */

/* What all tokens of a head's layer are, as [sequences, tokens, width]. */
static struct msim_etw_tensor sequences(struct msim_synth_walk *w)
{
    int64_t batch = w->y->s->micro_batch, h = w->y->m->hidden;
    int64_t tokens = (int64_t)w->y->parts->seq_tokens / batch;
    struct msim_etw_tensor all = w->last, view;
    int64_t sizes[] = {batch, tokens, h};
    struct msim_etw_arg in[2] = {{0}, {MSIM_ETW_INTS, 3, {.ints = sizes}}};

    if (!msim_synth_has_elems(&all, batch * tokens, h))
        all = msim_synth_empty(w, w->y->dtype, batch * tokens, h);
    in[0] = msim_etw_of(&all);
    view = msim_etw_view(w->y->e, &all, 3, batch, tokens, h);
    msim_etw_leaf(w->y->e, "aten::view",
                  "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", in,
                  2, &view, 1);
    return view;
}

static void select_first(struct msim_synth_walk *w)
{
    struct msim_etw_tensor all = sequences(w);
    struct msim_etw_arg in[] = {msim_etw_of(&all), msim_etw_int(1),
                                msim_etw_int(0)};

    w->cur = msim_etw_view(w->y->e, &all, 2, all.dims[0], all.dims[2]);
    msim_etw_leaf(w->y->e, "aten::select",
                  "aten::select.int(Tensor(a) self, int dim, SymInt index) -> "
                  "Tensor(a)",
                  in, 3, &w->cur, 1);
}

/* Zeros, with the gradient in the first tokens' places. */
static struct msim_etw_tensor select_back(struct msim_synth_walk *w)
{
    int64_t batch = w->y->s->micro_batch, h = w->y->m->hidden;
    int64_t tokens = (int64_t)w->y->parts->seq_tokens / batch;
    const int64_t sizes[] = {batch, tokens, h};
    struct msim_etw_tensor all =
        msim_etw_new(w->y->e, w->y->dtype, 3, batch, tokens, h);
    struct msim_etw_tensor first = msim_etw_view(w->y->e, &all, 2, batch, h);
    struct msim_etw_arg in[] = {msim_etw_of(&w->cur),
                                {MSIM_ETW_INTS, 3, {.ints = sizes}},
                                msim_etw_int(1),
                                msim_etw_int(0)};
    struct msim_etw_arg zero[] = {msim_etw_of(&all), msim_etw_int(0)};
    struct msim_etw_arg copy[] = {msim_etw_of(&first), msim_etw_of(&w->cur),
                                  msim_synth_flag(false)};

    msim_etw_backward(w->y->e, "SelectBackward0");
    msim_etw_open(w->y->e, "aten::select_backward",
                  "aten::select_backward(Tensor grad_output, SymInt[] "
                  "input_sizes, int dim, SymInt index) -> Tensor",
                  in, 4);
    msim_synth_write_empty(w->y->e, &all);
    msim_etw_leaf(w->y->e, "aten::fill_",
                  "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> "
                  "Tensor(a!)",
                  zero, 2, &all, 1);
    msim_etw_leaf(w->y->e, "aten::copy_",
                  "aten::copy_(Tensor(a!) self, Tensor src, bool "
                  "non_blocking=False) -> Tensor(a!)",
                  copy, 3, &first, 1);
    msim_etw_close(w->y->e, &all, 1);
    msim_etw_close(w->y->e, NULL, 0);
    return msim_synth_view2(w, &all, batch * tokens, h);
}

/*
 * Classes come from first tokens: what is selected before the first of their
 * linear layers goes back into zeros behind it. Where tokens have a loss of
 * their own, too, both gradients meet behind "transform".
 */
void msim_synth_first_tokens(struct msim_synth_walk *w,
                             const struct msim_part_op *op)
{
    bool first = !strcmp(op->name, w->y->m->pooler ? "pooler" : "classes");

    if (op->pass == MSIM_PASS_FORWARD && first)
        select_first(w);
    else if (first)
        w->cur = w->last = select_back(w);
    else if (op->pass == MSIM_PASS_BACKWARD && w->last.id &&
             !strcmp(op->name, "transform"))
        w->cur = msim_synth_add(w, &w->cur, &w->last);
}
