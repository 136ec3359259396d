/*
 * calibrate/collective/coll_fit.h - fitting all collectives together.
 *
 * Whole numbers of ranks are missing for one GPU or another, so that each is
 * learned from the same GPU's other numbers, from its other collectives and
 * from its kin: by a Gaussian process over the points of all GPUs
 * (kriging_solve.h), with covariances from coll_covariance.h. What comes out is
 * a curve for every number of ranks, measured or inferred, with its spread.
 *
 * It is judged three ways: with whole numbers of ranks held back, with sizes
 * held back at known numbers of ranks (both of one GPU, all stacks together),
 * between nodes with the whole cluster, and inside with the whole GPU held
 * back.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#include "calibrate/collective/coll_points.h"
#include "calibrate/fit/fit_one.h"

enum msim_coll_held_back {
    MSIM_COLL_RANKS,
    MSIM_COLL_SIZES,
    MSIM_COLL_CLUSTER,
    MSIM_COLL_GPU,
    MSIM_COLL_HELD_BACK
};

/* How one cell does on rows held back in one way; rows 0: not judged so. */
struct msim_coll_score {
    uint32_t rows, groups;
    struct msim_error_summary error;
    double coverage, width, score; /* as in msim_fit_one */
};

struct msim_coll_fit_result {
    struct msim_fit_result fit; /* of rank counts held back; its curves owned */
    struct msim_coll_score verdicts[MSIM_COLL_HELD_BACK];
};

struct msim_coll_fits {
    struct msim_coll_points points;
    struct msim_coll_fit_result *fits; /* as points.cells */
    /* As points.targets. */
    struct msim_held_out_row *held[MSIM_COLL_HELD_BACK];
};

/* Fit the collectives of `samples` (sorted). On success release it. */
MSIM_MUST_CHECK
enum msim_status msim_coll_fit(struct msim_coll_fits *out,
                               const struct msim_samples *samples,
                               const cJSON *sheets, const char *sheet_file,
                               struct msim_error *err);
void msim_coll_fits_release(struct msim_coll_fits *f);

/* The index of the cell that begins with row `first`, or UINT32_MAX. */
uint32_t msim_coll_fits_find(const struct msim_coll_fits *f,
                             const struct msim_sample *first);

#endif
