/*
 * calibrate/coll_judge.h - how good predictions of collectives are that were
 * made without the rows they are judged by.
 */
#ifndef MSIM_CALIBRATE_COLL_JUDGE_H
#define MSIM_CALIBRATE_COLL_JUDGE_H
#include "calibrate/coll_block.h"

/* Three octaves each; the first and the last are open. */
uint32_t msim_coll_bin(double bytes);

/*
 * The deviation of log(measured / predicted): what the process says, and,
 * where a curve changes by `change` (a logarithm) from the point below to the
 * one above, because a protocol gives way to another, a part of that.
 */
double msim_coll_deviation(double variance, double change);

/*
 * Judge the cells that block `b` owns by points `held` back: fills their
 * verdicts and widths in `f`. The interval of a row is judged by what other
 * numbers of ranks say of its width, those of the same GPU first of all.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_judge(struct msim_coll_fits *f,
                                 const struct msim_coll_block *b,
                                 enum msim_coll_held_back what,
                                 const struct msim_coll_held *held);

#endif
