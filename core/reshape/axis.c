/*
 * core/reshape/axis.c - which sizes of a trace's tensors are one axis.
 */
#include "core/reshape/reshape.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

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

static enum msim_status keep_list(struct msim_axis_sizes *s, uint32_t block,
                                  uint32_t id)
{
    const struct msim_trace *t = s->t;
    const struct msim_arg_block none = {0, 0};
    const struct msim_arg_block b =
        block == MSIM_NONE ? none : t->blocks[block];

    for (uint32_t i = b.first; i < b.first + b.count; i++) {
        const struct msim_arg *a = &t->args[i];
        uint32_t own = id;

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        id += id != MSIM_NONE;
        if (a->n < 2 || s->seen[i] || msim_weights_have(&s->weights, a, own))
            continue;
        s->seen[i] = 1;
        for (uint32_t k = 0; k + 1 < a->n; k++)
            MSIM_TRY(keep_products(s, msim_arg_dims(t, a), a->n, k));
    }
    return MSIM_OK;
}

/* Attention has samples and tokens apart, with heads between them: [samples,
 * heads, tokens, channels]. Elsewhere the two may only be seen flattened. The
 * sizes of its argument `i`, or NULL; how many tokens all samples have. */
static const int64_t *attention_sizes(const struct msim_trace *t,
                                      const struct msim_op *op, uint32_t i,
                                      int64_t *tokens)
{
    const struct msim_arg *a = msim_args_get(t, op->args, i);
    const int64_t *d =
        a->kind == MSIM_ARG_TENSOR && a->n == 4 ? msim_arg_dims(t, a) : NULL;

    return d && d[2] > 1 && !__builtin_mul_overflow(d[0], d[2], tokens) ? d
                                                                        : NULL;
}

bool msim_op_is_attention(const struct msim_trace *t, const struct msim_op *op)
{
    return strstr(msim_trace_text(t, op->name), "scaled_dot_product");
}

static enum msim_status keep_tokens(struct msim_axis_sizes *s,
                                    const struct msim_op *op)
{
    uint32_t n =
        msim_op_is_attention(s->t, op) ? msim_args_count(s->t, op->args) : 0;

    for (uint32_t i = 0; i < n; i++) {
        int64_t tokens;
        const int64_t *d = attention_sizes(s->t, op, i, &tokens);
        uint32_t times = d ? (uint32_t)is_axis(s, d, 0) + is_axis(s, d, 2) : 0;

        if (times)
            MSIM_TRY(keep(s, tokens, times));
    }
    return MSIM_OK;
}

/* ---- rows that data choose ------------------------------------------------
 *
 * How many rows an expert has, or a bag, follows from the values of data. It
 * goes with the axis as a share of it does.
 */

/* First size of tensor `i` of a list, if that has so many sizes; else 0. */
static int64_t rows_of(const struct msim_trace *t, uint32_t block, uint32_t i,
                       uint32_t sizes)
{
    const struct msim_arg *a = msim_args_get(t, block, i);

    return a && a->kind == MSIM_ARG_TENSOR && a->n == sizes && sizes
               ? msim_arg_dims(t, a)[0]
               : 0;
}

static bool has_axis(const struct msim_axis_sizes *s, const struct msim_arg *a)
{
    if (!a || a->kind != MSIM_ARG_TENSOR)
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (msim_axis_times(s, msim_arg_dims(s->t, a)[i]))
            return true;
    return false;
}

/* How many rows `op` chooses from data with the axis; 0: none. */
static int64_t chosen_rows(const struct msim_axis_sizes *s,
                           const struct msim_op *op)
{
    const char *name = msim_trace_text(s->t, op->name);
    int64_t bags;

    if (!strcmp(name, "aten::nonzero"))
        return has_axis(s, msim_args_get(s->t, op->args, 0))
                   ? rows_of(s->t, op->outs, 0, 2)
                   : 0;
    if (s->axis.every || strcmp(name, "aten::embedding_bag") != 0)
        return 0;
    bags = rows_of(s->t, op->args, 2, 1);
    return bags == s->axis.from || bags == s->axis.from + 1 /* last offset */
               ? rows_of(s->t, op->args, 1, 1)
               : 0;
}

/* ---- shards ---------------------------------------------------------------
 */

/* The first tensor of a list; NULL: none. */
static const struct msim_arg *first_tensor(const struct msim_trace *t,
                                           uint32_t block)
{
    const struct msim_arg *a = msim_args_get(t, block, 0);
    const struct msim_arg *end = a ? a + t->blocks[block].count : a;

    while (a < end && a->kind != MSIM_ARG_TENSOR)
        a++;
    return a < end ? a : NULL;
}

/* A collective that gathers rows, or scatters them, has a part on one side of
 * what holds the axis on the other: a rank's tokens beside those of all. */
