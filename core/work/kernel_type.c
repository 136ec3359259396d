/*
 * core/work/kernel_type.c - types of elements and of arithmetic by words
 * in the names of kernels.
 */
#include "core/work/data_sheet.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Tensile writes the type after the index letters: Cijk_Alik_Bljk_S..., H, B,
 * D, F8. */
static enum msim_rate tensile_rate(const char *types)
{
    if (strncmp(types, "F8", 2) == 0 || strncmp(types, "B8", 2) == 0)
        return MSIM_RATE_FP8;
    if (*types == 'I')
        return MSIM_RATE_INT8;
    if (*types == 'S')
        return MSIM_RATE_FP32;
    return *types == 'D' ? MSIM_RATE_FP64 : MSIM_RATE_FP16;
}

/* The types in Tensile's name, or NULL. */
static const char *tensile_types(const char *name)
{
    const char *p = strstr(name, "Bljk_");

    if (!p)
        p = strstr(name, "Bjlk_");
    return p ? p + 5 : NULL;
}

/* Is the word there as a whole: no letter or digit on either side? */
static const char *whole_word(const char *name, const char *word)
{
    size_t len = strlen(word);

    for (const char *p = strstr(name, word); p; p = strstr(p + 1, word))
        if ((p == name || !isalnum((unsigned char)p[-1])) &&
            !isalnum((unsigned char)p[len]))
            return p;
    return NULL;
}

/* False where the name does not show it. */
static bool stated_rate(const char *name, enum msim_rate *rate)
{
    /* In this order: tensor instructions before the numbers in them, and
     * tf32 before the f32 that it ends in. */
    static const struct {
        const char *words[9];
        enum msim_rate rate;
    } TYPES[] = {
        {{"nvfp4", "e2m1", "mxfp4", "fp4", NULL}, MSIM_RATE_FP4},
        {{"e4m3", "e5m2", "fp8", "float8", NULL}, MSIM_RATE_FP8},
        {{"s884", "h884", "s16816", "h16816", "h1688", NULL}, MSIM_RATE_FP16},
        {{"int8", "s8_", "i8816", "_s8", "i16832", NULL}, MSIM_RATE_INT8},
        {{"bf16", "bfloat16", "f16", "fp16", "half", "hgemm", "unsigned short",
          "hscudnn", NULL},
         MSIM_RATE_FP16},
        {{"tf32", "tfloat32", "s1688", NULL}, MSIM_RATE_TF32},
        {{"dgemm", "f64", NULL}, MSIM_RATE_FP64},
        {{"sgemm", "gcgemm", "scudnn", "simt", "f32f32", "fp32", NULL},
         MSIM_RATE_FP32},
    };
    const char *tensile = tensile_types(name);

    if (tensile) {
        *rate = tensile_rate(tensile);
        return true;
    }
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++)
        for (const char *const *w = TYPES[i].words; *w; w++)
            if (strcasestr(name, *w)) {
                *rate = TYPES[i].rate;
                return true;
            }
    *rate = whole_word(name, "double") ? MSIM_RATE_FP64 : MSIM_RATE_FP32;
    return *rate == MSIM_RATE_FP64 || whole_word(name, "float");
}

enum msim_rate msim_kernel_rate(const char *name)
{
    enum msim_rate rate;

    return stated_rate(name, &rate) ? rate : MSIM_RATE_FP16;
}

enum msim_dtype msim_kernel_rate_dtype(enum msim_rate rate, const char *name)
{
    const char *tensile = tensile_types(name);

    switch (rate) {
    case MSIM_RATE_FP64:
        return MSIM_DT_F64;
    case MSIM_RATE_FP16:
        return (tensile && *tensile == 'B') || strcasestr(name, "bf16") ||
                       strcasestr(name, "bfloat16")
                   ? MSIM_DT_BF16
                   : MSIM_DT_F16;
    case MSIM_RATE_FP8:
    case MSIM_RATE_FP4:
        return MSIM_DT_F8;
    case MSIM_RATE_INT8:
        return MSIM_DT_I8;
    default:
        return MSIM_DT_F32;
    }
}

/* OpaqueType<4>: moved as they are, whatever they mean. */
static enum msim_dtype opaque_dtype(char bytes)
{
    switch (bytes) {
    case '1':
        return MSIM_DT_I8;
    case '2':
        return MSIM_DT_I16;
    case '8':
        return MSIM_DT_I64;
    default:
        return MSIM_DT_F32;
    }
}

/* UNKNOWN where the name does not show it. */
static enum msim_dtype element_dtype(const char *name)
{
    /* Floats first: integers next to them are sizes and positions. */
    static const struct {
        const char *word;
        enum msim_dtype dtype;
    } TYPES[] = {
        {"Half", MSIM_DT_F16},        {"__half", MSIM_DT_F16},
        {"half_t", MSIM_DT_F16},      {"BFloat16", MSIM_DT_BF16},
        {"bfloat16", MSIM_DT_BF16},   {"__nv_bfloat16", MSIM_DT_BF16},
        {"bfloat16_t", MSIM_DT_BF16}, {"double", MSIM_DT_F64},
        {"float", MSIM_DT_F32},       {"long", MSIM_DT_I64},
        {"bool", MSIM_DT_BOOL},       {"char", MSIM_DT_U8},
        {"short", MSIM_DT_I16},       {"int", MSIM_DT_I32},
    };
    const char *opaque = strstr(name, "OpaqueType<");

    if (opaque)
        return opaque_dtype(opaque[11]);
    if (strstr(name, "DF16b"))
        return MSIM_DT_BF16;
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++) {
        const char *p = whole_word(name, TYPES[i].word);

        /* Pointers to chars are every functor's. */
        if (p && !(TYPES[i].dtype == MSIM_DT_U8 && p[4] == '*'))
            return TYPES[i].dtype;
    }
    return strcasestr(name, "bf16") ? MSIM_DT_BF16 : MSIM_DT_UNKNOWN;
}

enum msim_dtype msim_kernel_dtype(const char *name)
{
    enum msim_dtype type = element_dtype(name);

    return type ? type : MSIM_DT_F32;
}

enum msim_dtype msim_kernel_stated_dtype(const char *name)
{
    enum msim_dtype type = element_dtype(name);
    enum msim_rate rate;

    if (type || !stated_rate(name, &rate))
        return type;
    return msim_kernel_rate_dtype(rate, name);
}
