/*
 * calibrate/steps/steps_fit.h - the constants of the step law and of the memory
 * formula, and intervals of steps.
 */
#ifndef MSIM_CALIBRATE_STEPS_STEPS_FIT_H
#define MSIM_CALIBRATE_STEPS_STEPS_FIT_H
#include "plan/memory/job_memory.h"
#include "plan/rows/job_rows.h"
#include "plan/step/step_law.h"

#include <stdint.h>

/* ---- search -------------------------------------------------------------- */
/*
 * Constants above 0 that explain rows best: the least weighted mean of
 * |log(measured / predicted)|, at most `most` a row, since some rows met a
 * broken network; with a little for the distance of every constant from where
 * it began, so that what no row can tell stays there.
 *
 * All constants move together, along their logarithms: absolute values are
 * squares with weights of their own (iteratively reweighted least squares), and
 * each round solves for the squares by the method of Levenberg (1944) and
 * Marquardt (1963). One constant at a time would stop where two must change
 * together; it follows, since it gets over kinks of the law.
 *
 * Allocates and frees what it needs; without memory `at` stays as it is.
 */

struct msim_search {
    double *at;           /* where it begins; then the result */
    uint32_t n;           /* constants, at most 64 */
    const double *weight; /* of each row */
    uint32_t rows;
    double most, ridge; /* the latter: what a constant at e times its start
                           costs */
    /* log(measured / predicted) of every row by the constants `at` */
    void (*residuals)(double *out, const double *at, void *context);
    void *context;
};

void msim_search_run(const struct msim_search *s);

/* ---- steps fit ----------------------------------------------------------- */
/*
 * The constants of the step law, fitted to measured jobs.
 *
 * Minimised ("search") is the sum over sources of the weighted
 * mean over their rows of |log(predicted / measured)|, at most log 2 a row.
 * Rows that differ in little but layers, GPUs and micro batches are
 * near-duplicates: together they weigh as the root of their number.
 */

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

/* Use each row of a table of jobs, as it is priced on an A100; a failure of
 * `use` ends that. */
typedef enum msim_status
msim_priced_row_use(void *ctx, const struct msim_job_row *row,
                    const struct msim_job_priced *priced);
MSIM_MUST_CHECK
enum msim_status msim_priced_rows_each(const char *path, const char *data_dir,
                                       msim_priced_row_use *use, void *ctx,
                                       struct msim_error *err);

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

/* ---- memory fit ---------------------------------------------------------- */
/*
 * The constants of the memory formula, fitted to measured peaks: least mean of
 * |log(predicted / measured)|, at most log 2 a row, with a little for every
 * constant's distance from where it began.
 */

/* The constants for the rows whose `use` is set and whose peak is known. */
struct msim_memory_constants
msim_memory_constants_fit(const struct msim_step_samples *s,
                          const uint8_t *use);

/* log(measured / predicted) of a row with a known peak. */
double msim_memory_residual(const struct msim_step_sample *row,
                            const struct msim_memory_constants *c);

/* ---- steps interval ------------------------------------------------------ */
/*
 * 90 % intervals of steps, out of residuals of rows that a fit did not see.
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
