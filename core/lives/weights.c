/*
 * core/lives/weights.c - which tensors of a trace are weights.
 */
#include "core/lives/lives.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

#define CASTS_MOST 8 /* of one weight, one after the other */

/* ---- what is taken as one ----------------------------------------------- */

/* The arguments that operators of a name take as weights: a bit each. */
struct weights_of {
    const char *name;
    uint32_t arguments;
};

#define ARG(i) (1u << (i))

static const struct weights_of WEIGHTS[] = {
    {"aten::linear", ARG(1) | ARG(2)},
    {"aten::conv1d", ARG(1) | ARG(2)},
    {"aten::conv2d", ARG(1) | ARG(2)},
    {"aten::conv3d", ARG(1) | ARG(2)},
    {"aten::convolution", ARG(1) | ARG(2)},
    {"aten::_convolution", ARG(1) | ARG(2)},
    {"aten::conv_transpose2d", ARG(1) | ARG(2)},
    {"aten::cudnn_convolution", ARG(1)},
    {"aten::miopen_convolution", ARG(1)},
    {"aten::mkldnn_convolution", ARG(1) | ARG(2)},
    {"aten::batch_norm", ARG(1) | ARG(2) | ARG(3) | ARG(4)},
    {"aten::native_batch_norm", ARG(1) | ARG(2) | ARG(3) | ARG(4)},
    {"aten::layer_norm", ARG(2) | ARG(3)},
    {"aten::native_layer_norm", ARG(2) | ARG(3)},
    {"aten::group_norm", ARG(2) | ARG(3)},
    {"aten::native_group_norm", ARG(1) | ARG(2)},
    {"aten::rms_norm", ARG(2)},
    {"aten::_fused_rms_norm", ARG(2)},
    {"aten::prelu", ARG(1)},
    {"aten::embedding", ARG(0)},
    {"aten::embedding_bag", ARG(0)},
    {"aten::_embedding_bag", ARG(0)},
    {"torch::autograd::AccumulateGrad", ARG(0)},
};

/* What only optimizers call, on lists of parameters, gradients and state. */
static bool is_optimizer(const char *name)
{
    return !strncmp(name, "aten::_foreach_", 15) ||
           !strncmp(name, "aten::_fused_adam", 17) ||
           !strncmp(name, "aten::_fused_sgd", 16);
}

/* Below these there are weights, gradients and states alone. */
static bool holds_weights(const char *name)
{
    return !strncmp(name, "Optimizer.", 10) ||
           !strcmp(name, "torch::autograd::AccumulateGrad");
}

static bool is_copy(const char *name)
{
    static const char *const NAMES[] = {"aten::to", "aten::_to_copy",
                                        "aten::copy_", "aten::clone", NULL};

    for (const char *const *n = NAMES; *n; n++)
        if (!strcmp(name, *n))
            return true;
    return false;
}

/* What a name says. Names are few and operators many: it is asked once each. */
struct name_class {
    uint32_t arguments; /* those that are weights */
    bool known, optimizer, holds_weights, copy;
    bool product; /* arguments depend on their sizes */
};

static uint32_t arguments_of(const char *name)
{
    for (size_t i = 0; i < sizeof(WEIGHTS) / sizeof(*WEIGHTS); i++)
        if (!strcmp(name, WEIGHTS[i].name))
            return WEIGHTS[i].arguments;
    return 0;
}

/* Of its arguments alone. */
static struct name_class takes(const char *name)
{
    return (struct name_class){.arguments = arguments_of(name),
                               .product = !strcmp(name, "aten::addmm") ||
                                          !strcmp(name, "aten::matmul")};
}

static struct name_class class_of(const char *name)
{
    struct name_class c = takes(name);

    c.known = true;
    c.optimizer = is_optimizer(name);
    c.holds_weights = holds_weights(name);
    c.copy = is_copy(name);
    return c;
}

/* By string, of all that operators are called; the caller frees it. */
static enum msim_status classes_of(struct name_class **out,
                                   const struct msim_trace *t)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < t->n_ops; i++)
        if (t->ops[i].name > last)
            last = t->ops[i].name;
    *out = calloc((size_t)last + 1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (!(*out)[t->ops[i].name].known)
            (*out)[t->ops[i].name] =
                class_of(msim_trace_text(t, t->ops[i].name));
    return MSIM_OK;
}

static uint32_t rank_of(const struct msim_trace *t, uint32_t block, uint32_t i)
{
    const struct msim_arg *a = msim_args_get(t, block, i);

    return a && a->kind == MSIM_ARG_TENSOR ? a->n : 0;
}

/* A product whose first argument is a vector adds a bias to one with a weight;
 * one of more sizes with a matrix is a layer without one. */
static uint32_t weights_of_product(const struct msim_trace *t,
                                   const struct msim_op *op, const char *name)
{
    if (!strcmp(name, "aten::addmm") && rank_of(t, op->args, 0) == 1)
        return ARG(0) | ARG(2);
    if (!strcmp(name, "aten::matmul") && rank_of(t, op->args, 0) > 2 &&
        rank_of(t, op->args, 1) == 2)
        return ARG(1);
    return 0;
}

