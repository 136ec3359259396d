/*
 * models/estimate/whole_job.c: what the kernels of one job share.
 */
#include "models/estimate/whole_job.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>

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
    msim_whole_job_widen(&p, &e);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.high_us, 10 * pow(2, sqrt(2)), 1e-12);
    CHECK_REL(e.low_us, 10 / pow(2, sqrt(2)), 1e-12);
}

static void check_kept(const struct msim_platform *p, struct msim_estimate e)
{
    msim_whole_job_widen(p, &e);
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
    struct msim_whole_job_machine m = msim_whole_job_machine_of(p);

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

int main(void)
{
    RUN(test_whole_job__widens_a_family);
    RUN(test_whole_job__keeps_others);
    RUN(test_whole_job__machine);
    return check_summary();
}
