/*
 * tests/unit/core/report/analyse/test_outcome.c - tests of
 * core/report/analyse/outcome.h: no interval passes below 0, and a machine is
 * off by its own factor on each side.
 */
#include "core/report/analyse/outcome.h"

#include "tests/check.h"

/* 226 us, from 10 on: 216 below it. A GPU that is off by a factor of 2 takes
 * another 113: sqrt(216^2 + 113^2) = 243.8 is more than there is. */
static void test_outcome__no_time_below_zero(void)
{
    struct msim_outcome o = {.gpu_slower = 2, .gpu_faster = 2};
    struct msim_figure f = {.predicted = 226, .low = 10, .high = 400};

    msim_widen(&o, &f);
    CHECK_REL(f.low, 0, 0);
    CHECK(f.high > 400);
    f = (struct msim_figure){.predicted = 100, .low = 70, .high = 140};
    msim_widen(&o, &f); /* 100 - sqrt(30^2 + 50^2) */
    CHECK_REL(f.low, 41.690, 1e-4);
}

/* Up to three times as long, down to half of it: 100 + sqrt(40^2 + 200^2), and
 * 100 - sqrt(30^2 + 50^2). A machine that is never faster leaves low alone. */
static void test_outcome__each_side_by_its_factor(void)
{
    struct msim_outcome o = {.gpu_slower = 3, .gpu_faster = 2};
    struct msim_figure f = {.predicted = 100, .low = 70, .high = 140};

    msim_widen(&o, &f);
    CHECK_REL(f.low, 41.690, 1e-4);
    CHECK_REL(f.high, 303.961, 1e-5);
    o.gpu_faster = 1;
    f = (struct msim_figure){.predicted = 100, .low = 70, .high = 140};
    msim_widen(&o, &f);
    CHECK_REL(f.low, 70, 1e-12);
}

/* A task that shares its device by less than its own low is short of it. */
static void test_outcome__no_bound_below_zero(void)
{
    msim_ps mid = 100, low = 20, alone = 150;
    struct msim_outcome o = {.mid = {.dur = &mid}, .task_mid = &alone};

    CHECK_INT(msim_task_bound(&o, &low, 0), 0);
    mid = 160;
    CHECK_INT(msim_task_bound(&o, &low, 0), 30);
}

int main(void)
{
    RUN(test_outcome__no_time_below_zero);
    RUN(test_outcome__each_side_by_its_factor);
    RUN(test_outcome__no_bound_below_zero);
    return check_summary();
}
