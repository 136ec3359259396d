/*
 * serving/engine/batch_rules.h - how an LLM engine batches, what it is asked
 * for, and what it answers.
 */
#ifndef MSIM_SERVING_ENGINE_BATCH_RULES_H
#define MSIM_SERVING_ENGINE_BATCH_RULES_H
#include <stdbool.h>
#include <stdint.h>

enum msim_batch_policy {
    /* vLLM V1: one budget of tokens a step, first for what runs, then for
     * prompts that wait; without memory the last one to arrive is preempted and
     * computed again. With reserve_output and without chunked_prefill it is
     * TensorRT-LLM's in-flight batching. */
    MSIM_BATCH_MIXED,
    /* SGLang: prompts that wait and fit are computed first, in steps of their
     * own; what runs decodes between them. */
    MSIM_BATCH_PREFILL_FIRST,
    /* A batch is made of what waits, computed to the end of its longest
     * sequence, and only then is there another. */
    MSIM_BATCH_STATIC,
};

enum msim_rank_choice { /* of data parallel ranks, for a request */
                        /* vLLM: fewest running plus four times the waiting. */
                        MSIM_RANK_LEAST,
                        MSIM_RANK_ROUND,
};

struct msim_replica_rules {
    enum msim_batch_policy policy;
    bool chunked_prefill;
    bool prefix_caching;
    bool by_priority;    /* else in order of arrival */
    bool reserve_output; /* GUARANTEED_NO_EVICT: admitted with all its blocks */
    /* MSIM_BATCH_MIXED (TensorRT-LLM's batch waiting): while others decode,
     * prompts wait until they and those are so many tokens of a step, or for so
     * many steps; 0: they do not. */
    uint32_t wait_tokens, wait_steps;
    uint32_t max_num_seqs;           /* of a rank */
    uint32_t max_num_batched_tokens; /* of a rank's step; of SGLang the chunk */
    uint32_t max_model_len; /* input and output; 0: what memory holds */
    uint32_t block_size;    /* tokens of a block of the KV cache */
    uint32_t hash_tokens;   /* tokens that a hash of a request's prefix stands
                             * for, whole blocks; 0: block_size */
    /* Data parallel attention whose ranks step together, because experts are
     * spread over all of them: a step is as long as the slowest rank's. Ranks
     * that do not need each other are replicas of their own. */
    uint32_t ranks; /* 1 or more */
    enum msim_rank_choice rank_choice;
};

struct msim_llm_request {
    uint32_t input_tokens, output_tokens; /* 1 or more */
    int32_t priority;                     /* 0 is served first */
    /* The prompt is computed already, its KV cache comes from another replica,
     * as does the first token: `output_tokens` counts it, though it is not made
     * here. */
    bool prefilled;
    /* Hashes of the prompt's first whole units of hash_tokens; each stands for
     * its unit and all before it. The caller's, until the request has ended. */
    const uint64_t *hashes;
    uint32_t n_hashes;
};

/* A first or a last token that came out; those between are not told. */
struct msim_llm_token {
    uint32_t handle;
    bool first, last;
};

#endif
