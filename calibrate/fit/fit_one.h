/*
 * calibrate/fit/fit_one.h - the fit of one GPU, stack and kind: the constants
 * of its law, its correction, and their errors on held-out rows.
 *
 * The constants minimise the mean of |log(measured / law)| by the Nelder-Mead
 * simplex (GSL), which needs no derivatives: laws have ceilings in them. Trees
 * (XGBoost), or kriging where rows are few, then learn log(measured / law).
 * Errors and intervals come from five more fits, each with a fifth of the
 * groups held out (cross-validation).
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
    uint32_t models; /* as in struct msim_sample */
    struct msim_error_summary fitted, law_held_out, held_out;
    /* Of 90 % intervals made without the fold that they are scored on: share
     * of rows inside, and the mean of high / low. */
    double coverage, width;
    /* Their mean interval score over the mean error. The score is the width
     * plus 20 times what a row is outside, over the measured time (Gneiting
     * and Raftery, 2007, section 6.2). */
    double score;
    struct msim_curves curves; /* of collectives; owned */
    struct msim_held_out_row
        *held; /* one for each row, in their order; owned */
};

/*
 * Fit the `n` rows of one GPU, stack and kind, sorted by group, with their
 * `sheet` set. On success release `out`; on failure it holds nothing. ENOMEM,
 * or EINTERNAL where a numerical library refuses.
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_one(struct msim_fit_result *out,
                              const struct msim_sample *rows, uint32_t n);
void msim_fit_result_release(struct msim_fit_result *f);

#endif
