/*
 * core/base/vec.h - arrays that grow.
 *
 * Two forms of one rule of growth. msim_grow() serves a typed array with a
 * length and a capacity of its own, as the columns of a trace are. struct
 * msim_vec has all three together, for scratch that is filled and emptied
 * again and again and for text. Not thread-safe.
 */
#ifndef MSIM_CORE_BASE_VEC_H
#define MSIM_CORE_BASE_VEC_H
#include "core/base/status.h"

#include <stddef.h>

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

#endif
