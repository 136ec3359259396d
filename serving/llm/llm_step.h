/*
 * serving/llm/llm_step.h - one step of an LLM engine: what it runs, and how
 * long it takes.
 *
 * A step gives every sequence that decodes one token and computes chunks of
 * prompts. An engine (serving/engine) decides what is in a step and asks here
 * for its time; serving/llm/llm.h makes the answers. Sequences and tokens are
 * those of a whole replica: where attention is data parallel they are spread
 * over its ranks, and `kv_tokens` is the sum of what the ranks hold.
 */
#ifndef MSIM_SERVING_LLM_LLM_STEP_H
#define MSIM_SERVING_LLM_LLM_STEP_H
#include <stdbool.h>
#include <stdint.h>

/* New tokens of one prompt, on top of `context` tokens that were computed
 * before or came from a prefix cache. */
struct msim_llm_chunk {
    uint32_t tokens, context;
    bool last; /* the prompt ends with it: it yields a token */
};

struct msim_llm_step {
    uint32_t decode_seqs;    /* sequences that get one token each */
    uint64_t decode_context; /* tokens in their KV caches, summed */
    const struct msim_llm_chunk *chunks;
    uint32_t n_chunks;
    /* Data parallel attention: what one rank has of the step, whose time is
     * asked for (experts, which are spread over all ranks, have the whole
     * step). NULL: every rank has an even part. */
    const struct msim_llm_step *rank;
};

struct msim_llm_times {
    void *ctx;
    /* Microseconds; 0 for an empty step. Well below 1 us of the caller's time
     * once sizes of that kind were seen. Not thread-safe: one a thread. */
    double (*step_us)(void *ctx, const struct msim_llm_step *step);
    int64_t kv_tokens; /* that the replica's KV cache holds, whole blocks */
    /* What a sequence takes of it besides its tokens, as so many tokens: states
     * of linear layers, keys of windows. All of it from `kv_window` tokens on,
     * evenly before (0: from the start). */
    int64_t kv_sequence_tokens, kv_window;
};

#endif
