/*
 * core/work/rules/opmap_conv.c - convolutions, forward and backward.
 *
 * Layouts are (batch, channels, spatial...) with one to three spatial sizes. A
 * work has two: a single one is the width; the third folds into the batch (its
 * output positions) and the input channels (its filter taps), so that
 * multiplications stay exact.
 *
 * aten::convolution calls the library's operator, which has the work. On the
 * meta device and under some compilers it calls nothing, and has it itself.
 *
 * Older traces record no strides and paddings. They follow from the sizes of
 * input, filter and output. The output has the size of the gradient, or is the
 * input of an operator that comes soon after.
 */
#include "core/work/rules/opmap_rules.h"

#include <string.h>

#define LOOK_AHEAD 32 /* operators that may lie before the output's user */

/* Which argument is what, or MSIM_NO_PLACE. */
struct places {
    int8_t input, weight, grad, bias;
    int8_t pad, stride, dilation, groups, transposed, output_pad, mask;
};

static const struct places layouts[] = {
    [MSIM_ARGS_CONV_CUDNN] = {0, 1, MSIM_NO_PLACE, MSIM_NO_PLACE, 2, 3, 4, 5,
                              MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_MKLDNN] = {0, 1, MSIM_NO_PLACE, 2, 3, 4, 5, 6,
                               MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_CUDNN_TRANSPOSE] = {0, 1, MSIM_NO_PLACE, MSIM_NO_PLACE, 2,
                                        4, 5, 6, MSIM_NO_PLACE, 3,
                                        MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_SLOW] = {0, 1, MSIM_NO_PLACE, 3, 5, 4, 6, MSIM_NO_PLACE,
                             MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_ANY] = {0, 1, MSIM_NO_PLACE, 2, 4, 3, 5, 8, 6, 7,
                            MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_FUSED] = {0, 1, MSIM_NO_PLACE, MSIM_NO_PLACE, 4, 3, 5, 6,
                              MSIM_NO_PLACE, MSIM_NO_PLACE, MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_FUSED_ADD] = {0, 1, MSIM_NO_PLACE, MSIM_NO_PLACE, 6, 5, 7,
                                  8, MSIM_NO_PLACE, MSIM_NO_PLACE,
                                  MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_BACKWARD] = {1, 2, 0, MSIM_NO_PLACE, 5, 4, 6, 9, 7, 8, 10},
    [MSIM_ARGS_CONV_OLD_BACKWARD_INPUT] = {0, 2, 1, MSIM_NO_PLACE, 3, 4, 5, 6,
                                           MSIM_NO_PLACE, MSIM_NO_PLACE,
                                           MSIM_NO_PLACE},
    [MSIM_ARGS_CONV_OLD_BACKWARD_WEIGHT] = {2, 0, 1, MSIM_NO_PLACE, 3, 4, 5, 6,
                                            MSIM_NO_PLACE, MSIM_NO_PLACE,
                                            MSIM_NO_PLACE},
};

#define MAX_SPATIAL 3

/* A convolution; spatial sizes are right-aligned: [2] is the width. */
struct geometry {
    enum msim_dtype dtype;
    int64_t n, c, k, groups; /* c of the input, k of the output */
    int64_t in[MAX_SPATIAL], out[MAX_SPATIAL], filter[MAX_SPATIAL];
    int64_t stride[MAX_SPATIAL], pad[MAX_SPATIAL], dilation[MAX_SPATIAL];
    bool transposed, tf32, channels_last;
    double in_bytes, weight_bytes, out_elems;
};

/* ---- sizes that may be written several ways --------------------------- */

/* Sizes of argument `k` as a tensor or as a list of integers. */
static bool sizes(const struct msim_opmap_ctx *c, int k, struct msim_operand *o,
                  int64_t store[5])
{
    uint32_t n;

    if (k < 0)
        return false;
    if (msim_opmap_tensor(c, (uint32_t)k, o))
        return o->rank >= 3 && o->rank <= 5;
    n = msim_opmap_ints(c, (uint32_t)k, store, 5);
    if (n < 3)
        return false;
    memset(o, 0, sizeof(*o));
    o->dims = store;
    o->rank = n;
    o->dtype = MSIM_DT_F32;
    o->elems = 1;
    for (uint32_t j = 0; j < n; j++)
        o->elems *= store[j] > 0 ? (double)store[j] : 0;
    o->bytes = o->elems * msim_dtype_bytes(o->dtype);
    return true;
}

/* The same from the operator around it, which has (input, grad, weight). */
static bool sizes_of_parent(const struct msim_opmap_ctx *c, uint32_t k,
                            struct msim_operand *o)
{
    uint32_t p = c->op->parent;

