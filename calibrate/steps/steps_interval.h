/*
 * calibrate/steps/steps_interval.h - 90 % intervals of steps, out of residuals
 * of rows that a fit did not see.
 *
 * Of a class with rows of other models: as far as the 90 % point of their
 * absolute values, either way, where models count alike: leaving one model of
 * two out turns the sign of its neighbour's error. The point is
 * 0.9 (1 + 1/n) of n rows (Lei et al., "Distribution-free predictive inference
 * for regression", 2018). Of a class without such rows: of the same kind of
 * program, near or not. Of a kind that no row is of: the 5 % and 95 % points of
 * sources that were held out as a whole, where those count alike; a class
 * unlike all rows is no narrower than these. Experts are unlike all else: a
 * factor of 2.
 *
 * Whoever judges a row leaves its model out; for a source that a fit did not
 * see, residuals are of other sources, predicted without both where a whole
 * source is held out.
 */
#ifndef MSIM_CALIBRATE_STEPS_STEPS_INTERVAL_H
#define MSIM_CALIBRATE_STEPS_STEPS_INTERVAL_H
#include "calibrate/steps/steps_fit.h"

#define MSIM_NO_SOURCE UINT32_MAX

struct msim_left_over {
    uint32_t row;             /* of the samples */
    uint32_t source, without; /* its own; another that was not seen either */
    bool whole;               /* all of its source was held out */
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

/* Of a fit without the source `without`, for rows of other models than that of
 * row `judged` (UINT32_MAX: all). */
MSIM_MUST_CHECK
enum msim_status msim_step_interval_of(struct msim_step_interval *out,
                                       const struct msim_left_overs *l,
                                       const struct msim_step_samples *s,
                                       uint32_t without, uint32_t judged);

#endif
