/*
 * calibrate/boost.h - growing the trees of models/forest.h.
 *
 * Gradient boosting on the squared error of log(measured / law), as in
 * Friedman, "Greedy function approximation" (2001), with the errors of
 * outliers clipped (his section 4.4), histograms over at most 64 bins a
 * feature, and trees grown leaf by leaf where the gain is largest. Nothing is
 * drawn at random: the same rows give the same trees.
 */
#ifndef MSIM_CALIBRATE_BOOST_H
#define MSIM_CALIBRATE_BOOST_H
#include "models/forest.h"

struct msim_boost_options {
    uint32_t trees, leaves;
    double rate;    /* share of each tree's answer that is added */
    double penalty; /* rows' worth of zeros in every leaf */
    uint32_t least; /* rows in a leaf */
    double clip;    /* largest error that counts */
};

/*
 * Fit to `n` rows of `features` columns (row-major `x`) and answers `y`. On
 * success `*out` is the "forest" object of a platform file, owned by the
 * caller; on failure NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_boost_fit(cJSON **out, const double *x, const double *y,
                                uint32_t n, uint32_t features,
                                const struct msim_boost_options *options);

#endif
