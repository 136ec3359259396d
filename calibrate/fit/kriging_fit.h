/*
 * calibrate/fit/kriging_fit.h - corrections by kriging, for fits of few rows
 * (models/platform/fit.h).
 *
 * Kriging of log(measured / law) with variance 1 and some noise. The noise and
 * a factor for all length scales are those with the least error on held-out
 * groups. Rows that the smooth surface misses by far get more noise (Huber's
 * weights): they are outliers, or steps that no smooth surface follows.
 */
#ifndef MSIM_CALIBRATE_FIT_KRIGING_FIT_H
#define MSIM_CALIBRATE_FIT_KRIGING_FIT_H
#include "models/platform/fit.h"

/* With fewer rows than this, kriging has smaller errors on held-out rows than
 * trees. */
#define MSIM_KRIGING_ROWS 500

/* Whether the features of the law have length scales. */
bool msim_kriging_suits(const struct msim_law *law);

/*
 * Fit to `n` rows, sorted by `group`: row-major features `x` of the law, and
 * answers `y`. On success `*out` is the "nearby" object of a platform file,
 * owned by the caller; on failure NULL: ENOMEM or EINTERNAL.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_fit(cJSON **out, const struct msim_law *law,
                                  const double *x, const double *y,
                                  const uint64_t *group, uint32_t n);

#endif
