/*
 * calibrate/programs/fit_steps.h - what the files of msim-fit-steps share: one
 * run, and how its lines are written.
 */
#ifndef MSIM_CALIBRATE_PROGRAMS_FIT_STEPS_H
#define MSIM_CALIBRATE_PROGRAMS_FIT_STEPS_H
#include "calibrate/steps/memory_fit.h"
#include "calibrate/steps/steps_interval.h"
#include "core/base/json.h"

#include <stdio.h>

struct msim_steps_run {
    struct msim_step_samples s;
    uint8_t *use;
    double *residual; /* held out: of the model of that row */
    enum msim_step_class *class;
    struct msim_left_overs left;
    double *low, *high; /* of the interval, logarithms; -1: not judged */
    FILE *errors;
};

/* For qsort() of doubles. */
int msim_steps_by_value(const void *a, const void *b);
double msim_steps_quantile(const double *sorted, uint32_t n, double q);

/* One line: errors of the rows with `pick` by their residuals. */
void msim_steps_write_errors(struct msim_steps_run *r, const char *figure,
                             const char *source, const char *split,
                             const uint8_t *pick, const double *residual);

/* With four digits: more mean nothing. */
void msim_steps_add_number(cJSON *object, const char *key, double v);

/* One fit on all peaks, with the interval of models held out; one without the
 * source that alone has peaks: where the constants begin. */
void msim_steps_fit_memory(struct msim_steps_run *r, cJSON *json);

#endif
