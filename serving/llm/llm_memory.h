/*
 * serving/llm/llm_memory.h - what a served model holds on its GPUs.
 */
#ifndef MSIM_SERVING_LLM_LLM_MEMORY_H
#define MSIM_SERVING_LLM_LLM_MEMORY_H
#include "serving/llm/llm_rank.h"

/*
 * Fill in `m`. ECHECK where weights and workspace leave no room for a block of
 * the cache: what one GPU needs and has, in GiB.
 */
MSIM_MUST_CHECK
enum msim_status msim_llm_memory_make(struct msim_llm_memory *m,
                                      const struct msim_llm_rank *r,
                                      struct msim_error *err);

/* What a sequence takes besides its tokens, as so many tokens of the cache; 0
 * where the cache has nothing else. */
int64_t msim_llm_memory_sequence_tokens(const struct msim_llm_memory *m);

#endif
