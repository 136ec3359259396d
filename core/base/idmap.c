/*
 * core/base/idmap.c - a map from 64-bit numbers to uint32 indices.
 */
#include "core/base/containers.h"

#include <stdlib.h>

struct msim_idmap_slot {
    uint64_t key;
    uint32_t value;
    uint32_t used;
};

void msim_idmap_release(struct msim_idmap *m)
{
    free(m->slots);
    *m = (struct msim_idmap){0};
}

static uint32_t probe(const struct msim_idmap *m, uint64_t key)
{
    uint64_t h = (key ^ (key >> 32)) * 0xff51afd7ed558ccdu;
    uint32_t i = (uint32_t)(h >> 32) & m->mask;

    while (m->slots[i].used && m->slots[i].key != key)
        i = (i + 1) & m->mask;
    return i;
}

static enum msim_status grow(struct msim_idmap *m)
{
    struct msim_idmap bigger = {NULL, m->count,
                                m->slots ? m->mask * 2 + 1 : 63};
    uint32_t i;

    if (m->slots && m->mask >= UINT32_MAX / 4)
        return MSIM_ELIMIT;
    bigger.slots = calloc((size_t)bigger.mask + 1, sizeof(*bigger.slots));
    if (!bigger.slots)
        return MSIM_ENOMEM;
    for (i = 0; m->slots && i <= m->mask; i++)
        if (m->slots[i].used)
            bigger.slots[probe(&bigger, m->slots[i].key)] = m->slots[i];
    free(m->slots);
    *m = bigger;
    return MSIM_OK;
}

enum msim_status msim_idmap_put(struct msim_idmap *m, uint64_t key,
                                uint32_t fresh, uint32_t **value)
{
    struct msim_idmap_slot *s;

    if (!m->slots || m->count > m->mask / 2)
        MSIM_TRY(grow(m));
    s = &m->slots[probe(m, key)];
    if (!s->used) {
        *s = (struct msim_idmap_slot){key, fresh, 1};
        m->count++;
    }
    *value = &s->value;
    return MSIM_OK;
}

uint32_t msim_idmap_get(const struct msim_idmap *m, uint64_t key)
{
    const struct msim_idmap_slot *s;

    if (!m->slots)
        return UINT32_MAX;
    s = &m->slots[probe(m, key)];
    return s->used ? s->value : UINT32_MAX;
}
