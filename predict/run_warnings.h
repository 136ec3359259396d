/*
 * predict/run_warnings.h - what a prediction's figures rest on that its reader
 * should know: whose times they are, at which clock, on which ranks, and what
 * makes the traces doubtful.
 */
#ifndef MSIM_PREDICT_RUN_WARNINGS_H
#define MSIM_PREDICT_RUN_WARNINGS_H
#include "predict/target.h"

/* Add the warnings of a prediction over `g` to the job of the inputs. */
void msim_run_warnings_add(const struct msim_predict_settings *s,
                           const struct msim_inputs *in,
                           const struct msim_target *to,
                           const struct msim_graph *g);

#endif
