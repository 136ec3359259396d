/*
 * core/rewrite/repeat/block_owners.h - which block of a repetition a tensor of
 * the optimizer's step is of.
 *
 * Steps name no layers. A parameter is of the block whose forward pass alone
 * reads it, a gradient of the one whose backward pass keeps it, and all else of
 * the one that it stands beside: in one operator, or in one place of its lists.
 *
 *     _foreach_lerp_([m1, m2], [g1, g2])   m1 is of the block that g1 is of
 *     _foreach_add_([n1, n2], 1)           by the place in lists as long as
 *                                          this one, of the same step
 */
#ifndef MSIM_CORE_REWRITE_REPEAT_BLOCK_OWNERS_H
#define MSIM_CORE_REWRITE_REPEAT_BLOCK_OWNERS_H
#include "core/rewrite/repeat/chunks.h"
#include "core/rewrite/weave/repeats.h"

/* Of no block, or of several. 0: not known. */
#define MSIM_BLOCK_OWNERS_FRAME UINT32_MAX

/* Lists that are equally long, in and out, with members of several blocks: of
 * one operator, or of those of several pieces (chunks.h). Places of members are
 * pool[at .. at + n). */
struct msim_block_owners_lists {
    uint32_t op, n, at; /* of the first piece */
    uint32_t chunk;     /* row of chunks, NONE: `op` has all members */
    uint32_t list;      /* which statement of a piece it is */
};

/* Where a member stands: the operator, and its place in the lists of that. */
struct msim_block_owners_member {
    uint32_t op, n, i; /* n: members of those lists */
};

struct msim_block_owners {
    const struct msim_weave *w;
    uint32_t blocks; /* how many there are */
    struct msim_chunks chunks;
    uint32_t *of;     /* by life: its block, counted from 1 */
    uint8_t *rank;    /* by life: how it is known; the less, the better */
    uint32_t *listed; /* by life: the last place (lives) where it stands in
                         lists, plus one; 0: nowhere */
    uint32_t *lists;  /* by op: its row, or NONE */
    struct msim_block_owners_lists *rows;
    uint32_t n_rows, cap_rows;
    uint32_t *pool;
    uint32_t n_pool, cap_pool;
    bool changed;
};

/* Of a repetition of so many blocks; `place` has the block of each statement of
 * forward and backward passes. Release in any case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_block_owners_find(struct msim_block_owners *o,
                                        const struct msim_weave *w,
                                        uint32_t blocks, const uint32_t *place);
void msim_block_owners_release(struct msim_block_owners *o);

/* Member `i` of lists, from 0. */
struct msim_block_owners_member
msim_block_owners_member_at(const struct msim_block_owners *o,
                            const struct msim_block_owners_lists *row,
                            uint32_t i);

/* The block of what operators [first, end) name; 0 where one of them has lists
 * of several blocks, or where it is not known. */
uint32_t msim_block_owners_ops(const struct msim_block_owners *o,
                               uint32_t first, uint32_t end);

#endif
