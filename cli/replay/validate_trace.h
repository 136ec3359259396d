/*
 * cli/replay/validate_trace.h - `validate --rows --trace`: a table of jobs,
 * each as changes of one traced step, beside what was measured.
 */
#ifndef MSIM_CLI_REPLAY_VALIDATE_TRACE_H
#define MSIM_CLI_REPLAY_VALIDATE_TRACE_H
#include "core/base/status.h"

#include <stdbool.h>

/* Print the report of the table `rows`; `platform` (may be NULL) is that of
 * rows that name none. */
MSIM_MUST_CHECK
enum msim_status msim_validate_trace(const char *rows, const char *trace,
                                     const char *platform, bool csv,
                                     struct msim_error *err);

#endif
