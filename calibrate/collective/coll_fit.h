/*
 * calibrate/collective/coll_fit.h - a fit of all collectives of all GPUs
 * together.
 *
 * No GPU is measured at every number of ranks. What is missing is learned from
 * the same GPU's other numbers of ranks and other collectives, and from other
 * GPUs of its generation: by a Gaussian process over the points of all GPUs
 * (kriging_solve.h) with the covariances of coll_covariance.h. The result is a
 * curve with its interval for every number of ranks, measured or inferred.
 */
#ifndef MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#define MSIM_CALIBRATE_COLLECTIVE_COLL_FIT_H
#include "calibrate/collective/coll_constants.h"
#include "calibrate/collective/coll_result.h"

/*
 * Gather the points of all collectives in `samples` (sorted) whose GPU is in
 * `sheets`, the array of data sheets, with room for their fits; nothing is
 * fitted yet. `samples` and `sheets` must outlive `out`. On success release it.
 */
MSIM_MUST_CHECK
enum msim_status msim_coll_fits_init(struct msim_coll_fits *out,
                                     const struct msim_samples *samples,
                                     const cJSON *sheets,
                                     const char *sheet_file,
                                     struct msim_error *err);
void msim_coll_fits_release(struct msim_coll_fits *f);

/* The same, fitted with `constants`, which may be NULL where `samples` holds no
 * collectives; EUNKNOWN where it does. On success release it. */
MSIM_MUST_CHECK
enum msim_status msim_coll_fit(struct msim_coll_fits *out,
                               const struct msim_samples *samples,
                               const struct msim_coll_constants *constants,
                               const cJSON *sheets, const char *sheet_file,
                               struct msim_error *err);

/* Whether groups of fabric `f` are scored with `what` held out. */
bool msim_coll_is_scored(enum msim_coll_fabric f, enum msim_coll_holdout what);

/* The index of the group that begins with row `first`, or UINT32_MAX. */
uint32_t msim_coll_fits_find(const struct msim_coll_fits *f,
                             const struct msim_sample *first);

#endif
