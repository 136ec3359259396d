/*
 * core/base/min_tree.h - the least of many numbers that change one at a time.
 *
 * A tournament in an array: node 1 is the least of all, 2i and 2i + 1 the two
 * that met at i, the numbers are the last row. To change one, or to find the
 * first of the least ones, takes log2(n) steps.
 */
#ifndef MSIM_CORE_BASE_MIN_TREE_H
#define MSIM_CORE_BASE_MIN_TREE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stdlib.h>

struct msim_min_tree {
    uint32_t *at;
    uint32_t leaves, capacity; /* leaves: a power of two; 0: no tree */
};

/* `n` numbers, from 1 to 2^30, all 0. False where memory is out; the tree is as
 * it was then. A tree may be made again. */
static inline bool msim_min_tree_make(struct msim_min_tree *t, uint32_t n)
{
    uint32_t leaves = 1;

    while (leaves < n)
        leaves *= 2;
    if (leaves > t->capacity) {
        uint32_t *more = realloc(t->at, 2 * (size_t)leaves * sizeof(*more));

        if (!more)
            return false;
        t->at = more;
        t->capacity = leaves;
    }
    t->leaves = leaves;
    for (uint32_t i = 0; i < leaves; i++)
        t->at[leaves + i] = i < n ? 0 : UINT32_MAX;
    for (uint32_t i = leaves - 1; i > 0; i--)
        t->at[i] = t->at[2 * i]; /* those that are missing are on the right */
    return true;
}

static inline uint32_t msim_min_tree_first(const struct msim_min_tree *t);

/* The first of the least of the first `n`, of `all`; in steps as many as n
 * where those are fewer. */
static inline uint32_t msim_min_tree_first_of(const struct msim_min_tree *t,
                                              uint32_t n, uint32_t all)
{
    uint32_t best = 0;

    if (n >= all)
        return msim_min_tree_first(t);
    for (uint32_t i = 1; i < n; i++)
        if (t->at[t->leaves + i] < t->at[t->leaves + best])
            best = i;
    return best;
}

static inline void msim_min_tree_release(struct msim_min_tree *t)
{
    free(t->at);
    *t = (struct msim_min_tree){0};
}

static inline void msim_min_tree_set(struct msim_min_tree *t, uint32_t i,
                                     uint32_t value)
{
    uint32_t *at = t->at;

    i += t->leaves;
    at[i] = value;
    for (i /= 2; i > 0; i /= 2) {
        uint32_t least = at[2 * i] <= at[2 * i + 1] ? at[2 * i] : at[2 * i + 1];

        if (at[i] == least)
            return;
        at[i] = least;
    }
}

/* The first of the least. */
static inline uint32_t msim_min_tree_first(const struct msim_min_tree *t)
{
    uint32_t i = 1;

    while (i < t->leaves)
        i = 2 * i + (t->at[2 * i] != t->at[i]);
    return i - t->leaves;
}

#endif
