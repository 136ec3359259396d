/*
 * models/estimate/pace.c and bound.c: memory's pace joined with that of the
 * SMs, and works without a model.
 */
#include "models/estimate/model_internal.h"

#include "models/estimate/model.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>

/* ---- pace ---------------------------------------------------------------- */

static struct msim_estimate ten(double start_us)
{
    return (struct msim_estimate){
        .us = 10, .low_us = 8, .high_us = 15, .start_us = start_us};
}

/* The third power joins them, beside what starts the kernel: the row pace,norm
 * of data/laws/kernels.csv. */
static void test_pace__joins_the_longer(void)
{
    struct msim_estimate e = ten(2);
    double both = 2 + cbrt(8 * 8 * 8 + 4 * 4 * 4);

    msim_pace_join(4, &e);
    CHECK_REL(e.us, both, 1e-12);
    CHECK_REL(e.low_us, 0.8 * both, 1e-12);
    CHECK_REL(e.high_us, 1.5 * both, 1e-12);
    CHECK_REL(e.start_us, 2, 0);
    e = ten(2);
    both = 2 + 8 * cbrt(2);
    msim_pace_join(8, &e); /* as long as memory: no wider */
    CHECK_REL(e.us, both, 1e-12);
    CHECK_REL(e.low_us, 0.8 * both, 1e-12);
    CHECK_REL(e.high_us, 1.5 * both, 1e-12);
}

/* Where SMs set the pace, 90 % of a deviation of 0.2 go on top either way. */
static void test_pace__wider_by_the_sms(void)
{
    struct msim_estimate e = ten(2);
    double both = 2 + cbrt(8 * 8 * 8 + 20 * 20 * 20), wider = exp(1.645 * 0.2);

    msim_pace_join(20, &e);
    CHECK_REL(e.us, both, 1e-12);
    CHECK_REL(e.low_us, 0.8 * both / wider, 1e-12);
    CHECK_REL(e.high_us, 1.5 * both * wider, 1e-12);
}

static void test_pace__nothing_to_join(void)
{
    struct msim_estimate e = ten(2);

    msim_pace_join(0, &e);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.low_us, 8, 0);
    e = ten(10); /* all of it is the start */
    msim_pace_join(5, &e);
    CHECK_REL(e.us, 10, 0);
    CHECK_REL(e.high_us, 15, 0);
    /* below a microsecond is something */
    e = ten(9.5);
    msim_pace_join(0.5, &e);
    CHECK_REL(e.us, 9.5 + 0.5 * cbrt(2), 1e-12);
}

static void test_pace__adds_a_pass(void)
{
    struct msim_estimate e = ten(2);

    msim_pace_add(5, &e);
    CHECK_REL(e.us, 15, 1e-12);
    CHECK_REL(e.low_us, 12, 1e-12);
    CHECK_REL(e.high_us, 22.5, 1e-12);
    CHECK_REL(e.start_us, 2, 0);
}

/* ---- bound --------------------------------------------------------------- */

extern const struct msim_model MSIM_MODEL_BOUND;

/* 1 TB/s, 2 us a kernel; 10 TFLOP/s in fp32, 40 in 8 bits. */
static struct msim_platform machine(void)
{
    struct msim_platform p = {.name = "made"};

    p.sheet.bandwidth = 1e12;
    p.sheet.floor_us = 2;
    p.sheet.sustained = 1;
    p.sheet.rate[MSIM_RATE_FP32] = 10e12;
    p.sheet.rate[MSIM_RATE_FP8] = 40e12;
    return p;
}

static void check_bound(struct msim_work w, double us, double high_us)
{
    struct msim_platform p = machine();
    struct msim_estimate e = {0};

    CHECK(MSIM_MODEL_BOUND.covers(&p, &w));
    CHECK_INT(MSIM_MODEL_BOUND.predict(&p, &w, &e), MSIM_OK);
    CHECK_REL(e.us, 2 * us, 1e-12);
    CHECK_REL(e.low_us, us, 1e-12);
    CHECK_REL(e.high_us, high_us, 1e-12);
    CHECK_INT(e.source, MSIM_SOURCE_BOUND);
    CHECK_INT(e.family, MSIM_FAMILY_BOUND);
}

/* The larger of bytes and arithmetic, and each kernel's start. */
static void test_bound__the_larger_of_both(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F32};

    check_bound(w, 2, 16);
    w.bytes_read = 1;
    check_bound(w, 2 + 1e-6, 8 * (2 + 1e-6));
    w.bytes_read = 30e6; /* 30 us */
    check_bound(w, 32, 8 * 32);
    w.bytes_written = 10e6;
    check_bound(w, 42, 8 * 42);
    w.flops = 390e6; /* 39 us */
    check_bound(w, 42, 8 * 42);
    w.flops = 500e6; /* 50 us */
    check_bound(w, 52, 8 * 52);
    w.kernels = 1;
    check_bound(w, 52, 8 * 52);
    w.kernels = 3;
    check_bound(w, 56, 8 * 56);
    w.dtype = MSIM_DT_ODD; /* as eight bits: 12.5 us, below 40 of memory */
    check_bound(w, 46, 8 * 46);
    w.flops = 4000e6;
    check_bound(w, 106, 8 * 106);
}

/* A product of its operands may be what it is: twice of that at most. */
static void test_bound__may_be_a_product(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_BOUND, .dtype = MSIM_DT_F32};

    w.u.vector.most_flops = 70e6; /* 7 us */
    check_bound(w, 2, 16);
    w.u.vector.most_flops = 100e6;
    check_bound(w, 2, 20);
    w.family = MSIM_FAMILY_POINTWISE; /* no other is */
    check_bound(w, 2, 16);
}

static void test_bound__explains(void)
{
    struct msim_work w = {.bytes_read = 1e6, .bytes_written = 5e5, .flops = 7};
    struct msim_platform p = machine();
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    REQUIRE(out != NULL);
    MSIM_MODEL_BOUND.explain(&p, &w, out);
    fclose(out);
    CHECK_STR(text, "law: none; twice the bound of 1.5e+06 bytes over 1000 "
                    "GB/s and 7 flops over the rate\n");
    free(text);
}

int main(void)
{
    RUN(test_bound__explains);
    RUN(test_bound__may_be_a_product);
    RUN(test_bound__the_larger_of_both);
    RUN(test_pace__adds_a_pass);
    RUN(test_pace__joins_the_longer);
    RUN(test_pace__nothing_to_join);
    RUN(test_pace__wider_by_the_sms);
    return check_summary();
}
