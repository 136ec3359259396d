/*
 * calibrate/rows/held_out_rows.h - what was predicted of rows that were held
 * back.
 *
 * The figures behind every mean of the report, row by row, for charts and for
 * whoever wants to look closer: `msim-fit --rows`.
 */
#ifndef MSIM_CALIBRATE_ROWS_HELD_OUT_ROWS_H
#define MSIM_CALIBRATE_ROWS_HELD_OUT_ROWS_H
#include "calibrate/rows/samples.h"
#include "core/base/write_file.h"

/* One row's prediction without its group; predicted_us 0: there is none. */
struct msim_held_out_row {
    double measured_us, predicted_us;
    double low_us, high_us; /* 90 %, by residuals of other groups */
    uint32_t fold;
};

/* The logarithms `low` and `high` are relative to the prediction. */
struct msim_held_out_row msim_held_out_row_of(double measured_us,
                                              double predicted_us, double low,
                                              double high, uint32_t fold);

/* The header line of the table, and the line of row `s` of a platform, judged
 * under the name `family`; none where nothing was predicted. */
MSIM_MUST_CHECK
enum msim_status msim_held_out_header_write(struct msim_file *out);
MSIM_MUST_CHECK
enum msim_status msim_held_out_row_write(struct msim_file *out,
                                         const char *platform,
                                         const char *family,
                                         const struct msim_sample *s,
                                         const struct msim_held_out_row *h);

#endif
