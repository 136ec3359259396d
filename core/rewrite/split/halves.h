/*
 * core/rewrite/split/halves.h - which operators of a backward pass are for
 * gradients of what layers are given, and which for those of weights alone.
 *
 *     MmBackward: mm (for the layer before)   inputs
 *                 mm (the weight's gradient)  weights
 *     AccumulateGrad                          weights
 *
 * What a gradient of weights is cast or copied from is for weights, too; what
 * it is a product or a sum of is a gradient of inputs, also where the first
 * layer has nobody to give that to.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_HALVES_H
#define MSIM_CORE_REWRITE_SPLIT_HALVES_H
#include "core/rewrite/weave/weave.h"

#define MSIM_HALF_INPUTS  1
#define MSIM_HALF_WEIGHTS 2
#define MSIM_HALF_BOTH    3

/* By operator, of which half it is: of both where those below it are. All that
 * is not backward is of both. `half` has room for all. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_halves_find(const struct msim_weave *w, uint8_t *half);

#endif
