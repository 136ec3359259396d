/*
 * calibrate/fit/kriging_fit.h - corrections by rows nearby
 * (models/platform/kriging.h).
 *
 * Kriging of log(measured / law) with a covariance of 1 between a row and
 * itself and some noise. How much noise, and how far features reach, is what
 * lets groups of rows be told best by the others. Rows that the smooth surface
 * misses by far get more noise (Huber's weights): they are outliers, or what no
 * smooth surface can follow.
 */
#ifndef MSIM_CALIBRATE_FIT_KRIGING_FIT_H
#define MSIM_CALIBRATE_FIT_KRIGING_FIT_H
#include "models/platform/kriging.h"

/* Cells with fewer rows than this are better off with rows nearby than with
 * trees. */
#define MSIM_KRIGING_ROWS 500

/* Whether it is known which features of the law reach how far. */
bool msim_kriging_suits(const struct msim_law *law);

/*
 * Fit to `n` rows, sorted by `group`: row-major features `x` of the law, and
 * answers `y`. On success `*out` is the "nearby" object of a platform file,
 * owned by the caller; on failure NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_kriging_fit(cJSON **out, const struct msim_law *law,
                                  const double *x, const double *y,
                                  const uint64_t *group, uint32_t n);

#endif
