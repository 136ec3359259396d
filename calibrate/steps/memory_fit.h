/*
 * calibrate/steps/memory_fit.h - the constants of the memory formula, fitted to
 * measured peaks: least mean of |log(predicted / measured)|, at most log 2 a
 * row, with a little for every constant's distance from where it began.
 */
#ifndef MSIM_CALIBRATE_STEPS_MEMORY_FIT_H
#define MSIM_CALIBRATE_STEPS_MEMORY_FIT_H
#include "calibrate/steps/steps_fit.h"
#include "plan/memory/peak_memory.h"

/* The constants for the rows whose `use` is set and whose peak is known. */
struct msim_memory_constants
msim_memory_constants_fit(const struct msim_step_samples *s,
                          const uint8_t *use);

/* log(measured / predicted) of a row with a known peak. */
double msim_memory_residual(const struct msim_step_sample *row,
                            const struct msim_memory_constants *c);

#endif
