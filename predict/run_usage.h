/*
 * predict/run_usage.h - what every GPU of a run does over time.
 */
#ifndef MSIM_PREDICT_RUN_USAGE_H
#define MSIM_PREDICT_RUN_USAGE_H
#include "core/report/analyse/outcome.h"
#include "predict/target.h"

/* Fill in `p->usage` of the outcome over one iteration (or UINT32_MAX: all):
 * core/report/usage/usage.h. Works are made again, since a basis keeps none. */
MSIM_MUST_CHECK
enum msim_status
msim_run_usage(struct msim_prediction *p, const struct msim_outcome *o,
               uint32_t iteration, const struct msim_predict_settings *s,
               const struct msim_inputs *in, const struct msim_target *to,
               struct msim_error *err);

#endif
