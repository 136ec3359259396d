/*
 * models/law/sm_pace.h - kernels of PyTorch whose pace the SMs set, not memory:
 * windows of pooling and depthwise filters, moments of norms, scans, look-ups,
 * operands whose elements are addressed one by one, products of odd sizes.
 */
#ifndef MSIM_MODELS_LAW_SM_PACE_H
#define MSIM_MODELS_LAW_SM_PACE_H
#include "core/work/data_sheet.h"

/* Whether rows do not all begin on 16 bytes, so that loads are of one value. */
bool msim_rows_are_odd(const struct msim_work *w);

/* Microseconds that the SMs compute, or wait for loads that follow each other,
 * whatever memory could deliver; 0: memory alone sets the pace. */
double msim_sm_pace_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* The same for a convolution with a filter for each channel. */
double msim_sm_pace_depthwise_us(const struct msim_data_sheet *s,
                                 const struct msim_work *w);

/* The same by MIOpen's kernel for any convolution in groups. */
double msim_sm_pace_naive_us(const struct msim_data_sheet *s,
                             const struct msim_work *w);

/* The same for a matrix product by tensor cores whose operands' rows do not
 * begin on 16 bytes, so that it loads few elements at once; 0 where they do. */
double msim_sm_pace_product_us(const struct msim_data_sheet *s,
                               const struct msim_work *w);

/* What a matrix product takes beside its multiplications and its loads, where
 * nothing runs beside a tile on its SM: the shortest kernel, and filling and
 * emptying tiles. 0 where others do. */
double msim_sm_pace_tiles_us(const struct msim_data_sheet *s,
                             const struct msim_work *w);

/* Bytes that a softmax reads again: rows that do not fit into the shared memory
 * of an SM are read for the maximum, for the sum and for the result. */
double msim_softmax_again(const struct msim_data_sheet *s,
                          const struct msim_work *w);

/* The same for a kernel at the full rate of memory, whose rows pass by: wide
 * rows of a softmax or of its gradient, and of a layer norm, which reads them
 * for the moments and for the result. 0 for a softmax of rows that stay. */
double msim_rows_again(const struct msim_data_sheet *s,
                       const struct msim_work *w);

#endif
