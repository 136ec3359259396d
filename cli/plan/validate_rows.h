/*
 * cli/plan/validate_rows.h - `validate --rows`: predictions of a table of jobs
 * beside what was measured.
 */
#ifndef MSIM_CLI_PLAN_VALIDATE_ROWS_H
#define MSIM_CLI_PLAN_VALIDATE_ROWS_H
#include "core/report/compare/compare.h"

/* What the options of `validate` say of a table; members as in struct
 * msim_job_report_options. */
struct msim_validate_rows {
    const char *rows, *platform, *without;
    bool csv, would_fit, simulate;
    struct msim_judged_wish wish;
};

/* Print the report of the table `rows`. */
MSIM_MUST_CHECK
enum msim_status msim_validate_rows(const struct msim_validate_rows *v,
                                    struct msim_error *err);

#endif
