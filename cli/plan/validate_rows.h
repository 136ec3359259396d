/*
 * cli/plan/validate_rows.h - `validate --rows`: predictions of a table of jobs
 * beside what was measured.
 */
#ifndef MSIM_CLI_PLAN_VALIDATE_ROWS_H
#define MSIM_CLI_PLAN_VALIDATE_ROWS_H
#include "core/base/status.h"

#include <stdbool.h>

/* Print the report of the table `rows`; members as in struct
 * msim_job_report_options. */
MSIM_MUST_CHECK
enum msim_status msim_validate_rows(const char *rows, const char *platform,
                                    const char *without, bool csv,
                                    struct msim_error *err);

#endif
