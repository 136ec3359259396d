/*
 * core/base/arena.h - memory that is taken piece by piece and freed at once.
 *
 * Chunks double from 64 KiB up to 4 MiB; an object larger than a chunk gets
 * one of its own. Objects never move. Nothing in an arena owns anything
 * outside it. Not thread-safe.
 */
#ifndef MSIM_CORE_BASE_ARENA_H
#define MSIM_CORE_BASE_ARENA_H
#include "core/base/status.h"

#include <stddef.h>

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

#endif
