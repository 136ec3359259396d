/*
 * calibrate/collective/coll_variant.h - what versions of a library and dtypes
 * add.
 *
 * Points are means over them. Within a cell, the same version and dtype are
 * faster or slower by about the same factor at sizes within four octaves: the
 * mean over rows, drawn a little towards 1.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_VARIANT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_VARIANT_H
#include "calibrate/collective/coll_fit.h"

/*
 * The logarithm of the factor for `target`, by rows that are not in its group:
 * what is held back is not looked at. With held_out MSIM_COLL_HELD_BACK by
 * all rows. 0 between nodes, where logs are told apart otherwise.
 */
double msim_coll_variant_log(const struct msim_coll_points *p, uint32_t target,
                             enum msim_coll_held_back held_out);

/* Fill the variants of a cell's curves. */
MSIM_MUST_CHECK
enum msim_status msim_coll_variants_make(struct msim_curves *to,
                                         const struct msim_coll_points *p,
                                         uint32_t fit);

#endif
