/*
 * Corrections by kriging: at a row's size it is that of the row, far from all
 * rows it is 0; the standard deviation grows with the distance; what a fit
 * writes is read back, and broken files are refused.
 */
#include "calibrate/fit/kriging_fit.h"
#include "models/platform/fit.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

#define ROWS 60

/* One row at m = e^2 with weight 0.25; its correlation with itself is 1. */
static const char ONE[] =
    "{\"reach\":{\"log_m\":2},\"noise\":0.04,\"low\":-1,\"high\":0.3,"
    "\"rows\":\"2\",\"weights\":\"0.25\"}";

static void test_kriging__fades_with_distance(void)
{
    cJSON *json = cJSON_Parse(ONE);
    double x[MSIM_LAW_FEATURES] = {2};
    struct msim_kriging m;

    REQUIRE(msim_kriging_read(&m, json, &MSIM_LAW_GEMM) == MSIM_OK);
    CHECK_REL(msim_kriging_correct(&m, x, 1).log, 0.25, 1e-12);
    /* noise alone: the row was measured once */
    CHECK_REL(msim_kriging_correct(&m, x, 1).sd_ratio, 0.2, 1e-12);
    /* of a GPU with a correlation of 0.5: 0.04 + 1 - 0.5^2 */
    CHECK_REL(msim_kriging_correct(&m, x, 0.5).sd_ratio, sqrt(0.79), 1e-12);
    /* a length scale away: (1 + sqrt 3) exp(-sqrt 3) = 0.4833577 of it is left
     */
    x[0] = 4;
    CHECK_REL(msim_kriging_correct(&m, x, 1).log, 0.25 * 0.4833577, 1e-6);
    CHECK_REL(msim_kriging_correct(&m, x, 1).sd_ratio,
              sqrt(1.04 - 0.4833577 * 0.4833577), 1e-6);
    x[0] = 100;
    CHECK(fabs(msim_kriging_correct(&m, x, 1).log) < 1e-12);
    CHECK_REL(msim_kriging_correct(&m, x, 1).sd_ratio, msim_kriging_far(&m),
              1e-9);
    msim_kriging_release(&m);
    cJSON_Delete(json);
}

/* Never beyond the residuals of the rows fitted on. */
static void test_kriging__stays_within_bounds(void)
{
    cJSON *json = cJSON_Parse(ONE);
    double x[MSIM_LAW_FEATURES] = {2};
    struct msim_kriging m;

    REQUIRE(msim_kriging_read(&m, json, &MSIM_LAW_GEMM) == MSIM_OK);
    m.weights[0] = 7;
    CHECK_REL(msim_kriging_correct(&m, x, 1).log, 0.3, 1e-12);
    m.weights[0] = -7;
    CHECK_REL(msim_kriging_correct(&m, x, 1).log, -1, 1e-12);
    msim_kriging_release(&m);
    cJSON_Delete(json);
}

static void test_kriging__refuses_broken_ones(void)
{
    static const char *const BROKEN[] = {
        "{}",
        "{\"reach\":{},\"noise\":1,\"rows\":\"\",\"weights\":\"1\"}",
        "{\"reach\":{\"log_q\":1},\"noise\":1,\"rows\":\"1\",\"weights\":"
        "\"1\"}",
        "{\"reach\":{\"log_m\":0},\"noise\":1,\"rows\":\"1\",\"weights\":"
        "\"1\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":0,\"rows\":\"1\",\"weights\":"
        "\"1\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":1,\"rows\":\"1\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":1,\"rows\":\"1 2\",\"weights\":"
        "\"1\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":1,\"rows\":\"1\",\"weights\":"
        "\"1 2\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":1,\"rows\":\"nan\",\"weights\":"
        "\"1\"}",
        "{\"reach\":{\"log_m\":1},\"noise\":1,\"rows\":\"1\",\"weights\":"
        "\"\"}",
    };

    for (size_t i = 0; i < sizeof(BROKEN) / sizeof(*BROKEN); i++) {
        cJSON *json = cJSON_Parse(BROKEN[i]);
        struct msim_kriging m;

        CHECK(json != NULL);
        CHECK_INT(msim_kriging_read(&m, json, &MSIM_LAW_GEMM), MSIM_EFORMAT);
        cJSON_Delete(json);
    }
}

/* A smooth surface over m and n: row i, of group i / 3. */
static double surface(double m, double n)
{
    return 0.3 * sin(m / 2) - 0.1 * n;
}

static void make_rows(double *x, double *y, uint64_t *group)
{
    memset(x, 0, ROWS * MSIM_LAW_GEMM.n_features * sizeof(*x));
    for (int i = 0; i < ROWS; i++) {
        double *row = x + (size_t)i * MSIM_LAW_GEMM.n_features;

        row[0] = i * 37 % ROWS / 12.0;
        row[1] = i % 7 / 2.0;
        y[i] = surface(row[0], row[1]);
        group[i] = (uint64_t)i / 3;
    }
    y[20] += 3; /* an outlier */
}

/* Between rows the surface is found again, to less than a tenth of how much it
 * varies (0.3), and one wild row does not spoil it; the same bytes come out of
 * the same rows. */
static void test_kriging__fits_what_is_smooth(void)
{
    static double x[ROWS * MSIM_LAW_FEATURES], y[ROWS];
    static uint64_t group[ROWS];
    double at[MSIM_LAW_FEATURES] = {0};
    struct msim_kriging m;
    cJSON *json, *again;
    char *a, *b;

    make_rows(x, y, group);
    REQUIRE(msim_kriging_suits(&MSIM_LAW_GEMM));
    CHECK(!msim_kriging_suits(&MSIM_LAW_MOE));
    REQUIRE(msim_kriging_fit(&json, &MSIM_LAW_GEMM, x, y, group, ROWS) ==
            MSIM_OK);
    REQUIRE(msim_kriging_fit(&again, &MSIM_LAW_GEMM, x, y, group, ROWS) ==
            MSIM_OK);
    REQUIRE(msim_kriging_read(&m, json, &MSIM_LAW_GEMM) == MSIM_OK);
    CHECK_UINT(m.n, ROWS);
    for (int i = 0; i < 10; i++) {
        at[0] = 0.5 + 0.37 * i;
        at[1] = 1.2;
        CHECK(fabs(msim_kriging_correct(&m, at, 1).log -
                   surface(at[0], at[1])) < 0.03);
    }
    a = cJSON_PrintUnformatted(json);
    b = cJSON_PrintUnformatted(again);
    CHECK_STR(a, b);
    cJSON_free(a);
    cJSON_free(b);
    msim_kriging_release(&m);
    cJSON_Delete(json);
    cJSON_Delete(again);
}

int main(void)
{
    RUN(test_kriging__fades_with_distance);
    RUN(test_kriging__stays_within_bounds);
    RUN(test_kriging__refuses_broken_ones);
    RUN(test_kriging__fits_what_is_smooth);
    return check_summary();
}
