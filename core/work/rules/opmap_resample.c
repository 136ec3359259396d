/*
 * core/work/rules/opmap_resample.c - pooling, interpolation, padding, Fourier
 * transforms: pointwise in what they cost, but the result is of another size
 * than the input.
 */
#include "core/work/kernel_fact.h"
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <math.h>

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
    case MSIM_ARGS_RESAMPLE_POOL:
    case MSIM_ARGS_RESAMPLE_POOL_INDICES:
        return pooled(c, x);
    case MSIM_ARGS_RESAMPLE_TO_SIZE:
    case MSIM_ARGS_RESAMPLE_ADAPTIVE:
    case MSIM_ARGS_RESAMPLE_BLENDED:
    case MSIM_ARGS_RESAMPLE_FOLD:
        return resized(c, 1, x);
    case MSIM_ARGS_RESAMPLE_FRACTIONAL:
    case MSIM_ARGS_RESAMPLE_UNPOOL:
        return resized(c, 2, x);
    case MSIM_ARGS_RESAMPLE_UNFOLD:
        return x->elems * window(c, 1, x);
    case MSIM_ARGS_RESAMPLE_PADDING:
        return padded(c, x);
    case MSIM_ARGS_RESAMPLE_GRID:
        return msim_opmap_tensor(c, 1, &other) ? on_grid(x, &other) : x->elems;
    case MSIM_ARGS_RESAMPLE_TO_INPUT:
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
    case MSIM_ARGS_RESAMPLE_POOL:
    case MSIM_ARGS_RESAMPLE_POOL_INDICES:
    case MSIM_ARGS_RESAMPLE_FRACTIONAL:
        return elems * window(c, 1, x);
    case MSIM_ARGS_RESAMPLE_ADAPTIVE:
        return x->elems;
    case MSIM_ARGS_RESAMPLE_UNFOLD:
        return elems;
    case MSIM_ARGS_RESAMPLE_FOLD:
        return x->elems;
    case MSIM_ARGS_RESAMPLE_GRID:
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

bool msim_rule_resample(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    bool kept = row->arg == MSIM_ARGS_RESAMPLE_POOL_INDICES ||
                row->arg == MSIM_ARGS_RESAMPLE_FRACTIONAL;
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
    w->flops =
        (double)w->u.vector.elems * (row->flops_each ? row->flops_each : 1);
    w->u.vector.taps = taps(c, row->arg, &x, elems);
    if (row->arg == MSIM_ARGS_RESAMPLE_TO_INPUT && row->inputs == 2 &&
        window(c, 2, &x) > 1)
        w->u.vector.taps = x.elems * window(c, 2, &x);
    if (row->arg == MSIM_ARGS_RESAMPLE_BLENDED)
        blend(&x, elems, w);
    return true;
}

/* ---- Fourier transforms ------------------------------------------------- */

/* (input, dimensions, ...): every dimension is a pass at least, each of which
 * reads and writes complex numbers: 5 n log2(n) FLOPs. */
bool msim_rule_fourier(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
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

        passes += ceil(log2(length) / log2(MSIM_FACT(NULL, FFT_LENGTH)));
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
