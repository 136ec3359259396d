/*
 * calibrate/stat/quantile.c - points of a handful of numbers.
 */
#include "calibrate/stat/quantile.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

void msim_sort_values(double *values, uint32_t n)
{
    qsort(values, n, sizeof(*values), by_value);
}

double msim_quantile(const double *sorted, uint32_t n, double part)
{
    double rank = part * ((double)n + 1);
    int64_t i = (int64_t)(part < 0.5 ? floor(rank) : ceil(rank)) - 1;

    if (n == 0)
        return NAN;
    return sorted[i < 0 ? 0 : i >= n ? n - 1 : i];
}

double msim_median(double *values, uint32_t n)
{
    msim_sort_values(values, n);
    return n ? values[n / 2] : 0;
}
