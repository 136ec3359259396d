/*
 * core/reshape/axis.c - which sizes of a trace's tensors are one axis.
 */
#include "core/reshape/axis.h"

#include "core/base/idmap.h"
#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* ---- weights --------------------------------------------------------------
 */

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

static void mark(struct msim_axis_sizes *s, const struct msim_arg *a,
                 const struct msim_arg *end)
{
    for (; a < end; a++)
        if (a->kind == MSIM_ARG_TENSOR && a->n > 0)
            s->weight[a->v.i] = 1;
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
                           const char *name)
{
    for (size_t i = 0; i < sizeof(WEIGHTS) / sizeof(*WEIGHTS); i++)
        if (!strcmp(name, WEIGHTS[i].name))
            return WEIGHTS[i].arguments;
    return weights_of_product(t, op, name);
}

static void mark_weights(struct msim_axis_sizes *s, const struct msim_op *op)
{
    const struct msim_trace *t = s->t;
    const char *name = msim_trace_text(t, op->name);
    const struct msim_arg *first = msim_args_get(t, op->args, 0);
    uint32_t which;

    if (!first)
        return;
    if (is_optimizer(name)) {
        mark(s, first, first + t->blocks[op->args].count);
        return;
    }
    which = weights_of(t, op, name);
    for (uint32_t i = 0; which >> i; i++) {
        const struct msim_arg *a = msim_args_get(t, op->args, i);

        if (a && which >> i & 1)
            mark(s, a, a + 1);
    }
}

static bool is_matrix(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_TENSOR && a->n == 2;
}

/* Weights of layers are often read transposed. */
static enum msim_status mark_transposed(struct msim_axis_sizes *s)
{
    const struct msim_trace *t = s->t;
    struct msim_idmap shapes = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < t->n_args && status == MSIM_OK; i++) {
        const struct msim_arg *a = &t->args[i];
        const int64_t *d = is_matrix(a) ? msim_arg_dims(t, a) : NULL;

        if (d && s->weight[a->v.i])
            status =
                msim_idmap_put(&shapes, msim_idmap_pair(d[1], d[0]), 0, &at);
    }
    for (uint32_t i = 0; i < t->n_args && status == MSIM_OK; i++) {
        const struct msim_arg *a = &t->args[i];
        const int64_t *d = is_matrix(a) ? msim_arg_dims(t, a) : NULL;

        if (d && msim_idmap_get(&shapes, msim_idmap_pair(d[0], d[1])) == 0)
            s->weight[a->v.i] = 1;
    }
    msim_idmap_release(&shapes);
    return status;
}

bool msim_axis_is_weight(const struct msim_axis_sizes *s,
                         const struct msim_arg *a)
{
    return a->n > 0 && s->weight[a->v.i] != 0;
}

/* ---- sizes ----------------------------------------------------------------
 */

static enum msim_status keep(struct msim_axis_sizes *s, int64_t size,
                             uint32_t times)
{
    uint32_t lo = 0, hi = s->n;

    while (lo < hi) {
        uint32_t mid = (lo + hi) / 2;

        if (s->flat[mid].size < size)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < s->n && s->flat[lo].size == size)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&s->flat, &s->cap, s->n, sizeof(*s->flat)));
    memmove(s->flat + lo + 1, s->flat + lo, (s->n - lo) * sizeof(*s->flat));
    s->flat[lo] = (struct msim_axis_size){size, times};
    s->n++;
    return MSIM_OK;
}

/* Is size `i` of a tensor the axis itself? */
static bool is_axis(const struct msim_axis_sizes *s, const int64_t *dims,
                    uint32_t i)
{
    if (dims[i] != s->axis.from)
        return false;
    for (uint32_t k = 0; k < i && !s->axis.every; k++)
        if (dims[k] == s->axis.from)
            return false;
    return true;
}

