/*
 * core/work/rules/opmap_resample.c - pooling, interpolation, padding: pointwise
 * in what they cost, but the result is of another size than the input.
 */
#include "core/work/rules/opmap_vector.h"

enum {
    POOL,          /* input, kernel, stride, padding */
    POOL_INDICES,  /* the same, and an index for every result */
    TO_SIZE,       /* input, size of the result's last dimensions */
    GRID,          /* input, grid with a pair (or triple) of positions each */
    TO_INPUT,      /* backward: gradient, input */
    TO_INPUT_SIZE, /* backward: gradient, its size, sizes of the input */
    PADDING,       /* input, two paddings a dimension, last one first */
};

/* Spatial sizes of a pooled input, per dimension (in + 2 pad - kernel) /
 * stride + 1. Not recorded: halved, as nearly all networks do. */
static double pooled(const struct msim_opmap_ctx *c,
                     const struct msim_operand *x)
{
    int64_t kernel[3], stride[3], pad[3] = {0};
    uint32_t n = msim_opmap_ints(c, 1, kernel, 3);
    uint32_t strides = msim_opmap_ints(c, 2, stride, 3);
    uint32_t spatial = x->rank > 2 ? x->rank - 2 : 0;
    double elems = x->elems;

    msim_opmap_ints(c, 3, pad, 3);
    for (uint32_t j = 0; j < spatial && j < 3; j++) {
        double in = (double)msim_operand_dim(x, (int)(j + 2)), out, k, s;

        if (in < 1)
            return 0;
        k = n ? (double)kernel[j < n ? j : n - 1] : 2;
        s = strides ? (double)stride[j < strides ? j : strides - 1] : k;
        out = s >= 1 ? (in + 2 * (double)pad[n > 1 ? j : 0] - k) / s + 1 : in;
        elems *= (double)msim_opmap_count(out) / in;
    }
    return elems;
}

/* The leading sizes of `x` with the last ones replaced by integers. */
static double resized(const struct msim_opmap_ctx *c, uint32_t arg,
                      const struct msim_operand *x)
{
    int64_t size[3];
    uint32_t n = msim_opmap_ints(c, arg, size, 3);
    double elems = 1;

    if (n == 0 || n > x->rank)
        return x->elems;
    for (uint32_t j = 0; j + n < x->rank; j++)
        elems *= (double)msim_operand_dim(x, (int)j);
    for (uint32_t j = 0; j < n; j++)
        elems *= (double)msim_opmap_count((double)size[j]);
    return elems;
}

static double padded(const struct msim_opmap_ctx *c,
                     const struct msim_operand *x)
{
    int64_t pad[6];
    uint32_t n = msim_opmap_ints(c, 1, pad, 6);
    double elems = x->elems;

    for (uint32_t j = 0; j < n / 2; j++) {
        double in = (double)msim_operand_dim(x, -1 - (int)j);

        if (in > 0)
            elems *= (in + (double)pad[2 * j] + (double)pad[2 * j + 1]) / in;
    }
    return elems;
}

static double on_grid(const struct msim_operand *x,
                      const struct msim_operand *g)
{
    double points = g->elems / (double)(g->rank > 4 ? 3 : 2);

    return points * (double)msim_operand_dim(x, 1);
}

/* Inputs of the window of one result; argument `k` has its sizes. 1: not
 * recorded. */
static double window(const struct msim_opmap_ctx *c, uint32_t k,
                     const struct msim_operand *x)
{
    int64_t kernel[3];
    uint32_t n = msim_opmap_ints(c, k, kernel, 3);
    double taps = 1;

    for (uint32_t j = 0; n && j + 2 < x->rank && j < 3; j++)
        taps *= (double)msim_opmap_count((double)kernel[j < n ? j : n - 1]);
    return taps;
}

/* Elements of the result when no output says so. */
static double result_elems(const struct msim_opmap_ctx *c, uint8_t kind,
                           const struct msim_operand *x)
{
    struct msim_operand other;
    int64_t sizes[5];
    uint32_t n;
    double elems = 1;

    switch (kind) {
    case POOL:
    case POOL_INDICES:
        return pooled(c, x);
    case TO_SIZE:
        return resized(c, 1, x);
    case PADDING:
        return padded(c, x);
    case GRID:
        return msim_opmap_tensor(c, 1, &other) ? on_grid(x, &other) : x->elems;
    case TO_INPUT:
        return msim_opmap_tensor(c, 1, &other) ? other.elems : x->elems;
    default:
        n = msim_opmap_ints(c, 2, sizes, 5);
        for (uint32_t j = 0; j < n; j++)
            elems *= (double)msim_opmap_count((double)sizes[j]);
        return n ? elems : x->elems;
    }
}

