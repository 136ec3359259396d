/*
 * serving/engine/kv_cache.c - blocks of a KV cache, and cached prefixes.
 *
 * The queue of free blocks has an entry for each unit and one for each run of
 * plain blocks. Two runs never stand side by side (but for one at its head that
 * was a unit), so there are about as many of them as units at most, which
 * bounds all memory.
 */
#include "core/base/hash.h"
#include "serving/engine/replica_internal.h"

#include <assert.h>
#include <stdlib.h>

struct msim_kv_entry {
    uint64_t hash;       /* of a unit */
    uint32_t refs;       /* holders of a unit */
    uint32_t blocks;     /* of a run; 0: a unit */
    uint32_t prev, next; /* in the queue, towards older and newer; NONE */
};

enum msim_status msim_kv_init(struct msim_kv_cache *kv, uint32_t total_blocks,
                              uint32_t unit_blocks)
{
    uint64_t entries, slots = 1;

    *kv = (struct msim_kv_cache){.total = total_blocks,
                                 .free = total_blocks,
                                 .unit_blocks = unit_blocks,
                                 .spare = MSIM_NONE,
                                 .oldest = MSIM_NONE,
                                 .newest = MSIM_NONE};
    if (!unit_blocks)
        return MSIM_OK;
    entries = 2 * (uint64_t)(total_blocks / unit_blocks) + 4;
    while (slots < 2 * entries)
        slots *= 2;
    /* Pages that are never touched cost nothing: both are as large as they may
     * ever have to be. */
    kv->entries = calloc(entries, sizeof(*kv->entries));
    kv->table = calloc(slots, sizeof(*kv->table));
    kv->mask = (uint32_t)(slots - 1);
    if (!kv->entries || !kv->table) {
        msim_kv_release(kv);
        return MSIM_ENOMEM;
    }
    kv->free = 0;
    msim_kv_give(kv, total_blocks, NULL, 0);
    return MSIM_OK;
}

void msim_kv_release(struct msim_kv_cache *kv)
{
    free(kv->entries);
    free(kv->table);
    *kv = (struct msim_kv_cache){0};
}

/* --- entries by hash: linear probing, no marks of what was deleted --- */

static uint32_t home_of(const struct msim_kv_cache *kv, uint64_t hash)
{
    return (uint32_t)(msim_hash_mix(MSIM_HASH_START, hash) >> 20) & kv->mask;
}

/* The slot of `hash`, or the empty one where it would be. */
static uint32_t slot_of(const struct msim_kv_cache *kv, uint64_t hash)
{
    uint32_t slot = home_of(kv, hash);

    while (kv->table[slot] && kv->entries[kv->table[slot] - 1].hash != hash)
        slot = (slot + 1) & kv->mask;
    return slot;
}

static struct msim_kv_entry *find(const struct msim_kv_cache *kv, uint64_t hash)
{
    uint32_t entry = kv->table[slot_of(kv, hash)];

    return entry ? &kv->entries[entry - 1] : NULL;
}

/* Empty the slot, and move up those behind it that only stand there because
 * theirs was taken. */
static void forget(struct msim_kv_cache *kv, uint64_t hash)
{
    uint32_t hole = slot_of(kv, hash), next = hole;

    assert(kv->table[hole]);
    kv->table[hole] = 0;
    for (;;) {
        uint32_t home;

        next = (next + 1) & kv->mask;
        if (!kv->table[next])
            return;
        home = home_of(kv, kv->entries[kv->table[next] - 1].hash);
        if (((next - home) & kv->mask) < ((next - hole) & kv->mask))
            continue; /* the hole is in front of where it belongs */
        kv->table[hole] = kv->table[next];
        kv->table[next] = 0;
        hole = next;
    }
}

/* --- the queue of free blocks --- */

static uint32_t new_entry(struct msim_kv_cache *kv)
{
    uint32_t e = kv->spare;

    if (e == MSIM_NONE)
        return kv->n++;
    kv->spare = kv->entries[e].next;
    return e;
}

static void drop_entry(struct msim_kv_cache *kv, uint32_t e)
{
    kv->entries[e] = (struct msim_kv_entry){.next = kv->spare};
    kv->spare = e;
}

