#include "core/base/arena.h"

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

void msim_arena_release(struct msim_arena *a)
{
    while (a->chunks) {
        struct msim_arena_chunk *next = a->chunks->next;

        free(a->chunks);
        a->chunks = next;
    }
    msim_arena_init(a);
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

enum msim_status msim_grow(void **data, uint32_t *capacity, uint32_t length,
                           size_t elem)
{
    uint64_t want;
    void *p;

    if (length < *capacity)
        return MSIM_OK;
    if (length >= UINT32_MAX - 1)
        return MSIM_ELIMIT;
    /* Half as much again: peak memory counts more here than copies. */
    want = *capacity ? (uint64_t)*capacity + *capacity / 2 + 1 : 64;
    if (want > UINT32_MAX - 1)
        want = UINT32_MAX - 1;
    p = realloc(*data, (size_t)want * elem);
    if (!p)
        return MSIM_ENOMEM;
    *data = p;
    *capacity = (uint32_t)want;
    return MSIM_OK;
}
