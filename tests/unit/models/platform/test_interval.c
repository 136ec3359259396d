/*
 * Intervals: which quantiles a time has, how far sizes are outside, and that an
 * interval holds its prediction.
 */
#include "models/law/law.h"
#include "models/platform/fit.h"
#include "tests/check.h"

#include <math.h>

static void check_base(const struct msim_fit *c, double us, double low,
                       double high)
{
    double got_low, got_high;

    msim_interval_base(c, us, &got_low, &got_high);
    CHECK_REL(got_low, low, 0);
    CHECK_REL(got_high, high, 0);
}

/* A bin ends with its own time; the last one has no end. */
static void test_interval__has_a_bin(void)
{
    static const struct msim_fit NONE;
    static const struct msim_fit BINS = {
        .bins = {{10, -0.1, 0.2}, {100, -0.3, 0.4}, {1000, -0.5, 0.6}},
        .n_bins = 3};

    check_base(&BINS, 1, -0.1, 0.2);
    check_base(&BINS, 10, -0.1, 0.2);
    check_base(&BINS, 10.5, -0.3, 0.4);
    check_base(&BINS, 1000, -0.5, 0.6);
    check_base(&BINS, 1e9, -0.5, 0.6);
    check_base(&NONE, 1, -0.7, 0.7);
    check_base(&NONE, 1e9, -0.7, 0.7);
}

static void test_interval__is_outside_by_the_most(void)
{
    static const struct msim_law LAW = {.n_sizes = 2};
    static const struct msim_fit C = {
        .law = &LAW, .range_low = {1, 10}, .range_high = {2, 20}};

    CHECK_REL(msim_interval_outside(&C, (double[]){1, 20}), 0, 0);
    CHECK_REL(msim_interval_outside(&C, (double[]){0.5, 15}), 0.5, 0);
    CHECK_REL(msim_interval_outside(&C, (double[]){2.5, 23}), 3, 0);
    CHECK_REL(msim_interval_outside(&C, (double[]){1.5, 6}), 4, 0);
}

static void check_set(double low, double high, double sd, double want_low,
                      double want_high)
{
    struct msim_estimate e = {.us = 100};

    msim_interval_set(&e, low, high, sd);
    CHECK_REL(e.low_us, 100 * exp(want_low), 1e-12);
    CHECK_REL(e.high_us, 100 * exp(want_high), 1e-12);
}

/* Deviations add up in quadrature, and quantiles on the other side of what is
 * predicted are none. */
static void test_interval__holds_its_prediction(void)
{
    check_set(-0.3, 0.4, 0, -0.3, 0.4);
    check_set(0.1, 0.4, 0, 0, 0.4);
    check_set(-0.3, -0.1, 0, -0.3, 0);
    check_set(-0.3, 0.4, 0.4 / MSIM_Z90, -0.5, 0.4 * sqrt(2));
}

int main(void)
{
    RUN(test_interval__has_a_bin);
    RUN(test_interval__is_outside_by_the_most);
    RUN(test_interval__holds_its_prediction);
    return check_summary();
}
