/*
 * calibrate/rows/held_out_rows.h - predictions of held-out rows, one by one.
 *
 * These are the figures behind every mean of the report, for charts:
 * `msim-fit --rows`.
 */
#ifndef MSIM_CALIBRATE_ROWS_HELD_OUT_ROWS_H
#define MSIM_CALIBRATE_ROWS_HELD_OUT_ROWS_H
#include "calibrate/rows/samples.h"
#include "core/base/files.h"

/* A row's prediction by a fit without its group; predicted_us 0: none. */
struct msim_held_out_row {
    double measured_us, predicted_us;
    double low_us, high_us; /* 90 % interval, by residuals of other groups */
    uint32_t fold;
};

/* `low` and `high` are logarithms, relative to the prediction. */
struct msim_held_out_row msim_held_out_row_of(double measured_us,
                                              double predicted_us, double low,
                                              double high, uint32_t fold);

/* The header line of the table, and the line of row `s` of a platform, which is
 * scored as one of `family`; no line where nothing was predicted. */
MSIM_MUST_CHECK
enum msim_status msim_held_out_header_write(struct msim_file *out);
MSIM_MUST_CHECK
enum msim_status msim_held_out_row_write(struct msim_file *out,
                                         const char *platform,
                                         const char *family,
                                         const struct msim_sample *s,
                                         const struct msim_held_out_row *h);

#endif
