/*
 * core/rewrite/split/expert_lives.h - what of a step's memory is of experts,
 * whom its gradients are reduced with, and which statements are theirs.
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

/* Statements [first, last] of one direction: from the first product of a
 * block's experts to the last. */
struct msim_expert_region {
    uint32_t first, last;
    bool back;
};

struct msim_expert_regions {
    struct msim_expert_region *of;
    uint32_t n;
    uint32_t *at; /* by statement, an index of `of`; NONE: of none */
};

/* `product`: by operator, whether it is one of experts. Release in any case.
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_expert_regions_find(struct msim_expert_regions *x,
                                          const struct msim_weave *w,
                                          const uint8_t *product);
void msim_expert_regions_release(struct msim_expert_regions *x);

/* The statement that made `life`; NONE: none was seen to. */
uint32_t msim_expert_maker(const struct msim_weave *w, uint32_t life);
/* Is it of the region? */
bool msim_expert_region_makes(const struct msim_weave *w,
                              const struct msim_expert_region *r,
                              uint32_t life);

/* Does the operator multiply several matrices by several others? */
bool msim_is_batched_product(const struct msim_trace *t, uint32_t op);

#endif
