/*
 * replay/run/step_ops.h - the operators of one step, in the order in which they
 * began, whatever their threads.
 */
#ifndef MSIM_REPLAY_RUN_STEP_OPS_H
#define MSIM_REPLAY_RUN_STEP_OPS_H
#include "core/base/vec.h"
#include "core/trace/choice.h"

/*
 * The operators of `step` (of trace->steps, or NONE: the whole trace) that are
 * in the choice: themselves, or through an operator around them whose name is
 * wanted. `ops` gets their indices as uint32_t. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_ops(struct msim_vec *ops, const struct msim_trace *t,
                               uint32_t step, const struct msim_choice *choice);

#endif
