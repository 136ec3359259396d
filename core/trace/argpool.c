/*
 * core/trace/argpool.c - argument lists of a trace, equal ones stored once.
 */
#include "core/trace/trace_columns.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* Both tables: open addressing; `index` + 1, so that 0 is free. */
struct msim_argpool_slot {
    uint32_t hash, len, index;
};

void msim_argpool_init(struct msim_argpool *p, struct msim_trace *trace)
{
    *p = (struct msim_argpool){.trace = trace};
}

void msim_argpool_release(struct msim_argpool *p)
{
    free(p->dims);
    free(p->blocks);
    *p = (struct msim_argpool){0};
}

/* Both kinds of content are whole 64-bit words. */
static uint32_t hash_words(const void *words, size_t n)
{
    const unsigned char *at = words;
    uint64_t h = 0x9e3779b97f4a7c15u ^ n, w;

    for (; n; n--, at += sizeof(w)) {
        memcpy(&w, at, sizeof(w));
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static enum msim_status make_room(struct msim_argpool_slot **slots,
                                  uint32_t *mask, uint32_t count)
{
    struct msim_argpool_slot *bigger;
    uint32_t i, j, new_mask = *slots ? *mask * 2 + 1 : 255;

    if (*slots && count <= *mask / 2)
        return MSIM_OK;
    if (*slots && *mask >= UINT32_MAX / 4)
        return MSIM_ELIMIT;
    bigger = calloc((size_t)new_mask + 1, sizeof(*bigger));
    if (!bigger)
        return MSIM_ENOMEM;
    for (i = 0; *slots && i <= *mask; i++) {
        if (!(*slots)[i].index)
            continue;
        for (j = (*slots)[i].hash & new_mask; bigger[j].index;)
            j = (j + 1) & new_mask;
        bigger[j] = (*slots)[i];
    }
    free(*slots);
    *slots = bigger;
    *mask = new_mask;
    return MSIM_OK;
}

enum msim_status msim_argpool_dims(struct msim_argpool *p, const int64_t *dims,
                                   uint32_t n, uint32_t *index)
{
    struct msim_trace *t = p->trace;
    uint32_t hash = hash_words(dims, n), i, k;

    MSIM_TRY(make_room(&p->dims, &p->dim_mask, p->n_dims));
    for (i = hash & p->dim_mask; p->dims[i].index; i = (i + 1) & p->dim_mask) {
        const struct msim_argpool_slot *s = &p->dims[i];

        if (s->hash == hash && s->len == n &&
            (n == 0 ||
             !memcmp(t->dims + s->index - 1, dims, n * sizeof(*dims)))) {
            *index = s->index - 1;
            return MSIM_OK;
        }
    }
    *index = t->n_dims;
    for (k = 0; k < n || k == 0; k++) { /* no sizes: an index all the same */
        MSIM_TRY(msim_grow((void **)&t->dims, &t->cap_dims, t->n_dims,
                           sizeof(*t->dims)));
        t->dims[t->n_dims++] = n ? dims[k] : 0;
    }
    p->dims[i] = (struct msim_argpool_slot){hash, n, *index + 1};
    p->n_dims++;
    return MSIM_OK;
}

static bool equal_block(const struct msim_trace *t, uint32_t block,
                        const struct msim_arg *args, uint32_t n)
{
    const struct msim_arg_block *b = &t->blocks[block];

    return b->count == n &&
           (n == 0 || !memcmp(t->args + b->first, args, n * sizeof(*args)));
}

enum msim_status msim_argpool_block(struct msim_argpool *p,
                                    const struct msim_arg *args, uint32_t n,
                                    uint32_t *block)
{
    struct msim_trace *t = p->trace;
    uint32_t hash, i, k;

    _Static_assert(sizeof(*args) == 16, "hashed and compared as bytes");
    hash = hash_words(args, (size_t)n * 2);
    MSIM_TRY(make_room(&p->blocks, &p->block_mask, p->n_blocks));
    for (i = hash & p->block_mask; p->blocks[i].index;
         i = (i + 1) & p->block_mask) {
        *block = p->blocks[i].index - 1;
        if (p->blocks[i].hash == hash && equal_block(t, *block, args, n))
            return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&t->blocks, &t->cap_blocks, t->n_blocks,
                       sizeof(*t->blocks)));
    t->blocks[t->n_blocks] = (struct msim_arg_block){t->n_args, n};
    for (k = 0; k < n; k++) {
        MSIM_TRY(msim_grow((void **)&t->args, &t->cap_args, t->n_args,
                           sizeof(*t->args)));
        t->args[t->n_args++] = args[k];
    }
    *block = t->n_blocks++;
    p->blocks[i] = (struct msim_argpool_slot){hash, n, *block + 1};
    p->n_blocks++;
    return MSIM_OK;
}
