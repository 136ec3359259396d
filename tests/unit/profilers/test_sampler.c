/*
 * How often to time, and what is made of it, on made-up times.
 */
#include "profilers/serve_internal.h"
#include "tests/check.h"

#include <time.h>

struct made_up {
    const double *us;
    uint32_t n, asked, fails_at;
    bool sleeps;
};

static enum msim_status time_it(void *state, double *us, struct msim_error *err)
{
    struct made_up *m = state;
    const struct timespec pause = {.tv_nsec = 2000000};

    if (m->sleeps)
        nanosleep(&pause, NULL);
    if (m->fails_at && m->asked + 1 == m->fails_at)
        return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE, "broken");
    *us = m->us[m->asked++ % m->n];
    return MSIM_OK;
}

struct turns {
    struct made_up concurrent, alone;
};

static enum msim_status time_concurrent(void *state, double *us,
                                        struct msim_error *err)
{
    return time_it(&((struct turns *)state)->concurrent, us, err);
}

static enum msim_status time_alone(void *state, double *us,
                                   struct msim_error *err)
{
    return time_it(&((struct turns *)state)->alone, us, err);
}

static enum msim_status take(struct made_up *m, const struct msim_policy *p,
                             struct msim_sampled *out, struct msim_error *err)
{
    struct msim_case c = {.state = m, .time = time_it};

    return msim_sample_case(&c, p, out, err);
}

static void test_sampler__stops_when_the_median_is_known(void)
{
    static const double EQUAL[] = {10};
    struct made_up m = {.us = EQUAL, .n = 1};
    struct msim_policy p = {.seconds = 10};
    struct msim_sampled s;

    REQUIRE(take(&m, &p, &s, NULL) == MSIM_OK);
    CHECK_UINT(s.n, 5);         /* the least */
    CHECK_UINT(m.asked, 2 + 5); /* and two that do not count */
    CHECK_REL(s.us, 10, 0);
    CHECK_REL(s.spread, 0, 0);
    CHECK_UINT(s.outliers, 0);
}

/* Times of 10 and 20 by turns: the median stays between, its interval from 10
 * to 20 however many there are, so that only the number of runs ends it. */
static void test_sampler__stops_at_the_most(void)
{
    static const double TURNS[] = {10, 20};
    struct made_up m = {.us = TURNS, .n = 2};
    struct msim_policy p = {.most = 40, .seconds = 10};
    struct msim_sampled s;

    REQUIRE(take(&m, &p, &s, NULL) == MSIM_OK);
    CHECK_UINT(s.n, 40);
    CHECK(s.spread > 0.3);
}

static void test_sampler__stops_when_time_is_up(void)
{
    static const double TURNS[] = {10, 20};
    struct made_up m = {.us = TURNS, .n = 2, .sleeps = true};
    struct msim_policy p = {.seconds = 0.03};
    struct msim_sampled s;

    REQUIRE(take(&m, &p, &s, NULL) == MSIM_OK);
    CHECK(s.n >= 1 && s.n <= 15); /* 2 ms each, at least */
    CHECK(s.seconds >= 0.03);
}

static void test_sampler__reports_failures(void)
{
    static const double EQUAL[] = {10}, ZERO[] = {0};
    struct made_up broken = {.us = EQUAL, .n = 1, .fails_at = 4};
    struct made_up zero = {.us = ZERO, .n = 1};
    struct msim_error err = {0}, other = {0};
    struct msim_policy p = {.warm_up = 1};
    struct msim_sampled s;

    CHECK_INT(take(&broken, &p, &s, &err), MSIM_EIO);
    CHECK_STR(err.text, "broken");
    CHECK_INT(take(&zero, &p, &s, &other), MSIM_EINTERNAL);
}

/*
 * 1..99 and a thousand: of 100 sorted values the median lies between 50 and 51,
 * deciles at ranks 9.9 and 89.1 (from 0). Quartiles 25.75 and 75.25: outliers
 * lie beyond 75.25 + 3 * 49.5. The median's 95 % interval goes from rank
 * 50 - 9.8 to 50 + 9.8, rounded outwards: values 41 to 61.
 */
static void test_sampler__summarises(void)
{
    struct msim_sampled s = {.n = 100};

    for (uint32_t i = 0; i < 99; i++)
        s.samples[(i * 37) % 99] = i + 1;
    s.samples[99] = 1000;
    msim_sampled_summarise(&s);
    CHECK_REL(s.us, 50.5, 1e-12);
    CHECK_REL(s.low_us, 10.9, 1e-12);
    CHECK_REL(s.high_us, 90.1, 1e-12);
    CHECK_REL(s.spread, 10 / 50.5, 1e-12);
    CHECK_UINT(s.outliers, 1);
    CHECK_REL(s.samples[99], 1000, 0); /* in the order of time, still there */
}

/* By turns 10 with and 5 without what runs beside; only the first decides how
 * many there are. */
static void test_sampler__takes_turns(void)
{
    static const double CONCURRENT[] = {10}, ALONE[] = {4, 6, 5, 7, 5};
    struct turns t = {{.us = CONCURRENT, .n = 1}, {.us = ALONE, .n = 5}};
    struct msim_case c = {
        .state = &t, .time = time_concurrent, .alone = time_alone};
    struct msim_policy p = {.seconds = 10};
    struct msim_sampled s;

    REQUIRE(msim_sample_case(&c, &p, &s, NULL) == MSIM_OK);
    CHECK_UINT(s.n, 5);
    CHECK_UINT(t.concurrent.asked, 2 + 5);
    CHECK_UINT(t.alone.asked, 5); /* warm from then on */
    CHECK_REL(s.us, 10, 0);
    CHECK_REL(s.alone_us, 5, 0);
    c.alone = NULL;
    REQUIRE(msim_sample_case(&c, &p, &s, NULL) == MSIM_OK);
    CHECK_REL(s.alone_us, 0, 0);
}

int main(void)
{
    RUN(test_sampler__takes_turns);
    RUN(test_sampler__stops_when_the_median_is_known);
    RUN(test_sampler__stops_at_the_most);
    RUN(test_sampler__stops_when_time_is_up);
    RUN(test_sampler__reports_failures);
    RUN(test_sampler__summarises);
    return check_summary();
}
