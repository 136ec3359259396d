/*
 * models/platform/fit.h - a fit: the constants of one law for one stack on one
 * GPU and the correction of that law, as a platform file holds them.
 */
#ifndef MSIM_MODELS_PLATFORM_FIT_H
#define MSIM_MODELS_PLATFORM_FIT_H
#include "models/forest/forest.h"
#include "models/law/law.h"
#include "models/platform/curve.h"
#include "models/platform/kriging.h"

#include <stdio.h>

struct msim_platform; /* models/platform/platform.h */

#define MSIM_FIT_BINS 4
#define MSIM_FIT_KEY  72 /* bytes of a key at most */

/* 5 % and 95 % points of log(measured / predicted) on held-out rows, for
 * predictions up to `upto_us`. Where kriging corrects the law, both are over
 * the sd_ratio of its answer (models/platform/kriging.h). */
struct msim_fit_bin {
    double upto_us, low, high;
};

struct msim_fit {
    const struct msim_law *law;
    char framework[24], key[MSIM_FIT_KEY];
    double params[MSIM_LAW_PARAMS];
    struct msim_gap gap; /* of the measurements */
    struct msim_forest forest;
    struct msim_kriging kriging; /* instead of a forest, where rows are few */
    struct msim_curves curves;   /* of collectives */
    /* of the first msim_law.n_sizes features, on rows fitted on */
    double range_low[MSIM_LAW_FEATURES], range_high[MSIM_LAW_FEATURES];
    struct msim_fit_bin bins[MSIM_FIT_BINS];
    uint32_t n_bins, rows;
    uint32_t models;     /* in the rows, where these are one or two; else 0, and
                            the held-out rows were whole models */
    char table[48];      /* the column `gpu` of the rows */
    uint32_t over_nodes; /* 1 + the next fit of the platform's collectives over
                            nodes, whatever links join them; 0: none */
    double error, heldout; /* mean |predicted / measured - 1| */
};

/* What becomes of a fit's trees, which take most of the time to read. */
enum msim_fit_trees {
    MSIM_TREES_LEFT, /* it has none */
    MSIM_TREES_READ,
    MSIM_TREES_LATER, /* read when they are needed: texts of `json` stay, and
                         were looked at before */
};

/*
 * Read a fit of a platform file, or of a file of shared laws. EFORMAT, naming
 * `file`, where it is not valid; on failure `c` is empty. Release with
 * msim_fit_release().
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_read(struct msim_fit *c, const cJSON *json,
                               enum msim_fit_trees trees, const char *file,
                               struct msim_error *err);
void msim_fit_release(struct msim_fit *c);

#endif
