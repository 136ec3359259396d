/*
 * models/law/scatter_law.c - cuDNN's data gradient by
 * CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 (a matrix product whose sums are atomic
 * additions), MIOpen's by product and Col2Im3dU (src/solver/gemm_bwd.cpp).
 *
 * Both write every product of an element and a filter tap, read it, and read
 * and write the sum. Where memory is fast the additions themselves set the
 * pace. From Hopper on an instruction adds up several values, and the product
 * need not be stored.
 */
#include "models/law/law.h"

#include "core/work/kernel_fact.h"

#include <math.h>

/* Multiplications for one of the channels that are summed over. */
static double a_tap(const struct msim_work *w)
{
    double depth = w->u.conv.transposed ? fmax((double)w->u.conv.depth, 1) : 1;
    struct msim_conv_shape c;

    msim_conv_shape_of(w, &c);
    return w->flops / 2 / (c.k / depth);
}

double msim_scatter_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    bool groups = w->u.conv.groups > 1;
    double bytes = groups ? MSIM_FACT(s, SCATTER_GROUPS_BYTES)
                          : MSIM_FACT(s, SCATTER_BYTES);
    double cycles = groups ? MSIM_FACT(s, SCATTER_GROUPS_CYCLES)
                           : MSIM_FACT(s, SCATTER_CYCLES);

    return a_tap(w) * 1e6 *
           fmax(bytes / s->bandwidth, cycles / (s->sms * msim_kernel_hz(s)));
}

double msim_columns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w)
{
    return a_tap(w) * MSIM_FACT(s, COLUMNS_BYTES) * 1e6 / s->bandwidth;
}