static enum msim_status keep_shards(struct msim_axis_sizes *s,
                                    const struct msim_op *op)
{
    const struct msim_arg *a, *b;
    int64_t part, all;

    if (op->comm == MSIM_NONE)
        return MSIM_OK;
    a = first_tensor(s->t, op->args);
    b = first_tensor(s->t, op->outs);
    if (!a || !b || a->n < 2 || a->n != b->n)
        return MSIM_OK;
    part = msim_arg_dims(s->t, a)[0];
    all = msim_arg_dims(s->t, b)[0];
    if (part > all) {
        int64_t swap = part;

        part = all;
        all = swap;
    }
    return part > 1 && part < all && all % part == 0 &&
                   msim_axis_times(s, all) == 1
               ? keep(s, part, 1)
               : MSIM_OK;
}

/* Sizes of weights, which no data may change; but those of a bias that is
 * expanded to rows of data. */
static enum msim_status find_weight_sizes(const struct msim_axis_sizes *s,
                                          struct msim_idmap *sizes)
{
    const struct msim_trace *t = s->t;
    uint32_t *slot;

    for (uint32_t op = 0; op < t->n_ops; op++) {
        const struct msim_arg_block none = {0, 0};
        uint32_t list = t->ops[op].args, id = t->ops[op].ids;
        const struct msim_arg_block b =
            list == MSIM_NONE ? none : t->blocks[list];

        for (uint32_t i = b.first; i < b.first + b.count; i++) {
            const struct msim_arg *a = &t->args[i];

            if (a->kind != MSIM_ARG_TENSOR)
                continue;
            if (a->layout != MSIM_LAYOUT_GAPS &&
                msim_weights_have(&s->weights, a, id))
                for (uint32_t k = 0; k < a->n; k++)
                    MSIM_TRY(msim_idmap_put(
                        sizes, (uint64_t)msim_arg_dims(t, a)[k], 1, &slot));
            id += id != MSIM_NONE;
        }
    }
    return MSIM_OK;
}

static enum msim_status keep_chosen(struct msim_axis_sizes *s)
{
    struct msim_idmap weights = {0};
    enum msim_status status = MSIM_OK;
    bool known = false;

    for (uint32_t i = 0; i < s->t->n_ops && status == MSIM_OK; i++) {
        int64_t rows = chosen_rows(s, &s->t->ops[i]);

        if (rows < 2)
            continue;
        if (!known)
            status = find_weight_sizes(s, &weights);
        known = true;
        if (status == MSIM_OK &&
            msim_idmap_get(&weights, (uint64_t)rows) == MSIM_NONE)
            status = keep(s, rows, 1);
    }
    msim_idmap_release(&weights);
    return status;
}

static enum msim_status find_flat(struct msim_axis_sizes *s)
{
    MSIM_TRY(keep(s, s->axis.from, 1));
    for (uint32_t i = 0; i < s->t->n_ops; i++) {
        const struct msim_op *op = &s->t->ops[i];

        MSIM_TRY(keep_tokens(s, op));
        MSIM_TRY(keep_list(s, op->args, op->ids));
        MSIM_TRY(keep_list(s, op->outs, op->out_ids));
    }
    for (uint32_t i = 0; i < s->t->n_ops; i++)
        MSIM_TRY(keep_shards(s, &s->t->ops[i]));
    return keep_chosen(s);
}

/* ---- features -------------------------------------------------------------
 */

/* Which argument of these has a layer's sizes. */
static const struct {
    const char *name;
    uint32_t argument, least; /* sizes of it */
} LAYERS[] = {{"aten::linear", 1, 2},     {"aten::addmm", 2, 2},
              {"aten::layer_norm", 2, 1}, {"aten::native_layer_norm", 2, 1},
              {"aten::rms_norm", 2, 1},   {"aten::_fused_rms_norm", 2, 1}};

static enum msim_status keep_features(struct msim_axis_sizes *s,
                                      const struct msim_op *op)
{
    const struct msim_trace *t = s->t;
    const char *name = msim_trace_text(t, op->name);
    uint32_t *slot;

    for (size_t i = 0; i < sizeof(LAYERS) / sizeof(*LAYERS); i++) {
        const struct msim_arg *a =
            !strcmp(name, LAYERS[i].name)
                ? msim_args_get(t, op->args, LAYERS[i].argument)
                : NULL;

        if (!a || a->kind != MSIM_ARG_TENSOR || a->n < LAYERS[i].least)
            continue;
        /* A sum of products of data is no layer. */
        if (i == 1 && rows_of(t, op->args, 0, 1) == 0)
            continue;
        for (uint32_t k = 0; k < a->n; k++)
            MSIM_TRY(msim_idmap_put(
                &s->features, (uint64_t)msim_arg_dims(t, a)[k], 1, &slot));
    }
    return MSIM_OK;
}

