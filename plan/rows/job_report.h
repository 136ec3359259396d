/*
 * plan/rows/job_report.h - predictions of a table of jobs, row by row, and how
 * far they are from what was measured.
 */
#ifndef MSIM_PLAN_ROWS_JOB_REPORT_H
#define MSIM_PLAN_ROWS_JOB_REPORT_H
#include "core/report/compare/compare.h"

#include <stdbool.h>
#include <stdio.h>

struct msim_job_report_options {
    const char *data_dir;
    const char *platform; /* of rows that name none; NULL: such have a reason */
    const char *without;  /* the source whose rows no constant may know; NULL */
    bool csv;             /* else text: errors by source */
    bool would_fit;       /* with a column more */
    bool simulate;        /* with two columns more */
    struct msim_judged_wish wish; /* of measured rows */
};

/*
 * Read the table at `path` and write the report to `out`; ECHECK past a limit,
 * or where no row has a prediction, once all is written.
 *
 * CSV: every row, in order, its columns kept, with
 *   predicted_ms, low_ms, high_ms   one optimizer step, a 90 % interval
 *   predicted_memory_gib  the peak of one rank of the first pipeline stage
 *   fits         yes, no; edge: the GPU's memory lies inside the interval of
 *                the peak
 *   uses_rows    1: rows of its source entered the fit
 *   defaults     what was assumed
 *   reason       why there is no prediction; then the figures are empty
 *   would_fit    if asked for: the smallest changes that would make it fit
 *   simulated_ms, simulated_memory_gib  if asked for: what the graph of the job
 *                takes and holds by itself (plan/simulate/job_graph.h)
 *   guards       what cannot be, as words (core/guard/guard.h)
 * Text: for every source the errors of its measured rows, of steps and of
 * peaks; how many runs and failures were called to fit; how many rows trip
 * guards.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_report(const struct msim_job_report_options *o,
                                 const char *path, FILE *out,
                                 struct msim_error *err);

#endif
