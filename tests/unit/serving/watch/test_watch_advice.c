/*
 * How many replicas are asked for, on counters written down: eight workers
 * are held at 400 requests a second.
 */
#include "serving/watch/watch.h"
#include "tests/unit/serving/made_app.h"

#include <math.h>

static const char *const FILES[] = {"app.json", NULL};

static const char MORE[] =
    "'name': 'one', 'slo': [{'class': 'all', 'metric': 'e2e', "
    "'percentile': 99, 'limit_ms': 200}], 'classes': [{'name': 'all', "
    "'share': 1}], 'arrivals': {'process': 'poisson', 'rate': 400}, ";
#define ONLY "'only': {'kind': 'measured', 'call': 'queue', 'service': 20"
static const char SHARED[] = ONLY "}";
static const char ONE_EACH[] = ONLY ", 'routing': 'round'}";

/* What is asked for of a stage of 12 replicas after `seconds` of `rate`, which
 * differs by 1 % from one second to the next. */
static void ask(int64_t *n, double (*rate)(double t), int seconds,
                const char *stages, double p99_ms)
{
    struct msim_app app;
    struct msim_watch w;
    struct msim_advice a;
    struct msim_verdict v;

    REQUIRE(made_read(&app, MORE, stages, "'start': 'only'") == MSIM_OK);
    REQUIRE(msim_watch_init(&w, &app, NULL, NULL, 5, NULL) == MSIM_OK);
    REQUIRE(msim_advice_init(&a, &w) == MSIM_OK);
    for (int i = 0; i < seconds; i++) {
        struct msim_counters_row r = {.t = i + 1, .stage = 0};
        double arrivals = rate(i) * (1 + 0.005 * (i % 2 ? 1 : -1));

        for (int c = 0; c < MSIM_COUNTERS; c++)
            r.v[c] = NAN;
        r.v[MSIM_COUNTER_ARRIVALS] = arrivals;
        r.v[MSIM_COUNTER_MEAN_MS] = r.v[MSIM_COUNTER_SELF_MS] = 20;
        r.v[MSIM_COUNTER_P99_MS] = p99_ms;
        r.v[MSIM_COUNTER_REPLICAS] = 12;
        r.v[MSIM_COUNTER_BUSY] = arrivals * 0.02 / 12;
        r.v[MSIM_COUNTER_QUEUE] = 0;
        CHECK(!msim_watch_add(&w, &r, &v));
        r.stage = 1;
        r.v[MSIM_COUNTER_BUSY] = r.v[MSIM_COUNTER_REPLICAS] = NAN;
        CHECK(msim_watch_add(&w, &r, &v));
    }
    msim_advice_decide(&a, &w, &v);
    *n = a.replicas[0];
    msim_advice_release(&a);
    msim_watch_release(&w);
    msim_app_release(&app);
}

/* From 400 to 800 requests a second in ten seconds, on a day whose rate went up
 * and down by a half before. */
static double on_a_level(double t)
{
    return 400 * (1 + 0.1 * fmax(0, t - 119));
}

static double on_a_wave(double t)
{
    return t < 120 ? 400 * (1 + 0.5 * sin(t * 2 * 3.14159265 / 60))
                   : on_a_level(t);
}

/* 520 requests a second hold 10.4 workers, and grow by 8 % a second: 13.2 when
 * new replicas serve, at most 95 % of the time. What the rate was in the
 * minutes before does not change how sure its growth is. */
static void test_advice__foresees_growth_on_any_day(void)
{
    int64_t level = 0, wave = 0;

    ask(&level, on_a_level, 123, SHARED, 90);
    CHECK(level >= 14);
    ask(&wave, on_a_wave, 123, SHARED, 90);
    CHECK_UINT(wave, level);
}

static double the_same(double t)
{
    return 380 + 0 * t;
}

/* Requests take 210 ms of 200 without any queue, so that no more than 9 ms are
 * left for queues. 7.6 workers are held; queues of one replica each add
 * 3 x 20 x 7.6 / (n - 7.6) ms to the p99: 9 ms with 59 replicas. The 20th takes
 * 3.2 ms off, the 21st 2.7, which is less than 0.015 of the limit. */
static void test_advice__leaves_what_does_little(void)
{
    int64_t n = 0;

    ask(&n, the_same, 60, ONE_EACH, 210);
    CHECK_INT(n, 20);
}

int main(void)
{
    made_begin();
    RUN(test_advice__foresees_growth_on_any_day);
    RUN(test_advice__leaves_what_does_little);
    made_end(FILES);
    return check_summary();
}
