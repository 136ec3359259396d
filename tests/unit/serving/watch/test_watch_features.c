/* serving/watch/watch_features.c: numbers of single stages, of ten seconds that
 * are written down. */
#include "serving/watch/watch_model.h"
#include "tests/check.h"

#include <math.h>

#define LIMIT 50.0

/* In the i-th second stage s has arrivals 8 times 2 to the i, waits of 10 i ms,
 * and so on; the second stage ten times as much of what is no share. */
static void fill(struct msim_history *h)
{
    for (int i = 0; i < 10; i++) {
        struct msim_second_stage seconds[3];

        for (int s = 0; s < 3; s++) {
            double *x = seconds[s].v, times = s ? 10 : 1;

            for (int c = 0; c < MSIM_COUNTERS; c++)
                x[c] = NAN;
            x[MSIM_COUNTER_ARRIVALS] = 8 * times * pow(2, i);
            x[MSIM_COUNTER_WAIT_MS] = 10 * times * i;
            seconds[s].queue_mean = 3 * times * (i + 1);
            seconds[s].p99_most = NAN;
            seconds[s].mean_last_ms = 3 + i;
            seconds[s].rate_last = 7 + i;
            seconds[s].age_s = 0.02 * (i + 1);
            x[MSIM_COUNTER_QUEUE] = 4 * times * (i + 1);
            x[MSIM_COUNTER_MEAN_MS] = 5 * (i + 1);
            x[MSIM_COUNTER_BUSY] = 0.05 * i * i / (s + 1);
            x[MSIM_COUNTER_REPLICAS] = i + s + 1;
        }
        msim_history_add(h, seconds);
    }
}

/* Means of 3 seconds, of 5 (of the logarithm), of 2 and of 3 (of the logarithm,
 * over the replicas of the last one). */
static void test_watch_features__of_stages(void)
{
    struct msim_history h;

    REQUIRE(msim_history_init(&h, 2) == MSIM_OK);
    fill(&h);
    for (uint32_t s = 0; s < 2; s++) {
        double times = s ? 10 : 1;

        CHECK_REL(msim_stage_feature_of(&h, s, MSIM_STAGE_FEATURE_BUSY, LIMIT),
                  0.05 * (49 + 64 + 81) / 3 / (s + 1), 1e-9);
        CHECK_REL(msim_stage_feature_of(&h, s, MSIM_STAGE_FEATURE_DRAIN, LIMIT),
                  3 * times * 10 / (8 * times * pow(2, 7)), 1e-9);
        CHECK_REL(msim_stage_feature_of(&h, s, MSIM_STAGE_FEATURE_WAIT, LIMIT),
                  10 * times * 8.5 / LIMIT, 1e-9);
        CHECK_REL(msim_stage_feature_of(&h, s, MSIM_STAGE_FEATURE_RATE, LIMIT),
                  log(8 * times * pow(2, 8) / (10 + s)), 1e-9);
    }
    msim_history_release(&h);
}

/* Of the last second: 400 in flight, 40 more than before it and 120 more than
 * before the last three, and 40,960 that came. A tenth of them visits stage 0,
 * where 40 wait for as long as 1,024 a second take; of stage 1 it is ten times
 * as much. */
