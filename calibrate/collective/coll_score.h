/*
 * calibrate/collective/coll_score.h - how good predictions of collectives are
 * that were made without the rows they are judged by.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_SCORE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_SCORE_H
#include "calibrate/collective/coll_block.h"

/* One row's miss over the deviation that was expected. */
struct msim_coll_miss {
    double size;      /* |log(measured / predicted)| over the deviation */
    double deviation; /* its logarithm */
    double weight;    /* one for each cell in all */
    uint32_t target;
};

/* Those of all rows of a block held back in one way, smallest first. */
struct msim_coll_misses {
    enum msim_coll_held_back what;
    struct msim_coll_miss *list;
    double *weights; /* for one point at a time */
    uint32_t n;
};
void msim_coll_misses_release(struct msim_coll_misses *m);

/*
 * The deviation of log(measured / predicted): what the process says, and,
 * where a curve changes by `change` (a logarithm) from the point below to the
 * one above, because a protocol gives way to another, a part of that.
 */
double msim_coll_deviation(double variance, double change);

/*
 * Half of a 90 % interval at point `p`, where this deviation is expected: as
 * many deviations as 90 % of the rows stay below, those of near sizes and
 * deviations, of the same GPU and of the same cell first of all. A whole GPU or
 * cluster that is held back is one thing, of which there are few: the process
 * says more of the next one than these do. With `held_out`, as seen without
 * the group that `p` was held back with.
 */
double msim_coll_half_width(const struct msim_coll_block *b,
                            struct msim_coll_misses *m,
                            const struct msim_coll_point *p, double deviation,
                            bool held_out);

/*
 * Judge the cells that block `b` owns by points `held` back: fills their
 * verdicts in `f`, and `misses`, the caller's to release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_score_all(struct msim_coll_fits *f,
                                     const struct msim_coll_block *b,
                                     enum msim_coll_held_back what,
                                     const struct msim_coll_held *held,
                                     struct msim_coll_misses *misses);

#endif
