/*
 * calibrate/stat/boost.h - growing the trees of models/forest/forest.h with
 * XGBoost.
 *
 * Gradient boosting on the pseudo-Huber loss of log(measured / law), or on the
 * logistic loss of what is or is not, with histograms of at most 64 bins a
 * feature. A tree grows leaf by leaf where the gain is largest. One thread
 * grows it and nothing is drawn at random: the same rows give the same trees.
 */
#ifndef MSIM_CALIBRATE_STAT_BOOST_H
#define MSIM_CALIBRATE_STAT_BOOST_H
#include "models/forest/forest.h"

struct msim_boost_options {
    uint32_t trees, leaves;
    uint32_t depth; /* splits from root to leaf at most; 0: no limit but the
                       leaves */
    /* Replace the second derivative of the loss by the weight
     * 1 / sqrt(1 + (r / clip)^2) of error r: the gradient is the same, and the
     * curvature does not vanish for large errors. */
    bool weighted;
    /* The answers are 0 or 1, and the sum of the trees is the log odds of 1,
     * from -8 to 8. */
    bool logistic;
    double rate;    /* share of each tree's answer that is added */
    double penalty; /* rows' worth of zeros in every leaf */
    uint32_t least; /* rows in a leaf; those with large errors count less */
    double clip;    /* the loss of larger errors grows linearly */
    /* Trees after those, grown to what they leave of the first `first` rows
     * alone (0: none are). Where `weighted` or `logistic`. */
    uint32_t more, first;
};

/*
 * Fit to `n` rows of `features` columns (row-major `x`) and answers `y`. On
 * success `*out` is the "forest" object of a platform file, owned by the
 * caller; `sums`, unless NULL, gets the sum of XGBoost's own trees for each
 * row, before leaves are rounded. On failure `*out` is NULL: ENOMEM, or
 * EINTERNAL where XGBoost refuses (values that are not finite).
 */
MSIM_MUST_CHECK
enum msim_status msim_boost_fit(cJSON **out, const double *x, const double *y,
                                uint32_t n, uint32_t features,
                                const struct msim_boost_options *options,
                                double *sums);

#endif
