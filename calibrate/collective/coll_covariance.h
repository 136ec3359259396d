/*
 * calibrate/collective/coll_covariance.h - the covariance of two points of
 * collectives.
 *
 * A time is a start plus a transfer, t = s + w. Small changes of either add up
 * as d log t = (s / t) d log s + (w / t) d log w: a start that is known
 * predicts other starts, and no large transfer. The covariance is a sum of
 * components. Each component is a product of
 *
 *   regime   both points' shares in it (enum msim_coll_regime);
 *   size     a function of the octaves between the sizes;
 *   ranks    a function of the octaves between the numbers of ranks and nodes,
 *            or a trend, linear in the octaves of ranks;
 *   factors  one for each attribute in which the points differ: GPU,
 *            generation, source, stack, way of launching, collective.
 *
 * Each component is a valid covariance, and so is their sum. The constants are
 * data (coll_constants.h), a set for each fabric.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_COVARIANCE_H
#include "calibrate/collective/coll_constants.h"
#include "calibrate/collective/coll_points.h"

enum msim_coll_fabric msim_coll_fabric_of(const struct msim_coll_point *p);

/* Covariance of log(time / typical time) of two points of the fabric that has
 * the constants `process`, without noise. `a` and `b` need not be of `all`, but
 * their GPUs and groups are. */
double msim_coll_covariance(const struct msim_coll_process *process,
                            const struct msim_coll_points *all,
                            const struct msim_coll_point *a,
                            const struct msim_coll_point *b);

/* Variance of a point that no other point explains. */
double msim_coll_noise(const struct msim_coll_process *process);

#endif
