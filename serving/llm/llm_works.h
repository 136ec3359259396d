/*
 * serving/llm/llm_works.h - a list of works of one rank in a step.
 */
#ifndef MSIM_SERVING_LLM_LLM_WORKS_H
#define MSIM_SERVING_LLM_LLM_WORKS_H
#include "core/work/work.h"
#include "serving/llm/llm_words.h"

/* X(name, the word) */
#define MSIM_LLM_KIND_MAP(X)                                                   \
    X(PRODUCT, "products")                                                     \
    X(EXPERT, "experts")                                                       \
    X(VECTOR, "vectors")                                                       \
    X(ATTENTION, "attention")                                                  \
    X(ALL_REDUCE, "all_reduce")                                                \
    X(EXCHANGE, "exchange") /* tokens to other ranks' experts and back */

enum msim_llm_kind {
#define X(name, text) MSIM_LLM_KIND_##name,
    MSIM_LLM_KIND_MAP(X)
#undef X
        MSIM_LLM_KINDS
};

struct msim_llm_work {
    enum msim_llm_kind kind;
    enum msim_quant type; /* of a product's or an expert's weights */
    double times;         /* layers that do it */
    struct msim_work work;
};

#define MSIM_LLM_WORKS 48

struct msim_llm_works {
    struct msim_llm_work of[MSIM_LLM_WORKS];
    uint32_t n;
    double weights; /* bytes that the products and experts hold on this rank */
};

#endif
