/*
 * calibrate/steps/steps_interval.c: which residuals an interval is made of.
 */
#include "calibrate/steps/steps_interval.h"
#include "tests/check.h"

#include <math.h>

/* Source 0 has model "a" in rows 0 to 99 and "b" in 100 to 119, source 1 has
 * "c" in row 120. */
static struct msim_step_sample rows[121];
static struct msim_left_over of[121];
static const struct msim_step_samples SAMPLES = {.rows = rows, .n = 121};
static const struct msim_left_overs LEFT = {.of = of, .n = 121};

static void fill(uint32_t without)
{
    for (uint32_t i = 0; i < 121; i++) {
        rows[i] = (struct msim_step_sample){.source = i == 120};
        rows[i].model[0] = i < 100 ? 'a' : i < 120 ? 'b' : 'c';
        of[i] = (struct msim_left_over){.row = i,
                                        .source = i == 120,
                                        .without = without,
                                        .class = MSIM_STEP_CLASS_UNLIKE,
                                        .residual = i < 100   ? 0.01
                                                    : i < 120 ? -0.2
                                                              : 0.5};
    }
}

static struct msim_step_interval interval(uint32_t without, uint32_t judged)
{
    struct msim_step_interval v = {0};

    CHECK_INT(msim_step_interval_of(&v, &LEFT, &SAMPLES, without, judged),
              MSIM_OK);
    return v;
}

/* The one row of source 1 counts as much as all of source 0: the 95 % point
 * is its residual. "b" is a twelfth of all, more than 5 %. */
static void test_interval__sources_count_alike(void)
{
    struct msim_step_interval v;

    fill(MSIM_NO_SOURCE);
    v = interval(MSIM_NO_SOURCE, UINT32_MAX);
    CHECK_REL(v.low[MSIM_STEP_CLASS_UNLIKE], 0.2, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_UNLIKE], 0.5, 1e-9);
    CHECK_INT(v.rows[MSIM_STEP_CLASS_UNLIKE], 121);
    /* a factor of 2 where there is nothing */
    CHECK_REL(v.high[MSIM_STEP_CLASS_EXPERTS], log(2), 1e-3);
}

static void test_interval__leaves_the_judged_model_out(void)
{
    fill(MSIM_NO_SOURCE);
    CHECK_REL(interval(MSIM_NO_SOURCE, 120).high[MSIM_STEP_CLASS_UNLIKE], 0.01,
              1e-9);
    CHECK(interval(MSIM_NO_SOURCE, 110).low[MSIM_STEP_CLASS_UNLIKE] == 0);
}

/* A fit without a source says nothing of others by residuals of fits that saw
 * it, of jobs unlike all rows; of jobs like some it does. */
static void test_interval__without_a_source(void)
{
    struct msim_step_interval v;

    fill(MSIM_NO_SOURCE);
    CHECK_INT(interval(1, UINT32_MAX).rows[MSIM_STEP_CLASS_UNLIKE], 0);
    of[0].class = MSIM_STEP_CLASS_PLAIN;
    of[120].class = MSIM_STEP_CLASS_PLAIN;
    v = interval(1, UINT32_MAX);
    CHECK_INT(v.rows[MSIM_STEP_CLASS_PLAIN], 1);
    fill(1);
    CHECK_INT(interval(1, UINT32_MAX).rows[MSIM_STEP_CLASS_UNLIKE], 121);
}

int main(void)
{
    RUN(test_interval__sources_count_alike);
    RUN(test_interval__leaves_the_judged_model_out);
    RUN(test_interval__without_a_source);
    return check_summary();
}
