/*
 * core/memory/caching.c - what PyTorch's allocator of GPU memory takes from the
 * driver for what a program asks of it.
 */
#include "core/memory/caching.h"

#include "core/base/units.h"
#include "core/base/vec.h"

#include <stdlib.h>
#include <string.h>

#define MIB         ((uint64_t)1 << 20)
#define ROUND       ((uint64_t)512)
#define SMALL       MIB        /* the largest of the small pool */
#define SMALL_FROM  (2 * MIB)  /* its segments */
#define LARGE       (10 * MIB) /* from here on a segment of its own */
#define LARGE_FROM  (20 * MIB)
#define LARGE_ROUND (2 * MIB)
#define MOST        ((uint64_t)1 << 60)

void msim_caching_release(struct msim_caching *c)
{
    free(c->blocks);
    free(c->pools[0].rows);
    free(c->pools[1].rows);
    *c = (struct msim_caching){0};
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* ---- free blocks -------------------------------------------------------- */

/* The place of the first free block that is not before (size, block). */
static uint32_t place_of(const struct msim_caching *c, bool small,
                         uint64_t size, uint32_t block)
{
    const uint32_t *rows = c->pools[small].rows;
    uint32_t low = 0, high = c->pools[small].n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t here = c->blocks[rows[middle]].size;

        if (here < size || (here == size && rows[middle] < block))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static enum msim_status list(struct msim_caching *c, uint32_t block)
{
    struct msim_caching_block *b = &c->blocks[block];
    uint32_t at = place_of(c, b->small, b->size, block), n;

    MSIM_TRY(msim_grow((void **)&c->pools[b->small].rows,
                       &c->pools[b->small].cap, c->pools[b->small].n,
                       sizeof(uint32_t)));
    n = c->pools[b->small].n++ - at;
    memmove(c->pools[b->small].rows + at + 1, c->pools[b->small].rows + at,
            n * sizeof(uint32_t));
    c->pools[b->small].rows[at] = block;
    b->free = true;
    return MSIM_OK;
}

static void unlist(struct msim_caching *c, uint32_t block)
{
    struct msim_caching_block *b = &c->blocks[block];
    uint32_t at = place_of(c, b->small, b->size, block);
    uint32_t n = --c->pools[b->small].n - at;

    memmove(c->pools[b->small].rows + at, c->pools[b->small].rows + at + 1,
            n * sizeof(uint32_t));
    b->free = false;
}

/* ---- take --------------------------------------------------------------- */

static enum msim_status add_block(struct msim_caching *c, uint64_t size,
                                  bool small, uint32_t *block)
{
    MSIM_TRY(msim_grow((void **)&c->blocks, &c->cap, c->n, sizeof(*c->blocks)));
    c->blocks[c->n] = (struct msim_caching_block){
        .size = size, .before = MSIM_NONE, .after = MSIM_NONE, .small = small};
    *block = c->n++;
    return MSIM_OK;
}

static enum msim_status add_segment(struct msim_caching *c, uint64_t size,
                                    uint32_t *block)
{
    uint64_t segment = size <= SMALL  ? SMALL_FROM
                       : size < LARGE ? LARGE_FROM
                                      : round_up(size, LARGE_ROUND);

    MSIM_TRY(add_block(c, segment, size <= SMALL, block));
    c->reserved += segment;
    return MSIM_OK;
}

/* What `block` has beyond `size` becomes a free block behind it. */
static enum msim_status split(struct msim_caching *c, uint32_t block,
                              uint64_t size)
{
    uint64_t left = c->blocks[block].size - size;
    bool small = c->blocks[block].small;
    uint32_t rest, after;

    if (small ? left < ROUND : left <= SMALL)
        return MSIM_OK;
    MSIM_TRY(add_block(c, left, small, &rest));
    after = c->blocks[block].after;
    c->blocks[rest].before = block;
    c->blocks[rest].after = after;
    if (after != MSIM_NONE)
        c->blocks[after].before = rest;
    c->blocks[block].after = rest;
    c->blocks[block].size = size;
    return list(c, rest);
}

enum msim_status msim_caching_take(struct msim_caching *c, uint64_t bytes,
                                   uint32_t *block)
{
    uint64_t size;
    bool small;
    uint32_t at;

    if (bytes > MOST || c->reserved > MOST)
        return MSIM_ELIMIT;
    size = bytes < ROUND ? ROUND : round_up(bytes, ROUND);
    small = size <= SMALL;
    at = place_of(c, small, size, 0);
    if (at < c->pools[small].n) {
        *block = c->pools[small].rows[at];
        unlist(c, *block);
    } else {
        MSIM_TRY(add_segment(c, size, block));
    }
    MSIM_TRY(split(c, *block, size));
    c->allocated += c->blocks[*block].size;
    return MSIM_OK;
}

/* ---- give back ---------------------------------------------------------- */

/* `gone`, which is free and a neighbour, becomes part of `block`. */
static void absorb(struct msim_caching *c, uint32_t block, uint32_t gone)
{
    struct msim_caching_block *b = &c->blocks[block], *g = &c->blocks[gone];

    unlist(c, gone);
    b->size += g->size;
    if (b->after == gone) {
        b->after = g->after;
        if (g->after != MSIM_NONE)
            c->blocks[g->after].before = block;
    } else {
        b->before = g->before;
        if (g->before != MSIM_NONE)
            c->blocks[g->before].after = block;
    }
}

enum msim_status msim_caching_give(struct msim_caching *c, uint32_t block)
{
    uint32_t before = c->blocks[block].before, after = c->blocks[block].after;

    c->allocated -= c->blocks[block].size;
    if (before != MSIM_NONE && c->blocks[before].free)
        absorb(c, block, before);
    if (after != MSIM_NONE && c->blocks[after].free)
        absorb(c, block, after);
    return list(c, block);
}
