/*
 * core/rewrite/split/rank_groups.h - the ranks of a recorded job once more for
 * each data parallel rank and each stage of a pipeline, and their groups.
 *
 * Ranks count the recorded ones first, then data parallel ones, then stages:
 *
 *     2 recorded, dp 2, pp 2    stage 0: 0 1 | 2 3    stage 1: 4 5 | 6 7
 *
 * The first data parallel rank of each stage is made; it stands for all.
 */
#ifndef MSIM_CORE_REWRITE_SPLIT_RANK_GROUPS_H
#define MSIM_CORE_REWRITE_SPLIT_RANK_GROUPS_H
#include "core/rewrite/weave/weave.h"

struct msim_rank_layout {
    uint32_t recorded, dp, stages, stage;
};

/* The draft's rank, and the groups that the recorded trace names. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_begin(struct msim_weave *w,
                                        const struct msim_rank_layout *l);

/* What the recorded messages name, once all are copied. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_end(struct msim_weave *w,
                                      const struct msim_rank_layout *l);

/* A group of the rank and the same one of another stage, called `kind` and the
 * lesser of both; `*place` is the other's in it. */
MSIM_MUST_CHECK
enum msim_status msim_rank_groups_pair(struct msim_weave *w,
                                       const struct msim_rank_layout *l,
                                       const char *kind, uint32_t stage,
                                       uint32_t *group, int32_t *place);

#endif
