/*
 * cli/plan/validate_rows.c - tables of jobs.
 */
#include "cli/plan/validate_rows.h"

#include "cli/cmd.h"
#include "plan/rows/job_rows.h"

enum msim_status msim_validate_rows(const struct msim_validate_rows *v,
                                    struct msim_error *err)
{
    char data[1024];
    struct msim_job_report_options o = {.data_dir = data,
                                        .platform = v->platform,
                                        .without = v->without,
                                        .csv = v->csv,
                                        .would_fit = v->would_fit,
                                        .simulate = v->simulate,
                                        .wish = v->wish};

    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    return msim_job_report(&o, v->rows, stdout, err);
}
