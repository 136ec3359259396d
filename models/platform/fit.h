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
struct msim_fit_left; /* below */

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
    /* Where it is not read yet, and has law, framework, key, rows, over_nodes
     * and maybe bins alone: msim_fit_whole() has the rest; or
     * NULL. */
    struct msim_fit_left *left;
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

/*
 * ---- fits that are left ----------------------------------------------------
 *
 * A run asks for a few of a platform's fits, and those of up to five others
 * stand in. So of files that are as they were shipped, loading looks at what a
 * choice among fits goes by (law, framework, key, rows), and leaves all else as
 * text: constants, ranges, intervals, curves, corrections. Files that users
 * make are read at once, for they may have errors.
 */
struct msim_fits_left; /* opaque: of one platform */

/* For up to `n` fits, with the trees of them that their reading reads, and
 * whether the choice goes by their intervals, too; NULL without memory. Free
 * behind the fits. */
struct msim_fits_left *msim_fits_left_new(uint32_t n, enum msim_fit_trees trees,
                                          bool intervals);
/* Accepts NULL. */
void msim_fits_left_free(struct msim_fits_left *all);

/*
 * Leave the fit of the text that `json` (cJSON_Raw) has, which stays and was
 * looked at before: `c` has what the choice goes by, and nothing else. EFORMAT,
 * naming `file`, where it lacks one of the first three, or an interval is
 * wrong.
 */
MSIM_MUST_CHECK
enum msim_status msim_fit_leave(struct msim_fit *c, struct msim_fits_left *all,
                                const cJSON *json, const char *file,
                                struct msim_error *err);

/* The fit with all that it has: `c` itself, or what its text is read to, by the
 * first thread that asks; `c` owns it. NULL without memory. */
const struct msim_fit *msim_fit_whole(const struct msim_fit *c);

/* The same for good: `c` is the whole fit, for whoever changes it. ENOMEM. Not
 * while another thread asks. */
MSIM_MUST_CHECK
enum msim_status msim_fit_complete(struct msim_fit *c);

#endif
