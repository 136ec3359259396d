/*
 * calibrate/collective/coll_likelihood.h - the covariance's constants of
 * greatest likelihood.
 *
 * The likelihood of all points of a block under a covariance (Rasmussen and
 * Williams, 2006, section 5.4.1) is maximised one component after the other,
 * each with the noise, by the Nelder-Mead simplex (GSL): a dozen constants at a
 * time are few enough for it, and a matrix of the other components is computed
 * once. Points that are far off keep the extra noise that the block gave them.
 * Errors on held-out rows are not looked at.
 *
 * One evaluation factorises an n x n matrix: seconds for the thousands of
 * points of switched links.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_LIKELIHOOD_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_LIKELIHOOD_H
#include "calibrate/collective/coll_block.h"

/* The logarithm of the likelihood of block `b` under the covariance `p`. The
 * block has members. */
MSIM_MUST_CHECK
enum msim_status msim_coll_log_likelihood(double *out,
                                          const struct msim_coll_block *b,
                                          const struct msim_coll_process *p);

/*
 * Move the constants of component `component` of `p`, and its noise, to greater
 * likelihood by at most `iterations` steps of the simplex; `out` becomes the
 * log-likelihood, never below that of `p` as it was. A constant that no two
 * points differ in keeps its value.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_likelihood_climb(double *out,
                                            const struct msim_coll_block *b,
                                            struct msim_coll_process *p,
                                            uint32_t component,
                                            uint32_t iterations);

#endif
