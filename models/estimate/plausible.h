/*
 * models/estimate/plausible.h - whether an estimate can be true of its work.
 *
 * A law that is asked for sizes that were misread answers all the same. What no
 * kernel can do is bounded instead, and says why (msim_estimate.bounded):
 *
 *   - write, or read without fetching anything twice, more than the device has
 *     memory: of a trace's own kernels. Where somebody asks for such sizes
 *     (msim_work.asked) the time is the law's;
 *   - run below half of its floor: the start of its kernels, its bytes beyond
 *     the cache at peak bandwidth, its FLOPs at the rate that products keep up;
 *   - run above 20 times what its kernels, bytes and FLOPs take on the
 *     multiprocessors that its blocks fill.
 *
 * No estimate is below what the data sheet's peaks allow. Too little memory is
 * a mark (msim_estimate.marks, core/guard/guard.h).
 *
 * None of 15,700 measured rows of five GPUs (every 17th of the tables) has an
 * estimate that these rules bound. They read no time of a trace, and hold
 * for kernels of GPUs: a CPU has other floors, links and networks have none of
 * these, and a user's table knows better.
 */
#ifndef MSIM_MODELS_ESTIMATE_PLAUSIBLE_H
#define MSIM_MODELS_ESTIMATE_PLAUSIBLE_H
#include "core/work/estimate.h"

struct msim_platform; /* models/platform/platform.h */

/* Replace an estimate of `asked` on `p` that cannot be true by a bound, and set
 * its marks. */
void msim_plausible_bound(const struct msim_platform *p,
                          const struct msim_work *asked,
                          struct msim_estimate *e);

#endif
