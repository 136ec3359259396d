/*
 * models/estimate/whole_job.c: what the kernels of one job share.
 */
#include "models/estimate/model.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>

static const struct msim_work CONV = {.family = MSIM_FAMILY_CONV,
                                      .dtype = MSIM_DT_F16};

/* 10 us, 5 to 20: a factor of 2. */
static struct msim_estimate estimate_of(enum msim_family family)
{
    return (struct msim_estimate){.us = 10,
                                  .low_us = 5,
                                  .high_us = 20,
                                  .source = MSIM_SOURCE_LAW,
                                  .family = family};
}

/* Logarithms add in squares: 2 and another 2 are a factor of 2^sqrt(2). */
static void test_whole_job__widens_a_family(void)
{
    struct msim_platform p = {.jobs = {.known = true}};
    struct msim_estimate e = estimate_of(MSIM_FAMILY_CONV);

    p.jobs.family[MSIM_FAMILY_CONV] = log(2) / MSIM_Z90;
    msim_whole_job_widen(&p, &CONV, false, &e);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.high_us, 10 * pow(2, sqrt(2)), 1e-12);
    CHECK_REL(e.low_us, 10 / pow(2, sqrt(2)), 1e-12);
}

static void check_kept(const struct msim_platform *p, struct msim_estimate e)
{
    msim_whole_job_widen(p, &CONV, false, &e);
    CHECK_REL(e.low_us, 5, 0);
    CHECK_REL(e.high_us, 20, 0);
}

static void test_whole_job__keeps_others(void)
{
    struct msim_platform p = {.jobs = {.known = true}};
    struct msim_estimate user = estimate_of(MSIM_FAMILY_CONV);

    p.jobs.family[MSIM_FAMILY_CONV] = 0.5;
    check_kept(&p, estimate_of(MSIM_FAMILY_GEMM));
    user.source = MSIM_SOURCE_TABLE;
    check_kept(&p, user);
    p.is_host = true; /* the spreads are those of GPUs */
    check_kept(&p, estimate_of(MSIM_FAMILY_CONV));
}

static void check_machine(const struct msim_platform *p, double slower,
                          double faster)
{
    struct msim_whole_job_machine m = msim_whole_job_machine_of(p, false);

    CHECK_REL(m.slower, slower, 1e-12);
    CHECK_REL(m.faster, faster, 1e-12);
}

static void test_whole_job__machine(void)
{
    struct msim_platform p = {.sheet = {.trace_factor = 1.5}};

    check_machine(&p, 1.5, 1.5);
    p.jobs = (struct msim_job_spread){.known = true, .slower = 0.5};
    check_machine(&p, exp(MSIM_Z90 * 0.5), 1);
    p.is_host = true; /* the spread is that of GPUs */
    check_machine(&p, 1.5, 1.5);
}

/* A platform on which programs were timed: convolutions in half precision take
 * up to 4 times as long, or a third of the time. */
static struct msim_platform timed(void)
{
    struct msim_platform p = {.jobs = {.known = true, .slower = 0.5},
                              .spread = {.known = true, .shared = log(1.5)}};

    p.spread.kind[MSIM_SPREAD_CONV_HALF] =
        (struct msim_spread_width){log(4), log(3)};
    return p;
}

/* The width of programs takes the place of the law's. */
static void test_whole_job__alone(void)
{
    const struct msim_platform p = timed();
    struct msim_whole_job_machine m = msim_whole_job_machine_of(&p, true);
    struct msim_estimate e = estimate_of(MSIM_FAMILY_CONV);

    msim_whole_job_widen(&p, &CONV, true, &e);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.high_us, 40, 1e-12);
    CHECK_REL(e.low_us, 10.0 / 3, 1e-12);
    CHECK_REL(m.slower, 1.5, 1e-12);
    CHECK_REL(m.faster, 1.5, 1e-12);
    check_machine(&p, exp(MSIM_Z90 * 0.5), 1); /* of a traced job */
}

/* A user's factor of 4 and another 4 are one of 4^sqrt(2). */
static void test_whole_job__alone_and_uncertain(void)
{
    const struct msim_platform p = timed();
    struct msim_work w = CONV;
    struct msim_estimate e = estimate_of(MSIM_FAMILY_CONV);

    w.user.interval_factor = 4;
    msim_whole_job_widen(&p, &w, true, &e);
    CHECK_REL(e.high_us, 10 * pow(4, sqrt(2)), 1e-12);
}

/* Where no program had kernels in half precision, theirs are less certain;
 * those in full precision are not. */
static void test_whole_job__alone_in_half_precision(void)
{
    struct msim_platform p = timed();
    struct msim_work full = CONV;
    struct msim_estimate e = estimate_of(MSIM_FAMILY_CONV);

    p.spread.half = log(4);
    msim_whole_job_widen(&p, &CONV, true, &e);
    CHECK_REL(e.high_us, 10 * pow(4, sqrt(2)), 1e-12);
    full.dtype = MSIM_DT_F32;
    p.spread.kind[msim_spread_of(&full)] =
        (struct msim_spread_width){log(4), log(3)};
    msim_whole_job_widen(&p, &full, true, &e);
    CHECK_REL(e.high_us, 40, 1e-12);
}

static void check_alone_kept(const struct msim_platform *p,
                             const struct msim_work *w, enum msim_source source)
{
    struct msim_estimate e = estimate_of(w->family);

    e.source = source;
    msim_whole_job_widen(p, w, true, &e);
    CHECK_REL(e.low_us, 5, 0);
    CHECK_REL(e.high_us, 20, 0);
}

/* Programs do not tell of what no law answers, of gradients of convolutions,
 * nor where they were not read. */
static void test_whole_job__alone_keeps_others(void)
{
    struct msim_platform p = timed();
    struct msim_work gradient = CONV;

    gradient.u.conv.pass = MSIM_CONV_BACKWARD_DATA;
    check_alone_kept(&p, &CONV, MSIM_SOURCE_BOUND);
    check_alone_kept(&p, &CONV, MSIM_SOURCE_TABLE);
    check_alone_kept(&p, &gradient, MSIM_SOURCE_LAW);
    p.spread.known = false;
    check_alone_kept(&p, &CONV, MSIM_SOURCE_LAW);
}

int main(void)
{
    RUN(test_whole_job__widens_a_family);
    RUN(test_whole_job__keeps_others);
    RUN(test_whole_job__machine);
    RUN(test_whole_job__alone);
    RUN(test_whole_job__alone_and_uncertain);
    RUN(test_whole_job__alone_in_half_precision);
    RUN(test_whole_job__alone_keeps_others);
    return check_summary();
}
