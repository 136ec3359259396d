/*
 * calibrate/machine/interval_width.h - choose what to time next: the points
 * with the widest intervals.
 */
#ifndef MSIM_CALIBRATE_MACHINE_INTERVAL_WIDTH_H
#define MSIM_CALIBRATE_MACHINE_INTERVAL_WIDTH_H
#include "calibrate/measure/experiment_design.h"
#include "calibrate/measure/journal.h"

struct msim_cal_widths; /* opaque: a fitted platform, to ask for intervals */

/* From a tree of msim_cal_fit(). `*out` is owned by the caller. */
MSIM_MUST_CHECK
enum msim_status msim_cal_widths_new(struct msim_cal_widths **out,
                                     const cJSON *platform,
                                     struct msim_error *err);
/* Accepts NULL. */
void msim_cal_widths_free(struct msim_cal_widths *w);

/*
 * log(high / low) of the interval of an experiment by this backend. INFINITY
 * where its kind has no fit, NAN where it is no work of a law.
 */
double msim_cal_width(const struct msim_cal_widths *w,
                      const struct msim_cal_experiment *e, const char *backend);

/*
 * Choose up to `n` experiments into `out`; returns how many. Random candidates
 * of every kind are ranked by the width of their interval times their distance
 * from the experiments in the journal; every choice lowers the rank of its
 * kind. `random` is the state of the random numbers, any value at first. `mean`
 * gets the mean width of candidates whose kind has a fit.
 */
uint32_t msim_cal_widest(const struct msim_cal_widths *w,
                         const struct msim_cal_design *design,
                         const struct msim_cal_space *space,
                         const struct msim_cal_journal *j, const char *backend,
                         uint64_t *random, struct msim_cal_experiment *out,
                         uint32_t n, double *mean);

#endif
