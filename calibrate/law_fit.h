/*
 * calibrate/law_fit.h - the constants of a law from measured rows.
 */
#ifndef MSIM_CALIBRATE_LAW_FIT_H
#define MSIM_CALIBRATE_LAW_FIT_H
#include "calibrate/samples.h"

/*
 * Find the constants that minimise the mean of |log(measured / law)| over the
 * rows whose `fold` is not `held_back`, or over all with held_back < 0. At
 * most about a thousand rows, spread evenly, are looked at: a handful of
 * constants needs no more. Borrowed rows count a quarter.
 */
MSIM_MUST_CHECK
enum msim_status msim_law_fit(double params[MSIM_LAW_PARAMS],
                              const struct msim_law *law,
                              const struct msim_sample *rows,
                              const uint8_t *fold, uint32_t n, int held_back);

#endif