static void test_watch_features__of_e2e(void)
{
    static const double WANT[MSIM_E2E_FEATURES] = {
        [MSIM_E2E_FEATURE_IN_FLIGHT] = 401,
        [MSIM_E2E_FEATURE_IN_FLIGHT_LOG] = 401 * 1e3 / (80 * 128) / LIMIT,
        [MSIM_E2E_FEATURE_MEAN_LAST_LOG] = 12 / LIMIT,
        [MSIM_E2E_FEATURE_AGE_LOG] = 200 / LIMIT,
        [MSIM_E2E_FEATURE_IN_OVER_OUT] = 40961.0 / (40961 - 40),
        [MSIM_E2E_FEATURE_IN_OVER_OUT_3S] = 71681.0 / (71681 - 120),
        [MSIM_E2E_FEATURE_RATE_LAST] = 16,
        [MSIM_E2E_FEATURE_RATE_OVER_5S] = 4,
        [MSIM_E2E_FEATURE_RATE_2S_OVER_12S] = 16,
    };
    double of_0 = 0.1 * 40 / 1024 * 1e3 / LIMIT, of_1 = 100 * of_0 / 10;
    struct msim_history h;

    REQUIRE(msim_history_init(&h, 2) == MSIM_OK);
    fill(&h);
    for (uint32_t f = 0; f < MSIM_E2E_FEATURES; f++)
        if (WANT[f] > 0)
            CHECK_REL(msim_e2e_feature_of(&h, f, LIMIT), log(WANT[f]), 1e-9);
    CHECK_REL(msim_e2e_feature_of(&h, MSIM_E2E_FEATURE_QUEUED_MOST, LIMIT),
              of_1, 1e-9);
    CHECK_REL(msim_e2e_feature_of(&h, MSIM_E2E_FEATURE_QUEUED_SUM, LIMIT),
              of_0 + of_1, 1e-9);
    CHECK_REL(msim_e2e_feature_of(&h, MSIM_E2E_FEATURE_AGE_OVER_MEAN, LIMIT),
              log(200 / cbrt(40 * 45 * 50)), 1e-9);
    CHECK_REL(
        msim_e2e_feature_of(&h, MSIM_E2E_FEATURE_RATE_LAST_OVER_2S, LIMIT),
        log(16 / (80 * pow(2, 8.5))), 1e-9);
    msim_history_release(&h);
}

/* What is not known is 0. */
static void test_watch_features__unknown(void)
{
    struct msim_second_stage seconds[3];
    struct msim_history h;

    REQUIRE(msim_history_init(&h, 2) == MSIM_OK);
    for (int s = 0; s < 3; s++) {
        for (int c = 0; c < MSIM_COUNTERS; c++)
            seconds[s].v[c] = NAN;
        seconds[s].queue_mean = seconds[s].p99_most = NAN;
        seconds[s].mean_last_ms = seconds[s].rate_last = seconds[s].age_s = NAN;
    }
    msim_history_add(&h, seconds);
    for (int f = 0; f <= MSIM_STAGE_FEATURES; f++)
        CHECK(msim_stage_feature_of(&h, 0, (enum msim_stage_feature)f, LIMIT) ==
              0);
    for (int f = 0; f <= MSIM_E2E_FEATURES; f++)
        CHECK(msim_e2e_feature_of(&h, (enum msim_e2e_feature)f, LIMIT) == 0);
    /* nothing is known of the second before: none has ended */
    seconds[2].v[MSIM_COUNTER_ARRIVALS] = seconds[2].v[MSIM_COUNTER_QUEUE] = 9;
    msim_history_add(&h, seconds);
    CHECK_REL(msim_e2e_feature_of(&h, MSIM_E2E_FEATURE_IN_OVER_OUT, LIMIT),
              log(10), 1e-9);
    msim_history_release(&h);
}

/* Each number has a name of its own. */
static void test_watch_features__names(void)
{
    for (int i = 0; i < MSIM_FEATURES; i++)
        for (int k = 0; k < i; k++)
            CHECK(strcmp(msim_feature_text((enum msim_feature)i),
                         msim_feature_text((enum msim_feature)k)) != 0);
    CHECK_STR(msim_feature_text(MSIM_FEATURE_P99_LOG), "P99_LOG");
    CHECK_STR(msim_stage_feature_text(MSIM_STAGE_FEATURE_RATE), "RATE");
    CHECK_STR(msim_e2e_feature_text(MSIM_E2E_FEATURE_AGE_LOG), "AGE_LOG");
}

int main(void)
{
    RUN(test_watch_features__of_stages);
    RUN(test_watch_features__of_e2e);
    RUN(test_watch_features__unknown);
    RUN(test_watch_features__names);
    return check_summary();
}