    for (int up = 0; up < 2 && p != MSIM_NONE; up++, p = c->t->ops[p].parent)
        if (msim_opmap_tensor_of(c->t, p, k, o) && o->rank >= 3 && o->rank <= 5)
            return true;
    return false;
}

/* Real sizes are far below; the bound keeps their products in range. */
static int64_t bounded(int64_t v)
{
    int64_t most = INT64_C(1) << 30;

    return v > most ? most : v < -most ? -most : v;
}

/* A per-dimension setting: true where it was recorded. */
static bool setting(const struct msim_opmap_ctx *c, int k, uint32_t spatial,
                    int64_t v[MAX_SPATIAL])
{
    int64_t list[MAX_SPATIAL];
    uint32_t n;

    if (k < 0)
        return false;
    n = msim_opmap_ints(c, (uint32_t)k, list, MAX_SPATIAL);
    if (n == 0)
        return false;
    for (uint32_t j = 0; j < spatial; j++)
        v[MAX_SPATIAL - spatial + j] = bounded(list[j < n ? j : n - 1]);
    return true;
}

static void right_align(int64_t v[MAX_SPATIAL], const struct msim_operand *o)
{
    for (uint32_t j = 2; j < o->rank; j++)
        v[MAX_SPATIAL - o->rank + j] = bounded(msim_operand_dim(o, (int)j));
}

/* ---- the output's size ------------------------------------------------ */

static bool fits(const struct geometry *g, const struct msim_operand *o,
                 uint32_t rank)
{
    if (o->rank != rank || msim_operand_dim(o, 0) != g->n ||
        msim_operand_dim(o, 1) != g->k)
        return false;
    for (uint32_t j = 2; j < rank; j++)
        if (msim_operand_dim(o, (int)j) >
            g->in[MAX_SPATIAL - rank + j] +
                2 * g->filter[MAX_SPATIAL - rank + j])
            return false;
    return true;
}

/* The first tensor of the right batch and channels that is used after it. */
static bool used_later(const struct msim_opmap_ctx *c, const struct geometry *g,
                       uint32_t rank, struct msim_operand *o)
{
    uint32_t end = c->t->threads[c->op->thread].op_end;

    for (uint32_t j = c->op->end; j < end && j < c->op->end + LOOK_AHEAD; j++)
        if (msim_opmap_tensor_of(c->t, j, 0, o) && fits(g, o, rank))
            return true;
    return false;
}

static void output_from_settings(struct geometry *g,
                                 const int64_t output_pad[MAX_SPATIAL])
{
    for (int j = 0; j < MAX_SPATIAL; j++) {
        int64_t reach = g->dilation[j] * (g->filter[j] - 1) + 1;
        int64_t stride = g->stride[j] > 0 ? g->stride[j] : 1;

        if (g->transposed)
            g->out[j] =
                (g->in[j] - 1) * stride - 2 * g->pad[j] + reach + output_pad[j];
        else
            g->out[j] = (g->in[j] + 2 * g->pad[j] - reach) / stride + 1;
        if (g->out[j] < 1)
            g->out[j] = 1;
    }
}

/* Stride and padding that lead from `in` to `out`. */
static void settings_from_output(struct geometry *g)
{
    for (int j = 0; j < MAX_SPATIAL; j++) {
        int64_t reach = g->dilation[j] * (g->filter[j] - 1) + 1, need;

        if (g->out[j] < 1 || g->in[j] < 1)
            continue;
        g->stride[j] = (g->in[j] + g->out[j] - 1) / g->out[j];
        need = (g->out[j] - 1) * g->stride[j] + reach - g->in[j];
        g->pad[j] = need > 0 ? (need + 1) / 2 : 0;
    }
}

static void same_size_output(struct geometry *g)
{
    for (int j = 0; j < MAX_SPATIAL; j++) {
        g->out[j] = g->in[j];
        g->pad[j] = (g->filter[j] - 1) / 2;
    }
}

static void find_output(const struct msim_opmap_ctx *c, const struct places *p,
                        struct geometry *g, uint32_t rank)
{
    struct msim_operand o;
    int64_t output_pad[MAX_SPATIAL] = {0};
    bool known = setting(c, p->stride, rank - 2, g->stride);

    known &= setting(c, p->pad, rank - 2, g->pad);
    setting(c, p->dilation, rank - 2, g->dilation);
    setting(c, p->output_pad, rank - 2, output_pad);
    if (p->grad != MSIM_NO_PLACE ? msim_opmap_tensor(c, (uint32_t)p->grad, &o)
                                 : msim_opmap_output(c, 0, &o)) {
        right_align(g->out, &o);
        if (!known)
            settings_from_output(g);
    } else if (known) {
        output_from_settings(g, output_pad);
    } else if (used_later(c, g, rank, &o)) {
        right_align(g->out, &o);
        settings_from_output(g);
    } else {
        same_size_output(g);
    }
}

