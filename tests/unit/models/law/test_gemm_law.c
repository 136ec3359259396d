/*
 * models/law/gemm_law.c: the time of products by hand, fp32 where half of its
 * units compute integers, too, and features and keys.
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

/* 300 x 200 x 96, twice, in half precision: 3 x 2 tiles of 128 x 128, two
 * batches of them on 10 SMs. */
static struct msim_work product(void)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = MSIM_DT_F16};

    w.u.gemm.m = 300;
    w.u.gemm.n = 200;
    w.u.gemm.k = 96;
    w.u.gemm.batch = 2;
    w.flops = 5e6;
    w.bytes_read = 3e6;
    w.bytes_written = 1e6;
    return w;
}

static struct msim_data_sheet sheet(void)
{
    return (struct msim_data_sheet){.rate = {[MSIM_RATE_FP16] = 1e12},
                                    .sustained = 0.5,
                                    .product_fp32 = 1,
                                    .sms = 10,
                                    .bandwidth = 2e12};
}

/* 12 tiles are 1.2 waves, whose second is not full. */
static void test_gemm_law__time(void)
{
    static const double P[MSIM_LAW_PARAMS] = {3, 0.8, 0.4, 2, 0.5, 16};
    struct msim_data_sheet s = sheet();
    struct msim_work w = product();
    double compute = 5e6 / (5e5 * 0.8) * sqrt(2 / 1.2);
    double memory = 4e6 / (2e6 * 0.4), depth = 96 / 1024.0 * 16;
    double dealt;

    CHECK_REL(MSIM_LAW_GEMM.time_us(&s, &w, P),
              3 + sqrt(compute * compute + memory * memory + depth * depth),
              1e-12);
    /* two dies read every operand once each; of four, three columns of tiles
     * and two rows are all that there are */
    s.shared_cache = 1e12;
    for (int dies = 2; dies <= 4; dies += 2) {
        s.dies = dies;
        dealt = (300 * 2 * (dies < 2 ? dies : 2) +
                 200 * 2 * (dies < 3 ? dies : 3)) *
                96.0 * 2 / (1e6 * 0.4);
        CHECK_REL(MSIM_LAW_GEMM.time_us(&s, &w, P),
                  3 + sqrt(compute * compute +
                           (memory + dealt) * (memory + dealt) + depth * depth),
                  1e-12);
    }
}

static void test_gemm_law__features(void)
{
    static const double TILES[][2] = {
        {64, 64}, {128, 64}, {128, 128}, {256, 128}};
    static const double COUNT[] = {5 * 4, 3 * 4, 3 * 2, 2 * 2};
    static const double COVERED[] = {320 * 256.0, 384 * 256.0, 384 * 256.0,
                                     512 * 256.0};
    const double sizes[] = {log(300),    log(200),   log(96),
                            log(2),      log(5e6),   log(4e6),
                            log(120000), log(19200), log(28800)};
    struct msim_data_sheet s = sheet();
    struct msim_work w = product();
    double x[MSIM_LAW_FEATURES];

    MSIM_LAW_GEMM.describe(&s, &w, x);
    for (int i = 0; i < 9; i++)
        CHECK_REL(x[i], sizes[i], 1e-12);
    for (size_t i = 0; i < sizeof(TILES) / sizeof(*TILES); i++) {
        double waves = COUNT[i] * 2 / 10;

        CHECK_REL(x[9 + 3 * i], log(waves), 1e-12);
        CHECK_REL(x[10 + 3 * i], ceil(waves) / waves, 1e-12);
        CHECK_REL(x[11 + 3 * i], COVERED[i] / (300 * 200), 1e-12);
    }
    CHECK_REL(x[21], log(4), 1e-12);  /* of 300 and 256 */
    CHECK_REL(x[22], log(8), 1e-12);  /* of 200 and 1024 */
    CHECK_REL(x[23], log(32), 1e-12); /* of 96 and 1024 */
    CHECK(x[24] == 0 && x[25] == 0);
    w.u.gemm.a_transposed = true;
    MSIM_LAW_GEMM.describe(&s, &w, x);
    CHECK(x[24] > 0 && x[25] == 0);
    w.u.gemm.b_transposed = true;
    MSIM_LAW_GEMM.describe(&s, &w, x);
    CHECK_REL(x[25], 1, 0);
}

/* A fit's key is the format: what is packed has one of its own. */
static void test_gemm_law__keys(void)
{
    static const struct {
        enum msim_dtype dtype;
        const char *variant, *key;
    } ROWS[] = {
        {MSIM_DT_F64, NULL, "fp64"},
        {MSIM_DT_F32, NULL, "fp32"},
        {MSIM_DT_F32, "tf32", "tf32"},
        {MSIM_DT_BF16, NULL, "half"},
        {MSIM_DT_F16, "", "half"},
        {MSIM_DT_F8, NULL, "fp8"},
        {MSIM_DT_I8, NULL, "int8"},
        {MSIM_DT_F16, "nvfp4", "nvfp4"},
        {MSIM_DT_F8, "fp8_block", "fp8_block"},
        {MSIM_DT_F16, "int4_wo", "int4_wo"},
        {MSIM_DT_F16, "int8_wo", "int8_wo"},
        {MSIM_DT_F16, "sq", "sq"},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        struct msim_work w = {.family = MSIM_FAMILY_GEMM,
                              .dtype = ROWS[i].dtype,
                              .variant = ROWS[i].variant};
        char key[32];

        MSIM_LAW_GEMM.key(&w, key, sizeof(key));
        CHECK_STR(key, ROWS[i].key);
    }
    CHECK_REL(MSIM_LAW_GEMM.key_log_sd("fp8", "half"), 0.4, 0);
    CHECK_REL(MSIM_LAW_GEMM.key_log_sd("fp32", "fp64"), 0.4, 0);
    CHECK_REL(MSIM_LAW_GEMM.key_log_sd("fp32", "half"), 0.6, 0);
    CHECK_REL(MSIM_LAW_GEMM.key_log_sd("tf32", "fp64"), 0.6, 0);
}

int main(void)
{
    RUN(test_gemm_law__features);
    RUN(test_gemm_law__keys);
    RUN(test_gemm_law__shared_units);
    RUN(test_gemm_law__time);
    return check_summary();
}
