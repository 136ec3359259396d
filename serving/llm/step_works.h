/*
 * serving/llm/step_works.h - what one rank does in a step of an engine, as
 * works.
 *
 * A step is in five parts, so that each depends on few sizes:
 *
 *     tokens   all that is done for each token alike: products, norms, sums
 * over ranks; by the number of tokens experts  one rank's experts, by the
 * number of tokens on all ranks decode   attention of sequences that get one
 * token each; by their number and the mean of their contexts chunk    attention
 * of new tokens of one prompt; by their number and the context before them head
 * logits, of the last token of each sequence alone
 *
 * Worked example, Llama-3.1-8B in bf16 on one GPU, one sequence: a layer's
 * products have 4,096 x 6,144 + 4,096 x 4,096 + 3 x 4,096 x 14,336 = 218.1 M
 * weights; 32 of them and the head (525.3 M) are 7.50 G weights, 15.0 GB read
 * and 15.0 GFLOP a step. Keys and values are 2 x 8 x 128 x 2 bytes x 32 layers
 * = 131,072 bytes a token of context.
 */
#ifndef MSIM_SERVING_LLM_STEP_WORKS_H
#define MSIM_SERVING_LLM_STEP_WORKS_H
#include "serving/llm/llm_rank.h"
#include "serving/llm/llm_works.h"

/* Tokens, sequences and chunks are those of the replica. The lists replace what
 * `w` held. */
void msim_llm_token_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens);
void msim_llm_expert_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double tokens);
void msim_llm_decode_works(struct msim_llm_works *w,
                           const struct msim_llm_rank *r, double seqs,
                           double context);
void msim_llm_chunk_works(struct msim_llm_works *w,
                          const struct msim_llm_rank *r, double tokens,
                          double context);
void msim_llm_head_works(struct msim_llm_works *w,
                         const struct msim_llm_rank *r, double seqs);

#endif
