/*
 * calibrate/platform/cross_validate.h - leave-one-GPU-out cross-validation.
 *
 * A GPU is predicted as if nobody had measured it: by its data sheet, the fits
 * of other GPUs of its generation, and the laws shared by all GPUs, fitted
 * without its generation. Its rows then show the error of such a prediction. A
 * whole generation is held out in the same way.
 */
#ifndef MSIM_CALIBRATE_PLATFORM_CROSS_VALIDATE_H
#define MSIM_CALIBRATE_PLATFORM_CROSS_VALIDATE_H
#include "calibrate/platform/shared_laws_fit.h"

enum msim_held_out_kind {
    MSIM_WITHOUT_GPU,        /* other GPUs of its generation stay */
    MSIM_WITHOUT_GENERATION, /* they are held out, too */
};

/*
 * For each law with such rows: the standard deviation of the logarithm that is
 * added to a fit of another GPU, so that 90 % of the rows of held-out GPUs lie
 * inside the interval. They go to `out`, in the place of those that it has.
 * Rows of generation `without` (below 0: none) are not used. `rows` gets the
 * number of rows behind each, with a fit of the same generation and of another;
 * may be NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_cross_validate_sds(const struct msim_shared_fit *k,
                                         int without,
                                         struct msim_shared_laws *out,
                                         uint32_t (*rows)[2]);

/* Write a line of the report for each fit of each held-out GPU. */
extern const char MSIM_CROSS_VALIDATE_HEADER[];
MSIM_MUST_CHECK
enum msim_status msim_cross_validate(const struct msim_shared_fit *k,
                                     enum msim_held_out_kind what, FILE *out);

#endif
