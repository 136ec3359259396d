/*
 * Windows to seconds: where a second ends, and what it has of its windows.
 */
#include "serving/counters/counters_read.h"
#include "tests/check.h"

#include <math.h>

static struct msim_counters_row row_of(double t, uint32_t stage)
{
    struct msim_counters_row r = {.t = t, .stage = stage};

    for (int i = 0; i < MSIM_COUNTERS; i++)
        r.v[i] = NAN;
    return r;
}

/* Five windows; 2, 0, 0, 6 and 2 arrivals with services of 1, -, -, 2 and 4 ms:
 * (2 x 1 + 6 x 2 + 2 x 4) / 10 = 2.2. */
static void test_second__weighs_by_arrivals(void)
{
    static const double ARRIVALS[] = {2, 0, 0, 6, 2}, SELF[] = {1, 0, 0, 2, 4};
    static const double P99[] = {10, 0, 30, 50, 40}, MEAN[] = {1, 2, 3, 4, 0};
    struct msim_seconds s;
    bool ended = false;

    REQUIRE(msim_seconds_init(&s, 1) == MSIM_OK);
    for (int i = 0; i < 5; i++) {
        struct msim_counters_row a = row_of(0.2 * (i + 1), 0), e = a;

        CHECK(!ended);
        a.v[MSIM_COUNTER_ARRIVALS] = ARRIVALS[i];
        a.v[MSIM_COUNTER_SELF_MS] = SELF[i];
        a.v[MSIM_COUNTER_QUEUE] = i;
        CHECK(!msim_seconds_add(&s, &a));
        e.stage = 1;
        e.v[MSIM_COUNTER_P99_MS] = P99[i];
        e.v[MSIM_COUNTER_MEAN_MS] = MEAN[i];
        e.v[MSIM_COUNTER_ARRIVALS] = ARRIVALS[i];
        e.v[MSIM_COUNTER_QUEUE] = 5;
        ended = msim_seconds_add(&s, &e);
    }
    CHECK(ended);
    CHECK_REL(s.stages[0].v[MSIM_COUNTER_SELF_MS], 2.2, 1e-12);
    CHECK_REL(s.stages[0].v[MSIM_COUNTER_ARRIVALS], 10, 1e-12);
    CHECK(s.stages[0].v[MSIM_COUNTER_QUEUE] == 4);
    CHECK(s.stages[0].queue_mean == 2);
    CHECK(isnan(s.stages[0].v[MSIM_COUNTER_NET_MS]));
    /* of 10, 30, 40, 50: a window in which nothing ended has no p99 */
    CHECK(s.stages[1].v[MSIM_COUNTER_P99_MS] == 35);
    CHECK(s.stages[1].p99_most == 50);
    CHECK(s.stages[1].mean_last_ms == 4);
    CHECK_REL(s.stages[1].rate_last, 8 / 0.4, 1e-9);
    /* the last 2, and half of the 6 before them */
    CHECK_REL(s.stages[1].age_s, 0.2 + 0.1, 1e-9);
    CHECK(isnan(s.stages[0].age_s) && isnan(s.stages[0].rate_last));
    CHECK(!msim_second_violates(&s.stages[1], 35));
    CHECK(msim_second_violates(&s.stages[1], 34));
    msim_seconds_release(&s);
}

/* Windows of 0.3 s, from 7.1 s on: seconds end at 8.0, 9.2, 10.1. */
static void test_second__ends_with_the_window_that_passes_it(void)
{
    struct msim_seconds s;
    double ends[3] = {0}, rates[3] = {0};
    uint32_t n = 0;

    REQUIRE(msim_seconds_init(&s, 0) == MSIM_OK);
    for (int i = 0; i < 11; i++) {
        struct msim_counters_row e = row_of(7.1 + 0.3 * i, 0);

        e.v[MSIM_COUNTER_ARRIVALS] = 3;
        if (msim_seconds_add(&s, &e) && n < 3) {
            rates[n] = s.stages[0].v[MSIM_COUNTER_ARRIVALS];
            ends[n++] = s.t;
        }
    }
    CHECK_UINT(n, 3);
    CHECK_REL(ends[0], 8.0, 1e-9);
    CHECK_REL(ends[1], 9.2, 1e-9);
    CHECK_REL(ends[2], 10.1, 1e-9);
    CHECK_REL(rates[1], 12 / 1.2, 1e-9);
    CHECK_REL(rates[2], 9 / 0.9, 1e-9);
    msim_seconds_release(&s);
}

/* Ten arrive in each window of 0.2 s, and `in_flight` are there at the end of
 * 20 s: of two windows and a half; of more windows than are kept, all those; of
 * no number. */
static void test_second__age(void)
{
    static const struct {
        double in_flight, want;
    } CASES[] = {
        {25, 0.5}, {0, 0}, {1e6, 0.2 * MSIM_SECOND_WINDOWS}, {NAN, NAN}};

    for (size_t k = 0; k < sizeof(CASES) / sizeof(*CASES); k++) {
        struct msim_seconds s;

        REQUIRE(msim_seconds_init(&s, 0) == MSIM_OK);
        for (int i = 0; i < 100; i++) {
            struct msim_counters_row e = row_of(0.2 * (i + 1), 0);

            e.v[MSIM_COUNTER_ARRIVALS] = 10;
            e.v[MSIM_COUNTER_QUEUE] = CASES[k].in_flight;
            (void)msim_seconds_add(&s, &e);
        }
        CHECK(isnan(CASES[k].want)
                  ? isnan(s.stages[0].age_s)
                  : fabs(s.stages[0].age_s - CASES[k].want) < 1e-9);
        CHECK_REL(s.stages[0].rate_last, 50, 1e-9);
        CHECK(isnan(s.stages[0].mean_last_ms));
        msim_seconds_release(&s);
    }
}

int main(void)
{
    RUN(test_second__age);
    RUN(test_second__weighs_by_arrivals);
    RUN(test_second__ends_with_the_window_that_passes_it);
    return check_summary();
}
