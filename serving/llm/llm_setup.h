/*
 * serving/llm/llm_setup.h - how a model is served, and what it takes of its
 * GPUs' memory.
 */
#ifndef MSIM_SERVING_LLM_LLM_SETUP_H
#define MSIM_SERVING_LLM_LLM_SETUP_H
#include "plan/describe/describe.h"
#include "serving/llm/llm_words.h"

#include <stdbool.h>

struct msim_platform; /* models/platform/platform.h */
struct msim_llm_law;  /* serving/llm/llm_law.h */

/* What is 0 has its default. Pointers must live as long as what is made. */
struct msim_llm_setup {
    const struct msim_described *model;
    const struct msim_platform *platform;
    const struct msim_llm_law *law; /* NULL: of nothing fitted */
    enum msim_llm_engine engine;
    enum msim_quant products, experts; /* OWN: the model's */
    enum msim_quant kv;                /* OWN or BF16: 16 bits; FP8 */
    int64_t tp, pp, dp;                /* 1 */
    int64_t ep, moe_tp;                /* 1; tp x dp / ep */
    double gpu_memory_utilization;     /* 0.9 */
    bool share_is_of_rest;             /* ... is of what is left beside weights
                                          and workspace, for the cache */
    double context_gib;                /* beside tensors; 0: none */
    int64_t profiled_seqs;             /* whose logits the workspace has */
    int64_t block_size;                /* 16 */
    int64_t max_num_batched_tokens;    /* 8192: the workspace is of so many */
    double prompt_factor, decode_factor; /* of what prompts and decoding take:
                                            recorded passes over the law; 1 */
};

/* Bytes on one GPU, the one with most. */
struct msim_llm_memory {
    double has, usable;        /* of the GPU; what the share of it leaves */
    double weights, workspace; /* activations, graphs and the context, too */
    double kv_token;           /* one token of one sequence, in all layers */
    double kv_sequence;        /* of one, besides: states, full windows */
    int64_t kv_window;         /* tokens from which on those are full */
    int64_t kv_tokens;         /* of the replica, whole blocks */
};

/* What is predicted of it. */
enum msim_llm_figure { MSIM_LLM_TPOT, MSIM_LLM_TTFT, MSIM_LLM_FIGURES };

#endif