/* PyTorch lets cuDNN round fp32 to TF32 by default
 * (torch.backends.cudnn.allow_tf32); the forward operator has it as an
 * argument. It does not apply to a CPU. */
static bool allows_tf32(const struct msim_opmap_ctx *c, const struct places *p,
                        enum msim_dtype dtype)
{
    int64_t allowed = 1;

    if (p == &layouts[MSIM_ARGS_CONV_CUDNN])
        msim_opmap_int(c, 8, &allowed);
    return dtype == MSIM_DT_F32 && allowed && c->place != MSIM_OPMAP_ON_CPU;
}

/* ---- the whole -------------------------------------------------------- */

static bool read_geometry(const struct msim_opmap_ctx *c,
                          const struct places *p, struct geometry *g)
{
    struct msim_operand x, w;
    int64_t x_store[5], w_store[5], transposed = 0;

    if ((!sizes(c, p->input, &x, x_store) && !sizes_of_parent(c, 0, &x)) ||
        (!sizes(c, p->weight, &w, w_store) && !sizes_of_parent(c, 2, &w)) ||
        x.rank != w.rank)
        return false;
    memset(g, 0, sizeof(*g));
    for (int j = 0; j < MAX_SPATIAL; j++)
        g->in[j] = g->out[j] = g->filter[j] = g->stride[j] = g->dilation[j] = 1;
    right_align(g->in, &x);
    right_align(g->filter, &w);
    if (p->transposed != MSIM_NO_PLACE)
        msim_opmap_int(c, (uint32_t)p->transposed, &transposed);
    g->transposed = transposed || p == &layouts[MSIM_ARGS_CONV_CUDNN_TRANSPOSE];
    g->dtype = x.dtype;
    g->tf32 = allows_tf32(c, p, x.dtype);
    /* cudnn_conv_suggest_memory_format() in ATen/native/ConvUtils.h: one of
     * both decides for all */
    g->channels_last =
        x.layout == MSIM_LAYOUT_TURNED || w.layout == MSIM_LAYOUT_TURNED;
    g->n = msim_operand_dim(&x, 0);
    g->c = msim_operand_dim(&x, 1);
    g->groups = 1;
    if (p->groups == MSIM_NO_PLACE ||
        !msim_opmap_int(c, (uint32_t)p->groups, &g->groups))
        g->groups = msim_operand_dim(&w, 1) > 0 && !g->transposed
                        ? g->c / msim_operand_dim(&w, 1)
                        : 1;
    if (g->groups < 1)
        g->groups = 1;
    g->k = g->transposed ? msim_opmap_count((double)msim_operand_dim(&w, 1) *
                                            (double)g->groups)
                         : msim_operand_dim(&w, 0);
    g->in_bytes = x.bytes;
    g->weight_bytes = w.bytes;
    find_output(c, p, g, x.rank);
    g->out_elems = (double)g->n * (double)g->k * (double)g->out[0] *
                   (double)g->out[1] * (double)g->out[2];
    return true;
}

/* Multiplications of one pass, the same for all three. */
static double multiplications(const struct geometry *g)
{
    double taps =
        (double)g->filter[0] * (double)g->filter[1] * (double)g->filter[2];

    if (g->transposed)
        return (double)g->n * (double)g->c * (double)g->in[0] *
               (double)g->in[1] * (double)g->in[2] * (double)g->k /
               (double)g->groups * taps;
    return g->out_elems * (double)g->c / (double)g->groups * taps;
}

static struct msim_work *add_pass(struct msim_opmap_ctx *c,
                                  const struct geometry *g,
                                  enum msim_conv_pass pass)
{
    double out = g->out_elems * msim_dtype_bytes(g->dtype);
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_CONV, g->dtype, g->tf32 ? "tf32" : "");

    if (!w)
        return NULL;
    w->flops = 2 * multiplications(g);
    w->bytes_written = pass == MSIM_CONV_FORWARD         ? out
                       : pass == MSIM_CONV_BACKWARD_DATA ? g->in_bytes
                                                         : g->weight_bytes;
    w->bytes_read = g->in_bytes + g->weight_bytes + out - w->bytes_written;
    w->u.conv.pass = pass;
    w->u.conv.n = msim_opmap_count((double)g->n * (double)g->out[0]);
    w->u.conv.c = msim_opmap_count((double)g->c * (double)g->filter[0]);
    w->u.conv.h = g->in[1];
    w->u.conv.w = g->in[2];
    w->u.conv.k = g->k;
    w->u.conv.r = g->filter[1];
    w->u.conv.s = g->filter[2];
    w->u.conv.stride_h = g->stride[1];
    w->u.conv.stride_w = g->stride[2];
    w->u.conv.pad_h = g->pad[1];
    w->u.conv.pad_w = g->pad[2];
    w->u.conv.dilation_h = g->dilation[1];
    w->u.conv.dilation_w = g->dilation[2];
    w->u.conv.groups = g->groups;
    w->u.conv.transposed = g->transposed;
    w->u.conv.channels_last = g->channels_last;
    w->u.conv.deep = g->in[0] > 1 || g->filter[0] > 1;
    w->u.conv.depth = g->filter[0];
    return w;
}

