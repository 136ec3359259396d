/*
 * models/platform/fit.h - a fit: the constants of one law for one stack on one
 * GPU and the correction of that law, as a platform file holds them.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_H
#define MSIM_MODELS_PLATFORM_FIT_H
#include "models/law/law.h"
#include "models/platform/curve.h"
#include "models/platform/forest.h"
#include "models/platform/kriging.h"

#include <stdio.h>

struct msim_platform; /* models/platform/platform.h */

#define MSIM_FIT_BINS 4
#define MSIM_FIT_KEY  72

/* 5 % and 95 % points of log(measured / predicted) on rows that the fit did
 * not see, for predictions up to `upto_us`; over their doubt, where rows
 * nearby correct the law. */
struct msim_fit_bin {
    double upto_us, low, high;
};

struct msim_fit {
    const struct msim_law *law;
    char framework[24], key[MSIM_FIT_KEY];
    double params[MSIM_LAW_PARAMS];
    struct msim_gap gap; /* of the source */
    struct msim_forest forest;
    struct msim_kriging kriging; /* where rows are few, in its place */
    struct msim_curves curves;   /* of collectives */
    double range_low[MSIM_LAW_FEATURES], range_high[MSIM_LAW_FEATURES];
    struct msim_fit_bin bins[MSIM_FIT_BINS];
    uint32_t n_bins, rows;
    uint32_t models; /* that the rows are of, where they are one or two; else
                        0: whole ones were held back */
    char table[48];  /* `gpu` of the rows */
    double error, heldout; /* mean |predicted / measured - 1| */
};

MSIM_MUST_CHECK
enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               const char *file, struct msim_error *err);
void msim_fit_release(struct msim_fit *c);

#endif
