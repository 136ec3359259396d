/*
 * serving/llm/llm_price.h - what the works of a step take on a platform.
 */
#ifndef MSIM_SERVING_LLM_LLM_PRICE_H
#define MSIM_SERVING_LLM_LLM_PRICE_H
#include "models/estimate/model.h"
#include "serving/llm/llm_law.h"
#include "serving/llm/step_works.h"

/* Add the works' times to `to`; `rows` tells products of few rows from those of
 * many, `prompt` attention of prompts from that of decoding. A cache is of one
 * platform. ENOMODEL where the platform has no model, ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_llm_price(struct msim_llm_pieces *to,
                                const struct msim_llm_works *works,
                                const struct msim_platform *p,
                                struct msim_estimate_cache *cache, double rows,
                                bool prompt, struct msim_error *err);

/* The works of each part of a step, priced: sizes as in step_works.h. */
enum msim_llm_part {
    MSIM_LLM_PART_TOKENS,  /* a: tokens */
    MSIM_LLM_PART_EXPERTS, /* a: tokens */
    MSIM_LLM_PART_DECODE,  /* a: sequences, b: context */
    MSIM_LLM_PART_CHUNK,   /* a: tokens, b: context */
    MSIM_LLM_PART_HEAD,    /* a: sequences */
    MSIM_LLM_PARTS
};

MSIM_MUST_CHECK
enum msim_status msim_llm_price_part(struct msim_llm_pieces *to,
                                     const struct msim_llm_rank *r,
                                     struct msim_estimate_cache *cache,
                                     enum msim_llm_part part, double a,
                                     double b, struct msim_error *err);

#endif
