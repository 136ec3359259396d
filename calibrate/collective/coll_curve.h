/*
 * calibrate/collective/coll_curve.h - a fit of collectives as curves over
 * sizes.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_CURVE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_CURVE_H
#include "calibrate/collective/coll_interval.h"

/*
 * Fill the fit `f` of group `group`, which block `b` owns and whose scores are
 * there: a curve for each collective and number of ranks that the group has,
 * inferred ones for others, the factors of versions and dtypes, range and
 * errors. `misses` has MSIM_COLL_HOLDOUTS elements; intervals come from them.
 * The curves are f's, also on failure.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_curves_make(struct msim_coll_fit_result *f,
                                       struct msim_coll_block *b,
                                       struct msim_coll_misses *misses,
                                       uint32_t group);

#endif
