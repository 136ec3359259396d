/*
 * calibrate/steps/steps_interval.c: which residuals an interval is made of.
 */
#include "calibrate/steps/steps_fit.h"
#include "tests/check.h"

#include <math.h>

/* Source 0 has model "a" in rows 0 to 99 and "b" in 100 to 119, source 1 has
 * "c" in row 120. */
static struct msim_step_sample rows[121];
static struct msim_left_over of[121];
static const struct msim_step_samples SAMPLES = {.rows = rows, .n = 121};
static const struct msim_left_overs LEFT = {.of = of, .n = 121};

static void fill(bool whole, uint32_t without)
{
    for (uint32_t i = 0; i < 121; i++) {
        rows[i] = (struct msim_step_sample){.source = i == 120};
        rows[i].model[0] = i < 100 ? 'a' : i < 120 ? 'b' : 'c';
        of[i] = (struct msim_left_over){.row = i,
                                        .source = i == 120,
                                        .without = without,
                                        .whole = whole,
                                        .class = MSIM_STEP_CLASS_USUAL,
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

/* Models count alike, a third each: 0.01, 0.2, 0.5; the 90 % point of the
 * absolute values is that of "c", both ways. Without "c" it is that of "b". */
static void test_interval__models_count_alike(void)
{
    struct msim_step_interval v;

    fill(false, MSIM_NO_SOURCE);
    v = interval(MSIM_NO_SOURCE, UINT32_MAX);
    CHECK_REL(v.low[MSIM_STEP_CLASS_USUAL], 0.5, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_USUAL], 0.5, 1e-9);
    CHECK_INT(v.rows[MSIM_STEP_CLASS_USUAL], 121);
    CHECK_REL(interval(MSIM_NO_SOURCE, 120).low[MSIM_STEP_CLASS_USUAL], 0.2,
              1e-9);
}

/* A class without rows has those of its kind of program; another program has
 * none: whole sources that were held out stand in, but for experts. */
static void test_interval__falls_back(void)
{
    struct msim_step_interval v;

    fill(false, MSIM_NO_SOURCE);
    v = interval(MSIM_NO_SOURCE, UINT32_MAX);
    CHECK_REL(v.high[MSIM_STEP_CLASS_USUAL_FAR], 0.5, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_SHARDED], log(2), 1e-3);
    fill(true, MSIM_NO_SOURCE);
    /* Sources count alike: source 1's row is half, "b" a twelfth of all. */
    v = interval(MSIM_NO_SOURCE, UINT32_MAX);
    CHECK_REL(v.low[MSIM_STEP_CLASS_SHARDED], 0.2, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_SHARDED], 0.5, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_EXPERTS], log(2), 1e-3);
}

/* A class unlike all rows is no narrower than whole sources were off; one that
 * some row is near has its own. */
static void test_interval__unlike_rows_as_wide_as_sources(void)
{
    struct msim_step_interval v;

    fill(false, MSIM_NO_SOURCE);
    for (uint32_t i = 0; i < 121; i++) {
        of[i].class = i % 2 ? MSIM_STEP_CLASS_USUAL_FAR : MSIM_STEP_CLASS_USUAL;
        of[i].residual = 0.05;
    }
    of[119].whole = true;
    of[119].residual = 0.3;
    v = interval(MSIM_NO_SOURCE, UINT32_MAX);
    CHECK_REL(v.high[MSIM_STEP_CLASS_USUAL_FAR], 0.3, 1e-9);
    CHECK_REL(v.low[MSIM_STEP_CLASS_USUAL_FAR], 0.05, 1e-9);
    CHECK_REL(v.high[MSIM_STEP_CLASS_USUAL], 0.05, 1e-9);
}

/* A fit without a source has intervals of models of other sources, and of
 * whole sources only those that were predicted without both. */
static void test_interval__without_a_source(void)
{
    fill(false, MSIM_NO_SOURCE);
    CHECK_INT(interval(1, UINT32_MAX).rows[MSIM_STEP_CLASS_USUAL], 120);
    fill(true, MSIM_NO_SOURCE);
    CHECK_INT(interval(1, UINT32_MAX).rows[MSIM_STEP_CLASS_USUAL], 0);
    fill(true, 1);
    CHECK_INT(interval(1, UINT32_MAX).rows[MSIM_STEP_CLASS_USUAL], 121);
}

int main(void)
{
    RUN(test_interval__models_count_alike);
    RUN(test_interval__falls_back);
    RUN(test_interval__unlike_rows_as_wide_as_sources);
    RUN(test_interval__without_a_source);
    return check_summary();
}
