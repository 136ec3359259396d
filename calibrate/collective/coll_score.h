/*
 * calibrate/collective/coll_score.h - how good predictions and intervals of
 * held-out collectives are.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_SCORE_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_SCORE_H
#include "calibrate/collective/coll_interval.h"

/*
 * Score the groups that block `b` owns by `held`, the predictions of all points
 * with `what` held out (msim_coll_block_hold_out()). Fills f->fits[].scores and
 * f->held_out, and `misses`, which the caller releases in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_evaluate(struct msim_coll_fits *f,
                                    const struct msim_coll_block *b,
                                    enum msim_coll_holdout what,
                                    const struct msim_coll_prediction *held,
                                    struct msim_coll_misses *misses);

#endif