/* Products of neighbours from size `i` on. */
static enum msim_status keep_products(struct msim_axis_sizes *s,
                                      const int64_t *dims, uint32_t n,
                                      uint32_t i)
{
    uint32_t times = is_axis(s, dims, i);
    int64_t product = dims[i];

    for (uint32_t k = i + 1; k < n; k++) {
        if (dims[k] < 1 || __builtin_mul_overflow(product, dims[k], &product))
            return MSIM_OK;
        times += is_axis(s, dims, k);
        if (times && dims[k] > 1)
            MSIM_TRY(keep(s, product, times));
    }
    return MSIM_OK;
}

static enum msim_status find_flat(struct msim_axis_sizes *s)
{
    const struct msim_trace *t = s->t;

    MSIM_TRY(keep(s, s->axis.from, 1));
    for (uint32_t i = 0; i < t->n_args; i++) {
        const struct msim_arg *a = &t->args[i];

        if (a->kind != MSIM_ARG_TENSOR || a->n < 2 || msim_axis_is_weight(s, a))
            continue;
        for (uint32_t k = 0; k + 1 < a->n; k++)
            MSIM_TRY(keep_products(s, msim_arg_dims(t, a), a->n, k));
    }
    return MSIM_OK;
}

enum msim_status msim_axis_sizes_find(struct msim_axis_sizes *out,
                                      const struct msim_trace *t,
                                      const struct msim_axis *axis)
{
    *out = (struct msim_axis_sizes){.t = t, .axis = *axis};
    out->weight = calloc((size_t)t->n_dims + 1, 1);
    if (!out->weight)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++)
        mark_weights(out, &t->ops[i]);
    MSIM_TRY(mark_transposed(out));
    return find_flat(out);
}

void msim_axis_sizes_release(struct msim_axis_sizes *s)
{
    free(s->weight);
    free(s->flat);
    *s = (struct msim_axis_sizes){0};
}

uint32_t msim_axis_times(const struct msim_axis_sizes *s, int64_t size)
{
    for (uint32_t lo = 0, hi = s->n; lo < hi;) {
        uint32_t mid = (lo + hi) / 2;

        if (s->flat[mid].size == size)
            return s->flat[mid].times;
        if (s->flat[mid].size < size)
            lo = mid + 1;
        else
            hi = mid;
    }
    return 0;
}

int64_t msim_axis_changed(const struct msim_axis *a, int64_t size,
                          uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        int64_t rest = size / a->from;

        if (__builtin_mul_overflow(rest, a->to, &size))
            return INT64_MAX;
    }
    return size;
}

/* ---- the batch ------------------------------------------------------------
 */

/* Which argument of these has samples as its first size. */
static const struct weights_of SAMPLES[] = {
    {"aten::conv1d", ARG(0)},       {"aten::conv2d", ARG(0)},
    {"aten::conv3d", ARG(0)},       {"aten::embedding", ARG(1)},
    {"aten::batch_norm", ARG(0)},   {"aten::cross_entropy_loss", ARG(1)},
    {"aten::group_norm", ARG(0)},   {"aten::convolution", ARG(0)},
    {"aten::embedding_bag", ARG(2)}};

static int64_t first_size(const struct msim_trace *t, const struct msim_op *op)
{
    const char *name = msim_trace_text(t, op->name);

    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(*SAMPLES); i++) {
        const struct msim_arg *a;

        if (strcmp(name, SAMPLES[i].name) != 0)
            continue;
        a = msim_args_get(t, op->args,
                          (uint32_t)__builtin_ctz(SAMPLES[i].arguments));
        return a && a->kind == MSIM_ARG_TENSOR && a->n ? msim_arg_dims(t, a)[0]
                                                       : 0;
    }
    return 0;
}

#define GUESSES 64 /* sizes that are told apart */

int64_t msim_axis_batch_of(const struct msim_trace *t)
{
    struct {
        int64_t size;
        uint32_t seen;
    } guess[GUESSES];
    uint32_t n = 0, best = 0;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        int64_t size = first_size(t, &t->ops[i]);
        uint32_t k = 0;

        while (k < n && guess[k].size != size)
            k++;
        if (size < 1 || k == GUESSES)
            continue;
        if (k == n) {
            guess[n].size = size;
            guess[n++].seen = 0;
        }
        if (++guess[k].seen > guess[best].seen)
            best = k;
    }
    return n ? guess[best].size : 0;
}
