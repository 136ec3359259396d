/*
 * models/law/scatter_law.h - convolutions by a product and a pass over its
 * larger side, which has an element for each filter tap: data gradients, and
 * with them transposed convolutions, whose products are added up in memory, and
 * forward passes whose image is copied into columns.
 */
#ifndef MSIM_MODELS_LAW_SCATTER_LAW_H
#define MSIM_MODELS_LAW_SCATTER_LAW_H
#include "core/work/data_sheet.h"
#include "core/work/work.h"

/*
 * Microseconds that the additions take. Each element of the gradient is the sum
 * of a product for each tap of the filter that meets it: 27 / 8 of them for a
 * filter of 3 x 3 x 3 and strides of 2. Example: 252 million elements of such a
 * gradient are 850 million additions, which take 20 ms on an RTX A6000.
 */
double msim_scatter_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

/* Microseconds that a forward pass takes to copy the image into columns, for
 * the whole batch (Im2Col). */
double msim_columns_us(const struct msim_data_sheet *s,
                       const struct msim_work *w);

#endif
