/*
 * core/rewrite/split/expert_lives.h - what of a step's memory is of experts,
 * and whom its gradients are reduced with.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_EXPERT_LIVES_H
#define MSIM_CORE_REWRITE_SPLIT_EXPERT_LIVES_H
#include "core/rewrite/weave/weave.h"

/* The group of ranks that have the same experts: its name. */
#define MSIM_EXPERTS_DATA_GROUP "expert data"

/* That group of `t`; NONE: no other rank has the same, or a rank is a group of
 * its own. */
uint32_t msim_experts_data_group(const struct msim_trace *t);

/*
 * By life: 1 where it is a parameter of experts (the second matrices of a
 * batched product), the gradient of one, or a state: what the optimizer names
 * with one of these at one place of its lists, or in one statement and as
 * large. The caller frees `*out`. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_expert_lives_find(uint8_t **out,
                                        const struct msim_weave *w);

/* Does the operator multiply several matrices by several others? */
bool msim_is_batched_product(const struct msim_trace *t, uint32_t op);

#endif
