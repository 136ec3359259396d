/*
 * calibrate/stat/boost.h - growing the trees of models/platform/forest.h with
 * XGBoost.
 *
 * Gradient boosting on the pseudo-Huber loss of log(measured / law), with
 * histograms over at most 64 bins a feature, and trees grown leaf by leaf where
 * the gain is largest. One thread, and nothing is drawn at random: the same
 * rows give the same trees.
 */
#ifndef MSIM_CALIBRATE_STAT_BOOST_H
#define MSIM_CALIBRATE_STAT_BOOST_H
#include "models/platform/forest.h"

struct msim_boost_options {
    uint32_t trees, leaves;
    uint32_t depth; /* splits from root to leaf at most; 0: as many as leaves
                       allow */
    bool weighted;  /* take the loss as squares of errors r with weights
                       1 / sqrt(1 + (r / clip)^2), whose gradient it shares and
                       whose curvature never vanishes, rather than by its own
                       second derivative */
    double rate;    /* share of each tree's answer that is added */
    double penalty; /* rows' worth of zeros in every leaf */
    uint32_t least; /* rows in a leaf; those with large errors count less */
    double clip;    /* errors above it pull hardly more than it */
};

/*
 * Fit to `n` rows of `features` columns (row-major `x`) and answers `y`. On
 * success `*out` is the "forest" object of a platform file, owned by the
 * caller, and `sums`, unless NULL, holds for each row the sum of XGBoost's own
 * trees, whose leaves are not yet rounded. On failure NULL: ENOMEM, or
 * EINTERNAL where XGBoost refuses (values that are not finite).
 */
MSIM_MUST_CHECK
enum msim_status msim_boost_fit(cJSON **out, const double *x, const double *y,
                                uint32_t n, uint32_t features,
                                const struct msim_boost_options *options,
                                double *sums);

#endif
