/*
 * predict/rows/trace_report.h - predictions of a table of jobs from the trace
 * of one, row by row, and how far they are from what was measured.
 */
#ifndef MSIM_PREDICT_ROWS_TRACE_REPORT_H
#define MSIM_PREDICT_ROWS_TRACE_REPORT_H
#include "core/report/compare/compare.h"
#include "predict/rows/trace_rows.h"

/*
 * Write rows that were predicted (msim_scenarios_run()), then do what is wished
 * of those that were measured; ECHECK past a limit, or where no row has a
 * prediction. As CSV: every row, in order, its columns kept, with predicted_ms,
 * low_ms, high_ms   one optimizer step, a 90 % interval predicted_memory_gib
 * the peak of the rank fits yes, no; edge: the GPU's memory lies inside the
 * interval of the peak uses_rows 0: no row of a job entered a fit defaults what
 * was assumed reason       why there is no prediction; then the figures are
 * empty guards       what cannot be, as words (core/guard/guard.h) Else as
 * text: errors by the way to train.
 */
MSIM_MUST_CHECK
enum msim_status msim_trace_rows_report(const struct msim_trace_rows *t,
                                        bool csv,
                                        const struct msim_judged_wish *wish,
                                        FILE *out, struct msim_error *err);

#endif
