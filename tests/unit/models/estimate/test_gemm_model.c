/*
 * models/estimate/gemm.c: long sums in parts, a matrix and a vector, rows of
 * odd lengths, and bare kernels in eight bits.
 */
#include "models/estimate/model.h"
#include "models/estimate/model_internal.h"
#include "models/platform/platform.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>

extern const struct msim_model MSIM_MODEL_GEMM;

static struct msim_platform *a100, *h100;

static struct msim_work product(int64_t m, int64_t n, int64_t k, int64_t batch,
                                enum msim_dtype dtype)
{
    struct msim_work w = {.family = MSIM_FAMILY_GEMM, .dtype = dtype};

    w.u.gemm.m = m;
    w.u.gemm.n = n;
    w.u.gemm.k = k;
    w.u.gemm.batch = batch;
    msim_work_count(&w);
    return w;
}

static struct msim_estimate predict(const struct msim_platform *p,
                                    const struct msim_work *w)
{
    struct msim_estimate e = {0};

    CHECK_INT(MSIM_MODEL_GEMM.predict(p, w, &e), MSIM_OK);
    return e;
}

static bool explains(const struct msim_platform *p, const struct msim_work *w,
                     const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    bool found;

    MSIM_MODEL_GEMM.explain(p, w, out);
    fclose(out);
    found = strstr(text, want) != NULL;
    free(text);
    return found;
}

static void test_gemm__covers_products(void)
{
    for (int i = 0; i < 6; i++) {
        struct msim_work w =
            product(i != 1, i != 2, i != 3, i != 4, MSIM_DT_F16);

        if (i == 5)
            w.family = MSIM_FAMILY_CONV;
        CHECK_INT(MSIM_MODEL_GEMM.covers(a100, &w), i == 0);
    }
}

/* From 32768 terms on, of which a part has 1024 at least, as many parts as
 * there are SMs (108) for tiles of 128 x 128. */
static void test_gemm__splits_long_sums(void)
{
    static const struct {
        int64_t m, n, k, batch;
        int parts; /* 1: it is whole */
    } CASE[] = {{128, 128, 32768, 1, 32},    {128, 128, 32767, 1, 1},
                {128, 128, 1000000, 1, 108}, {129, 128, 1000000, 1, 54},
                {128, 129, 1000000, 1, 54},  {128, 128, 1000000, 2, 54},
                {1408, 1408, 1000000, 1, 1}, {128, 128, 1000000, 108, 1},
                {128, 128, 1000000, 54, 2}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w = product(CASE[i].m, CASE[i].n, CASE[i].k,
                                     CASE[i].batch, MSIM_DT_F16);
        char want[64];

        snprintf(want, sizeof(want), "sums of %d parts may be faster\n",
                 CASE[i].parts);
        CHECK_INT(explains(a100, &w, "parts may be faster"), CASE[i].parts > 1);
        CHECK_INT(explains(a100, &w, want), CASE[i].parts > 1);
        a100->is_host = true;
        CHECK(!explains(a100, &w, "parts may be faster"));
        a100->is_host = false;
    }
}

/* A part of the SMs multiplies one tile; all of them do a part each. */
static void test_gemm__gains_by_parts(void)
{
    struct msim_work whole = product(128, 128, 32767, 1, MSIM_DT_F16);
    struct msim_work parts = product(128, 128, 32768, 1, MSIM_DT_F16);

    CHECK(predict(a100, &parts).us < 0.5 * predict(a100, &whole).us);
}

/* Nine tenths of the bandwidth, beyond the cache, where that is less than what
 * rows of products say. */
static void test_gemm__reads_a_matrix_once(void)
{
    int counts = 0;

    for (int side = 0; side < 2; side++) {
        struct msim_work w =
            product(side ? 1 : 65536, side ? 65536 : 1, 4096, 1, MSIM_DT_F16);
        double bytes = w.bytes_read + w.bytes_written,
               l2 = a100->sheet.l2_bytes;
        double us =
            a100->sheet.floor_us + bytes * 1e6 / (a100->sheet.bandwidth * 0.9);
        struct msim_estimate e = predict(a100, &w);

        CHECK(e.us <= us * (1 + 1e-12));
        a100->sheet.bandwidth *= 2; /* so that it is what counts */
        us = a100->sheet.floor_us + bytes * 1e6 / (a100->sheet.bandwidth * 0.9);
        e = predict(a100, &w);
        if (e.us >= us * (1 - 1e-9)) {
            counts++;
            CHECK_REL(e.us, us, 1e-9);
            CHECK_REL(e.low_us, us * exp(-1.645 * 0.2), 1e-9);
            CHECK_REL(e.high_us, us * exp(1.645 * 0.2), 1e-9);
            CHECK_REL(e.start_us, a100->sheet.floor_us, 0);
        }
        a100->sheet.l2_bytes = 2 * bytes; /* it stays in the cache */
        CHECK(fabs(predict(a100, &w).high_us / predict(a100, &w).us -
                   exp(1.645 * 0.2)) > 1e-6);
        a100->sheet.l2_bytes = l2;
        a100->sheet.bandwidth /= 2;
    }
    CHECK(counts > 0);
}

