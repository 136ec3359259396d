/*
 * core/work/conv_shape.h - a convolution as the products that it is made of.
 *
 * A transposed convolution is the data gradient of a plain one, and the other
 * way round, so that three passes of plain ones are all there is.
 */
#ifndef MSIM_CORE_WORK_CONV_SHAPE_H
#define MSIM_CORE_WORK_CONV_SHAPE_H
#include "core/work/work.h"

/* Sizes of a plain convolution, channels a group. */
struct msim_conv_shape {
    enum msim_conv_pass pass;
    double n, c, h, w, k, p, q, r, s;
    double stride_h, stride_w, groups;
};

/* `batch` products of (m x k)(k x n): doubles, as they are only counted. */
struct msim_conv_product {
    double m, n, k, batch;
};

/* That of the plain convolution. */
enum msim_conv_pass msim_conv_pass_of(const struct msim_work *w);

/* All sizes are at least 1. */
void msim_conv_shape_of(const struct msim_work *w, struct msim_conv_shape *s);

/*
 * The product of a pass (Chetlur et al., "cuDNN: Efficient Primitives for Deep
 * Learning", 2014):
 *   forward          m = n p q   n = k       k = c r s
 *   data gradient    m = n h w   n = c       k = k r s / stride^2
 *   weight gradient  m = k       n = c r s   k = n p q
 */
void msim_conv_product_of(const struct msim_conv_shape *s,
                          struct msim_conv_product *out);

#endif
