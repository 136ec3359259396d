/*
 * plan/rows/job_list.h - the first rows of a table of jobs, as text: a line a
 * job, of what is predicted beside what was measured.
 */
#ifndef MSIM_PLAN_ROWS_JOB_LIST_H
#define MSIM_PLAN_ROWS_JOB_LIST_H
#include "core/memory/fits.h"
#include "plan/rows/job_rows.h"
#include "plan/step/steps_file.h"

#include <stdio.h>

#define MSIM_JOB_LIST_ROWS 20 /* what fits on a screen */

/* A peak and whether it fits; NAN: not known. */
struct msim_job_list_peak {
    double gib;
    enum msim_fits fits;
};

/* The heading of a list. */
void msim_job_list_begin(FILE *out);

/* Row `number` of the table, on `platform`; a row with a reason has that. */
void msim_job_list_add(FILE *out, uint64_t number, const char *platform,
                       const struct msim_job_row *row,
                       const struct msim_step_estimate *e,
                       const struct msim_job_list_peak *peak);

#endif
