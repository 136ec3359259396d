/*
 * models/platform/fit_estimate.h - the estimate that a picked fit makes of a
 * work.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_ESTIMATE_H
#define MSIM_MODELS_PLATFORM_FIT_ESTIMATE_H
#include "core/work/estimate.h"
#include "models/platform/fit_index.h"

/* What tells an operation from the one that the cell was fitted on. */
struct msim_adjust {
    double factor;   /* times as long; 1: the same operation */
    double least_us; /* constant part at least; 0: the cell's own */
    double log_sd;   /* standard deviation of the logarithm of `factor` */
};

/* The estimate from a picked cell on the GPU of `p`; `adjust` may be NULL. */
void msim_fit_estimate(const struct msim_platform *p,
                       const struct msim_pick *pick, const struct msim_work *w,
                       const struct msim_adjust *adjust,
                       struct msim_estimate *out);

/* For --explain: the cell, its constants, its rows and its errors. */
void msim_fit_explain(const struct msim_platform *p,
                      const struct msim_pick *pick, const struct msim_work *w,
                      FILE *out);

#endif
