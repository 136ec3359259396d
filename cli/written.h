/*
 * cli/written.h - what is known of a job whose traces `synth` wrote, for the
 * verbs that predict from traces.
 */
#ifndef MSIM_CLI_WRITTEN_H
#define MSIM_CLI_WRITTEN_H
#include "plan/written/written_job.h"

/* msim_written_job_let_know() from the program's data folder. */
MSIM_MUST_CHECK
enum msim_status msim_written_settings(struct msim_written_job *job,
                                       struct msim_predict_settings *s,
                                       struct msim_error *err);

#endif
