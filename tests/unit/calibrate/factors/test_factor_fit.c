/*
 * calibrate/factors/factor_fit.c: factors that were planted are found.
 */
#include "calibrate/factors/factor_fit.h"
#include "tests/check.h"

#define PROGRAMS 60

static struct msim_program_sum rows[PROGRAMS + 1];

/* Programs of products and additions in all shares, where products take
 * `gemm` times and additions `vector` times what the laws say. */
static struct msim_program_sums planted(double gemm, double vector)
{
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        struct msim_program_sum *r = &rows[i];

        *r = (struct msim_program_sum){
            .group = i, .fold = i % MSIM_PROGRAM_FOLDS, .other = 1};
        r->kind[MSIM_FACTOR_GEMM_FULL] = 10.0 * (i % 7);
        r->kind[MSIM_FACTOR_VECTOR] = 10.0 * (i % 5);
        r->us = r->other + gemm * r->kind[MSIM_FACTOR_GEMM_FULL] +
                vector * r->kind[MSIM_FACTOR_VECTOR];
    }
    return (struct msim_program_sums){
        .rows = rows, .n = PROGRAMS, .platforms.n = 1, .groups.n = PROGRAMS};
}

static void test_factor_fit__finds_what_was_planted(void)
{
    struct msim_program_sums s = planted(1.6, 0.8);
    struct msim_factor_fit f;

    CHECK_INT(msim_factor_fit_make(&f, &s, 0, 0), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_FULL], 1.6, 0.02);
    CHECK_REL(f.time[MSIM_FACTOR_VECTOR], 0.8, 0.02);
    CHECK_REL(f.time[MSIM_FACTOR_CONV_HALF], 1, 0);
    CHECK(f.share[MSIM_FACTOR_CONV_HALF] == 0);
    CHECK_INT(f.rows, PROGRAMS);
    CHECK_INT(f.groups, PROGRAMS);
    CHECK(f.error_laws > 0.2 && f.error_held_out < 0.02);
}

/* One program that is off by 30 does not move the others'. */
static void test_factor_fit__outlier(void)
{
    struct msim_program_sums s = planted(1.6, 0.8);
    struct msim_factor_fit f;

    rows[13].us *= 30;
    CHECK_INT(msim_factor_fit_make(&f, &s, 0, 0), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_FULL], 1.6, 0.03);
}

/* Two programs say little: the factor stays near 1. */
static void test_factor_fit__few(void)
{
    struct msim_program_sums s = planted(4, 4);
    struct msim_factor_fit f;

    s.n = 2;
    CHECK_INT(msim_factor_fit_make(&f, &s, 0, 0), MSIM_OK);
    CHECK(f.time[MSIM_FACTOR_GEMM_FULL] < 3);
    s.n = 0;
    CHECK_INT(msim_factor_fit_make(&f, &s, 0, 0), MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_GEMM_FULL], 1, 0);
}

/* A kind with rows of its own stays as its rows say. */
static void test_factor_fit__fixed(void)
{
    struct msim_program_sums s = planted(1.6, 0.8);
    struct msim_factor_fit f;

    CHECK_INT(msim_factor_fit_make(&f, &s, 0, 1u << MSIM_FACTOR_VECTOR),
              MSIM_OK);
    CHECK_REL(f.time[MSIM_FACTOR_VECTOR], 1, 0);
    CHECK(f.time[MSIM_FACTOR_GEMM_FULL] > 1.2);
}

int main(void)
{
    RUN(test_factor_fit__finds_what_was_planted);
    RUN(test_factor_fit__outlier);
    RUN(test_factor_fit__few);
    RUN(test_factor_fit__fixed);
    return check_summary();
}
