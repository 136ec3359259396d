/*
 * cli/replay/validate_trace.h - `validate --rows --trace`: a table of jobs,
 * each as changes of one traced step, beside what was measured.
 */
#ifndef MSIM_CLI_REPLAY_VALIDATE_TRACE_H
#define MSIM_CLI_REPLAY_VALIDATE_TRACE_H
#include "cli/plan/validate_rows.h"

/* Print the report of the table of `v`, each row as changes of `trace`. */
MSIM_MUST_CHECK
enum msim_status msim_validate_trace(const struct msim_validate_rows *v,
                                     const char *trace, struct msim_error *err);

#endif
