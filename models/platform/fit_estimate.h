/*
 * models/platform/fit_estimate.h - the estimate that a picked fit makes of a
 * work.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_ESTIMATE_H
#define MSIM_MODELS_PLATFORM_FIT_ESTIMATE_H
#include "core/work/estimate.h"
#include "models/platform/fit_index.h"

/* How an operation differs from the one that the fit is of. */
struct msim_adjust {
    double factor;   /* its time over that of the fit's operation */
    double least_us; /* least constant part; 0: that of the fit */
    double log_sd;   /* standard deviation of the logarithm of `factor` */
};

/* The estimate of work `w` from a picked fit on the GPU of `p`; `adjust` may be
 * NULL: the same operation. */
void msim_fit_estimate(const struct msim_platform *p,
                       const struct msim_pick *pick, const struct msim_work *w,
                       const struct msim_adjust *adjust,
                       struct msim_estimate *out);

/* The time alone of that estimate, microseconds, without `adjust`. */
double msim_fit_us(const struct msim_platform *p, const struct msim_pick *pick,
                   const struct msim_work *w);

/* For --explain: write the fit, its constants, its rows and its errors. */
void msim_fit_explain(const struct msim_platform *p,
                      const struct msim_pick *pick, const struct msim_work *w,
                      FILE *out);

#endif