/* Have these as many columns as rows, both of tokens, or rows in another order
 * than the layout says, which old traces do not record? */
static bool is_turning(const char *name)
{
    static const char *const NAMES[] = {"aten::bmm",     "aten::baddbmm",
                                        "aten::t",       "aten::transpose",
                                        "aten::permute", NULL};

    for (const char *const *n = NAMES; *n; n++)
        if (!strcmp(name, *n))
            return true;
    return strstr(name, "softmax") || strstr(name, "scaled_dot_product");
}

static bool is_number(const struct msim_arg *a)
{
    switch (a->dtype) {
    case MSIM_DT_F64:
    case MSIM_DT_F32:
    case MSIM_DT_F16:
    case MSIM_DT_BF16:
        return true;
    default:
        return false;
    }
}

uint32_t msim_axis_feature(const struct msim_axis_sizes *s,
                           const struct msim_arg *a, const char *name)
{
    bool turned = a->layout == MSIM_LAYOUT_TURNED;
    uint32_t i = turned ? 0 : a->n - 1;

    if ((a->n != 2 && (a->n != 3 || turned)) || !is_number(a) ||
        is_turning(name))
        return MSIM_NONE;
    return msim_idmap_get(&s->features, (uint64_t)msim_arg_dims(s->t, a)[i]) ==
                   MSIM_NONE
               ? MSIM_NONE
               : i;
}

enum msim_status msim_axis_sizes_find(struct msim_axis_sizes *out,
                                      const struct msim_trace *t,
                                      const struct msim_axis *axis)
{
    *out = (struct msim_axis_sizes){.t = t, .axis = *axis};
    out->seen = calloc((size_t)t->n_args + 1, 1);
    if (!out->seen)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_weights_find(&out->weights, t));
    for (uint32_t i = 0; i < t->n_ops; i++)
        MSIM_TRY(keep_features(out, &t->ops[i]));
    return find_flat(out);
}

void msim_axis_sizes_release(struct msim_axis_sizes *s)
{
    msim_weights_release(&s->weights);
    msim_idmap_release(&s->features);
    free(s->seen);
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

bool msim_axis_doubtful(const struct msim_axis_sizes *s, uint32_t *op,
                        const struct msim_arg **data)
{
    for (*op = 0; msim_weights_doubtful(&s->weights, op, data); ++*op)
        for (uint32_t i = 0; i < (*data)->n; i++)
            if (msim_axis_times(s, msim_arg_dims(s->t, *data)[i]))
                return true;
    return false;
}

int64_t msim_axis_changed(const struct msim_axis *a, int64_t size,
                          uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        int64_t whole = size / a->from, rest = size % a->from, part;

        if (__builtin_mul_overflow(whole, a->to, &size) ||
            __builtin_mul_overflow(rest, a->to, &part) ||
            __builtin_add_overflow(size, part / a->from, &size))
            return INT64_MAX;
    }
    return size ? size : 1;
}

/* ---- the batch ------------------------------------------------------------
 */

/* Which argument of these has samples as its first size. */
static const struct {
    const char *name;
    uint32_t argument;
} SAMPLES[] = {{"aten::conv1d", 0},       {"aten::conv2d", 0},
               {"aten::conv3d", 0},       {"aten::embedding", 1},
               {"aten::batch_norm", 0},   {"aten::cross_entropy_loss", 1},
               {"aten::group_norm", 0},   {"aten::convolution", 0},
               {"aten::embedding_bag", 2}};

static int64_t first_size(const struct msim_trace *t, const struct msim_op *op)
{
    const char *name = msim_trace_text(t, op->name);

    for (size_t i = 0; i < sizeof(SAMPLES) / sizeof(*SAMPLES); i++) {
        const struct msim_arg *a;

        if (strcmp(name, SAMPLES[i].name) != 0)
            continue;
        a = msim_args_get(t, op->args, SAMPLES[i].argument);
        return a && a->kind == MSIM_ARG_TENSOR && a->n ? msim_arg_dims(t, a)[0]
                                                       : 0;
    }
    return 0;
}

/* Of `size` tokens that are data of their own the samples: attention knows how
 * many they are of. `size` where it knows none. */
static int64_t samples_of(const struct msim_trace *t, int64_t size)
{
    for (uint32_t i = 0; i < t->n_ops; i++) {
        int64_t tokens;
        const int64_t *d = msim_op_is_attention(t, &t->ops[i]) &&
                                   msim_args_count(t, t->ops[i].args)
                               ? attention_sizes(t, &t->ops[i], 0, &tokens)
                               : NULL;

        if (d && tokens == size)
            return d[0];
    }
    return size;
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
    return n ? samples_of(t, guess[best].size) : 0;
}
