/*
 * tests/unit/core/report/analyse/test_prediction.c - what a period is worth.
 */
#include "core/report/analyse/prediction.h"
#include "tests/check.h"

/* Half a million samples in 250 ms, 200 to 500: two million a second; the
 * highest rate is that of the shortest period. 8 GPUs at 9 USD an hour for
 * 0.25 s are 0.005 USD; at 400 W, 800 J. */
static void test_prediction__rated(void)
{
    struct msim_prediction p = {
        .period = {.us = {250e3, 200e3, 500e3, 240e3}},
        .rates = {.per_iteration = 500e3, .usd_per_hour = 9, .watts = 400},
        .gpus = 8};
    struct msim_rated r = msim_prediction_rated(&p);

    CHECK_REL(r.per_second.predicted, 2e6, 1e-12);
    CHECK_REL(r.per_second.low, 1e6, 1e-12);
    CHECK_REL(r.per_second.high, 2.5e6, 1e-12);
    CHECK(isnan(r.per_second.measured));
    CHECK_REL(r.cost_usd, 0.005, 1e-12);
    CHECK_REL(r.joules, 800, 1e-12);
    CHECK_REL(r.gpus, 8, 0);
}

/* How many GPUs: one where nobody knows; rates of less than 1 are rates. */
static void test_prediction__rated_little(void)
{
    struct msim_prediction p = {
        .period = {.us = {1e6, 1e6, 1e6, NAN}},
        .rates = {.per_iteration = 0.5, .usd_per_hour = 0.36, .watts = 0.5}};
    struct msim_rated r = msim_prediction_rated(&p);

    CHECK_REL(r.per_second.predicted, 0.5, 1e-12);
    CHECK_REL(r.cost_usd, 1e-4, 1e-12);
    CHECK_REL(r.joules, 0.5, 1e-12);
    CHECK_REL(r.gpus, 1, 0);
    p.gpus = 1;
    CHECK_REL(msim_prediction_rated(&p).gpus, 1, 0);
    p.rates = (struct msim_rates){.per_iteration = 0};
    r = msim_prediction_rated(&p);
    CHECK(isnan(r.per_second.predicted) && isnan(r.per_second.low) &&
          isnan(r.per_second.high));
    CHECK(isnan(r.cost_usd) && isnan(r.joules));
    msim_prediction_free(NULL);
    msim_timeline_free(NULL);
}

int main(void)
{
    RUN(test_prediction__rated);
    RUN(test_prediction__rated_little);
    return check_summary();
}
