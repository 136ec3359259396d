/*
 * predict/scenario/scenario_same.h - changes that change nothing.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_SAME_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_SAME_H
#include "predict/inputs.h"
#include "predict/scenario/scenario.h"
#include "predict/target.h"

/* What a scenario asks for and is so already is no change, and is dropped: what
 * a job in 16 bits keeps in 32, gradients and states, it keeps on purpose.
 * EUSAGE where the traces say that they cannot be so. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_drop_same(struct msim_scenario_row *row,
                                         const struct msim_inputs *in,
                                         const struct msim_target *to,
                                         struct msim_error *err);

#endif
