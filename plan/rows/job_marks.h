/*
 * plan/rows/job_marks.h - rows of a table that cannot be as predicted.
 *
 * A row is written once it was held against others (core/guard/guard.h): those
 * of its block, and the last one of the block before, since rows of a sweep
 * stand together.
 */
#ifndef MSIM_PLAN_ROWS_JOB_MARKS_H
#define MSIM_PLAN_ROWS_JOB_MARKS_H
#include "core/guard/guard.h"
#include "plan/rows/job_rows.h"
#include "plan/step/step_law.h"

#include <stdio.h>

struct msim_job_marks {
    struct msim_guard_count count; /* of all rows that were predicted */
    FILE *out;                     /* where rows go; NULL: they are counted */
    struct msim_job_marked {
        char *text; /* owned, without the end of the line; NULL: none */
        struct msim_strategy strategy;
        uint64_t rest;
        double us;
        msim_guard_marks marks;
        bool predicted, measured;
    } * rows;           /* owned; the first is that of the block before */
    uint32_t n, before; /* rows; those that are written: none or one */
};

/* Add a row; `priced` is NULL where it was not predicted. `text` is taken
 * over. */
MSIM_MUST_CHECK
enum msim_status msim_job_marks_add(struct msim_job_marks *m, char *text,
                                    const struct msim_job_row *row,
                                    const struct msim_job_priced *priced,
                                    const struct msim_step_estimate *e);

/* Write what waits, each with its marks as a last cell. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_job_marks_flush(struct msim_job_marks *m);
void msim_job_marks_release(struct msim_job_marks *m);

#endif
