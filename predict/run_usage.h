/*
 * predict/run_usage.h - what every GPU of a run does over time.
 */
#ifndef MSIM_PREDICT_RUN_USAGE_H
#define MSIM_PREDICT_RUN_USAGE_H
#include "predict/pipeline.h"

/* Fill in `run->prediction->usage`: core/report/usage/usage.h. Works are made
 * again, since a basis keeps none. */
MSIM_MUST_CHECK
enum msim_status msim_run_usage(struct msim_prediction_run *run,
                                const struct msim_predict_settings *s,
                                const struct msim_inputs *in,
                                const struct msim_target *to,
                                struct msim_error *err);

#endif
