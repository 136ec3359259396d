/*
 * plan/synth/synth_layer.c - one layer as PyTorch's operators.
 */
#include "plan/synth/synth_internal.h"

#include "plan/describe/strategy.h"

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
        msim_synth_input(w, op, at);
        return;
    case MSIM_PART_OP_QUANTISE: /* written with the products */
    case MSIM_PART_OP_PLAIN:    /* techniques are not written */
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

/* Operators of forward, or those alone that are computed again; the first of
 * these is given what `from` is then. */
static void run_forward(struct msim_synth_walk *w, bool selective,
                        struct msim_etw_tensor *from)
{
    const struct msim_part *p = w->l->part;
    bool met = false;

    for (uint32_t i = 0; i < p->n_ops; i++) {
        if (p->ops[i].pass != MSIM_PASS_FORWARD ||
            (selective && !p->ops[i].selective))
            continue;
        if (p->ops[i].selective && from && !met) {
            *from = w->cur;
            met = true;
        }
        emit(w, i);
    }
}

struct msim_etw_tensor msim_synth_forward(struct msim_synth *y,
                                          struct msim_synth_layer *l,
                                          uint32_t b, struct msim_etw_tensor x)
{
    struct msim_synth_walk w = walk_of(y, l, b);
    bool whole = msim_again_of(y->s) == MSIM_AGAIN_LAYERS;

    l->inputs[b] = w.cur = w.stream = w.last = x;
    run_forward(&w, false, whole ? NULL : &l->inputs[b]);
    return w.cur;
}

static bool is_layer(const struct msim_part *p)
{
    return p->kind == MSIM_PART_DENSE || p->kind == MSIM_PART_EXPERTS;
}

static void run_again(struct msim_synth_walk *w, uint32_t b)
{
    enum msim_again again = msim_again_of(w->y->s);

    if (again == MSIM_AGAIN_NOTHING || !is_layer(w->l->part))
        return;
    w->cur = w->stream = w->l->inputs[b];
    run_forward(w, again != MSIM_AGAIN_LAYERS, NULL);
}

/* The second of a linear layer's products backward. */
static bool is_of_weights(const struct msim_part *p, uint32_t i)
{
    const struct msim_part_op *op = &p->ops[i];

    return (op->kind == MSIM_PART_OP_LINEAR ||
            op->kind == MSIM_PART_OP_EXPERT) &&
           i > 0 && op[-1].kind == op->kind &&
           op[-1].pass == MSIM_PASS_BACKWARD;
}

struct msim_etw_tensor msim_synth_backward(struct msim_synth *y,
                                           struct msim_synth_layer *l,
                                           uint32_t b,
                                           enum msim_synth_half half,
                                           struct msim_etw_tensor grad)
{
    struct msim_synth_walk w = walk_of(y, l, b);

    w.half = half;
    if (half != MSIM_SYNTH_WEIGHTS)
        run_again(&w, b);
    w.cur = w.stream = grad;
    w.normed.id = w.last.id = 0;
    for (uint32_t i = l->part->n_ops; i-- > 0;)
        if (l->part->ops[i].pass == MSIM_PASS_BACKWARD &&
            (half != MSIM_SYNTH_WEIGHTS || is_of_weights(l->part, i)))
            emit(&w, i);
    return w.cur;
}

/* ---- parameters -----------------------------------------------------------
 */

/* Weight and bias of an operator of forward; id 0: it has none. */
static void parameters(struct msim_synth *y, const struct msim_part_op *op,
                       struct msim_etw_tensor own[MSIM_SYNTH_OWN])
{
    const struct msim_work *w = &op->work;
    enum msim_dtype t = y->dtype;

    switch (op->kind) {
    case MSIM_PART_OP_LINEAR:
        own[MSIM_SYNTH_WEIGHT] =
            msim_etw_new(y->e, t, 2, w->u.gemm.n, w->u.gemm.k);
        if (y->m->bias && (y->m->encoder || strcmp(op->name, "logits") != 0))
            own[MSIM_SYNTH_BIAS] = msim_etw_new(y->e, t, 1, w->u.gemm.n);
        return;
    case MSIM_PART_OP_EXPERT:
        own[MSIM_SYNTH_WEIGHT] =
            msim_etw_new(y->e, t, 3, w->u.gemm.batch, w->u.gemm.n, w->u.gemm.k);
        return;
    case MSIM_PART_OP_NORM:
        own[MSIM_SYNTH_WEIGHT] = msim_etw_new(y->e, t, 1, w->u.vector.cols);
        if (y->m->layernorm)
            own[MSIM_SYNTH_BIAS] = msim_etw_new(y->e, t, 1, w->u.vector.cols);
        return;
    case MSIM_PART_OP_EMBEDDING:
        msim_synth_table(y, op, own);
        return;
    default:
        return;
    }
}

/* Where gradients are kept. */
static struct msim_etw_tensor gradient_of(struct msim_synth *y,
                                          const struct msim_etw_tensor *weight)
{
    struct msim_etw_tensor grad = *weight;

    grad.id = ++y->e->last;
    grad.storage = ++y->e->last;
    grad.dtype = msim_synth_gradient_type(y);
    return grad;
}

/* The operator of forward with that name; n_ops: there is none. */
static uint32_t find(const struct msim_part *p, const char *name)
{
    uint32_t i = 0;

    while (i < p->n_ops && strcmp(p->ops[i].name, name) != 0)
        i++;
    return i;
}

void msim_synth_tie(struct msim_synth_layer *head,
                    struct msim_synth_layer *input)
{
    uint32_t to = find(head->part, "logits");
    uint32_t of = find(input->part, "embedding");

    if (to == head->part->n_ops || of == input->part->n_ops)
        return;
    head->own[to][MSIM_SYNTH_WEIGHT] = (struct msim_synth_parameter){
        .tied = &input->own[of][MSIM_SYNTH_WEIGHT]};
}

void msim_synth_parameters(struct msim_synth *y, struct msim_synth_layer *l)
{
    for (uint32_t i = 0; i < l->part->n_ops; i++) {
        struct msim_etw_tensor own[MSIM_SYNTH_OWN] = {{0}};

        if (l->part->ops[i].pass != MSIM_PASS_FORWARD)
            continue;
        parameters(y, &l->part->ops[i], own);
        for (int k = 0; k < MSIM_SYNTH_OWN; k++) {
            struct msim_synth_parameter *p = &l->own[i][k];

            p->weight = own[k];
            p->is_expert = l->part->ops[i].kind == MSIM_PART_OP_EXPERT;
            if (own[k].id && msim_synth_has_masters(y))
                p->grad = gradient_of(y, &own[k]);
        }
    }
}
