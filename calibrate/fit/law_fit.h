/*
 * calibrate/fit/law_fit.h - the fit of one GPU, stack and kind of work:
 * constants, correction, held-out errors; and how it is written.
 */
#ifndef MSIM_CALIBRATE_FIT_LAW_FIT_H
#define MSIM_CALIBRATE_FIT_LAW_FIT_H
#include "calibrate/rows/samples.h"
#include "models/platform/fit.h"

#include <stdio.h>

/* ---- law fit ------------------------------------------------------------- */
/* The constants of a law from measured rows. */

struct msim_law_constants {
    double params[MSIM_LAW_PARAMS];
    struct msim_gap gap; /* of the source */
};

/* The time in us that the source of row `r` measures, by a law with constants
 * `c`: kernel and launch gap. */
double msim_law_measured(const struct msim_law_constants *c,
                         const struct msim_sample *r);

/*
 * Find the constants that minimise the mean of |log(measured / law)| over the
 * rows whose `fold` is not `held_out` (below 0: over all). About a thousand
 * rows, spread evenly, are looked at: a handful of constants needs no more.
 * With `has_gap` the source's launch gap is one of the constants. A launch gap,
 * also one that rows bring along, hides the constant part of the kernel: that
 * is then the GPU's shortest kernel. EINTERNAL where no row is left.
 */
MSIM_MUST_CHECK
enum msim_status msim_law_fit(struct msim_law_constants *out,
                              const struct msim_law *law,
                              const struct msim_sample *rows,
                              const uint8_t *fold, uint32_t n, int held_out,
                              bool has_gap);

/* ---- fit one ------------------------------------------------------------- */
/*
 * The fit of one GPU, stack and kind: the constants of its law, its correction,
 * and their errors on held-out rows.
 *
 * The constants minimise the mean of |log(measured / law)| by the Nelder-Mead
 * simplex (GSL), which needs no derivatives: laws have ceilings in them. Trees
 * (XGBoost), or kriging where rows are few, then learn log(measured / law).
 * Errors and intervals come from five more fits, each with a fifth of the
 * groups held out (cross-validation).
 */

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

/* ---- fit write ----------------------------------------------------------- */
/* A fit as JSON and as a line of the report. */

/* Add a number of six significant digits: more than a fit is good for. */
void msim_number_add(cJSON *o, const char *key, double v);

/* Append the fit of row `r`'s GPU, stack and kind to the array `fits`. */
MSIM_MUST_CHECK
enum msim_status msim_fit_write(cJSON *fits, const struct msim_sample *r,
                                const struct msim_fit_result *f);

/* The same with another text for its member "how". */
MSIM_MUST_CHECK
enum msim_status msim_fit_write_as(cJSON *fits, const struct msim_sample *r,
                                   const struct msim_fit_result *f,
                                   const char *how);

/* The header of the report, and one line of it. */
extern const char MSIM_FIT_REPORT_HEADER[];
void msim_fit_report(FILE *out, const char *platform, const char *family,
                     const struct msim_sample *r,
                     const struct msim_fit_result *f);

/* ---- conv ratio ---------------------------------------------------------- */
/*
 * Times of a convolution's backward passes over that of its forward pass, from
 * rows of the same shape.
 */

struct msim_conv_ratio {
    double median, p10, p90;
    uint32_t pairs;
};

struct msim_conv_ratios {
    /* Data gradients of strided convolutions, and all weight gradients; of
     * shapes with full tiles, where nothing but the pass differs. */
    struct msim_conv_ratio strided_data, weight;
};

/* Ratios are 1 where there are no pairs. */
void msim_conv_ratios_make(struct msim_conv_ratios *out,
                           const struct msim_samples *s);

#endif
