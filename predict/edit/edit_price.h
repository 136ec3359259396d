/*
 * predict/edit/edit_price.h - what an operator takes that the trace does not
 * have, by the models of the GPU that is predicted for. Private to the room.
 *
 *     {"aten::mm", {[1024, 512], [512, 256]}, bf16}  ->  9 us, 7 to 12
 *
 * Under measured costs that is the GPU that the traces name.
 */
#ifndef MSIM_PREDICT_EDIT_EDIT_PRICE_H
#define MSIM_PREDICT_EDIT_EDIT_PRICE_H
#include "predict/edit/remake.h"

/* The platform of the remake. EUSAGE where nothing names a GPU. */
MSIM_MUST_CHECK
enum msim_status msim_price_platform(struct msim_remake *d,
                                     const struct msim_platform **p);

/* All works of the operator, one after the other. EUSAGE for an operator that
 * is not known, launches nothing, or whose sizes do not fit it. */
MSIM_MUST_CHECK
enum msim_status msim_price_op(struct msim_remake *d,
                               const struct msim_edit_op *op,
                               struct msim_cost_added *cost);

/* A work by itself. */
MSIM_MUST_CHECK
enum msim_status msim_price_work(struct msim_remake *d,
                                 const struct msim_work *w,
                                 struct msim_cost_added *cost);

#endif
