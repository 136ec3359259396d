/*
 * plan/synth/synth_layer.c - one layer as PyTorch's operators.
 */
#include "plan/synth/synth_layer.h"

#include "plan/synth/synth_walk.h"

#include <string.h>

/* The operator of forward that one of backward goes back through. */
static uint32_t forward_of(const struct msim_part *p, uint32_t i)
{
    uint32_t at = i;

    while (at > 0 && (p->ops[at].pass != MSIM_PASS_FORWARD ||
                      p->ops[at].kind != p->ops[i].kind ||
                      strcmp(p->ops[at].name, p->ops[i].name) != 0))
        at--;
    return at;
}

static void emit(struct msim_synth_walk *w, uint32_t i)
{
    const struct msim_part_op *op = &w->l->part->ops[i];
    bool back = op->pass == MSIM_PASS_BACKWARD;
    uint32_t at = forward_of(w->l->part, i);

    switch (op->kind) {
    case MSIM_PART_OP_LINEAR:
        (back ? msim_synth_linear_backward : msim_synth_linear_forward)(w, op,
                                                                        at);
        return;
    case MSIM_PART_OP_EXPERT:
        (back ? msim_synth_experts_backward : msim_synth_experts_forward)(w, op,
                                                                          at);
        return;
    case MSIM_PART_OP_ATTENTION:
        msim_synth_attention(w, op, at);
        return;
    case MSIM_PART_OP_SCORES:
        msim_synth_scores(w, op);
        return;
    case MSIM_PART_OP_NORM:
        msim_synth_norm(w, op, at);
        return;
    case MSIM_PART_OP_POINTWISE:
        msim_synth_pointwise(w, op, at);
        return;
    case MSIM_PART_OP_LOSS:
        msim_synth_loss(w, op, at);
        return;
    case MSIM_PART_OP_EMBEDDING:
        msim_synth_embedding(w, op, at);
        return;
    case MSIM_PART_OP_QUANTISE:
        w->narrow = msim_synth_to_type(w, &w->cur, MSIM_DT_F8);
        return;
    case MSIM_PART_OP_COUNT:
        return;
    }
}

static struct msim_synth_walk walk_of(struct msim_synth *y,
                                      struct msim_synth_layer *l, uint32_t b)
{
    return (struct msim_synth_walk){
        .y = y, .l = l, .kept = l->kept + (size_t)b * l->part->n_ops};
}

static void run_forward(struct msim_synth_walk *w, bool selective)
{
    for (uint32_t i = 0; i < w->l->part->n_ops; i++)
        if (w->l->part->ops[i].pass == MSIM_PASS_FORWARD &&
            (!selective || w->l->part->ops[i].selective))
            emit(w, i);
}

struct msim_etw_tensor msim_synth_forward(struct msim_synth *y,
                                          struct msim_synth_layer *l,
                                          uint32_t b, struct msim_etw_tensor x)
{
    struct msim_synth_walk w = walk_of(y, l, b);

    l->inputs[b] = w.cur = w.stream = x;
    run_forward(&w, false);
    return w.cur;
}

static bool is_layer(const struct msim_part *p)
{
    return p->kind == MSIM_PART_DENSE || p->kind == MSIM_PART_EXPERTS;
}

/* What the strategy computes again. */
static void recompute(struct msim_synth_walk *w, uint32_t b)
{
    enum msim_recompute how = w->y->s->recompute;

    if (how == MSIM_RECOMPUTE_NONE || !is_layer(w->l->part))
        return;
    w->cur = w->stream = w->l->inputs[b];
    run_forward(w, how != MSIM_RECOMPUTE_FULL);
}

struct msim_etw_tensor msim_synth_backward(struct msim_synth *y,
                                           struct msim_synth_layer *l,
                                           uint32_t b,
                                           struct msim_etw_tensor grad)
{
    struct msim_synth_walk w = walk_of(y, l, b);

    recompute(&w, b);
    w.cur = w.stream = grad;
    w.normed.id = w.narrow.id = 0;
    for (uint32_t i = l->part->n_ops; i-- > 0;)
        if (l->part->ops[i].pass == MSIM_PASS_BACKWARD)
            emit(&w, i);
    return w.cur;
}

/* ---- parameters -----------------------------------------------------------
 */

static struct msim_etw_tensor parameter(struct msim_synth *y,
                                        const struct msim_part_op *op)
{
    const struct msim_work *w = &op->work;

    switch (op->kind) {
    case MSIM_PART_OP_LINEAR:
        return msim_etw_new(y->e, y->dtype, 2, w->u.gemm.n, w->u.gemm.k);
    case MSIM_PART_OP_EXPERT:
        return msim_etw_new(y->e, y->dtype, 3, w->u.gemm.batch, w->u.gemm.n,
                            w->u.gemm.k);
    case MSIM_PART_OP_NORM:
        return msim_etw_new(y->e, y->dtype, 1, w->u.vector.cols);
    case MSIM_PART_OP_EMBEDDING:
        return msim_etw_new(y->e, y->dtype, 2, y->m->vocab / y->s->tp,
                            y->m->hidden);
    default:
        return (struct msim_etw_tensor){0};
    }
}

void msim_synth_parameters(struct msim_synth *y, struct msim_synth_layer *l)
{
    for (uint32_t i = 0; i < l->part->n_ops; i++) {
        if (l->part->ops[i].pass != MSIM_PASS_FORWARD)
            continue;
        l->weights[i] = parameter(y, &l->part->ops[i]);
        if (!l->weights[i].id)
            continue;
        l->grads[i] = l->weights[i];
        l->grads[i].id = ++y->e->last;
        l->grads[i].storage = ++y->e->last;
        l->grads[i].dtype = MSIM_DT_F32;
    }
}
