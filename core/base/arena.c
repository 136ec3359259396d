/*
 * core/base/arena.c - memory that is taken piece by piece and freed at once.
 */
#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_MIN ((size_t)64 << 10)
#define CHUNK_MAX ((size_t)4 << 20)
#define ALIGN     ((size_t)16)

struct msim_arena_chunk {
    struct msim_arena_chunk *next;
    size_t pad; /* keeps the data that follows aligned to 16 */
};

void msim_arena_init(struct msim_arena *a)
{
    memset(a, 0, sizeof(*a));
}

static void free_chunks(struct msim_arena_chunk *chunk)
{
    while (chunk) {
        struct msim_arena_chunk *next = chunk->next;

        free(chunk);
        chunk = next;
    }
}

void msim_arena_release(struct msim_arena *a)
{
    free_chunks(a->chunks);
    msim_arena_init(a);
}

void msim_arena_reset(struct msim_arena *a)
{
    if (!a->chunks)
        return;
    free_chunks(a->chunks->next);
    a->chunks->next = NULL;
    memset(a->chunks + 1, 0, a->used);
    a->used = 0;
    a->total = sizeof(*a->chunks) + a->size;
}

void msim_arena_absorb(struct msim_arena *a, struct msim_arena *from)
{
    struct msim_arena_chunk **end = &a->chunks;

    if (!a->chunks) {
        *a = *from;
    } else {
        while (*end)
            end = &(*end)->next;
        *end = from->chunks;
        a->total += from->total;
    }
    msim_arena_init(from);
}

static int add_chunk(struct msim_arena *a, size_t at_least)
{
    size_t size = a->size ? a->size * 2 : CHUNK_MIN;
    struct msim_arena_chunk *chunk;

    if (size > CHUNK_MAX)
        size = CHUNK_MAX;
    if (size < at_least)
        size = at_least;
    chunk = calloc(1, sizeof(*chunk) + size);
    if (!chunk)
        return -1;
    chunk->next = a->chunks;
    a->chunks = chunk;
    a->used = 0;
    a->size = size;
    a->total += sizeof(*chunk) + size;
    return 0;
}

void *msim_arena_alloc(struct msim_arena *a, size_t bytes)
{
    size_t need;
    void *p;

    if (bytes > SIZE_MAX / 4)
        return NULL;
    need = (bytes + ALIGN - 1) & ~(ALIGN - 1);
    if ((!a->chunks || a->size - a->used < need) && add_chunk(a, need))
        return NULL;
    p = (char *)(a->chunks + 1) + a->used;
    a->used += need;
    return p;
}

const char *msim_arena_text(struct msim_arena *a, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(a, size);

    return copy ? memcpy(copy, text, size) : NULL;
}
