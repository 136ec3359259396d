/*
 * core/work/rules/opmap_resample.c - pooling, interpolation, padding, Fourier
 * transforms: pointwise in what they cost, but the result is of another size
 * than the input.
 */
#include "core/work/rules/opmap_vector.h"

#include <math.h>

enum {
    POOL,          /* input, kernel, stride, padding */
    POOL_INDICES,  /* the same, and an index for every result */
    TO_SIZE,       /* input, size of the result's last dimensions */
    GRID,          /* input, grid with a pair (or triple) of positions each */
    TO_INPUT,      /* backward: gradient, input */
    TO_INPUT_SIZE, /* backward: gradient, its size, sizes of the input */
    ADAPTIVE,      /* as TO_SIZE; windows that cover the input */
    BLENDED,       /* as TO_SIZE; a thread for each place of the result */
    FRACTIONAL,    /* input, kernel, size of the result; an index for each */
    UNPOOL,        /* input, indices, size of the result */
    UNFOLD,        /* each input as often as a window has it */
    FOLD,          /* input, size of the result, kernel */
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
    case ADAPTIVE:
    case BLENDED:
    case FOLD:
        return resized(c, 1, x);
    case FRACTIONAL:
    case UNPOOL:
        return resized(c, 2, x);
    case UNFOLD:
        return x->elems * window(c, 1, x);
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

/* Corners of the cell that a result lies in: of a grid with pairs or triples.
 */
#define CORNERS_2D 4
#define CORNERS_3D 8

/* Inputs that the results take together, where a kernel loads each for itself;
 * 0: as many as there are. */
static double taps(const struct msim_opmap_ctx *c, uint8_t kind,
                   const struct msim_operand *x, double elems)
{
    switch (kind) {
    case POOL:
    case POOL_INDICES:
    case FRACTIONAL:
        return elems * window(c, 1, x);
    case ADAPTIVE:
        return x->elems;
    case UNFOLD:
        return elems;
    case FOLD:
        return x->elems;
    case GRID:
        return elems * (x->rank > 4 ? CORNERS_3D : CORNERS_2D);
    default:
        return 0;
    }
}

/*
 * Weighted neighbours of a map in its usual order: a thread takes a place of
 * the result in all maps of all samples, one after the other, and what it
 * writes may be what it reads next (UpSampleBilinear2d.cu,
 * UpSampleBicubic2d.cu, UpSampleLinear1d.cu, UpSampleTrilinear3d.cu in
 * aten/src/ATen/native/cuda). Channels last have a thread for each element.
 */
static void blend(const struct msim_operand *x, double elems,
                  struct msim_work *w)
{
    double maps =
        (double)msim_operand_dim(x, 0) * (double)msim_operand_dim(x, 1);

