/*
 * core/read/read_alike.h - records that are one that was read, but for numbers.
 *
 * A step calls the same operators with the same sizes for each layer and each
 * micro batch. Their records differ in numbers alone: which of them, in which
 * one, when. So the text of a record that was read is kept with the spots of
 * those numbers, and one whose text is equal outside them is a copy of it with
 * other numbers. What such a copy is, is its format's to know: a record that is
 * kept has a number, by which the format keeps what it made of it. Whatever
 * else differs, if by a blank, is read as ever; so is what the end of a piece
 * cuts.
 */
#ifndef MSIM_CORE_READ_READ_ALIKE_H
#define MSIM_CORE_READ_READ_ALIKE_H
#include "core/base/containers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MSIM_ALIKE_DIGITS 18u  /* of a number, at most */
#define MSIM_ALIKE_SPOTS  512u /* numbers of a record, at most */

struct msim_spot {
    uint32_t at, len; /* in the record's text, behind its brace */
    uint16_t kind;    /* the format's */
    bool decimal;     /* it may have a fraction; then it has no sign */
    uint32_t which;   /* the format's */
};

/* A number at a spot: 12.5 is 12 and 500,000 millionths, what is less is cut.
 */
struct msim_spot_value {
    int64_t whole;
    int32_t part;
};

/* A hash of what records that are alike have in common and few others: of one
 * that begins at `text`, behind its brace. */
typedef uint64_t msim_alike_kind(const char *text, size_t len);

/* All zero but for `kind` and `last`, which is MSIM_NONE: none is kept. */
struct msim_alike {
    msim_alike_kind *kind;
    struct msim_vec spots; /* struct msim_spot, of the record at hand */
    struct msim_vec kept, all, text; /* of those that were read; all: spots */
    struct msim_idmap kinds;         /* kind -> kept */
    uint64_t sought;                 /* kind of what was not found last */
    uint32_t last;                   /* what came last, or NONE */
    uint64_t hits, misses;
};

void msim_alike_release(struct msim_alike *a);

/* Have too few records been found to go on looking? */
bool msim_alike_is_vain(const struct msim_alike *a);

/*
 * The number of the record that one at `text` is like, or MSIM_NONE. `*behind`
 * is where that ends, `values` the numbers at the spots of
 * msim_alike_spots(). It is what came last, from then on.
 */
uint32_t msim_alike_find(struct msim_alike *a, const char *text, size_t len,
                         const char **behind,
                         struct msim_spot_value values[MSIM_ALIKE_SPOTS]);

/* The spots of record `k`, `*n` of them; until the next one is kept. */
const struct msim_spot *msim_alike_spots(const struct msim_alike *a, uint32_t k,
                                         uint32_t *n);

/*
 * Keep the record that was not found last, by all of its text, with the spots
 * in a->spots, which are put in order. `*k` is its
 * number, counted from 0, or NONE: there are too many, or it is too long.
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_alike_keep(struct msim_alike *a, const char *text,
                                 size_t len, uint32_t *k);

/* Room for a row of the format's of each record that may be kept. */
void msim_alike_room(struct msim_vec *rows, size_t elem);

/* The string behind the first `key`, which ends with its colon, hashed, or what
 * else is there up to the next quote; `*at` is there then. The hash as it was
 * where there is none. */
uint64_t msim_alike_hash(uint64_t hash, const char *key, const char **at,
                         const char *end);

#endif
