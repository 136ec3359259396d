/*
 * Types by words in the names of kernels: each word, which of two counts, and
 * what is taken where a name shows none.
 */
#include "core/work/data_sheet.h"
#include "tests/check.h"

#include <ctype.h>

static void test_kernel_type__rate_of_each_word(void)
{
    static const struct {
        const char *word;
        enum msim_rate rate;
    } WORDS[] = {
        {"nvfp4", MSIM_RATE_FP4},
        {"e2m1", MSIM_RATE_FP4},
        {"mxfp4", MSIM_RATE_FP4},
        {"fp4", MSIM_RATE_FP4},
        {"e4m3", MSIM_RATE_FP8},
        {"e5m2", MSIM_RATE_FP8},
        {"fp8", MSIM_RATE_FP8},
        {"float8", MSIM_RATE_FP8},
        {"s884", MSIM_RATE_FP16},
        {"h884", MSIM_RATE_FP16},
        {"s16816", MSIM_RATE_FP16},
        {"h16816", MSIM_RATE_FP16},
        {"h1688", MSIM_RATE_FP16},
        {"int8", MSIM_RATE_INT8},
        {"s8_", MSIM_RATE_INT8},
        {"i8816", MSIM_RATE_INT8},
        {"_s8", MSIM_RATE_INT8},
        {"i16832", MSIM_RATE_INT8},
        {"bf16", MSIM_RATE_FP16},
        {"bfloat16", MSIM_RATE_FP16},
        {"f16", MSIM_RATE_FP16},
        {"fp16", MSIM_RATE_FP16},
        {"half", MSIM_RATE_FP16},
        {"hgemm", MSIM_RATE_FP16},
        {"hscudnn", MSIM_RATE_FP16},
        {"unsigned short", MSIM_RATE_FP16},
        {"tf32", MSIM_RATE_TF32},
        {"tfloat32", MSIM_RATE_TF32},
        {"s1688", MSIM_RATE_TF32},
        {"dgemm", MSIM_RATE_FP64},
        {"f64", MSIM_RATE_FP64},
        {"sgemm", MSIM_RATE_FP32},
        {"gcgemm", MSIM_RATE_FP32},
        {"scudnn", MSIM_RATE_FP32},
        {"simt", MSIM_RATE_FP32},
        {"f32f32", MSIM_RATE_FP32},
        {"fp32", MSIM_RATE_FP32},
        {"(double*)", MSIM_RATE_FP64},
        {"(float)", MSIM_RATE_FP32},
        /* words that are parts of others are none */
        {"doubled", MSIM_RATE_FP16},
        {"afloat", MSIM_RATE_FP16},
        {"floats", MSIM_RATE_FP16},
        {"float2", MSIM_RATE_FP16},
        {"kernel", MSIM_RATE_FP16},
        {"", MSIM_RATE_FP16},
        /* the second one is whole */
        {"floats float", MSIM_RATE_FP32},
        {"float", MSIM_RATE_FP32},
    };

    for (size_t i = 0; i < sizeof(WORDS) / sizeof(*WORDS); i++) {
        char name[64];

        snprintf(name, sizeof(name), "%s", WORDS[i].word);
        CHECK_INT(msim_kernel_rate(name), WORDS[i].rate);
        /* in any case, but for types of templates */
        if (strchr("(af", *name))
            continue;
        for (char *c = name; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        CHECK_INT(msim_kernel_rate(name), WORDS[i].rate);
    }
}

/* Tensor instructions before the numbers in them. */
static void test_kernel_type__which_word_counts(void)
{
    CHECK_INT(msim_kernel_rate("nvfp4_fp8_bf16"), MSIM_RATE_FP4);
    CHECK_INT(msim_kernel_rate("bf16_e4m3"), MSIM_RATE_FP8);
    CHECK_INT(msim_kernel_rate("int8_h16816"), MSIM_RATE_FP16);
    CHECK_INT(msim_kernel_rate("bf16_int8"), MSIM_RATE_INT8);
    CHECK_INT(msim_kernel_rate("tf32_bf16"), MSIM_RATE_FP16);
    CHECK_INT(msim_kernel_rate("f64_tf32"), MSIM_RATE_TF32);
    CHECK_INT(msim_kernel_rate("sgemm_f64"), MSIM_RATE_FP64);
    CHECK_INT(msim_kernel_rate("<float, double>"), MSIM_RATE_FP64);
    CHECK_INT(msim_kernel_rate("half <double>"), MSIM_RATE_FP16);
}

/* Tensile's letters stand behind those of indices, and come first. */
static void test_kernel_type__tensile(void)
{
    CHECK_INT(msim_kernel_rate("Cijk_Alik_Bljk_F8BS_fp32"), MSIM_RATE_FP8);
    CHECK_INT(msim_kernel_rate("Cijk_Alik_Bljk_B8F8_fp32"), MSIM_RATE_FP8);
    CHECK_INT(msim_kernel_rate("Cijk_Alik_Bljk_I8II_fp32"), MSIM_RATE_INT8);
    CHECK_INT(msim_kernel_rate("Cijk_Alik_Bljk_SB_bf16"), MSIM_RATE_FP32);
    CHECK_INT(msim_kernel_rate("Cijk_Alik_Bljk_DB_bf16"), MSIM_RATE_FP64);
    CHECK_INT(msim_kernel_rate("Cijk_Ailk_Bjlk_HHS_fp32"), MSIM_RATE_FP16);
    CHECK_INT(msim_kernel_rate("Cijk_Ailk_Bjlk_BBS_fp32"), MSIM_RATE_FP16);
    CHECK_INT(msim_kernel_rate("Cijk_Ailk_Bjlk_DB_fp32"), MSIM_RATE_FP64);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP16, "Cijk_Ailk_Bjlk_BBS_H"),
              MSIM_DT_BF16);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP16, "Cijk_Ailk_Bjlk_HHS_B"),
              MSIM_DT_F16);
    CHECK_INT(msim_kernel_stated_dtype("Cijk_Ailk_Bjlk_BBS"), MSIM_DT_BF16);
    CHECK_INT(msim_kernel_stated_dtype("Cijk_Ailk_Bljk_I8II"), MSIM_DT_I8);
}

