/*
 * calibrate/collective/coll_result.h - what a fit of collectives results in:
 * curves, and scores on held-out rows.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_RESULT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_RESULT_H
#include "calibrate/collective/coll_points.h"
#include "calibrate/fit/fit_one.h"

/*
 * What is held out as a whole. A number of ranks and a size are held out of one
 * GPU, for all stacks together. A cluster exists between nodes only, and a GPU
 * is held out inside a node only.
 */
enum msim_coll_holdout {
    MSIM_COLL_HOLD_OUT_RANKS,
    MSIM_COLL_HOLD_OUT_SIZES,
    MSIM_COLL_HOLD_OUT_CLUSTER,
    MSIM_COLL_HOLD_OUT_GPU,
    MSIM_COLL_HOLDOUTS
};

/* The errors of one group's predictions on rows that were held out in one way.
 * rows 0: the group is not scored in this way. */
struct msim_coll_score {
    uint32_t rows;
    uint32_t groups; /* collectives and numbers of ranks that the group has */
    struct msim_error_summary error;
    double coverage, width, score; /* as in msim_fit_result */
};

struct msim_coll_fit_result {
    struct msim_fit_result fit; /* scored by held-out ranks; owns its curves */
    struct msim_coll_score scores[MSIM_COLL_HOLDOUTS];
};

/* Release it with msim_coll_fits_release() (coll_fit.h). */
struct msim_coll_fits {
    struct msim_coll_points points;
    struct msim_coll_fit_result *fits; /* one for each of points.groups */
    /* Predictions of points.targets, one array for each way; zeros where a
     * target was not held out. */
    struct msim_held_out_row *held_out[MSIM_COLL_HOLDOUTS];
};

#endif
