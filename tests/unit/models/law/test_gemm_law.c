/*
 * models/law/gemm_law.c: fp32 products where half of the fp32 units compute
 * integers, too.
 */
#include "models/law/law.h"
#include "tests/check.h"

/* t0 nothing, all of the rate and bandwidth, no waves and no depth. */
static const double CONSTANTS[MSIM_LAW_PARAMS] = {1e-9, 1, 1e6, 8, 1e-9, 1e-9};

static double time_on(double product_fp32, bool transposed)
{
    const struct msim_data_sheet gpu = {.rate = {[MSIM_RATE_FP32] = 10e12},
                                        .sustained = 1,
                                        .product_fp32 = product_fp32,
                                        .sms = 64,
                                        .bandwidth = 1e12};
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F32};

    w.u.gemm.m = w.u.gemm.n = w.u.gemm.k = 4096;
    w.u.gemm.batch = 1;
    w.u.gemm.b_transposed = transposed;
    msim_work_count(&w);
    return MSIM_LAW_GEMM.time_us(&gpu, &w, CONSTANTS);
}

/* 137 Gflop at 10 Tflop/s; at 0.73 of it; at 0.7 of that where B is
 * transposed, and on other GPUs no less for it. */
static void test_gemm_law__shared_units(void)
{
    double us = 2.0 * 4096 * 4096 * 4096 / 10e6;

    CHECK_REL(time_on(1, false), us, 0.01);
    CHECK_REL(time_on(1, true), us, 0.01);
    CHECK_REL(time_on(0.73, false), us / 0.73, 0.01);
    CHECK_REL(time_on(0.73, true), us / 0.73 / 0.7, 0.01);
}

int main(void)
{
    RUN(test_gemm_law__shared_units);
    return check_summary();
}
