/*
 * calibrate/programs/fit_steps.h - what the files of msim-fit-steps share: one
 * run, and how its lines are written.
 */
#ifndef MSIM_CALIBRATE_PROGRAMS_FIT_STEPS_H
#define MSIM_CALIBRATE_PROGRAMS_FIT_STEPS_H
#include "calibrate/steps/steps_fit.h"
#include "core/base/json.h"

#include <stdio.h>

/* The memory formula, fitted without the rows of a model. */
struct msim_steps_held {
    char model[48];
    struct msim_memory_fit fit;
};
#define MSIM_STEPS_HELD 16

struct msim_steps_run {
    struct msim_step_samples s;
    uint8_t *use;
    double *residual; /* held out: of the model of that row */
    enum msim_step_class *class;
    struct msim_left_overs left;
    double *low, *high; /* of the interval, logarithms; -1: not judged */
    FILE *errors;
    /* Of memory: fitted on all peaks, without each model, on none. */
    struct msim_memory_fit memory, unseen;
    struct msim_steps_held held[MSIM_STEPS_HELD];
    uint32_t n_held;
};

/* For qsort() of doubles. */
int msim_steps_by_value(const void *a, const void *b);
double msim_steps_quantile(const double *sorted, uint32_t n, double q);

/* One line: errors of the rows with `pick` by their residuals. */
void msim_steps_write_errors(struct msim_steps_run *r, const char *figure,
                             const char *source, const char *split,
                             const uint8_t *pick, const double *residual);

/* A line for the source's steps, or one for models with experts and one for
 * the others, where it has both. */
void msim_steps_write_source(struct msim_steps_run *r, uint32_t source,
                             const char *split, const uint8_t *pick,
                             const double *residual);
/* Such lines of the rows with `pick` up to 8 GPUs, and of the others. */
void msim_steps_write_sizes(struct msim_steps_run *r, uint32_t source,
                            const uint8_t *pick, const double *residual);

/* With four digits: more mean nothing. */
void msim_steps_add_number(cJSON *object, const char *key, double v);

/* One fit on all peaks, with the interval of models held out; one without the
 * source that alone has peaks: where the constants begin. */
void msim_steps_fit_memory(struct msim_steps_run *r, cJSON *json);

/* After that: how many jobs of `tables` that ran, and that failed, each of
 * those fits calls fitting. As CSV in `path`. */
MSIM_MUST_CHECK
enum msim_status msim_steps_count_fits(const struct msim_steps_run *r,
                                       char *const *tables, int n,
                                       const char *data_dir, const char *path,
                                       struct msim_error *err);

#endif
