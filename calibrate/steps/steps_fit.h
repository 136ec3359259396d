/*
 * calibrate/steps/steps_fit.h - the constants of the step law, fitted to
 * measured jobs.
 *
 * Minimised (calibrate/steps/search.h) is the sum over sources of the weighted
 * mean over their rows of |log(predicted / measured)|, at most log 2 a row.
 * Rows that differ in little but layers, GPUs and micro batches are
 * near-duplicates: together they weigh as the root of their number.
 */
#ifndef MSIM_CALIBRATE_STEPS_STEPS_FIT_H
#define MSIM_CALIBRATE_STEPS_STEPS_FIT_H
#include "plan/step/steps_file.h"

struct msim_step_sample {
    struct msim_terms terms;
    struct msim_described described;
    struct msim_strategy strategy; /* complete */
    double us;                     /* measured */
    double memory_gib;             /* measured; 0: not */
    uint32_t source;               /* an index */
    char model[48];                /* what is held out together */
    double gpus;
};

struct msim_step_samples {
    struct msim_step_sample *rows;
    uint32_t n, cap;
    char sources[MSIM_STEP_SOURCES][48];
    uint32_t n_sources;
};

/* Read the measured rows of a table (plan/rows/job_rows.h) that can be
 * predicted and did not fail. */
MSIM_MUST_CHECK
enum msim_status msim_step_samples_read(struct msim_step_samples *s,
                                        const char *path, const char *data_dir,
                                        struct msim_error *err);
void msim_step_samples_release(struct msim_step_samples *s);

/* The constants for the rows whose `use` is set. */
struct msim_step_constants
msim_step_constants_fit(const struct msim_step_samples *s, const uint8_t *use);

/* log(measured / predicted). */
double msim_step_residual(const struct msim_step_sample *row,
                          const struct msim_step_constants *c);

#endif
