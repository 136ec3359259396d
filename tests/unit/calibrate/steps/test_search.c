/*
 * calibrate/steps/search.c: constants that were planted are found, also where
 * two must change together, and in spite of rows that met something else.
 */
#include "calibrate/steps/steps_fit.h"
#include "tests/check.h"

#include <math.h>

#define ROWS 40

/* Row i takes 1.2 u + 1.8 v, which two constants of 1.5 explain
 * almost as well: u and v differ by 1 to 3. Every eighth row took ten
 * times as long. The third constant is in no row. */
static void residuals(double *out, const double *at, void *context)
{
    const double *planted = context;

    for (int i = 0; i < ROWS; i++) {
        double u = i + 1, v = i + 2 + (i % 3);
        double broken = i % 8 == 7 ? 10 : 1;

        out[i] = log(broken * (planted[0] * u + planted[1] * v) /
                     (at[0] * u + at[1] * v));
    }
}

static void test_search__finds_what_was_planted(void)
{
    double planted[] = {1.2, 1.8}, at[] = {1, 1, 7}, weight[ROWS];
    struct msim_search s = {.at = at,
                            .n = 3,
                            .weight = weight,
                            .rows = ROWS,
                            .most = 0.69,
                            .ridge = 1e-6,
                            .residuals = residuals,
                            .context = planted};

    for (int i = 0; i < ROWS; i++)
        weight[i] = 1.0 / ROWS;
    msim_search_run(&s);
    CHECK_REL(at[0], 1.2, 0.02);
    CHECK_REL(at[1], 1.8, 0.02);
    CHECK_REL(at[2], 7, 1e-6);
}

/* A strong ridge keeps constants where they began. */
static void test_search__keeps_to_the_start(void)
{
    double planted[] = {2, 3}, at[] = {1, 1}, weight[ROWS] = {0};
    struct msim_search s = {.at = at,
                            .n = 2,
                            .weight = weight,
                            .rows = ROWS,
                            .most = 0.69,
                            .ridge = 1,
                            .residuals = residuals,
                            .context = planted};

    weight[0] = 1e-4;
    msim_search_run(&s);
    CHECK_REL(at[0], 1, 1e-3);
    CHECK_REL(at[1], 1, 1e-3);
}

/* Whole steps of a tenth: no slope leads from one to the next. */
static void steps(double *out, const double *at, void *context)
{
    const double *planted = context;

    for (int i = 0; i < ROWS; i++)
        out[i] = round(10 * log(planted[i % 2] / at[i % 2])) / 10;
}

/* Each of the constants is moved by itself where all slopes are 0. */
static void test_search__without_slopes(void)
{
    double planted[] = {1.3, 0.8}, at[] = {1, 1}, weight[ROWS];
    struct msim_search s = {.at = at,
                            .n = 2,
                            .weight = weight,
                            .rows = ROWS,
                            .most = 0.69,
                            .ridge = 1e-6,
                            .residuals = steps,
                            .context = planted};

    for (int i = 0; i < ROWS; i++)
        weight[i] = 1.0 / ROWS;
    msim_search_run(&s);
    CHECK_REL(at[0], 1.3, 0.06);
    CHECK_REL(at[1], 0.8, 0.06);
}

int main(void)
{
    RUN(test_search__finds_what_was_planted);
    RUN(test_search__keeps_to_the_start);
    RUN(test_search__without_slopes);
    return check_summary();
}
