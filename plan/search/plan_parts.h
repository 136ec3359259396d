/*
 * plan/search/plan_parts.h - blocks of a plan's points in files, so that a plan
 * that was stopped goes on, and several processes share one.
 *
 * A folder that all of them see holds one file a block, written whole or not at
 * all. Nobody waits for anybody: a process predicts the blocks that are its
 * own, and the first one then those that are still missing. So a process that
 * dies costs time and nothing else.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_PARTS_H
#define MSIM_PLAN_SEARCH_PLAN_PARTS_H
#include "plan/search/plan_point.h"

struct msim_plan_block {
    struct msim_plan_point *points; /* feasible ones */
    uint32_t n, cap;
    uint64_t left_out[MSIM_PLAN_REASONS];
    struct msim_plan_refusals refusals;
    /* Of those that do not fit, the nearest to it, and its share of the memory
     * there is. */
    struct msim_plan_point nearest;
    double nearest_share;
};

void msim_plan_block_release(struct msim_plan_block *b);

/* What makes points what they are: this program, and all files that it has read
 * so far. Parts with another key are not read. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_plan_key(uint64_t *key, struct msim_error *err);

/* Make the folder. EUSAGE where it holds what would be taken for parts. */
MSIM_MUST_CHECK
enum msim_status msim_plan_parts_begin(const struct msim_plan_share *share,
                                       struct msim_error *err);

/* Read block `which` into an empty block; false where there is none that is
 * whole, by its checksum, and of this key. What its points are is still to be
 * looked at. */
bool msim_plan_part_read(struct msim_plan_block *b,
                         const struct msim_plan_share *share, uint64_t key,
                         uint64_t which);
MSIM_MUST_CHECK
enum msim_status msim_plan_part_write(const struct msim_plan_block *b,
                                      const struct msim_plan_share *share,
                                      uint64_t key, uint64_t which,
                                      struct msim_error *err);
/* Remove all parts and their folder. */
void msim_plan_parts_remove(const struct msim_plan_share *share);

#endif
