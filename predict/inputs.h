/*
 * predict/inputs.h - the traces of a prediction, loaded once for any number of
 * targets and runs.
 */
#ifndef MSIM_PREDICT_INPUTS_H
#define MSIM_PREDICT_INPUTS_H
#include "core/work/opmap/ops_file.h"
#include "predict/settings.h"

struct msim_inputs {
    struct msim_job *job;        /* NULL: not loaded */
    struct msim_job *source_job; /* of settings.source_trace, or NULL */
    struct msim_ops *ops[2];     /* of settings.ops, for both; or NULL */
};

/*
 * Load the traces, and the user's table of operators for them. On failure `err`
 * says which file and why. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_inputs_load(struct msim_inputs *in,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err);
void msim_inputs_release(struct msim_inputs *in);

#endif