/* On a GPU a bias is a kernel of its own; a CPU operator has it inside. */
static void add_bias(struct msim_opmap_ctx *c, const struct geometry *g)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_POINTWISE, g->dtype, "add");
    double bytes = g->out_elems * msim_dtype_bytes(g->dtype);

    if (!w)
        return;
    w->flops = g->out_elems;
    w->bytes_read = w->bytes_written = bytes;
    w->u.vector.elems = w->u.vector.cols = msim_opmap_count(g->out_elems);
    w->u.vector.rows = 1;
}

/* PyTorch's own kernel of a filter for each channel adds the bias as it goes
 * (DepthwiseConv2d.cu, DepthwiseConv3d.cu). It runs wherever a CPU's capture,
 * or a convolution that calls nothing, does not ask for half precision
 * (use_cudnn_depthwise() in Convolution.cpp). */
static bool adds_bias_inside(const struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row,
                             const struct geometry *g)
{
    bool own = row->arg == MSIM_ARGS_CONV_ANY ||
               strcmp(c->name, "mkldnn_convolution") == 0;

    if (row->arg == MSIM_ARGS_CONV_SLOW)
        return strcmp(c->name, "_conv_depthwise2d") == 0 ||
               strcmp(c->name, "conv_depthwise3d") == 0;
    return own && !g->transposed && g->groups > 1 && g->groups == g->c &&
           g->dtype != MSIM_DT_F16;
}

bool msim_rule_conv(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    const struct places *p = &layouts[row->arg];
    struct msim_operand bias;
    struct geometry g;

    if (!read_geometry(c, p, &g))
        return false;
    add_pass(c, &g, MSIM_CONV_FORWARD);
    if (c->place == MSIM_OPMAP_ON_GPU && p->bias != MSIM_NO_PLACE &&
        msim_opmap_tensor(c, (uint32_t)p->bias, &bias) &&
        !adds_bias_inside(c, row, &g))
        add_bias(c, &g);
    return true;
}

/* The gradient of a bias: aten::sum does it on a GPU, as a child. */
static void add_bias_grad(struct msim_opmap_ctx *c, const struct geometry *g)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_REDUCTION, g->dtype, "sum");

    if (!w)
        return;
    w->flops = g->out_elems;
    w->bytes_read = g->out_elems * msim_dtype_bytes(g->dtype);
    w->bytes_written = (double)g->k * msim_dtype_bytes(g->dtype);
    w->u.vector.elems = msim_opmap_count(g->out_elems);
    w->u.vector.fold = MSIM_FOLD_ALONG;
    w->u.vector.rows = g->k;
    w->u.vector.cols =
        msim_opmap_count(g->out_elems / (double)(g->k ? g->k : 1));
}

/*
 * Both gradients in one operator: the mask selects those of (input, weight,
 * bias) that are wanted. A mask that is not recorded is taken to select both
 * convolutions, which is true of every layer but a network's first.
 */
bool msim_rule_conv_backward(struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row)
{
    const struct places *p = &layouts[row->arg];
    int64_t mask[3] = {1, 1, 0};
    struct geometry g;

    if (!read_geometry(c, p, &g))
        return false;
    msim_opmap_ints(c, (uint32_t)p->mask, mask, 3);
    if (mask[0])
        add_pass(c, &g, MSIM_CONV_BACKWARD_DATA);
    if (mask[1])
        add_pass(c, &g, MSIM_CONV_BACKWARD_WEIGHT);
    if (mask[2] && c->place == MSIM_OPMAP_ON_GPU)
        add_bias_grad(c, &g);
    return true;
}

bool msim_rule_conv_one_backward(struct msim_opmap_ctx *c,
                                 const struct msim_opmap_row *row)
{
    bool data = row->arg == MSIM_ARGS_CONV_OLD_BACKWARD_INPUT;
    struct geometry g;

    if (!read_geometry(c, &layouts[row->arg], &g))
        return false;
    add_pass(c, &g, data ? MSIM_CONV_BACKWARD_DATA : MSIM_CONV_BACKWARD_WEIGHT);
    return true;
}
