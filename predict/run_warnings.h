/*
 * predict/run_warnings.h - what a prediction's figures rest on that its reader
 * should know: whose times they are, at which clock, on which ranks, and what
 * makes the traces doubtful.
 */
#ifndef MSIM_PREDICT_RUN_WARNINGS_H
#define MSIM_PREDICT_RUN_WARNINGS_H
#include "core/report/analyse/prediction.h"
#include "predict/cost.h"
#include "predict/target.h"

/* Add the warnings of a prediction over `g` to the job of the inputs. */
void msim_run_warnings_add(const struct msim_predict_settings *s,
                           const struct msim_inputs *in,
                           const struct msim_target *to,
                           const struct msim_graph *g);

/* Say which types the platform lacks and how their works are priced. */
void msim_warn_emulated(struct msim_job *job, const struct msim_platform *p,
                        const struct msim_costs *c);

/*
 * What a prediction keeps (core/guard/guard.h): its marks, and warnings of them
 * in `job`, unless that is NULL. An MFU above 1 is left out; it is a mark
 * unless convolutions explain it.
 */
void msim_run_guard(struct msim_job *job, const struct msim_graph *g,
                    const struct msim_costs *c, struct msim_prediction *p);

/* Add one for each operator whose estimate could not be true, the first
 * MSIM_COST_BOUNDED_MAX of them. */
void msim_run_warnings_bounded(struct msim_job *job,
                               const struct msim_costs *c);

#endif