static void test_kernel_type__inputs_of_a_rate(void)
{
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP64, "x"), MSIM_DT_F64);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP32, "x"), MSIM_DT_F32);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_TF32, "x"), MSIM_DT_F32);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP16, "x"), MSIM_DT_F16);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP16, "BF16"), MSIM_DT_BF16);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP16, "BFloat16"), MSIM_DT_BF16);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP8, "bf16"), MSIM_DT_F8);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_FP4, "bf16"), MSIM_DT_F8);
    CHECK_INT(msim_kernel_rate_dtype(MSIM_RATE_INT8, "bf16"), MSIM_DT_I8);
}

static void test_kernel_type__elements(void)
{
    static const struct {
        const char *name;
        enum msim_dtype dtype;
    } NAMES[] = {
        {"f<c10::Half>", MSIM_DT_F16},
        {"f<__half>", MSIM_DT_F16},
        {"f<half_t>", MSIM_DT_F16},
        {"f<c10::BFloat16>", MSIM_DT_BF16},
        {"f<bfloat16>", MSIM_DT_BF16},
        {"f<__nv_bfloat16>", MSIM_DT_BF16},
        {"f<cutlass::bfloat16_t>", MSIM_DT_BF16},
        {"f<double>", MSIM_DT_F64},
        {"f<float>", MSIM_DT_F32},
        {"f<long>", MSIM_DT_I64},
        {"f<bool>", MSIM_DT_BOOL},
        {"f<unsigned char>", MSIM_DT_U8},
        {"f<short>", MSIM_DT_I16},
        {"f<int>", MSIM_DT_I32},
        {"void f<DF16b>", MSIM_DT_BF16},
        {"f_BF16", MSIM_DT_BF16},
        {"f<char*>", MSIM_DT_UNKNOWN},
        {"f<Halves>", MSIM_DT_UNKNOWN},
        {"f<int8>", MSIM_DT_UNKNOWN},
        {"print", MSIM_DT_UNKNOWN},
        {"", MSIM_DT_UNKNOWN},
        /* floats before what counts, types before sizes */
        {"f<int, float>", MSIM_DT_F32},
        {"f<float, Half>", MSIM_DT_F16},
        {"f<float, double>", MSIM_DT_F64},
        {"f<char*, int>", MSIM_DT_I32},
        /* as they are */
        {"f<OpaqueType<1>, float>", MSIM_DT_I8},
        {"f<OpaqueType<2>, float>", MSIM_DT_I16},
        {"f<OpaqueType<4>, Half>", MSIM_DT_F32},
        {"f<OpaqueType<8>, float>", MSIM_DT_I64},
    };

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(*NAMES); i++) {
        enum msim_dtype want = NAMES[i].dtype;

        if (!CHECK_INT(msim_kernel_dtype(NAMES[i].name),
                       want ? want : MSIM_DT_F32))
            fprintf(stderr, "%s\n", NAMES[i].name);
        if (want)
            CHECK_INT(msim_kernel_stated_dtype(NAMES[i].name), want);
    }
}

/* Elements are stated, else the arithmetic. */
static void test_kernel_type__stated(void)
{
    CHECK_INT(msim_kernel_stated_dtype("kernel"), MSIM_DT_UNKNOWN);
    CHECK_INT(msim_kernel_stated_dtype("sgemm"), MSIM_DT_F32);
    CHECK_INT(msim_kernel_stated_dtype("dgemm"), MSIM_DT_F64);
    CHECK_INT(msim_kernel_stated_dtype("hgemm"), MSIM_DT_F16);
    CHECK_INT(msim_kernel_stated_dtype("e4m3"), MSIM_DT_F8);
    CHECK_INT(msim_kernel_stated_dtype("e4m3_bf16"), MSIM_DT_BF16);
    CHECK_INT(msim_kernel_stated_dtype("fp16 <float>"), MSIM_DT_F32);
}

int main(void)
{
    RUN(test_kernel_type__rate_of_each_word);
    RUN(test_kernel_type__which_word_counts);
    RUN(test_kernel_type__tensile);
    RUN(test_kernel_type__inputs_of_a_rate);
    RUN(test_kernel_type__elements);
    RUN(test_kernel_type__stated);
    return check_summary();
}
