/*
 * serving/llm/llm_words.h - the words for engines of LLMs and for the types of
 * their weights.
 */
#ifndef MSIM_SERVING_LLM_LLM_WORDS_H
#define MSIM_SERVING_LLM_LLM_WORDS_H

/* X(name, the word) */
#define MSIM_LLM_ENGINE_MAP(X)                                                 \
    X(VLLM, "vllm")                                                            \
    X(SGLANG, "sglang")                                                        \
    X(TRTLLM, "trtllm")

enum msim_llm_engine {
#define X(name, text) MSIM_LLM_##name,
    MSIM_LLM_ENGINE_MAP(X)
#undef X
        MSIM_LLM_ENGINES
};

/*
 * X(name, the word). Of weights and, but for the 4-bit ones with 16-bit
 * activations (W4A16), of the activations that they are multiplied with.
 */
#define MSIM_QUANT_MAP(X)                                                      \
    X(OWN, "")                /* as the model's files have them */             \
    X(BF16, "bf16")           /* 16 bits */                                    \
    X(FP8, "fp8")             /* one scale a tensor or a row */                \
    X(FP8_BLOCK, "fp8_block") /* one a block of 128 x 128 */                   \
    X(NVFP4, "nvfp4")         /* 4 bits, one scale a 16 */                     \
    X(MXFP4, "mxfp4")         /* 4 bits, 16-bit arithmetic; gpt-oss */         \
    X(INT8, "int8_wo")        /* 8 bits, 16-bit arithmetic */                  \
    X(INT4, "int4_wo")        /* 4 bits, 16-bit arithmetic */

enum msim_quant {
#define X(name, text) MSIM_QUANT_##name,
    MSIM_QUANT_MAP(X)
#undef X
        MSIM_QUANTS
};

/* The engine's word. */
const char *msim_llm_engine_text(enum msim_llm_engine e);
/* MSIM_LLM_ENGINES for no known word; NULL is none. */
enum msim_llm_engine msim_llm_engine_parse(const char *word);

const char *msim_quant_text(enum msim_quant q);
/* MSIM_QUANTS for no known word. NULL, "" and "auto" are OWN; "fp16", "int4",
 * "int8" and some more spellings are read, too. */
enum msim_quant msim_quant_parse(const char *word);

#endif
