/*
 * serving/engine/kv_cache.h - the blocks of one rank's KV cache, and what
 * prefixes of prompts free ones still hold.
 *
 * Blocks are counted, not numbered: a sequence that has n tokens computed takes
 * ceil(n / block_size) of them. What is cached are units of `unit_blocks`
 * blocks, each known by a hash that stands for its tokens and all before them.
 * A unit that nobody holds is free and cached at once: the oldest free blocks
 * are handed out first, and only then does a unit forget its prefix. That is
 * what vLLM V1 does (its design page "Automatic Prefix Caching": one queue of
 * free blocks, least recently used at its head; blocks of a sequence are freed
 * from the last to the first).
 *
 *     free 5: [2 plain][unit A: 1][2 plain]     take 3: the first two, and A
 *
 * All calls are O(1) for each block or unit they are about. Nothing allocates
 * after msim_kv_init().
 */
#ifndef MSIM_SERVING_ENGINE_KV_CACHE_H
#define MSIM_SERVING_ENGINE_KV_CACHE_H
#include "core/base/status.h"
#include "core/base/units.h"

struct msim_kv_cache {
    uint32_t total, free; /* blocks */
    uint32_t peak;        /* most that were not free */
    uint32_t unit_blocks; /* of one unit; 0: prefixes are not cached */
    /* private: */
    struct msim_kv_entry *entries;
    uint32_t n, spare;       /* entries in use once, and a list of those free */
    uint32_t oldest, newest; /* the queue of free blocks */
    uint32_t *table, mask;   /* entry + 1 by hash; 0: none */
};

/* ENOMEM leaves nothing to release. */
MSIM_MUST_CHECK
enum msim_status msim_kv_init(struct msim_kv_cache *kv, uint32_t total_blocks,
                              uint32_t unit_blocks);
void msim_kv_release(struct msim_kv_cache *kv);

/* How many of the first of `n` units are cached. */
uint32_t msim_kv_hits(const struct msim_kv_cache *kv, const uint64_t *hashes,
                      uint32_t n);

/* One holder more of units that are cached; they are not free then. */
void msim_kv_hold(struct msim_kv_cache *kv, const uint64_t *hashes, uint32_t n);

/* Take plain blocks; false, and nothing has changed, where too few are free. */
bool msim_kv_take(struct msim_kv_cache *kv, uint32_t blocks);

/* `unit_blocks` of the plain ones that the caller took become the unit `hash`,
 * held once. Where another sequence made it meanwhile, that one is held, and
 * the caller's blocks are free. */
void msim_kv_keep(struct msim_kv_cache *kv, uint64_t hash);

/* Give back plain blocks, and then the units, the last one first. */
void msim_kv_give(struct msim_kv_cache *kv, uint32_t plain,
                  const uint64_t *hashes, uint32_t n);

#endif
