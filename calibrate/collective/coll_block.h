/*
 * calibrate/collective/coll_block.h - points of collectives that are regressed
 * together.
 *
 * One block for each fabric, of NCCL's collectives and stacks' own all-reduces:
 * NCCL takes over from these for large sizes. A point that is off by far from
 * what all others say of it, as runs that something disturbed are, counts the
 * less, the further it is off.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_BLOCK_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_BLOCK_H
#include "calibrate/collective/coll_covariance.h"
#include "calibrate/collective/coll_fit.h"
#include "calibrate/stat/kriging_solve.h"

/* What the others say of a point held back, log(time / typical). */
struct msim_coll_held {
    double mean, variance;
};

struct msim_coll_block {
    enum msim_coll_fabric fabric;
    const struct msim_coll_points *all;
    uint32_t *members; /* points */
    uint32_t n;
    struct msim_kriging_solve process;
    double *noise; /* variance of each member */
    double *k;     /* for one point at a time */
};

/* Whether the block is where point `p` belongs. */
bool msim_coll_block_owns(const struct msim_coll_block *b,
                          const struct msim_coll_point *p);

/* Gather and regress; `b` has its fabric set. A block may be empty. Release it
 * in any case. */
MSIM_MUST_CHECK
enum msim_status msim_coll_block_make(struct msim_coll_block *b,
                                      const struct msim_coll_points *all);
void msim_coll_block_release(struct msim_coll_block *b);

/* For every member, held back with its group: fills
 * `held`, by point. */
MSIM_MUST_CHECK
enum msim_status msim_coll_block_hold_back(const struct msim_coll_block *b,
                                           enum msim_coll_held_back what,
                                           struct msim_coll_held *held);

/* log(time / typical) of any point of the block's kind, and its variance with
 * that of a measurement. */
double msim_coll_block_at(struct msim_coll_block *b,
                          const struct msim_coll_point *p, double *variance);

#endif
