/*
 * calibrate/collective/coll_interval.h - 90 % intervals of collectives from the
 * misses of held-out rows.
 *
 * The Gaussian process expects a deviation of each prediction. How many such
 * deviations wide an interval must be is seen by held-out rows: their misses
 * over their deviations, weighed by how much they are like the point, have a 90
 * % quantile (weighted split conformal prediction: Tibshirani et al., 2019). A
 * held-out GPU or cluster is one observation, of which there are few; there the
 * interval is that of the process itself.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_INTERVAL_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_INTERVAL_H
#include "calibrate/collective/coll_block.h"

/* The miss of one held-out row. */
struct msim_coll_miss {
    double size; /* |log(measured / predicted)| over the expected deviation */
    double log_log_sd; /* logarithm of that deviation */
    double weight;     /* the rows of one group together have 1 */
    uint32_t target;
};

/* Those of all rows of a block that are held out in one way, smallest first. */
struct msim_coll_misses {
    enum msim_coll_holdout what;
    struct msim_coll_miss *list;
    double *weights; /* room for those of one point */
    uint32_t n;
};
void msim_coll_misses_release(struct msim_coll_misses *m);
/* Smallest first. */
void msim_coll_misses_sort(struct msim_coll_misses *m);

/*
 * The expected deviation of log(measured / predicted): that of the process,
 * and a part of the change of the curve around the point, from log(us) at the
 * size below to log(us) at the size above. A curve changes fast where one
 * protocol replaces another, and where exactly it does is not known.
 */
double msim_coll_deviation(const struct msim_coll_weights *weights,
                           double variance, double change);

/*
 * Half of the 90 % interval of log(measured / predicted) at point `p`, where
 * the deviation `log_sd` is expected. With `held_out`, the misses of what was
 * held out with `p` do not count. Uses m->weights: not for several threads.
 */
double msim_coll_half_width(const struct msim_coll_block *b,
                            struct msim_coll_misses *m,
                            const struct msim_coll_point *p, double log_sd,
                            bool held_out);

#endif
