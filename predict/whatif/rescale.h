/*
 * predict/whatif/rescale.h - the period of a prediction with other durations,
 * asked many times.
 *
 * What is simulated is what `--scale` would simulate, and the same iterations
 * count for the period. Not thread-safe.
 */
#ifndef MSIM_PREDICT_WHATIF_RESCALE_H
#define MSIM_PREDICT_WHATIF_RESCALE_H
#include "predict/pipeline.h"

struct msim_rescaler {
    const struct msim_prediction_run *run; /* outlives it */
    struct msim_engine *engine;
    struct msim_period_finder *finder;
    uint8_t *states;
    double base_us; /* the period as it is */
};

/* Release in any case. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rescaler_init(struct msim_rescaler *x,
                                    const struct msim_prediction_run *run);
void msim_rescaler_release(struct msim_rescaler *x);

/* The period (us) with durations multiplied by `n` scales, in their order. */
MSIM_MUST_CHECK
enum msim_status msim_rescaler_period(struct msim_rescaler *x,
                                      const struct msim_scale *scales,
                                      uint32_t n, double *us,
                                      struct msim_error *err);

#endif
