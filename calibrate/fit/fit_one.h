/*
 * calibrate/fit/fit_one.h - fitting one cell: the constants of its law, the
 * trees of its correction, and what rows that were held back say of both.
 *
 * The constants minimise the mean of |log(measured / law)| by the Nelder-Mead
 * simplex (GSL), which needs no derivatives of a law with ceilings in it. Trees
 * (XGBoost), or kriging where rows are few, then learn log(measured / law).
 * Both are done five times more with a fifth of the groups held back; errors
 * and intervals come from those.
 */
#ifndef MSIM_CALIBRATE_FIT_FIT_ONE_H
#define MSIM_CALIBRATE_FIT_FIT_ONE_H
#include "calibrate/fit/law_fit.h"
#include "calibrate/rows/held_out_rows.h"
#include "models/platform/fit.h"

#define MSIM_FOLDS 5

/* |predicted / measured - 1| over rows. */
struct msim_error_summary {
    double mean, median, p90, worst;
};

struct msim_fit_result {
    struct msim_law_constants constants;
    cJSON *forest;  /* owned; NULL where there are too few rows */
    cJSON *kriging; /* owned; in its place where there are few */
    double range_low[MSIM_LAW_FEATURES], range_high[MSIM_LAW_FEATURES];
    struct msim_fit_bin bins[MSIM_FIT_BINS];
    uint32_t n_bins, rows, groups;
    uint32_t models; /* as in msim_sample */
    struct msim_error_summary fitted, law_held_out, held_out;
    /* Of 90 % intervals made without the fold that they are judged on: share
     * of rows inside, and the mean of high / low. */
    double coverage, width;
    /* Their mean interval score (Gneiting and Raftery, 2007: width and 20
     * times what is outside, over the measured time), over the mean error. */
    double score;
    struct msim_curves curves;      /* of collectives; owned */
    struct msim_held_out_row *held; /* of each row, in their order; owned */
};

/*
 * Fit the `n` rows of one cell, sorted by group, with their `spec` set. On
 * success `out` must be released; on failure it holds nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_one(struct msim_fit_result *out,
                              const struct msim_sample *rows, uint32_t n);
void msim_fit_result_release(struct msim_fit_result *f);

#endif