static bool resample(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    struct msim_work *w;
    bool indices = row->arg == POOL_INDICES || row->inputs == 2;
    double elems, small;

    if (!msim_opmap_tensor(c, 0, &x))
        return false;
    elems = msim_opmap_output(c, 0, &out) ? out.elems
                                          : result_elems(c, row->arg, &x);
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    w->bytes_read = x.bytes;
    w->bytes_written = elems * msim_dtype_bytes(x.dtype);
    /* an index goes with every pooled element: the smaller side */
    small = elems < x.elems ? elems : x.elems;
    if (indices && row->arg == POOL_INDICES)
        w->bytes_written += small * msim_dtype_bytes(MSIM_DT_I64);
    else if (indices)
        w->bytes_read += small * msim_dtype_bytes(MSIM_DT_I64);
    msim_opmap_set_rows(w, 1, elems > x.elems ? elems : x.elems);
    w->flops = (double)w->u.vector.elems * (row->flops ? row->flops : 1);
    if (row->arg == POOL || row->arg == POOL_INDICES)
        w->u.vector.taps = elems * window(c, 1, &x);
    if (row->arg == TO_INPUT && row->inputs == 2 && window(c, 2, &x) > 1)
        w->u.vector.taps = x.elems * window(c, 2, &x);
    return true;
}

/* N: its kernels are of no kind that is known */
#define N(name, kind, flops)                                                   \
    {                                                                          \
        name, resample, NULL, 1, flops, MSIM_OPMAP_NEAREST, kind               \
    }
/* name, kind, flops an element; I: with indices that were kept */
#define R(name, kind, flops)                                                   \
    {                                                                          \
        name, resample, NULL, 1, flops, 0, kind                                \
    }
#define I(name, kind, flops)                                                   \
    {                                                                          \
        name, resample, NULL, 2, flops, 0, kind                                \
    }

static const struct msim_opmap_row rows[] = {
    R("_adaptive_avg_pool2d", TO_SIZE, 1),
    R("_adaptive_avg_pool2d_backward", TO_INPUT, 1),
    R("_adaptive_avg_pool3d", TO_SIZE, 1),
    R("_adaptive_avg_pool3d_backward", TO_INPUT, 1),
    R("_upsample_bicubic2d_aa", TO_SIZE, 40),
    R("_upsample_bicubic2d_aa_backward", TO_INPUT_SIZE, 40),
    R("_upsample_bilinear2d_aa", TO_SIZE, 12),
    R("_upsample_bilinear2d_aa_backward", TO_INPUT_SIZE, 12),
    R("_upsample_nearest_exact2d", TO_SIZE, 1),
    R("_upsample_nearest_exact2d_backward", TO_INPUT_SIZE, 1),
    R("adaptive_max_pool2d", TO_SIZE, 1),
    I("adaptive_max_pool2d_backward", TO_INPUT, 1),
    R("avg_pool2d", POOL, 4),
    R("avg_pool2d_backward", TO_INPUT, 4),
    R("avg_pool3d", POOL, 8),
    R("avg_pool3d_backward", TO_INPUT, 8),
    R("col2im", TO_SIZE, 1),
    N("grid_sampler_2d", GRID, 12),
    N("grid_sampler_2d_backward", TO_INPUT, 12),
    N("grid_sampler_3d", GRID, 24),
    R("im2col", TO_INPUT, 1),
    {"max_pool1d", resample, "max_pool2d_with_indices", 2, 4,
     MSIM_OPMAP_COMPOSITE, POOL_INDICES},
    I("max_pool2d_with_indices", POOL_INDICES, 4),
    I("max_pool2d_with_indices_backward", TO_INPUT, 1),
    I("max_pool3d_with_indices", POOL_INDICES, 8),
    I("max_pool3d_with_indices_backward", TO_INPUT, 1),
    R("mkldnn_max_pool2d", POOL, 4),
    R("reflection_pad1d", PADDING, 1),
    R("reflection_pad1d_backward", TO_INPUT, 1),
    R("reflection_pad2d", PADDING, 1),
    R("reflection_pad2d_backward", TO_INPUT, 1),
    R("replication_pad1d", PADDING, 1),
    R("replication_pad2d", PADDING, 1),
    R("replication_pad2d_backward", TO_INPUT, 1),
    R("upsample_bicubic2d", TO_SIZE, 40),
    R("upsample_bicubic2d_backward", TO_INPUT_SIZE, 40),
    R("upsample_bilinear2d", TO_SIZE, 12),
    R("upsample_bilinear2d_backward", TO_INPUT_SIZE, 12),
    R("upsample_linear1d", TO_SIZE, 4),
    R("upsample_linear1d_backward", TO_INPUT_SIZE, 4),
    R("upsample_nearest1d", TO_SIZE, 1),
    R("upsample_nearest1d_backward", TO_INPUT_SIZE, 1),
    R("upsample_nearest2d", TO_SIZE, 1),
    R("upsample_nearest2d_backward", TO_INPUT_SIZE, 1),
    R("upsample_nearest3d", TO_SIZE, 1),
    R("upsample_nearest3d_backward", TO_INPUT_SIZE, 1),
    R("upsample_trilinear3d", TO_SIZE, 24),
    R("upsample_trilinear3d_backward", TO_INPUT_SIZE, 24),
};

const struct msim_opmap_table msim_opmap_resample = {rows, sizeof(rows) /
                                                               sizeof(rows[0])};
