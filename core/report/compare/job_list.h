/*
 * core/report/compare/job_list.h - a table of jobs: its first rows as text, a
 * line a job, of what is predicted beside what was measured; all as CSV.
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
/* How many rows of `n` the list has left out, and how many are `predicted`; why
 * the first of the others is not. */
void msim_job_list_end(FILE *out, uint64_t predicted, uint64_t n,
                       const char *why);

/* What a table of jobs gets as CSV, behind its own columns. */
struct msim_job_answer {
    double ms, low_ms, high_ms; /* a step, and its 90 % interval */
    double gib;                 /* at the peak; NAN: not known */
    const char *fits;           /* word; NULL: not known */
    const char *uses_rows;      /* "1": of a job that a fit has seen */
    const char *defaults;       /* what was assumed */
    const char *reason;         /* with one, what is above is left empty; "" */
};
void msim_job_answer_head(FILE *out);
void msim_job_answer_csv(FILE *out, const struct msim_job_answer *a);

#endif
