/* models/estimate/emulated.c: types that a GPU has no units for. */
#include "models/estimate/model.h"

#include "models/platform/platform_data.h"
#include "tests/check.h"

static struct msim_work work(enum msim_family family, enum msim_dtype dtype,
                             const char *variant)
{
    return (struct msim_work){
        .family = family, .dtype = dtype, .variant = variant};
}

/* A GPU that lacks all of them. */
static struct msim_platform bare(void)
{
    struct msim_platform p = {.name = "old"};

    p.sheet.no_bf16 = true;
    p.sheet.missing[MSIM_RATE_FP8] = true;
    p.sheet.missing[MSIM_RATE_FP4] = true;
    p.sheet.missing[MSIM_RATE_INT8] = true;
    return p;
}

static const struct {
    enum msim_dtype dtype;
    const char *variant;
    enum msim_emulation is;
} ROWS[] = {
    {MSIM_DT_F32, NULL, MSIM_EMULATED_NO},
    {MSIM_DT_F16, NULL, MSIM_EMULATED_NO},
    {MSIM_DT_BF16, NULL, MSIM_EMULATED_BF16},
    {MSIM_DT_BF16, "int8_wo", MSIM_EMULATED_NO},
    {MSIM_DT_BF16, "w4a16", MSIM_EMULATED_NO},
    {MSIM_DT_F8, NULL, MSIM_EMULATED_FP8},
    {MSIM_DT_F8, "fp8_block", MSIM_EMULATED_FP8},
    {MSIM_DT_I8, NULL, MSIM_EMULATED_INT8},
    {MSIM_DT_U8, NULL, MSIM_EMULATED_INT8},
    {MSIM_DT_F16, "sq", MSIM_EMULATED_INT8},
    {MSIM_DT_F16, "nvfp4", MSIM_EMULATED_FP4},
};
#define N_ROWS (sizeof(ROWS) / sizeof(*ROWS))

/* Products alone; a CPU has no units to lack. */
static void test_emulated__of_products(void)
{
    static const enum msim_family PRODUCTS[] = {
        MSIM_FAMILY_GEMM, MSIM_FAMILY_CONV, MSIM_FAMILY_ATTENTION,
        MSIM_FAMILY_MOE};
    struct msim_platform p = bare(), cpu = bare(), able = {.name = "new"};

    cpu.is_host = true;
    for (size_t i = 0; i < N_ROWS; i++) {
        struct msim_work w =
            work(MSIM_FAMILY_POINTWISE, ROWS[i].dtype, ROWS[i].variant);

        CHECK_INT(msim_emulation_of(&p, &w), MSIM_EMULATED_NO);
        for (int k = 0; k < 4; k++) {
            w.family = PRODUCTS[k];
            CHECK_INT(msim_emulation_of(&p, &w), ROWS[i].is);
            CHECK_INT(msim_emulation_of(&cpu, &w), MSIM_EMULATED_NO);
            CHECK_INT(msim_emulation_of(&able, &w), MSIM_EMULATED_NO);
        }
    }
}

/* What the GPU has rows of is no emulation: of each type by its own key. */
static void test_emulated__not_with_rows(void)
{
    static const struct {
        const char *key;
        enum msim_emulation spares;
    } KEYS[] = {
        {"fp8_block", MSIM_EMULATED_FP8},     {"nvfp4", MSIM_EMULATED_FP4},
        {"int8/cutlass", MSIM_EMULATED_INT8}, {"sq", MSIM_EMULATED_INT8},
        {"half", MSIM_EMULATED_NO},           {"fp", MSIM_EMULATED_NO}};

    for (size_t k = 0; k < sizeof(KEYS) / sizeof(*KEYS); k++) {
        struct msim_fit fits[2] = {{.key = "half"}, {.key = ""}};
        struct msim_platform p = bare();

        snprintf(fits[1].key, sizeof(fits[1].key), "%s", KEYS[k].key);
        p.fits = fits;
        p.n_fits = 2;
        for (size_t i = 0; i < N_ROWS; i++) {
            struct msim_work w =
                work(MSIM_FAMILY_GEMM, ROWS[i].dtype, ROWS[i].variant);

            CHECK_INT(msim_emulation_of(&p, &w), ROWS[i].is == KEYS[k].spares
                                                     ? MSIM_EMULATED_NO
                                                     : ROWS[i].is);
        }
    }
}

static void test_emulated__words(void)
{
    static const struct {
        enum msim_emulation e;
        bool refused;
        const char *text;
    } WORDS[] = {
        {MSIM_EMULATED_BF16, false,
         "bfloat16 is not supported on old: computed in fp32"},
        {MSIM_EMULATED_INT8, false, "int8 is not supported on old"},
        {MSIM_EMULATED_FP8, true, "fp8 is not supported on old"},
        {MSIM_EMULATED_FP4, true, "fp4 is not supported on old"},
    };
    struct msim_platform p = bare();
    char text[MSIM_EMULATION_TEXT];

    CHECK(!msim_emulation_is_refused(MSIM_EMULATED_NO));
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        msim_emulation_text(WORDS[i].e, &p, text, sizeof(text));
        CHECK_STR(text, WORDS[i].text);
        CHECK_INT(msim_emulation_is_refused(WORDS[i].e), WORDS[i].refused);
    }
}

/* bfloat16 is widened to fp32; nothing else is another work. */
static void test_emulated__stands_for(void)
{
    struct msim_platform p = bare();

    for (size_t i = 0; i < N_ROWS; i++) {
        struct msim_work w =
            work(MSIM_FAMILY_GEMM, ROWS[i].dtype, ROWS[i].variant);
        struct msim_work as = msim_emulated_work(msim_emulation_of(&p, &w), &w);

        CHECK_INT(as.dtype, ROWS[i].is == MSIM_EMULATED_BF16 ? MSIM_DT_F32
                                                             : ROWS[i].dtype);
    }
}

/* By the rows of data/laws/kernels.csv: bfloat16 takes 1.41 times as long, give
 * or take that; the others are three times wider. Logarithms add up at right
 * angles. */
static void check_widen(enum msim_emulation e, double factor, double within,
                        enum msim_source source)
{
    struct msim_estimate out = {
        .us = 10, .low_us = 8, .high_us = 15, .source = MSIM_SOURCE_LAW};

    msim_emulated_widen(e, &out);
    CHECK_REL(out.us, 10 * factor, 1e-12);
    CHECK_REL(out.low_us, 10 * factor * exp(-hypot(log(10.0 / 8), within)),
              1e-12);
    CHECK_REL(out.high_us, 10 * factor * exp(hypot(log(1.5), within)), 1e-12);
    CHECK_INT(out.source, source);
}

static void test_emulated__wider(void)
{
    check_widen(MSIM_EMULATED_NO, 1, 0, MSIM_SOURCE_LAW);
    check_widen(MSIM_EMULATED_BF16, 1.41, log(1.41), MSIM_SOURCE_LAW);
    check_widen(MSIM_EMULATED_INT8, 1, log(3), MSIM_SOURCE_LAW);
    check_widen(MSIM_EMULATED_FP8, 1, log(3), MSIM_SOURCE_LAW);
    check_widen(MSIM_EMULATED_FP4, 1, log(3), MSIM_SOURCE_BOUND);
}

int main(void)
{
    RUN(test_emulated__not_with_rows);
    RUN(test_emulated__of_products);
    RUN(test_emulated__stands_for);
    RUN(test_emulated__wider);
    RUN(test_emulated__words);
    return check_summary();
}
