/*
 * core/report/compare/job_list.h - the first rows of a table of jobs, as text:
 * a line a job, of what is predicted beside what was measured.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_JOB_LIST_H
#define MSIM_CORE_REPORT_COMPARE_JOB_LIST_H
#include <stdint.h>
#include <stdio.h>

#define MSIM_JOB_LIST_ROWS 20 /* what fits on a screen */

struct msim_listed_job {
    const char *job;    /* which model, how many GPUs, how */
    const char *reason; /* why there is no prediction; "" */
    double measured_ms; /* a step; 0: not measured */
    double us, low_us, high_us;
    double gib;       /* at the peak; 0 or NAN: not known */
    const char *fits; /* word, NULL: not known */
};

/* The heading of a list. */
void msim_job_list_begin(FILE *out);
/* Row `number` of the table, from 1; nothing beyond the first rows. */
void msim_job_list_add(FILE *out, uint64_t number,
                       const struct msim_listed_job *line);
/* How many rows of `n` the list has left out. */
void msim_job_list_end(FILE *out, uint64_t n);

#endif
