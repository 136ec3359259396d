/*
 * calibrate/steps/steps_interval.h - 90 % intervals of steps, out of residuals
 * of rows that a fit did not see.
 *
 * The 5 % and 95 % points of the residuals of a class, where sources count
 * alike. Whoever judges a row leaves its model out; for a source that a fit did
 * not see, residuals are of other sources, predicted without both.
 */
#ifndef MSIM_CALIBRATE_STEPS_STEPS_INTERVAL_H
#define MSIM_CALIBRATE_STEPS_STEPS_INTERVAL_H
#include "calibrate/steps/steps_fit.h"

#define MSIM_NO_SOURCE UINT32_MAX

struct msim_left_over {
    uint32_t row;             /* of the samples */
    uint32_t source, without; /* its own; another that was not seen either */
    enum msim_step_class class;
    double residual; /* log(measured / predicted) */
};

struct msim_left_overs {
    struct msim_left_over *of;
    uint32_t n, cap;
};

/* Logarithms: measured lies between predicted - low and predicted + high. */
struct msim_step_interval {
    double low[MSIM_STEP_CLASSES], high[MSIM_STEP_CLASSES];
    uint32_t rows[MSIM_STEP_CLASSES];
};

/*
 * Of the residuals whose `without` is that, less those of the model of row
 * `judged` (UINT32_MAX: none). Classes without rows get a factor of 2 both
 * ways.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_interval_of(struct msim_step_interval *out,
                                       const struct msim_left_overs *l,
                                       const struct msim_step_samples *s,
                                       uint32_t without, uint32_t judged);

#endif
