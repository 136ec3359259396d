/*
 * Bounds for estimates that no kernel can reach. On an A100: 80 GB, 2.04 TB/s,
 * 312 TFLOP/s in half precision, 108 SMs, 2 us for the shortest kernel.
 */
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/platform/platform.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_platform *platform;

static struct msim_work gemm(int64_t m, int64_t n, int64_t k)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                          .dtype = MSIM_DT_F16,
                          .u.gemm = {.m = m, .n = n, .k = k, .batch = 1}};

    msim_work_count(&w);
    return w;
}

static struct msim_work vector(enum msim_family family, double read,
                               double written)
{
    return (struct msim_work){.family = family,
                              .dtype = MSIM_DT_F32,
                              .bytes_read = read,
                              .bytes_written = written,
                              .u.vector = {.elems = (int64_t)(written / 4),
                                           .rows = 1 << 20,
                                           .cols = 1024}};
}

/* What becomes of an answer of `us` for `w`. */
static struct msim_estimate bounded(const struct msim_work *w, double us)
{
    struct msim_estimate e = {.us = us,
                              .low_us = us / 2,
                              .high_us = us * 2,
                              .source = MSIM_SOURCE_LAW,
                              .family = w->family};

    msim_plausible_bound(platform, w, &e);
    CHECK(e.low_us > 0 && e.low_us <= e.us && e.us <= e.high_us);
    CHECK_INT(e.source, e.bounded ? MSIM_SOURCE_BOUND : MSIM_SOURCE_LAW);
    return e;
}

/* Nothing is written or read that does not fit; rows of a gather may be fetched
 * again and again. */
static void test_plausible__memory(void)
{
    struct msim_work w = vector(MSIM_FAMILY_POINTWISE, 1e9, 81e9);
    struct msim_estimate e = bounded(&w, 50000);

    CHECK_INT(e.bounded, MSIM_BOUNDED_MEMORY);
    CHECK(e.high_us < 2.1 * 80e9 / 2.04e12 * 1e6);
    w = vector(MSIM_FAMILY_POINTWISE, 81e9, 1e9);
    CHECK_INT(bounded(&w, 50000).bounded, MSIM_BOUNDED_MEMORY);
    w = vector(MSIM_FAMILY_EMBEDDING, 81e9, 1e9);
    CHECK_INT(bounded(&w, 50000).bounded, MSIM_BOUNDED_NOT);
    w = vector(MSIM_FAMILY_POINTWISE, 79e9, 79e9);
    CHECK_INT(bounded(&w, 90000).bounded, MSIM_BOUNDED_NOT);
}

/* 8192^3 multiplications are 3,524 us at the peak, and 1 GB in and out 960 us;
 * half of that is allowed for clocks above the data sheet's. */
static void test_plausible__floor(void)
{
    struct msim_work w = gemm(8192, 8192, 8192);
    struct msim_estimate e = bounded(&w, 1700);

    CHECK_INT(e.bounded, MSIM_BOUNDED_BELOW);
    CHECK_REL(e.us, 3524, 0.01);
    CHECK_INT(bounded(&w, 1800).bounded, MSIM_BOUNDED_NOT);
    w = vector(MSIM_FAMILY_POINTWISE, 1e9, 1e9);
    CHECK_INT(bounded(&w, 450).bounded, MSIM_BOUNDED_BELOW);
    CHECK_INT(bounded(&w, 500).bounded, MSIM_BOUNDED_NOT);
    w = vector(MSIM_FAMILY_POINTWISE, 4, 4);
    CHECK_INT(bounded(&w, 0.9).bounded, MSIM_BOUNDED_BELOW);
}

/* The cap. 3,524 us at the peak: 1,800 us become that, and above it an interval
 * is as wide as it was. 2 x 60 MB, of which the cache of 40 MB may hold as
 * much, are 39.2 us at 2.039 TB/s; of 2 x 100 MB all are moved: 98.1 us. */
static void test_plausible__cap(void)
{
    struct msim_work w = gemm(8192, 8192, 8192);
    struct msim_estimate e = bounded(&w, 1800);

    CHECK_REL(e.us, 3524, 0.01);
    CHECK_REL(e.low_us, 900, 1e-12);
    CHECK_REL(e.high_us / e.us, bounded(&w, 4000).high_us / 4000, 1e-9);
    w = vector(MSIM_FAMILY_POINTWISE, 60e6, 60e6);
    CHECK_REL(bounded(&w, 30).us, 38.3, 0.01);
    w = vector(MSIM_FAMILY_POINTWISE, 100e6, 100e6);
    CHECK_REL(bounded(&w, 60).us, 98.1, 0.01);
    CHECK_REL(bounded(&w, 120).us, 120, 1e-12);
}