    if (x->layout == MSIM_LAYOUT_TURNED || !(maps >= 1))
        return;
    w->u.vector.turns = maps;
    w->u.vector.threads = elems / maps;
}

static bool resample(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool kept = row->arg == POOL_INDICES || row->arg == FRACTIONAL;
    bool indices = kept || row->inputs == 2;
    struct msim_operand x, out;
    struct msim_work *w;
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
    if (kept)
        w->bytes_written += small * msim_dtype_bytes(MSIM_DT_I64);
    else if (indices)
        w->bytes_read += small * msim_dtype_bytes(MSIM_DT_I64);
    msim_opmap_set_rows(w, 1, elems > x.elems ? elems : x.elems);
    w->flops = (double)w->u.vector.elems * (row->flops ? row->flops : 1);
    w->u.vector.taps = taps(c, row->arg, &x, elems);
    if (row->arg == TO_INPUT && row->inputs == 2 && window(c, 2, &x) > 1)
        w->u.vector.taps = x.elems * window(c, 2, &x);
    if (row->arg == BLENDED)
        blend(&x, elems, w);
    return true;
}

/* ---- Fourier transforms ------------------------------------------------- */

/* Lengths that one kernel transforms within shared memory; longer ones take a
 * pass over memory for each such factor (Tolmachev, "VkFFT - a performant,
 * cross-platform and open-source GPU FFT library", IEEE Access 2023: 4,096
 * complex numbers in single precision; cuFFT's passes are alike). */
#define FFT_AT_ONCE 4096.0

/* (input, dimensions, ...): every dimension is a pass at least, each of which
 * reads and writes complex numbers: 5 n log2(n) FLOPs. */
static bool fourier(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    double passes = 0, steps = 0, most;
    int64_t dims[8];
    uint32_t n = msim_opmap_ints(c, 1, dims, 8);
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x) || n == 0)
        return false;
    if (!msim_opmap_output(c, 0, &out))
        out = x;
    for (uint32_t j = 0; j < n; j++) {
        double a = (double)msim_operand_dim(&x, (int)dims[j]);
        double b = (double)msim_operand_dim(&out, (int)dims[j]);
        double length = fmax(fmax(a, b), 2);

        passes += ceil(log2(length) / log2(FFT_AT_ONCE));
        steps += log2(length);
    }
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, MSIM_DT_F32,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    most = fmax(x.bytes, out.bytes);
    msim_opmap_set_rows(w, 1, fmax(x.elems, out.elems));
    w->flops = 5 * fmax(x.elems, out.elems) * steps;
    w->bytes_read = x.bytes + (passes - 1) * most;
    w->bytes_written = out.bytes + (passes - 1) * most;
    w->kernels = (uint32_t)passes;
    return true;
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
    R("_adaptive_avg_pool2d", ADAPTIVE, 1),
    R("_adaptive_avg_pool2d_backward", TO_INPUT, 1),
    R("_adaptive_avg_pool3d", ADAPTIVE, 1),
    R("_adaptive_avg_pool3d_backward", TO_INPUT, 1),
    {"_fft_c2c", fourier, "fft", 0, 0, 0, 0},
    {"_fft_c2r", fourier, "fft", 0, 0, 0, 0},
    {"_fft_r2c", fourier, "fft", 0, 0, 0, 0},
    R("_upsample_bicubic2d_aa", TO_SIZE, 40),
    R("_upsample_bicubic2d_aa_backward", TO_INPUT_SIZE, 40),
    R("_upsample_bilinear2d_aa", TO_SIZE, 12),
    R("_upsample_bilinear2d_aa_backward", TO_INPUT_SIZE, 12),
    R("_upsample_nearest_exact1d", TO_SIZE, 1),
    R("_upsample_nearest_exact1d_backward", TO_INPUT_SIZE, 1),
    R("_upsample_nearest_exact2d", TO_SIZE, 1),
    R("_upsample_nearest_exact2d_backward", TO_INPUT_SIZE, 1),
    R("_upsample_nearest_exact3d", TO_SIZE, 1),
    R("_upsample_nearest_exact3d_backward", TO_INPUT_SIZE, 1),
    R("adaptive_max_pool2d", ADAPTIVE, 1),
    I("adaptive_max_pool2d_backward", TO_INPUT, 1),
    R("adaptive_max_pool3d", ADAPTIVE, 1),
    I("adaptive_max_pool3d_backward", TO_INPUT, 1),
    R("avg_pool2d", POOL, 4),
    R("avg_pool2d_backward", TO_INPUT, 4),
    R("avg_pool3d", POOL, 8),
    R("avg_pool3d_backward", TO_INPUT, 8),
    R("col2im", FOLD, 1),
    R("fractional_max_pool2d", FRACTIONAL, 4),
    I("fractional_max_pool2d_backward", TO_INPUT, 1),
    R("fractional_max_pool3d", FRACTIONAL, 8),
    I("fractional_max_pool3d_backward", TO_INPUT, 1),
    R("grid_sampler_2d", GRID, 12),
    R("grid_sampler_2d_backward", TO_INPUT, 12),
    R("grid_sampler_3d", GRID, 24),
    R("grid_sampler_3d_backward", TO_INPUT, 24),
    R("im2col", UNFOLD, 1),
    {"max_pool1d", resample, "max_pool2d_with_indices", 2, 4,
     MSIM_OPMAP_COMPOSITE, POOL_INDICES},
    I("max_pool2d_with_indices", POOL_INDICES, 4),
    I("max_pool2d_with_indices_backward", TO_INPUT, 1),
    I("max_pool3d_with_indices", POOL_INDICES, 8),
    I("max_pool3d_with_indices_backward", TO_INPUT, 1),
    I("max_unpool2d", UNPOOL, 1),
    I("max_unpool3d", UNPOOL, 1),
    R("mkldnn_max_pool2d", POOL, 4),
    R("reflection_pad1d", PADDING, 1),
    R("reflection_pad1d_backward", TO_INPUT, 1),
    R("reflection_pad2d", PADDING, 1),
    R("reflection_pad2d_backward", TO_INPUT, 1),
    R("reflection_pad3d", PADDING, 1),
    R("reflection_pad3d_backward", TO_INPUT, 1),
    R("replication_pad1d", PADDING, 1),
    R("replication_pad1d_backward", TO_INPUT, 1),
    R("replication_pad2d", PADDING, 1),
    R("replication_pad2d_backward", TO_INPUT, 1),
    R("replication_pad3d", PADDING, 1),
    R("replication_pad3d_backward", TO_INPUT, 1),
    R("upsample_bicubic2d", BLENDED, 40),
    R("upsample_bicubic2d_backward", TO_INPUT_SIZE, 40),
    R("upsample_bilinear2d", BLENDED, 12),
    R("upsample_bilinear2d_backward", TO_INPUT_SIZE, 12),
    R("upsample_linear1d", BLENDED, 4),
    R("upsample_linear1d_backward", TO_INPUT_SIZE, 4),
    R("upsample_nearest1d", TO_SIZE, 1),
    R("upsample_nearest1d_backward", TO_INPUT_SIZE, 1),
    R("upsample_nearest2d", TO_SIZE, 1),
    R("upsample_nearest2d_backward", TO_INPUT_SIZE, 1),
    R("upsample_nearest3d", TO_SIZE, 1),
    R("upsample_nearest3d_backward", TO_INPUT_SIZE, 1),
    R("upsample_trilinear3d", BLENDED, 24),
    R("upsample_trilinear3d_backward", TO_INPUT_SIZE, 24),
};

const struct msim_opmap_table msim_opmap_resample = {rows, sizeof(rows) /
                                                               sizeof(rows[0])};
