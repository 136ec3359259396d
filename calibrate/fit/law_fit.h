/*
 * calibrate/fit/law_fit.h - the constants of a law from measured rows.
 */
#ifndef MSIM_CALIBRATE_FIT_LAW_FIT_H
#define MSIM_CALIBRATE_FIT_LAW_FIT_H
#include "calibrate/rows/samples.h"

struct msim_law_constants {
    double params[MSIM_LAW_PARAMS];
    struct msim_gap gap; /* of the source */
};

/* The time in us that the source of row `r` measures, by a law with constants
 * `c`: kernel and launch gap. */
double msim_law_measured(const struct msim_law_constants *c,
                         const struct msim_sample *r);

/*
 * Find the constants that minimise the mean of |log(measured / law)| over the
 * rows whose `fold` is not `held_out` (below 0: over all). About a thousand
 * rows, spread evenly, are looked at: a handful of constants needs no more.
 * With `has_gap` the source's launch gap is one of the constants. A launch gap,
 * also one that rows bring along, hides the constant part of the kernel: that
 * is then the GPU's shortest kernel. EINTERNAL where no row is left.
 */
MSIM_MUST_CHECK
enum msim_status msim_law_fit(struct msim_law_constants *out,
                              const struct msim_law *law,
                              const struct msim_sample *rows,
                              const uint8_t *fold, uint32_t n, int held_out,
                              bool has_gap);

#endif
