/*
 * predict/scenario/scenario_inputs.h - the traces of a scenario that trains in
 * another way: those of the job, first with other sizes, then rewritten.
 *
 * Where the job has GPU times, its traces are the source of corrections, as
 * with --source-trace: what is rewritten has none of its own.
 */
#ifndef MSIM_PREDICT_SCENARIO_SCENARIO_INPUTS_H
#define MSIM_PREDICT_SCENARIO_SCENARIO_INPUTS_H
#include "predict/pipeline.h"

struct msim_scenario_inputs {
    struct msim_inputs in; /* job and traces are its own, all else is the
                              base's */
    struct msim_job job;
    struct msim_origin origin;
    struct msim_predict_settings settings; /* what is left to be done */
};

/* `in` must live as long. Release in any case. EUSAGE where a trace cannot be
 * changed so; ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_scenario_inputs_new(struct msim_scenario_inputs *out,
                                          const struct msim_inputs *in,
                                          const struct msim_predict_settings *s,
                                          struct msim_error *err);
void msim_scenario_inputs_release(struct msim_scenario_inputs *x);

#endif
