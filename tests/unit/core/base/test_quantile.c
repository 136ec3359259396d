/*
 * tests/unit/core/base/test_quantile.c - quantiles by each rule.
 *
 * Quantiles of a handful of values, by each of the rules.
 */
#include "core/base/quantile.h"

#include "tests/check.h"

#include <math.h>

static void test_quantile__median(void)
{
    double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2};

    CHECK_REL(msim_median(odd, 3), 2, 0);
    CHECK_REL(odd[0], 1, 0); /* sorted */
    CHECK_REL(msim_median(even, 4), 3, 0);
    CHECK_REL(msim_median_mean(even, 4), 2.5, 0);
    CHECK_REL(msim_median_mean(odd, 3), 2, 0);
    CHECK_REL(msim_median(odd, 0), 0, 0);
}

/* Rank (n + 1) part: 0.9 x 10 of nine values is the ninth; 0.1 x 10 the first;
 * ranks beyond the ends are the ends. */
static void test_quantile__outwards(void)
{
    const double v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    CHECK_REL(msim_quantile(v, 9, 0.9), 9, 0);
    CHECK_REL(msim_quantile(v, 9, 0.1), 1, 0);
    CHECK_REL(msim_quantile(v, 9, 0.5), 5, 0);
    CHECK_REL(msim_quantile(v, 9, 0.01), 1, 0);
    CHECK_REL(msim_quantile(v, 9, 0.99), 9, 0);
    CHECK(isnan(msim_quantile(v, 0, 0.5)));
}

/* Rank 0.25 x 3 = 0.75 between the first and the second. */
static void test_quantile__between(void)
{
    const double v[] = {10, 14, 20, 30};

    CHECK_REL(msim_quantile_between(v, 4, 0.25), 13, 0);
    CHECK_REL(msim_quantile_between(v, 4, 0), 10, 0);
    CHECK_REL(msim_quantile_between(v, 4, 1), 30, 0);
    CHECK_REL(msim_quantile_between(v, 1, 0.5), 10, 0);
}

int main(void)
{
    RUN(test_quantile__median);
    RUN(test_quantile__outwards);
    RUN(test_quantile__between);
    return check_summary();
}
