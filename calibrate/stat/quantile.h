/*
 * calibrate/stat/quantile.h - points of a handful of numbers.
 */
#ifndef MSIM_CALIBRATE_STAT_QUANTILE_H
#define MSIM_CALIBRATE_STAT_QUANTILE_H
#include <stdint.h>

void msim_sort_values(double *values, uint32_t n);

/* The point below which `part` (0..1) of `n` sorted values lie, rank (n + 1)
 * part rounded outwards, so that it holds for the next value too (split
 * conformal prediction). NAN where there are none. */
double msim_quantile(const double *sorted, uint32_t n, double part);

/* Sorts; the middle value, 0 where there are none. */
double msim_median(double *values, uint32_t n);

#endif
