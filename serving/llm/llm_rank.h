/*
 * serving/llm/llm_rank.h - a served model as one GPU has it: a setup with all
 * defaults, split and checked.
 */
#ifndef MSIM_SERVING_LLM_LLM_RANK_H
#define MSIM_SERVING_LLM_LLM_RANK_H
#include "core/base/status.h"
#include "serving/llm/llm_setup.h"

struct msim_llm_rank {
    struct msim_llm_setup s;
    const struct msim_described *m; /* s.model */
    const char *framework;          /* whose kernels run */
    /* Types of the linear layers of attention and dense layers, of shared
     * experts and of experts; never OWN. */
    enum msim_quant attention, dense, shared, experts;
    int64_t heads, kv_heads; /* of this rank */
    int64_t gpus_a_node;
    /* Layers by their attention: of all keys, of a window, with a state; and
     * by what follows. Of the whole model: tokens go through all stages. */
    double full_layers, window_layers, linear_layers;
    double dense_layers, moe_layers;
    double kv_bytes; /* of a number in the cache */
};

/* EUSAGE, saying what cannot be split by what. */
MSIM_MUST_CHECK
enum msim_status msim_llm_rank_init(struct msim_llm_rank *r,
                                    const struct msim_llm_setup *setup,
                                    struct msim_error *err);

/* Bytes of one weight of that type, its share of the scales included. */
double msim_quant_bytes(enum msim_quant q);

#endif
