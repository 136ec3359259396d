/*
 * calibrate/collective/coll_curve.h - what was fitted of collectives, as
 * curves.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_CURVE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_CURVE_H
#include "calibrate/collective/coll_score.h"

/*
 * The curves of cell `cell`, which block `b` owns: of each collective and
 * number of ranks that it has, and of those that it lacks, with intervals by
 * `misses`, as many as ways of holding back. Fills the rest of its fit from the
 * verdicts, too.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_curves_make(struct msim_coll_fit_result *f,
                                       struct msim_coll_block *b,
                                       struct msim_coll_misses *misses,
                                       uint32_t fit);

#endif
