/*
 * core/base/containers.h - arrays, heaps and maps in memory: what grows, what
 * is freed at once, how it is sorted and found again.
 */
#ifndef MSIM_CORE_BASE_CONTAINERS_H
#define MSIM_CORE_BASE_CONTAINERS_H
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- vec ----------------------------------------------------------------- */
/*
 * Arrays that grow.
 *
 * Two forms of one rule of growth. msim_grow() serves a typed array with a
 * length and a capacity of its own, as the columns of a trace are. struct
 * msim_vec has all three together, for scratch that is filled and emptied
 * again and again and for text. Not thread-safe.
 */

/*
 * Make room in `*data` for one more element of `elem` bytes behind `length`.
 * `*data` is owned by the caller (free()). Fails with ENOMEM, or ELIMIT past
 * UINT32_MAX - 1 elements, and then changes nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_grow(void **data, uint32_t *capacity, uint32_t length,
                           size_t elem);

/* A heap array of `n` elements; all zero: empty. Its owner frees `data`. */
struct msim_vec {
    void *data;
    uint32_t n, cap; /* elements */
};

/* A piece of the text in a vector; an offset, since `data` may move. */
struct msim_text_piece {
    uint32_t at, len; /* bytes */
};

/*
 * Room for one more element of `elem` bytes, counted already, not cleared; it
 * stays there until the next call. NULL: out of memory, nothing has changed.
 */
void *msim_vec_add(struct msim_vec *v, size_t elem);

/*
 * Append `len` bytes to a vector of bytes; `*piece` says where they lie. One
 * byte behind them is always there, not set. ENOMEM; ELIMIT past 1 GiB.
 */
MSIM_MUST_CHECK
enum msim_status msim_vec_text(struct msim_vec *v, const char *text, size_t len,
                               struct msim_text_piece *piece);

/* ---- arena --------------------------------------------------------------- */
/*
 * Memory that is taken piece by piece and freed at once.
 *
 * Chunks double from 64 KiB up to 4 MiB; an object larger than a chunk gets
 * one of its own. Objects never move. Nothing in an arena owns anything
 * outside it. Not thread-safe.
 */

struct msim_arena {
    struct msim_arena_chunk *chunks; /* newest first */
    size_t used, size;               /* of the newest chunk */
    size_t total;                    /* bytes taken from malloc */
};

void msim_arena_init(struct msim_arena *a);
void msim_arena_release(struct msim_arena *a);

/* Empty it; the newest chunk, which is the largest, stays for what follows. */
void msim_arena_reset(struct msim_arena *a);

/* What `from` holds is `a`'s from now on, where it stands; `from` is empty. */
void msim_arena_absorb(struct msim_arena *a, struct msim_arena *from);

/* `bytes` of zeroed memory aligned to 16, or NULL when memory is out. */
void *msim_arena_alloc(struct msim_arena *a, size_t bytes);

/* A copy of a text, or NULL when memory is out. */
const char *msim_arena_text(struct msim_arena *a, const char *text);

/* ---- sort ---------------------------------------------------------------- */
/* Stable sorting of rows by an order on their numbers. */

/* What a comparison for qsort() answers of two numbers: below 0 where `a` comes
 * first, 0 where they are one. */
#define MSIM_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Whether row `a` comes before row `b`. */
typedef bool msim_before(const void *ctx, uint32_t a, uint32_t b);

/* Stable sort of `index` (n numbers, `tmp` as many). */
void msim_sort_index(uint32_t *index, uint32_t *tmp, uint32_t n,
                     msim_before *less, const void *ctx);

/*
 * Stable sort of `index`, n numbers of keys, by keys[index[i]]: a byte of all
 * keys after the other, however the rows are mixed. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_sort_by_keys(uint32_t *index, uint32_t n,
                                   const uint64_t *keys);

/* Put `n` rows of `size` bytes into order, in place. */
MSIM_MUST_CHECK
enum msim_status msim_sort_rows(void *rows, uint32_t n, size_t size,
                                msim_before *less, const void *ctx);