static uint32_t weights_of(const struct msim_trace *t, const struct msim_op *op,
                           const struct name_class *c)
{
    return c->product ? weights_of_product(t, op, msim_trace_text(t, op->name))
                      : c->arguments;
}

/* ---- by shape ------------------------------------------------------------ */

static void mark(struct msim_weights *w, const struct msim_arg *a,
                 const struct msim_arg *end)
{
    for (; a < end; a++)
        if (a->kind == MSIM_ARG_TENSOR && a->n > 0)
            w->shape[a->v.i] = 1;
}

static void mark_shapes(struct msim_weights *w, const struct msim_op *op,
                        const struct name_class *c)
{
    const struct msim_trace *t = w->t;
    const struct msim_arg *first = msim_args_get(t, op->args, 0);
    uint32_t which;

    if (!first)
        return;
    if (c->optimizer) {
        mark(w, first, first + t->blocks[op->args].count);
        return;
    }
    which = weights_of(t, op, c);
    for (uint32_t i = 0; which >> i; i++) {
        const struct msim_arg *a = msim_args_get(t, op->args, i);

        if (a && which >> i & 1)
            mark(w, a, a + 1);
    }
}

static bool is_matrix(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_TENSOR && a->n == 2;
}

/* Weights of layers are often read transposed. */
static enum msim_status mark_transposed(struct msim_weights *w)
{
    const struct msim_trace *t = w->t;
    struct msim_idmap shapes = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < t->n_args && status == MSIM_OK; i++) {
        const struct msim_arg *a = &t->args[i];
        const int64_t *d = is_matrix(a) ? msim_arg_dims(t, a) : NULL;

        if (d && w->shape[a->v.i])
            status =
                msim_idmap_put(&shapes, msim_idmap_pair(d[1], d[0]), 0, &at);
    }
    for (uint32_t i = 0; i < t->n_args && status == MSIM_OK; i++) {
        const struct msim_arg *a = &t->args[i];
        const int64_t *d = is_matrix(a) ? msim_arg_dims(t, a) : NULL;

        if (d && msim_idmap_get(&shapes, msim_idmap_pair(d[0], d[1])) == 0)
            w->shape[a->v.i] = 1;
    }
    msim_idmap_release(&shapes);
    return status;
}

/* ---- by life ------------------------------------------------------------- */

/* Tensors that are known by what they are, not by their shape alone. */
struct marking {
    const struct msim_trace *t;
    const struct msim_lives *lives;
    struct name_class *classes; /* by string */
    uint8_t *is_weight;         /* by life */
};

static void mark_all(struct marking *m, struct msim_lives_each e)
{
    while (msim_lives_next(&e))
        if (e.life != MSIM_NONE)
            m->is_weight[e.life] = 1;
}

static void mark_argument(struct marking *m, uint32_t op, uint32_t i)
{
    const struct msim_arg *a = msim_args_get(m->t, m->t->ops[op].args, i);
    struct msim_lives_each e = msim_lives_inputs(m->lives, m->t, op);

    while (msim_lives_next(&e))
        if (e.arg == a && e.life != MSIM_NONE)
            m->is_weight[e.life] = 1;
}

/* What an optimizer names, what gradients are kept for, and what operators take
 * as weights. */
static void mark_lives(struct marking *m)
{
    const struct msim_trace *t = m->t;
    uint32_t end = 0; /* of what holds nothing else */

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const struct name_class *c = &m->classes[t->ops[i].name];
        uint32_t which = weights_of(t, &t->ops[i], c);

        if (i >= end && c->holds_weights)
            end = t->ops[i].end;
        if (i < end || c->optimizer) {
            mark_all(m, msim_lives_inputs(m->lives, t, i));
            mark_all(m, msim_lives_outputs(m->lives, t, i));
            continue;
        }
        for (uint32_t k = 0; which >> k; k++)
            if (which >> k & 1)
                mark_argument(m, i, k);
    }
}

/* The lives of a copy: of what, and of the copy; each of as many elements. */
static uint32_t ends_of(const struct marking *m, uint32_t op, uint32_t ends[4])
{
    struct msim_lives_each e[2] = {msim_lives_inputs(m->lives, m->t, op),
                                   msim_lives_outputs(m->lives, m->t, op)};
    uint64_t elems = 0;
    uint32_t n = 0;

    for (int side = 0; side < 2; side++)
        while (n < 4 && msim_lives_next(&e[side])) {
            uint64_t own = msim_arg_elems(m->t, e[side].arg);

            if (e[side].life == MSIM_NONE || (n && own != elems))
                return 0;
            elems = own;
            ends[n++] = e[side].life;
        }
    return n;
}

static bool comes_out(const struct marking *m, uint32_t op,
                      const uint32_t *lives, uint32_t n)
{
    struct msim_lives_each e = msim_lives_outputs(m->lives, m->t, op);

    while (msim_lives_next(&e))
        for (uint32_t k = 0; k < n; k++)
            if (e.life == lives[k])
                return true;
    return false;
}

