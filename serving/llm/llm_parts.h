/*
 * serving/llm/llm_parts.h - what a served model is made of, for readings of its
 * own room.
 */
#ifndef MSIM_SERVING_LLM_LLM_PARTS_H
#define MSIM_SERVING_LLM_LLM_PARTS_H
#include "serving/llm/llm_price.h"

struct msim_llm; /* serving/llm/llm.h */

const struct msim_llm_rank *msim_llm_rank_of(const struct msim_llm *m);
const struct msim_llm_law *msim_llm_law_of(const struct msim_llm *m);
/* The law's time of a part of a step, from the table, us. */
double msim_llm_part_us(struct msim_llm *m, enum msim_llm_part part, double a,
                        double b);
/* What the host takes of so many steps with so many sequences in all, us. */
double msim_llm_host_us(const struct msim_llm *m, double steps, double seqs);

#endif