/* Of tensor cores alone, whose loads are of 16 bytes: 8 numbers of 16 bits. */
static void test_gemm__loads_odd_rows(void)
{
    static const struct {
        int64_t m, n, k;
        enum msim_dtype dtype;
        const char *variant;
        bool odd;
    } CASE[] = {{512, 512, 512, MSIM_DT_F16, "", false},
                {511, 511, 511, MSIM_DT_F16, "", true},
                {511, 511, 511, MSIM_DT_F32, "", false},
                {511, 511, 511, MSIM_DT_F32, "tf32", true},
                {511, 511, 511, MSIM_DT_F64, "", false}};

    for (size_t i = 0; i < sizeof(CASE) / sizeof(*CASE); i++) {
        struct msim_work w =
            product(CASE[i].m, CASE[i].n, CASE[i].k, 1, CASE[i].dtype);

        w.variant = CASE[i].variant;
        CHECK_INT(
            explains(a100, &w, "rows do not begin on 16 bytes: SMs load for "),
            CASE[i].odd);
        a100->is_host = true;
        CHECK(!explains(a100, &w, "rows do not begin"));
        a100->is_host = false;
    }
}

/* Bare kernels in eight bits are of the fastest stack that timed them; a stack
 * that is named has rows of its own. */
static void test_gemm__takes_the_fastest_in_eight_bits(void)
{
    struct msim_work w = product(4096, 4096, 4096, 1, MSIM_DT_F8);
    struct msim_work half = product(4096, 4096, 4096, 1, MSIM_DT_F16);
    double us = predict(h100, &w).us;

    CHECK(explains(h100, &w, "the fastest of bare kernels: "));
    CHECK(!explains(h100, &half, "the fastest"));
    w.framework = "pytorch";
    CHECK_REL(predict(h100, &w).us, us, 1e-12);
    w.framework = "sglang";
    CHECK(!explains(h100, &w, "the fastest"));
    CHECK(us < predict(h100, &half).us);
    /* at 1979 TFLOP/s at best */
    CHECK(us > 2 * pow(4096, 3) / 1979e6);
}

/* Stacks differ by a deviation of 0.36 in eight bits, 0.12 in sixteen: that of
 * a kernel of nobody's in particular is as wide. */
static void test_gemm__is_less_sure_in_eight_bits(void)
{
    struct msim_work narrow = product(4096, 4096, 4096, 1, MSIM_DT_F8);
    struct msim_work half = product(4096, 4096, 4096, 1, MSIM_DT_F16);
    struct msim_estimate e = predict(h100, &narrow);
    struct msim_estimate wide = predict(h100, &half);

    CHECK(log(e.high_us / e.us) > 1.6 * 0.36);
    CHECK(log(wide.high_us / wide.us) < 1.6 * 0.36);
    narrow.framework = "sglang";
    e = predict(h100, &narrow);
    CHECK(log(e.high_us / e.us) < 1.6 * 0.36);
}

static void test_gemm__explains_inputs(void)
{
    struct msim_work w = product(3, 5, 7, 2, MSIM_DT_F16);

    CHECK(explains(a100, &w, "inputs: m 3, n 5, k 7, batch 2, half\n"));
    CHECK(explains(a100, &w,
                   "law: t0 + norm(flops / rate, bytes / bandwidth, k "
                   "steps)\n"));
    w.dtype = MSIM_DT_F32;
    w.variant = "tf32";
    CHECK(explains(a100, &w, "batch 2, tf32\n"));
}

int main(void)
{
    if (!CHECK_INT(msim_platform_load(&a100, MSIM_DATA, "a100", NULL),
                   MSIM_OK) ||
        !CHECK_INT(msim_platform_load(&h100, MSIM_DATA, "h100", NULL), MSIM_OK))
        return check_summary();
    RUN(test_gemm__covers_products);
    RUN(test_gemm__splits_long_sums);
    RUN(test_gemm__gains_by_parts);
    RUN(test_gemm__reads_a_matrix_once);
    RUN(test_gemm__loads_odd_rows);
    RUN(test_gemm__takes_the_fastest_in_eight_bits);
    RUN(test_gemm__is_less_sure_in_eight_bits);
    RUN(test_gemm__explains_inputs);
    msim_platform_free(a100);
    msim_platform_free(h100);
    return check_summary();
}