/* Filters of 3 x 3 may be Winograd's, a quarter of the products; those of 5 x 5
 * have the data sheet's rate: 2 x 32 x 64 x 64 x 128 x 128 x 25 FLOPs in fp32.
 */
static void test_plausible__winograd(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F64,
                          .u.conv = {.n = 32,
                                     .c = 128,
                                     .h = 64,
                                     .w = 64,
                                     .k = 128,
                                     .r = 5,
                                     .s = 5,
                                     .pad_h = 2,
                                     .pad_w = 2}};
    double us = 2.0 * 32 * 64 * 64 * 128 * 128 * 25 / 19.5e12 * 1e6;

    msim_work_count(&w);
    CHECK_REL(bounded(&w, 0.6 * us).us, us, 0.01);
    w.u.conv.r = w.u.conv.s = 3;
    w.u.conv.pad_h = w.u.conv.pad_w = 1;
    msim_work_count(&w);
    CHECK_REL(bounded(&w, 0.6 * us * 9 / 25).us, 0.6 * us * 9 / 25, 1e-9);
}

/* 2 us to start and 98 us to move 0.2 GB explain 100 us, 2,000 at most. */
static void test_plausible__times(void)
{
    struct msim_work w = vector(MSIM_FAMILY_POINTWISE, 1e8, 1e8);

    CHECK_INT(bounded(&w, 1900).bounded, MSIM_BOUNDED_NOT);
    w.u.vector.rows = 108;
    CHECK_INT(bounded(&w, 2100).bounded, MSIM_BOUNDED_ABOVE);
    /* one block has one multiprocessor of 108 */
    w.u.vector.rows = 1;
    CHECK_INT(bounded(&w, 2100).bounded, MSIM_BOUNDED_NOT);
}

/* Links, copies to the host and a user's own figures are not judged. */
static void test_plausible__others(void)
{
    struct msim_work w = vector(MSIM_FAMILY_COLLECTIVE, 1e12, 1e12);

    CHECK_INT(bounded(&w, 1).bounded, MSIM_BOUNDED_NOT);
    w = vector(MSIM_FAMILY_COPY, 1e8, 1e8);
    w.u.vector.copy = MSIM_COPY_H2D;
    CHECK_INT(bounded(&w, 1).bounded, MSIM_BOUNDED_NOT);
    w = vector(MSIM_FAMILY_POINTWISE, 1e8, 1e8);
    w.user.origin = "ops.csv:3";
    CHECK_INT(bounded(&w, 1).bounded, MSIM_BOUNDED_NOT);
}

/* A work of tera-bytes comes out of the model as a bound. */
static void test_plausible__model(void)
{
    struct msim_work w = gemm(1000000, 1000000, 8);
    struct msim_estimate e = {0};

    CHECK_INT(msim_model_predict(platform, &w, false, &e, NULL), MSIM_OK);
    CHECK_INT(e.bounded, MSIM_BOUNDED_MEMORY);
    CHECK_INT(e.source, MSIM_SOURCE_BOUND);
}

/* 1 x 87 taps a channel (QuartzNet) are multiplied one by one, without tensor
 * cores: 20.5 million outputs, 87 taps of 36 instructions, 128 a cycle on 108
 * SMs at 1.41 GHz are 3.3 ms of a gradient, far above its bytes and FLOPs. */
static void test_plausible__long_filters_a_channel(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_CONV,
                          .dtype = MSIM_DT_F16,
                          .u.conv = {.pass = MSIM_CONV_BACKWARD_WEIGHT,
                                     .n = 48,
                                     .c = 512,
                                     .h = 1,
                                     .w = 835,
                                     .k = 512,
                                     .r = 1,
                                     .s = 87,
                                     .stride_h = 1,
                                     .stride_w = 1,
                                     .pad_w = 43,
                                     .dilation_h = 1,
                                     .dilation_w = 1,
                                     .groups = 512}};

    CHECK_INT(bounded(&w, 3300).bounded, MSIM_BOUNDED_NOT);
    w.u.conv.groups = 1;
    w.u.conv.c = w.u.conv.k = 1;
    CHECK_INT(bounded(&w, 3300).bounded, MSIM_BOUNDED_ABOVE);
}

int main(void)
{
    if (msim_platform_load(&platform, MSIM_DATA, "a100", NULL) != MSIM_OK)
        return 1;
    RUN(test_plausible__memory);
    RUN(test_plausible__floor);
    RUN(test_plausible__cap);
    RUN(test_plausible__winograd);
    RUN(test_plausible__times);
    RUN(test_plausible__others);
    RUN(test_plausible__model);
    RUN(test_plausible__long_filters_a_channel);
    msim_platform_free(platform);
    return check_summary();
}
