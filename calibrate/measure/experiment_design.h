/*
 * calibrate/measure/experiment_design.h - the design of a calibration: points
 * that fill the space of each kind of operation evenly.
 *
 * Points are Sobol's sequence (GSL), shifted by the seed (Cranley and
 * Patterson, 1976): its first n points cover the space for every n. Points
 * outside the limits are skipped. The design depends on greeting, seed and
 * limits alone, never on answers, so that a second run meets the same points
 * and skips those that the journal has.
 */
#ifndef MSIM_CALIBRATE_MEASURE_EXPERIMENT_DESIGN_H
#define MSIM_CALIBRATE_MEASURE_EXPERIMENT_DESIGN_H
#include "calibrate/measure/experiment_space.h"

struct msim_cal_design; /* opaque */

/* `space` must outlive the design and the experiments, whose texts point into
 * it. `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_cal_design_new(struct msim_cal_design **out,
                                     const struct msim_cal_space *space,
                                     uint64_t seed);

/* Accepts NULL. */
void msim_cal_design_free(struct msim_cal_design *d);

/*
 * The next experiment: of each kind first the largest even one, which shows the
 * device's rates, those of each table's first kind before the others; then of
 * each kind in turn as many as its weight; none twice. `*kind` gets its index
 * in the space. False at the end, where no kind has another (or memory ran
 * out).
 */
bool msim_cal_design_next(struct msim_cal_design *d,
                          struct msim_cal_experiment *out, uint32_t *kind);

/* No more of a kind: the device cannot do it. */
void msim_cal_design_drop(struct msim_cal_design *d, uint32_t kind);

/* A random number from [0, 1); `state` is a uint64_t of any value. */
double msim_cal_design_uniform(void *state);

/* A random point of the cube, for candidates: `draw` gives each coordinate,
 * from [0, 1). False where the point is outside the limits, or the kind was
 * dropped. */
bool msim_cal_design_draw(const struct msim_cal_design *d, uint32_t kind,
                          double (*draw)(void *), void *ctx,
                          struct msim_cal_experiment *out);

#endif
