/*
 * core/base/quantile.h - medians and quantiles of values in memory.
 *
 * Each function names its own rule for a quantile that falls between two
 * values: results are compared bit for bit, so the rules are not
 * interchangeable. Values are finite; arrays are the caller's.
 */
#ifndef MSIM_CORE_BASE_QUANTILE_H
#define MSIM_CORE_BASE_QUANTILE_H
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static inline int msim_compare_values(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Ascending. */
static inline void msim_sort_values(double *values, uint32_t n)
{
    qsort(values, n, sizeof(*values), msim_compare_values);
}

/*
 * The quantile `part` (0..1) of `n` sorted values: the value of rank (n + 1)
 * part, rounded outwards, so that the bound holds for the next value too (split
 * conformal prediction: Lei et al., 2018, "Distribution-free predictive
 * inference for regression"). NAN where n is 0.
 */
static inline double msim_quantile(const double *sorted, uint32_t n,
                                   double part)
{
    double rank = part * ((double)n + 1);
    int64_t i = (int64_t)(part < 0.5 ? floor(rank) : ceil(rank)) - 1;

    if (n == 0)
        return NAN;
    return sorted[i < 0 ? 0 : i >= n ? n - 1 : i];
}

/* The quantile `part` (0..1) of `n` sorted values, n > 0, interpolated between
 * the two values next to rank (n - 1) part. */
static inline double msim_quantile_between(const double *sorted, uint32_t n,
                                           double part)
{
    double at = part * (n - 1);
    uint32_t i = (uint32_t)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i])
                     : sorted[n - 1];
}

/* Sorts `values`; the upper of the two middle values where n is even, 0 where
 * n is 0. */
static inline double msim_median(double *values, uint32_t n)
{
    msim_sort_values(values, n);
    return n ? values[n / 2] : 0;
}

/* Sorts `values`, n > 0; the mean of the two middle values where n is even. */
static inline double msim_median_mean(double *values, uint32_t n)
{
    msim_sort_values(values, n);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

#endif
