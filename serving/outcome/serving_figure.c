/*
 * serving/outcome/serving_figure.c - many values as one figure.
 *
 * Values of one run hang together: a request that waits long is followed by
 * one that does, too. The interval of the mean is therefore that of the means
 * of BATCHES batches, which are long beside that memory (batch means: Law,
 * 2015, "Simulation Modeling and Analysis", 9.5.3).
 */
#include "serving/outcome/serving_outcome.h"

#include "core/base/quantile.h"

#include <math.h>

#define BATCHES 20
/* Student's t with 19 degrees of freedom, 95 % one-sided. */
#define T_BATCHES 1.7291

static double mean_of(const double *values, uint64_t n)
{
    double sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

/* Half of the 90 % interval of the mean; NAN where there are too few. */
static double half_width(const double *values, uint64_t n, double mean)
{
    double sum = 0;

    if (n < (uint64_t)2 * BATCHES)
        return NAN;
    for (uint64_t b = 0; b < BATCHES; b++) {
        uint64_t begin = b * n / BATCHES, end = (b + 1) * n / BATCHES;
        double d = mean_of(values + begin, end - begin) - mean;

        sum += d * d;
    }
    return T_BATCHES * sqrt(sum / (BATCHES - 1) / BATCHES);
}

static void swap(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

/* Let values[k] be what it would be if they were sorted, with none greater
 * before it and none less behind it (Hoare, 1961, "Algorithm 65: find"; equal
 * ones in the middle, since services may all be the same). */
static void select_value(double *values, uint64_t n, uint64_t k)
{
    while (n > 1) {
        double pivot = values[n / 2];
        uint64_t less = 0, at = 0, more = n;

        while (at < more)
            if (values[at] < pivot)
                swap(&values[less++], &values[at++]);
            else if (values[at] > pivot)
                swap(&values[at], &values[--more]);
            else
                at++;
        if (k < less) {
            n = less;
        } else if (k < more) {
            return;
        } else {
            values += more;
            k -= more;
            n -= more;
        }
    }
}

/* As of sorted values, which takes ten times as long. */
static double quantile(double *values, uint32_t n, double part)
{
    uint32_t i = (uint32_t)(part * (n - 1));

    select_value(values, n, i);
    if (i + 1 < n)
        select_value(values + i + 1, n - i - 1, 0);
    return msim_quantile_between(values, n, part);
}

struct msim_serving_figure msim_serving_figure_of(double *values, uint64_t n)
{
    struct msim_serving_figure f = {NAN, NAN, NAN, NAN, NAN, NAN};
    double half;

    if (n == 0 || n > UINT32_MAX)
        return f;
    f.mean = mean_of(values, n);
    half = half_width(values, n, f.mean);
    f.low = f.mean - half;
    f.high = f.mean + half;
    f.p50 = quantile(values, (uint32_t)n, 0.5);
    f.p90 = quantile(values, (uint32_t)n, 0.9);
    f.p99 = quantile(values, (uint32_t)n, 0.99);
    return f;
}
