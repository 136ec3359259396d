/*
 * calibrate/collective/coll_variant.h - factors of library versions and dtypes.
 *
 * A point is a mean over versions and dtypes. Within a group, one version and
 * dtype is faster or slower by about the same factor at sizes of one bin of
 * four octaves (msim_variant_bin()): the mean of its rows' residuals, shrunk a
 * little towards a factor of 1.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_VARIANT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_VARIANT_H
#include "calibrate/collective/coll_result.h"

/*
 * The logarithm of the factor for `target`, by rows that are not held out
 * together with it; MSIM_COLL_HOLDOUTS holds none out. 0 between nodes, where
 * logs differ by more than their version.
 */
double msim_coll_variant_log(const struct msim_coll_points *p, uint32_t target,
                             enum msim_coll_holdout held_out);

/* Fill the variants of the curves of `group`; they are the curves', also on
 * failure. */
MSIM_MUST_CHECK
enum msim_status msim_coll_variants_make(struct msim_curves *to,
                                         const struct msim_coll_points *p,
                                         uint32_t group);

#endif
