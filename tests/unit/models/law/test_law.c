/* models/law/law.c: laws by name and by family, gaps, and smooth maxima. */
#include "models/law/law.h"

#include "tests/check.h"

static void test_law__by_name(void)
{
    static const struct msim_law *const LAWS[] = {
        &MSIM_LAW_GEMM,       &MSIM_LAW_ATTENTION, &MSIM_LAW_CONV,
        &MSIM_LAW_VECTOR,     &MSIM_LAW_MOE,       &MSIM_LAW_COLLECTIVE,
        &MSIM_LAW_DISPATCH,   &MSIM_LAW_CPU_GEMM,  &MSIM_LAW_CPU_CONV,
        &MSIM_LAW_CPU_VECTOR,
    };

    for (size_t i = 0; i < sizeof(LAWS) / sizeof(*LAWS); i++)
        CHECK(msim_law_find(LAWS[i]->name) == LAWS[i]);
    CHECK(msim_law_find("gem") == NULL);
    CHECK(msim_law_find("") == NULL);
}

/* A row a family: its law on a GPU, and on a CPU. What moves numbers, or adds
 * them up, is a vector work. */
static void test_law__by_family(void)
{
    static const struct {
        enum msim_family family;
        const struct msim_law *gpu, *cpu;
    } ROWS[] = {
        {MSIM_FAMILY_GEMM, &MSIM_LAW_GEMM, &MSIM_LAW_CPU_GEMM},
        {MSIM_FAMILY_ATTENTION, &MSIM_LAW_ATTENTION, &MSIM_LAW_ATTENTION},
        {MSIM_FAMILY_CONV, &MSIM_LAW_CONV, &MSIM_LAW_CPU_CONV},
        {MSIM_FAMILY_MOE, &MSIM_LAW_MOE, &MSIM_LAW_MOE},
        {MSIM_FAMILY_DISPATCH, &MSIM_LAW_DISPATCH, &MSIM_LAW_DISPATCH},
        {MSIM_FAMILY_COLLECTIVE, &MSIM_LAW_COLLECTIVE, &MSIM_LAW_COLLECTIVE},
        {MSIM_FAMILY_POINTWISE, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_REDUCTION, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_SOFTMAX, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_NORM, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_EMBEDDING, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_COPY, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_OPTIMIZER, &MSIM_LAW_VECTOR, &MSIM_LAW_CPU_VECTOR},
        {MSIM_FAMILY_BOUND, NULL, NULL},
        {MSIM_FAMILY_COUNT, NULL, NULL},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        CHECK(msim_law_of(ROWS[i].family, false) == ROWS[i].gpu);
        CHECK(msim_law_of(ROWS[i].family, true) == ROWS[i].cpu);
    }
}

/* Sizes are the first features, to the last bit, and no more of them. */
static void test_law__sizes_are_the_first_features(void)
{
    static const struct msim_data_sheet SHEET = {
        .sms = 108, .l2_bytes = 4e7, .bandwidth = 2e12};
    struct msim_work works[] = {
        {.family = MSIM_FAMILY_GEMM,
         .dtype = MSIM_DT_F16,
         .u.gemm = {.batch = 2, .m = 3, .n = 5, .k = 7}},
        {.family = MSIM_FAMILY_ATTENTION,
         .dtype = MSIM_DT_F16,
         .u.attention = {.batch = 2,
                         .heads = 12,
                         .kv_heads = 3,
                         .q_len = 5,
                         .kv_len = 7,
                         .head_dim = 64}},
        {.family = MSIM_FAMILY_CONV,
         .dtype = MSIM_DT_F16,
         .u.conv = {.n = 2, .c = 3, .h = 5, .w = 7, .k = 11, .r = 1, .s = 1}},
        {.family = MSIM_FAMILY_MOE,
         .dtype = MSIM_DT_F16,
         .u.moe = {.routing = {.tokens = 5, .topk = 2, .experts = 8},
                   .hidden = 64,
                   .inter = 96}},
        {.family = MSIM_FAMILY_POINTWISE,
         .dtype = MSIM_DT_F16,
         .u.vector = {.elems = 35, .rows = 5, .cols = 7}},
    };

    for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
        const struct msim_law *law = msim_law_of(works[i].family, false);
        double all[MSIM_LAW_FEATURES], x[MSIM_LAW_FEATURES];

        for (uint32_t f = 0; f < MSIM_LAW_FEATURES; f++)
            x[f] = -1e9;
        msim_work_count(&works[i]);
        works[i].bytes_read += 6;
        law->describe(&SHEET, &works[i], all);
        law->sizes(&SHEET, &works[i], x);
        for (uint32_t f = 0; f < law->n_sizes; f++)
            CHECK(x[f] == all[f]);
        for (uint32_t f = law->n_sizes; f < MSIM_LAW_FEATURES; f++)
            CHECK(x[f] == -1e9);
    }
}

static void test_norm2__is_a_smooth_maximum(void)
{
    CHECK_REL(msim_norm2(3, 4, 2), 5, 1e-12);
    CHECK_REL(msim_norm2(4, 3, 2), 5, 1e-12);
    CHECK_REL(msim_norm2(3, 4, 1), 7, 1e-12);
    CHECK_REL(msim_norm2(2, 2, 4), 2 * pow(2, 0.25), 1e-12);
    CHECK_REL(msim_norm2(5, 0, 3), 5, 1e-12);
    CHECK_REL(msim_norm2(0, 0.5, 3), 0.5, 1e-12);
    CHECK(msim_norm2(0, 0, 2) == 0);
    /* powers that have no room in a double */
    CHECK_REL(msim_norm2(1e200, 1e200, 2), 1e200 * sqrt(2), 1e-12);
}

/* The eighth power: calls of 10 us at least, and kernels that take 2 more. */
static void test_gap__of_calls(void)
{
    const struct msim_gap gap = {10, 2}, none = {0, 2};

    CHECK_REL(msim_with_gap(8, gap), 10 * pow(2, 1.0 / 8), 1e-12);
    CHECK_REL(msim_with_gap(998, gap), 1000, 1e-12);
    CHECK_REL(msim_with_gap(0.5, gap), 10 * pow(1 + pow(0.25, 8), 1.0 / 8),
              1e-12);
    CHECK_REL(msim_with_gap(8, none), 8, 0);
}

/* The share is how much of a change of the kernel's logarithm comes through. */
static void test_gap__share_is_the_slope(void)
{
    const struct msim_gap gap = {10, 2}, none = {0, 2};
    static const double US[] = {1, 4, 8, 12, 40};

    for (size_t i = 0; i < sizeof(US) / sizeof(*US); i++) {
        double more = msim_with_gap(US[i] * (1 + 1e-6), gap);
        double less = msim_with_gap(US[i] * (1 - 1e-6), gap);

        CHECK_REL(msim_gap_share(US[i], gap), log(more / less) / 2e-6, 1e-5);
    }
    CHECK_REL(msim_gap_share(8, gap), 0.8 / 2, 1e-12);
    CHECK_REL(msim_gap_share(8, none), 1, 0);
}

int main(void)
{
    RUN(test_gap__of_calls);
    RUN(test_gap__share_is_the_slope);
    RUN(test_law__by_family);
    RUN(test_law__by_name);
    RUN(test_law__sizes_are_the_first_features);
    RUN(test_norm2__is_a_smooth_maximum);
    return check_summary();
}
