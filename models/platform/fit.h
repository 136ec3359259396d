/*
 * models/platform/fit.h - the constants of one law for one stack on one GPU, as
 * a platform file holds them, and the prediction made from them.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_H
#define MSIM_MODELS_PLATFORM_FIT_H
#include "core/work/estimate.h"
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

/* A cell and how far it is from what was asked for. */
struct msim_pick {
    const struct msim_fit *fit;
    const struct msim_platform *platform; /* whose cell it is; NULL: the law
                                             is common to all */
    bool other_key;                       /* another dtype or kind stands in */
    bool other_framework; /* the stack that was asked for has no rows */
    bool bare;            /* leave the source's launch gap out */
    bool trees;           /* correct by the cell's trees or rows */
    double variance;      /* further doubt: of the logarithm */
};

/*
 * The cell of law `law` with least doubt for framework `framework` (NULL or
 * "pytorch": the bare kernel, preferring the stacks of `prefer`, ended by NULL)
 * among `keys` (ended by NULL, best first): `p`'s own, those of platforms that
 * stand in for it, and laws common to all GPUs. Doubt comes from another GPU,
 * another stack and another key; of equal ones the earlier key, platform and
 * stack win. False where there is none.
 */
bool msim_fit_pick(const struct msim_platform *p, const struct msim_law *law,
                   const char *framework, const char *const *prefer,
                   const char *const *keys, struct msim_pick *out);

/* What tells an operation from the one that the cell was fitted on. */
struct msim_adjust {
    double factor;   /* times as long; 1: the same operation */
    double least_us; /* constant part at least; 0: the cell's own */
    double spread;   /* more doubt: a standard deviation of the logarithm */
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

MSIM_MUST_CHECK
enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               const char *file, struct msim_error *err);
void msim_fit_release(struct msim_fit *c);

#endif
