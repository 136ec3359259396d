/*
 * models/law/scatter_law.c - cuDNN's data gradient by
 * CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 (a matrix product whose sums are atomic
 * additions), MIOpen's by product and Col2Im3dU (src/solver/gemm_bwd.cpp).
 *
 * Both write every product of an element and a filter tap, read it, and read
 * and write the sum: 16 bytes of fp32. Where memory is fast the additions
 * themselves set the pace.
 */
#include "models/law/scatter_law.h"

#include <math.h>

#define ADDED_BYTES 16.0

/*
 * Cycles of an SM for an addition. Seen in KernelBench's transposed
 * convolutions of strides 2 and 3 with few channels or in groups, 2-D and 3-D:
 * 3.2 on A100, 3.4 on MI250 (all 3-D ones), 3.5 on RTX A6000, 3.8 on A10 and
 * T4, where memory takes as long; 1.4 on B200.
 */
#define ADDED_CYCLES 3.4
#define TYPICAL_HZ   1.5e9

double msim_scatter_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    struct msim_conv_shape c;
    double hz = s->clock_hz > 0 ? s->clock_hz : TYPICAL_HZ;
    double added;

    msim_conv_shape_of(w, &c);
    added = w->flops / 2 / c.k;
    return added * 1e6 *
           fmax(ADDED_BYTES / s->bandwidth, ADDED_CYCLES / (s->sms * hz));
}
