/*
 * calibrate/measure/cal_options.h - how to calibrate: the backends to ask, the
 * budget, and callbacks for progress.
 */
#ifndef MSIM_CALIBRATE_MEASURE_CAL_OPTIONS_H
#define MSIM_CALIBRATE_MEASURE_CAL_OPTIONS_H
#include "calibrate/measure/trace_experiments.h"
#include "profilers/ask/find_backends.h"

struct msim_coll_constants; /* calibrate/collective/coll_constants.h */

/* Of an answer that just came. */
struct msim_cal_progress {
    const char *backend;
    const struct msim_cal_experiment *experiment; /* that was answered */
    const char *error; /* why it failed; NULL: it did not */
    uint32_t rows, failed;
    double seconds, budget; /* spent and to be spent */
};

struct msim_cal_options {
    const struct msim_backend_command *backends;
    uint32_t n_backends;
    double budget; /* seconds of measuring, over all runs on this journal */
    /* The calibration ends once the mean half width of intervals, as a share,
     * is below this; 0: the budget alone decides. */
    double target;
    bool no_fits; /* between batches: the whole budget fills the space */
    uint64_t seed;
    double patience; /* seconds that an experiment may take */
    const char *name;
    const char *data; /* folder of platforms/ */
    uint32_t threads; /* of a fit */
    /* To fit collectives with; NULL where no backend times any. */
    const struct msim_coll_constants *collectives;
    /* Experiments that come first; may be NULL. A backend skips those that it
     * does not offer. */
    const struct msim_cal_shapes *first;
    void (*progress)(void *ctx, const struct msim_cal_progress *p);
    /* Of a dry run: an experiment that would be asked. */
    void (*would_ask)(void *ctx, const char *backend,
                      const struct msim_cal_experiment *e, double expected_us,
                      double expected_seconds);
    /* What is started again, or is not asked any longer. */
    void (*warn)(void *ctx, const char *text);
    void *ctx;
};

#endif
