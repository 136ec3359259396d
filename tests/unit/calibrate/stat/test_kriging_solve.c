/*
 * Kriging against values worked out by hand, and holding out in closed form
 * against leaving points out.
 */
#include "calibrate/stat/kriging_solve.h"
#include "tests/check.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 6

static double alike(double a, double b)
{
    return exp(-fabs(a - b));
}

/* Covariances of points x with noise of variance `noise`. */
static double *matrix(const double *x, uint32_t n, double noise)
{
    double *k = malloc(n * n * sizeof(*k));

    for (uint32_t i = 0; k && i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            k[i * n + j] = alike(x[i], x[j]) + (i == j ? noise : 0);
    return k;
}

/* One point of value 2, covariance 1 and noise 1: a point on it is expected
 * half way to the mean of 0, at 1, with variance 1 - 1/2; far away nothing is
 * known: 0, variance 1. */
static void test_kriging__one_point(void)
{
    const double x = 0, y = 2, here = 1, far = 0;
    struct msim_kriging_solve g;
    double variance;

    REQUIRE(msim_kriging_solve_init(&g, matrix(&x, 1, 1), &y, 1) == MSIM_OK);
    CHECK_REL(msim_kriging_solve_at(&g, &here, 1, &variance), 1, 1e-12);
    CHECK_REL(variance, 0.5, 1e-12);
    CHECK(msim_kriging_solve_at(&g, &far, 1, &variance) == 0);
    CHECK_REL(variance, 1, 1e-12);
    msim_kriging_solve_release(&g);
}

/* Two points of variance 1 + 1 and covariance exp(-1): the density of the
 * normal distribution, with the inverse and determinant of a 2 x 2 matrix. */
static void test_kriging__log_likelihood(void)
{
    const double x[2] = {0, 1}, y[2] = {2, -1}, c = exp(-1);
    double *k = matrix(x, 2, 1), got;
    double det = 4 - c * c;
    double square = (2 * y[0] * y[0] - 2 * c * y[0] * y[1] + 2 * y[1] * y[1]);

    REQUIRE(k);
    CHECK_INT(msim_kriging_log_likelihood(&got, k, y, 2), MSIM_OK);
    CHECK_REL(got, -square / det / 2 - log(det) / 2 - log(2 * M_PI), 1e-12);
    free(k);
}

/* Held-out points in closed form are what the other points alone predict. */
static void test_kriging__without(void)
{
    const double x[N] = {0, 0.4, 1, 1.5, 2.5, 4};
    const double y[N] = {1, 2, 0.5, -1, 0.3, 2};
    const uint32_t held[2] = {1, 4};
    const uint32_t kept[N - 2] = {0, 2, 3, 5};
    double missed[2], variance[2], other_x[N - 2], other_y[N - 2], k[N - 2];
    struct msim_kriging_solve all, others;

    REQUIRE(msim_kriging_solve_init(&all, matrix(x, N, 0.1), y, N) == MSIM_OK);
    REQUIRE(msim_kriging_solve_without(&all, held, 2, missed, variance) ==
            MSIM_OK);
    for (int i = 0; i < N - 2; i++) {
        other_x[i] = x[kept[i]];
        other_y[i] = y[kept[i]];
    }
    REQUIRE(msim_kriging_solve_init(&others, matrix(other_x, N - 2, 0.1),
                                    other_y, N - 2) == MSIM_OK);
    for (int h = 0; h < 2; h++) {
        double v, mean;

        for (int i = 0; i < N - 2; i++)
            k[i] = alike(x[held[h]], other_x[i]);
        mean = msim_kriging_solve_at(&others, k, 1, &v);
        CHECK_REL(y[held[h]] - missed[h], mean, 1e-9);
        CHECK_REL(variance[h], v + 0.1, 1e-9); /* a measurement has noise */
    }
    msim_kriging_solve_release(&all);
    msim_kriging_solve_release(&others);
}

/* Two measurements of one point without noise cannot differ. */
static void test_kriging__refuses(void)
{
    const double x[2] = {1, 1}, y[2] = {0, 1};
    struct msim_kriging_solve g;

    CHECK(msim_kriging_solve_init(&g, matrix(x, 2, 0), y, 2) == MSIM_EINTERNAL);
    CHECK(g.inverse == NULL);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    RUN(test_kriging__one_point);
    RUN(test_kriging__log_likelihood);
    RUN(test_kriging__without);
    RUN(test_kriging__refuses);
    return check_summary();
}