static void append(struct msim_kv_cache *kv, uint32_t e)
{
    kv->entries[e].prev = kv->newest;
    kv->entries[e].next = MSIM_NONE;
    *(kv->newest == MSIM_NONE ? &kv->oldest : &kv->entries[kv->newest].next) =
        e;
    kv->newest = e;
}

static void unlink_entry(struct msim_kv_cache *kv, uint32_t e)
{
    struct msim_kv_entry *entry = &kv->entries[e];

    *(entry->prev == MSIM_NONE ? &kv->oldest : &kv->entries[entry->prev].next) =
        entry->next;
    *(entry->next == MSIM_NONE ? &kv->newest : &kv->entries[entry->next].prev) =
        entry->prev;
}

static void count_free(struct msim_kv_cache *kv, uint32_t fewer)
{
    kv->free -= fewer;
    if (kv->total - kv->free > kv->peak)
        kv->peak = kv->total - kv->free;
}

static void append_plain(struct msim_kv_cache *kv, uint32_t blocks)
{
    uint32_t e = kv->newest;

    kv->free += blocks;
    if (!blocks || !kv->unit_blocks)
        return;
    if (e == MSIM_NONE || !kv->entries[e].blocks) {
        e = new_entry(kv);
        append(kv, e);
    }
    kv->entries[e].blocks += blocks;
}

uint32_t msim_kv_hits(const struct msim_kv_cache *kv, const uint64_t *hashes,
                      uint32_t n)
{
    uint32_t i = 0;

    if (!kv->unit_blocks)
        return 0;
    while (i < n && find(kv, hashes[i]))
        i++;
    return i;
}

/* The run behind `e` becomes part of it, where both are runs. */
static void join_runs(struct msim_kv_cache *kv, uint32_t e)
{
    uint32_t next = e == MSIM_NONE ? MSIM_NONE : kv->entries[e].next;

    if (next == MSIM_NONE || !kv->entries[e].blocks ||
        !kv->entries[next].blocks)
        return;
    kv->entries[e].blocks += kv->entries[next].blocks;
    unlink_entry(kv, next);
    drop_entry(kv, next);
}

static void hold_one(struct msim_kv_cache *kv, struct msim_kv_entry *entry)
{
    if (entry->refs++)
        return;
    unlink_entry(kv, (uint32_t)(entry - kv->entries));
    join_runs(kv, entry->prev);
    count_free(kv, kv->unit_blocks);
}

void msim_kv_hold(struct msim_kv_cache *kv, const uint64_t *hashes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct msim_kv_entry *entry = find(kv, hashes[i]);

        assert(entry);
        hold_one(kv, entry);
    }
}

bool msim_kv_take(struct msim_kv_cache *kv, uint32_t blocks)
{
    if (blocks > kv->free)
        return false;
    count_free(kv, blocks);
    while (blocks && kv->unit_blocks) {
        struct msim_kv_entry *entry = &kv->entries[kv->oldest];
        uint32_t part;

        if (!entry->blocks) { /* a unit: a run of blocks from now on */
            forget(kv, entry->hash);
            entry->blocks = kv->unit_blocks;
        }
        part = entry->blocks < blocks ? entry->blocks : blocks;
        blocks -= part;
        entry->blocks -= part;
        if (!entry->blocks) {
            uint32_t e = kv->oldest;

            unlink_entry(kv, e);
            drop_entry(kv, e);
        }
    }
    return true;
}

void msim_kv_keep(struct msim_kv_cache *kv, uint64_t hash)
{
    uint32_t slot = slot_of(kv, hash);
    uint32_t e;

    if (kv->table[slot]) {
        hold_one(kv, &kv->entries[kv->table[slot] - 1]);
        append_plain(kv, kv->unit_blocks);
        return;
    }
    e = new_entry(kv);
    kv->entries[e] = (struct msim_kv_entry){.hash = hash, .refs = 1};
    kv->table[slot] = e + 1;
}

void msim_kv_give(struct msim_kv_cache *kv, uint32_t plain,
                  const uint64_t *hashes, uint32_t n)
{
    append_plain(kv, plain);
    while (n--) {
        struct msim_kv_entry *entry = find(kv, hashes[n]);

        assert(entry && entry->refs);
        if (--entry->refs)
            continue;
        append(kv, (uint32_t)(entry - kv->entries));
        kv->free += kv->unit_blocks;
    }
}
