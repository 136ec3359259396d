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

/* What the source of row `r` measures, by a law with these constants. */
double msim_law_measured(const struct msim_law_constants *c,
                         const struct msim_sample *r);

/*
 * Find the constants that minimise the mean of |log(measured / law)| over the
 * rows whose `fold` is not `held_out`, or over all with held_out < 0. At
 * most about a thousand rows, spread evenly, are looked at: a handful of
 * constants needs no more. With `has_gap` the
 * source's launch gap is one of the constants; such a gap, like that of rows
 * which have one already, hides the constant part of the kernel, which is then
 * the GPU's shortest kernel.
 */
MSIM_MUST_CHECK
enum msim_status msim_law_fit(struct msim_law_constants *out,
                              const struct msim_law *law,
                              const struct msim_sample *rows,
                              const uint8_t *fold, uint32_t n, int held_out,
                              bool has_gap);

#endif
