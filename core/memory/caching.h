/*
 * core/memory/caching.h - what PyTorch's allocator of GPU memory takes from the
 * driver for what a program asks of it.
 *
 * The rules ("Memory management" of PyTorch's notes on CUDA, and the constants
 * that torch.cuda.memory_stats() counts by):
 *
 *     a size is rounded up to 512 B
 *     up to 1 MiB    from segments of 2 MiB, the small pool
 *     below 10 MiB   from segments of 20 MiB
 *     from there on  from segments of its own size, in steps of 2 MiB
 *
 * A request takes the smallest free block of its pool that is large enough, and
 * gives back what is left over: from 512 B on in the small pool, above 1 MiB in
 * the other. Free neighbours become one block. Segments are kept, so that what
 * is reserved never falls.
 */
#ifndef MSIM_CORE_MEMORY_CACHING_H
#define MSIM_CORE_MEMORY_CACHING_H
#include "core/base/status.h"

#include <stdbool.h>

struct msim_caching_block {
    uint64_t size;
    uint32_t before, after; /* neighbours in the segment, or NONE */
    uint32_t less, more; /* while it is free: subtrees of its pool, or NONE */
    bool free, small;
};

struct msim_caching {
    struct msim_caching_block *blocks;
    uint32_t n, cap;
    /* Free blocks of the large and the small pool, by size, then number: the
     * roots of two trees, or NONE, once there are blocks. */
    uint32_t pools[2];
    uint64_t allocated, reserved; /* bytes */
};

/* The empty allocator is all zero; this frees what it grew. */
void msim_caching_release(struct msim_caching *c);

/* A block of `bytes`, which `*block` names until it is given back. ENOMEM,
 * ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_caching_take(struct msim_caching *c, uint64_t bytes,
                                   uint32_t *block);
void msim_caching_give(struct msim_caching *c, uint32_t block);

#endif
