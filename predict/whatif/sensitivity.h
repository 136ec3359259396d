/*
 * predict/whatif/sensitivity.h - what bounds a job: how much shorter its period
 * would be if kernels, communication, copies or the host took half the time.
 *
 * Each is one more run over the same graph, as `--scale SELECT=0.5` would make
 * it. What brings nothing does not bound the job, however busy it is; what
 * brings half of the period bounds it alone.
 */
#ifndef MSIM_PREDICT_WHATIF_SENSITIVITY_H
#define MSIM_PREDICT_WHATIF_SENSITIVITY_H
#include "predict/pipeline.h"

/* Fill in `sensitivity` and `verdict` of the run's prediction. Kinds of work
 * that the job does not have get no row. */
MSIM_MUST_CHECK
enum msim_status msim_sensitivity_find(struct msim_prediction_run *run,
                                       struct msim_error *err);

#endif