/* Does a layer begin its result with a copy of its weight? On a CPU aten::addmm
 * copies the bias to each row, and adds the product to that. */
static bool begins_result(const struct marking *m, uint32_t op,
                          const uint32_t *lives, uint32_t n)
{
    const struct msim_op *ops = m->t->ops;

    for (uint32_t p = ops[op].parent; p != MSIM_NONE; p = ops[p].parent)
        if (weights_of(m->t, &ops[p], &m->classes[ops[p].name]) &&
            comes_out(m, p, lives, n))
            return true;
    return false;
}

/* What is copied from a weight, or to one, is one: casts of autocast, of
 * gradients, buckets. True where something became one. */
static bool spread(struct marking *m)
{
    bool more = false;

    for (uint32_t i = 0; i < m->t->n_ops; i++) {
        uint32_t ends[4], n, marked = 0;

        if (!m->classes[m->t->ops[i].name].copy)
            continue;
        n = ends_of(m, i, ends);
        for (uint32_t k = 0; k < n; k++)
            marked += m->is_weight[ends[k]];
        if (!marked || marked == n || begins_result(m, i, ends, n))
            continue;
        for (uint32_t k = 0; k < n; k++) {
            m->is_weight[ends[k]] = 1;
            more = true;
        }
    }
    return more;
}

enum msim_status msim_weights_by_life(uint8_t **out, const struct msim_lives *l,
                                      const struct msim_trace *t)
{
    struct marking m = {.t = t, .lives = l};

    *out = NULL;
    MSIM_TRY(classes_of(&m.classes, t));
    *out = m.is_weight = calloc((size_t)l->n + 1, 1);
    if (m.is_weight) {
        mark_lives(&m);
        for (int k = 0; k < CASTS_MOST && spread(&m); k++)
            ;
    }
    free(m.classes);
    return m.is_weight ? MSIM_OK : MSIM_ENOMEM;
}

static enum msim_status find_by_life(struct msim_weights *w)
{
    struct msim_lives lives;
    uint8_t *is_weight = NULL;
    enum msim_status status = msim_lives_find(&lives, w->t);

    if (status == MSIM_OK)
        status = msim_weights_by_life(&is_weight, &lives, w->t);
    if (status == MSIM_OK) {
        w->of_id = calloc((size_t)w->t->n_tensor_ids + 1, 1);
        status = w->of_id ? MSIM_OK : MSIM_ENOMEM;
    }
    for (uint32_t i = 0; status == MSIM_OK && i < w->t->n_tensor_ids; i++)
        w->of_id[i] = lives.of[i] != MSIM_NONE && is_weight[lives.of[i]];
    msim_lives_release(&lives);
    free(is_weight);
    return status;
}

/* ---- all of it ----------------------------------------------------------- */

enum msim_status msim_weights_find(struct msim_weights *out,
                                   const struct msim_trace *t)
{
    struct name_class *classes;

    *out = (struct msim_weights){.t = t};
    out->shape = calloc((size_t)t->n_dims + 1, 1);
    if (!out->shape)
        return MSIM_ENOMEM;
    MSIM_TRY(classes_of(&classes, t));
    for (uint32_t i = 0; i < t->n_ops; i++)
        mark_shapes(out, &t->ops[i], &classes[t->ops[i].name]);
    free(classes);
    MSIM_TRY(mark_transposed(out));
    return t->has_et && t->n_tensor_ids ? find_by_life(out) : MSIM_OK;
}

void msim_weights_release(struct msim_weights *w)
{
    free(w->shape);
    free(w->of_id);
    *w = (struct msim_weights){0};
}

bool msim_weights_have(const struct msim_weights *w, const struct msim_arg *a,
                       uint32_t id)
{
    if (w->of_id && id != MSIM_NONE)
        return w->of_id[id] != 0;
    return a->n > 0 && w->shape[a->v.i] != 0;
}

/* Of one operator; NULL: none. */
static const struct msim_arg *doubtful(const struct msim_weights *w,
                                       const struct msim_op *op)
{
    const struct name_class c = takes(msim_trace_text(w->t, op->name));
    uint32_t which = weights_of(w->t, op, &c);
    uint32_t n = which ? msim_args_count(w->t, op->args) : 0;

    for (uint32_t i = 0; i < n && i < 32; i++) {
        const struct msim_arg *a = msim_args_get(w->t, op->args, i);

        if (!(which >> i & 1) && a->kind == MSIM_ARG_TENSOR &&
            msim_weights_have(w, a, MSIM_NONE))
            return a;
    }
    return NULL;
}

bool msim_weights_doubtful(const struct msim_weights *w, uint32_t *op,
                           const struct msim_arg **data)
{
    for (; !w->of_id && *op < w->t->n_ops; ++*op)
        if ((*data = doubtful(w, &w->t->ops[*op])) != NULL)
            return true;
    return false;
}
