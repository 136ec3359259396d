/*
 * models/law/scatter_law.c - cuDNN's data gradient by
 * CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 (a matrix product whose sums are atomic
 * additions), MIOpen's by product and Col2Im3dU (src/solver/gemm_bwd.cpp).
 *
 * Both write every product of an element and a filter tap, read it, and read
 * and write the sum: 16 bytes of fp32. Where memory is fast the additions
 * themselves set the pace. From Hopper on (compute capability 9.0) an
 * instruction adds up to four values (PTX ISA, red.global with .v2 and .v4 of
 * f32), and the product need not be stored.
 */
#include "models/law/scatter_law.h"

#include <math.h>

#define TYPICAL_HZ 1.5e9

/*
 * Bytes of an addition, and cycles of an SM. Seen in KernelBench's transposed
 * convolutions of strides 2 and 3 with few channels or in groups, 2-D and 3-D:
 * 3.2 cycles on A100, 3.4 on MI250 (all 3-D ones), 3.5 on RTX A6000, 3.8 on A10
 * and T4, where memory takes as long; by vectors 1.0 on H100, 0.9 on H100 PCIe,
 * 1.4 on B200.
 */
static const struct pace {
    double bytes, cycles;
} SINGLE = {16, 3.4}, VECTORS = {8, 1.2};

/* Multiplications for one of the channels that are summed over. */
static double a_tap(const struct msim_work *w)
{
    double depth = w->u.conv.transposed ? fmax((double)w->u.conv.depth, 1) : 1;
    struct msim_conv_shape c;

    msim_conv_shape_of(w, &c);
    return w->flops / 2 / (c.k / depth);
}

double msim_scatter_us(const struct msim_data_sheet *s,
                       const struct msim_work *w, bool vectors)
{
    const struct pace *pace = vectors ? &VECTORS : &SINGLE;
    double hz = s->clock_hz > 0 ? s->clock_hz : TYPICAL_HZ;

    return a_tap(w) * 1e6 *
           fmax(pace->bytes / s->bandwidth, pace->cycles / (s->sms * hz));
}

/* A column element is read from the image, written, and read by the product.
 * Seen on MI250: 12.5 bytes for filters of 3 x 3 x 3 and 3 x 5 x 7. */
#define COLUMN_BYTES 12.0

double msim_columns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    return a_tap(w) * COLUMN_BYTES * 1e6 / s->bandwidth;
}
