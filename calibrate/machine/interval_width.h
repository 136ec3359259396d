/*
 * calibrate/machine/interval_width.h - what is not yet known well: the points
 * whose interval is widest.
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
 * log(high / low) of the interval that the work of a backend has; INFINITY
 * where no cell was fitted for it, NAN where it is none that has one.
 */
double msim_cal_width(const struct msim_cal_widths *w,
                      const struct msim_cal_experiment *e, const char *backend);

/*
 * Up to `n` experiments into `out`; returns how many. Of random
 * candidates of every kind those come first whose interval is widest times how
 * far they are from what was timed; a kind that was chosen from counts less the
 * next time. `random` is the state of the candidates, any number to begin.
 * `mean` gets the mean width of candidates with a cell.
 */
uint32_t msim_cal_widest(const struct msim_cal_widths *w,
                         const struct msim_cal_design *design,
                         const struct msim_cal_space *space,
                         const struct msim_cal_journal *j, const char *backend,
                         uint64_t *random, struct msim_cal_experiment *out,
                         uint32_t n, double *mean);

#endif
