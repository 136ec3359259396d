/*
 * core/base/idmap.h - a map from 64-bit numbers to uint32 indices.
 *
 * Thread numbers, correlation ids and node ids are sparse and come from
 * files, so nothing is assumed of them: open addressing over a mixed hash,
 * grown at half load. Not thread-safe.
 */
#ifndef MSIM_CORE_BASE_IDMAP_H
#define MSIM_CORE_BASE_IDMAP_H
#include "core/base/status.h"

#include <stddef.h>

struct msim_idmap {
    struct msim_idmap_slot *slots;
    uint32_t count, mask; /* mask + 1 slots, none while slots is NULL */
};

/* The empty map is all zero; this frees what it grew. */
void msim_idmap_release(struct msim_idmap *m);

/*
 * Where the value of `key` is kept; a key that is new gets `fresh`. `*value`
 * points into the map until the next call that adds. ENOMEM changes nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_idmap_put(struct msim_idmap *m, uint64_t key,
                                uint32_t fresh, uint32_t **value);

/* The value of `key`, or UINT32_MAX. */
uint32_t msim_idmap_get(const struct msim_idmap *m, uint64_t key);

/* Mix two numbers, such as a process and a thread, into one key. */
static inline uint64_t msim_idmap_pair(int64_t a, int64_t b)
{
    return (uint64_t)a * 0x9e3779b97f4a7c15u ^ (uint64_t)b;
}

#endif
