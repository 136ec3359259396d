/*
 * calibrate/collective/coll_block.h - the points of one fabric, as one Gaussian
 * process.
 *
 * NCCL's collectives and the all-reduces of serving stacks are in one block:
 * for large sizes the stacks use NCCL. A point that is far off what all others
 * predict of it, as a disturbed run is, gets more noise, so that it weighs
 * less, the further it is off.
 *
 * A block has room for one point at a time: it is not for several threads.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_BLOCK_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_BLOCK_H
#include "calibrate/collective/coll_covariance.h"
#include "calibrate/collective/coll_result.h"
#include "calibrate/stat/kriging_solve.h"

/* log(time / typical time) of a point, predicted without the points that are
 * held out with it; the variance is that of a measurement, noise included. */
struct msim_coll_prediction {
    double mean, variance;
};

struct msim_coll_block {
    enum msim_coll_fabric fabric;
    const struct msim_coll_constants *constants;
    const struct msim_coll_points *all;
    uint32_t *members; /* indices of points */
    uint32_t n;        /* of them; may be 0 */
    struct msim_kriging_solve kriging;
    double *noise; /* variance of each member */
    double *k;     /* covariances of one point with the members */
};

/* Whether point `p` is of the block's fabric. */
bool msim_coll_block_owns(const struct msim_coll_block *b,
                          const struct msim_coll_point *p);

/*
 * Gather the points of `all` that are of `fabric` and solve their process. Both
 * `all` and `constants` must outlive the block. Release it in any case.
 * EINTERNAL where the covariances are not positive definite.
 */
MSIM_MUST_CHECK
enum msim_status
msim_coll_block_init(struct msim_coll_block *b, enum msim_coll_fabric fabric,
                     const struct msim_coll_constants *constants,
                     const struct msim_coll_points *all);
void msim_coll_block_release(struct msim_coll_block *b);

/* Predict every member without those that are held out with it. Fills the
 * members' entries of `out`, an array of all points. */
MSIM_MUST_CHECK
enum msim_status msim_coll_block_hold_out(const struct msim_coll_block *b,
                                          enum msim_coll_holdout what,
                                          struct msim_coll_prediction *out);

/* log(time / typical time) of any point of the block's fabric; `variance` gets
 * that of a measurement of it. */
double msim_coll_block_at(struct msim_coll_block *b,
                          const struct msim_coll_point *p, double *variance);

#endif
