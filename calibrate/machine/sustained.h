/*
 * calibrate/machine/sustained.h - large products back to back, over the same
 * products by themselves: what power leaves of the clock under load.
 *
 * An experiment takes a millisecond behind waits, so that a device never comes
 * near its power limit, as it does in a training step. No law uses the ratio.
 */
#ifndef MSIM_CALIBRATE_MACHINE_SUSTAINED_H
#define MSIM_CALIBRATE_MACHINE_SUSTAINED_H
#include "calibrate/machine/ratio_table.h"
#include "calibrate/measure/experiment_space.h"
#include "calibrate/measure/journal.h"

#define MSIM_CAL_SUSTAINED         12  /* products */
#define MSIM_CAL_SUSTAINED_SECONDS 0.4 /* back to back, each */

/* ---- which experiments --------------------------------------------------- */

/* Takes the types that models compute in, in turn. The same greeting and seed
 * give the same experiments. */
struct msim_cal_sustaining {
    uint64_t random;
    uint32_t turn;
};

/* The next product; false where there were enough, or none is offered. `*s`
 * begins with the seed and turn 0; the experiment's texts point into `space`.
 */
bool msim_cal_sustained_next(struct msim_cal_sustaining *s,
                             const struct msim_cal_space *space,
                             struct msim_cal_experiment *out);

/* Seconds of a backend's experiments that were sustained. */
double msim_cal_sustained_seconds(const struct msim_cal_journal *j,
                                  const char *backend);

/* ---- what came out ------------------------------------------------------- */

struct msim_cal_sustained {
    struct msim_cal_ratio time;  /* sustained over alone; n 0: there is none */
    struct msim_cal_ratio clock; /* MHz, and W, while it was; n 0: not said */
    struct msim_cal_ratio power;
};

MSIM_MUST_CHECK
enum msim_status msim_cal_sustain(struct msim_cal_sustained *out,
                                  const struct msim_cal_journal *j);

/* Write "sustained" of a platform file; nothing where none was. */
void msim_cal_sustained_write(cJSON *platform,
                              const struct msim_cal_sustained *s);

#endif
