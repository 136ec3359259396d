/*
 * serving/llm/llm_words.c - words to numbers and back.
 */
#include "serving/llm/llm.h"

#include <stddef.h>
#include <strings.h>

static const char *const ENGINES[] = {
#define X(name, text) text,
    MSIM_LLM_ENGINE_MAP(X)
#undef X
};

static const char *const QUANTS[] = {
#define X(name, text) text,
    MSIM_QUANT_MAP(X)
#undef X
};

/* Other spellings: of engines' arguments and of configurations. */
static const struct {
    const char *word;
    enum msim_quant quant;
} SPELLINGS[] = {
    {"auto", MSIM_QUANT_OWN},          {"bfloat16", MSIM_QUANT_BF16},
    {"fp16", MSIM_QUANT_BF16},         {"float16", MSIM_QUANT_BF16},
    {"half", MSIM_QUANT_BF16},         {"fp8_e4m3", MSIM_QUANT_FP8},
    {"fp8_e5m2", MSIM_QUANT_FP8},      {"int8", MSIM_QUANT_INT8},
    {"w8a16", MSIM_QUANT_INT8},        {"int4", MSIM_QUANT_INT4},
    {"w4a16", MSIM_QUANT_INT4},        {"awq", MSIM_QUANT_INT4},
    {"gptq", MSIM_QUANT_INT4},         {"fp4", MSIM_QUANT_NVFP4},
    {"w4a16_mxfp4", MSIM_QUANT_MXFP4},
};

const char *msim_llm_engine_text(enum msim_llm_engine e)
{
    return ENGINES[e];
}

enum msim_llm_engine msim_llm_engine_parse(const char *word)
{
    int e = 0;

    while (e < MSIM_LLM_ENGINES && !(word && strcasecmp(word, ENGINES[e]) == 0))
        e++;
    return (enum msim_llm_engine)e;
}

const char *msim_quant_text(enum msim_quant q)
{
    return QUANTS[q];
}

enum msim_quant msim_quant_parse(const char *word)
{
    int q = 0;

    if (!word)
        return MSIM_QUANT_OWN;
    for (size_t i = 0; i < sizeof(SPELLINGS) / sizeof(*SPELLINGS); i++)
        if (strcasecmp(word, SPELLINGS[i].word) == 0)
            return SPELLINGS[i].quant;
    while (q < MSIM_QUANTS && strcasecmp(word, QUANTS[q]) != 0)
        q++;
    return (enum msim_quant)q;
}