/*
 * The same for rows that belong to groups 0 .. n_groups - 1, which come in
 * that order: a counting sort by group, then each group by less(), which need
 * not look at groups. However the groups are mixed in a file, the rows of one
 * are nearly in order.
 */
typedef uint32_t msim_group_of(const void *ctx, uint32_t row);
MSIM_MUST_CHECK
enum msim_status msim_sort_groups(void *rows, uint32_t n, size_t size,
                                  msim_group_of *group, uint32_t n_groups,
                                  msim_before *less, const void *ctx);

/* ---- idmap --------------------------------------------------------------- */
/*
 * A map from 64-bit numbers to uint32 indices.
 *
 * Thread numbers, correlation ids and node ids are sparse and come from
 * files, so nothing is assumed of them: open addressing over a mixed hash,
 * grown at half load. Not thread-safe.
 */

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

/* ---- strtab -------------------------------------------------------------- */
/*
 * Interned strings: equal text, equal number.
 *
 * Numbers count up from 0 in the order of first use; number 0 is always the
 * empty string. Text is kept NUL-terminated in an arena and never moves.
 * Not thread-safe.
 */

struct msim_strtab; /* opaque */

/* On success `*out` is owned by the caller; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_strtab_new(struct msim_strtab **out);

/* Accepts NULL. */
void msim_strtab_free(struct msim_strtab *t);

/* Intern `len` bytes (they may hold NUL: the text then ends there). */
MSIM_MUST_CHECK
enum msim_status msim_strtab_add(struct msim_strtab *t, const char *s,
                                 size_t len, uint32_t *id);

/*
 * Intern all texts of `from`, in the order of their numbers: `(*numbers)[i]` is
 * the number in `t` of text `i` of `from`. On success it is the caller's to
 * free, on failure NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_strtab_join(struct msim_strtab *t,
                                  const struct msim_strtab *from,
                                  uint32_t **numbers);

/* The number of `s`, or UINT32_MAX where it was never added. */
uint32_t msim_strtab_find(const struct msim_strtab *t, const char *s);

/* The text of a number given out by this table. */
const char *msim_strtab_text(const struct msim_strtab *t, uint32_t id);

uint32_t msim_strtab_count(const struct msim_strtab *t);

/* ---- evq ----------------------------------------------------------------- */
/*
 * The pending-event queue of one simulation.
 *
 * A 4-ary heap ordered by (time, seq): `seq` is the number of what the event
 * is about, so two events at the same instant fire in a fixed order and a run
 * is reproducible bit for bit. A seq has at most one pending event, and the
 * queue knows where, so that an event can be moved when rates change.
 *
 * What is popped leaves a hole at the top, which the next event that is pushed
 * fills: an event brings forth another as a rule, and both then take one way
 * down. Behind the last event stand four that are later than any, so that the
 * least of four children is found without a look at how many there are.
 *
 * Not thread-safe. All memory is taken in msim_evq_init(); nothing else
 * allocates.
 */

struct msim_event {
    msim_ps time;
    uint32_t seq;
};

struct msim_evq {
    struct msim_event *slots; /* the heap, and what stands behind it */
    uint32_t *place;          /* of each seq in the heap, or NONE */
    uint32_t length;          /* events that are pending */
    uint32_t capacity;
    bool hole; /* the top has been popped: slots[0] is earlier than any */
};

/* Events of seq 0 .. capacity - 1; release with msim_evq_release(). */
MSIM_MUST_CHECK
enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity);
void msim_evq_release(struct msim_evq *q);
void msim_evq_clear(struct msim_evq *q);

/* Let the event of `seq` be at `time`, whether it is pending yet or not. */
void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq);

/* Forget the event of `seq`, if one is pending. */
void msim_evq_drop(struct msim_evq *q, uint32_t seq);

/* The earliest event, which stays; the queue must not be empty. */
struct msim_event msim_evq_first(const struct msim_evq *q);

/* Remove and return the earliest event; the queue must not be empty. */
struct msim_event msim_evq_pop(struct msim_evq *q);

#endif
