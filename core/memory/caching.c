/*
 * core/memory/caching.c - what PyTorch's allocator of GPU memory takes from the
 * driver for what a program asks of it.
 */
#include "core/memory/caching.h"

#include "core/base/containers.h"
#include "core/base/units.h"

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
    *c = (struct msim_caching){0};
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* ---- free blocks -------------------------------------------------------- */

/*
 * A treap (Seidel and Aragon, "Randomized Search Trees", 1996): ordered by
 * size, then number, and a heap by weights that look random, so that it is
 * about as deep as the logarithm of its blocks whatever their order.
 */
static bool outweighs(uint32_t a, uint32_t b)
{
    uint64_t x = (a + (uint64_t)1) * 0x9e3779b97f4a7c15u;
    uint64_t y = (b + (uint64_t)1) * 0x9e3779b97f4a7c15u;

    return x > y; /* an odd factor: no two are equal */
}

static bool is_before(const struct msim_caching *c, uint32_t a, uint64_t size,
                      uint32_t b)
{
    return c->blocks[a].size < size || (c->blocks[a].size == size && a < b);
}

/* The tree `of` in two: what is before `block`, and what is behind. */
static void cut(struct msim_caching *c, uint32_t of, uint32_t block,
                uint32_t *less, uint32_t *more)
{
    while (of != MSIM_NONE)
        if (is_before(c, of, c->blocks[block].size, block)) {
            *less = of;
            less = &c->blocks[of].more;
            of = *less;
        } else {
            *more = of;
            more = &c->blocks[of].less;
            of = *more;
        }
    *less = *more = MSIM_NONE;
}

/* All of `less` is before all of `more`; both go to `*at`. */
static void join(struct msim_caching *c, uint32_t *at, uint32_t less,
                 uint32_t more)
{
    while (less != MSIM_NONE && more != MSIM_NONE)
        if (outweighs(less, more)) {
            *at = less;
            at = &c->blocks[less].more;
            less = *at;
        } else {
            *at = more;
            at = &c->blocks[more].less;
            more = *at;
        }
    *at = less != MSIM_NONE ? less : more;
}

/* Where the tree has `block`, or would have it: below all that weigh more. */
static uint32_t *place_of(struct msim_caching *c, uint32_t block)
{
    const struct msim_caching_block *b = &c->blocks[block];
    uint32_t *at = &c->pools[b->small];

    while (*at != MSIM_NONE && outweighs(*at, block))
        at = is_before(c, *at, b->size, block) ? &c->blocks[*at].more
                                               : &c->blocks[*at].less;
    return at;
}

static void list(struct msim_caching *c, uint32_t block)
{
    struct msim_caching_block *b = &c->blocks[block];
    uint32_t *at = place_of(c, block);

    cut(c, *at, block, &b->less, &b->more);
    *at = block;
    b->free = true;
}

static void unlist(struct msim_caching *c, uint32_t block)
{
    struct msim_caching_block *b = &c->blocks[block];

    join(c, place_of(c, block), b->less, b->more);
    b->free = false;
}

/* The smallest free block of at least `size`, of these the first; NONE. */
static uint32_t smallest(const struct msim_caching *c, bool small,
                         uint64_t size)
{
    uint32_t at = c->pools[small], best = MSIM_NONE;

    while (at != MSIM_NONE)
        if (c->blocks[at].size < size) {
            at = c->blocks[at].more;
        } else {
            best = at;
            at = c->blocks[at].less;
        }
    return best;
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
    list(c, rest);
    return MSIM_OK;
}

enum msim_status msim_caching_take(struct msim_caching *c, uint64_t bytes,
                                   uint32_t *block)
{
    uint64_t size;
    bool small;

    if (bytes > MOST || c->reserved > MOST)
        return MSIM_ELIMIT;
    if (!c->n)
        c->pools[0] = c->pools[1] = MSIM_NONE;
    size = bytes < ROUND ? ROUND : round_up(bytes, ROUND);
    small = size <= SMALL;
    *block = smallest(c, small, size);
    if (*block != MSIM_NONE)
        unlist(c, *block);
    else
        MSIM_TRY(add_segment(c, size, block));
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

void msim_caching_give(struct msim_caching *c, uint32_t block)
{
    uint32_t before = c->blocks[block].before, after = c->blocks[block].after;

    c->allocated -= c->blocks[block].size;
    if (before != MSIM_NONE && c->blocks[before].free)
        absorb(c, block, before);
    if (after != MSIM_NONE && c->blocks[after].free)
        absorb(c, block, after);
    list(c, block);
}
