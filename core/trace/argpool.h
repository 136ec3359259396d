/*
 * core/trace/argpool.h - argument lists of a trace, equal ones stored once.
 *
 * A training step calls the same operators with the same shapes over and
 * over: a million calls have some hundreds of distinct lists. Sizes and lists
 * are hashed and compared as bytes, so every msim_arg must be fully set.
 */
#ifndef MSIM_CORE_TRACE_ARGPOOL_H
#define MSIM_CORE_TRACE_ARGPOOL_H
#include "core/trace/trace.h"

struct msim_argpool {
    struct msim_trace *trace;
    struct msim_argpool_slot *dims, *blocks;
    uint32_t n_dims, dim_mask, n_blocks, block_mask;
};

void msim_argpool_init(struct msim_argpool *p, struct msim_trace *trace);
void msim_argpool_release(struct msim_argpool *p);

/* `*index` in trace->dims where these `n` sizes are. */
MSIM_MUST_CHECK
enum msim_status msim_argpool_dims(struct msim_argpool *p, const int64_t *dims,
                                   uint32_t n, uint32_t *index);

/* The block that holds these `n` arguments (preorder, lists included). */
MSIM_MUST_CHECK
enum msim_status msim_argpool_block(struct msim_argpool *p,
                                    const struct msim_arg *args, uint32_t n,
                                    uint32_t *block);

#endif
