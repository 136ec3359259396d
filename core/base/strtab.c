/*
 * core/base/strtab.c - interned strings: equal text, equal number.
 */
#include "core/base/containers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *text;
    uint32_t len, hash;
};

/* Open addressing over entry numbers + 1; 0 marks a free slot. */
struct msim_strtab {
    struct msim_arena arena;
    struct entry *entries;
    uint32_t count, capacity;
    uint32_t *slots;
    uint32_t mask;
};

/* Eight bytes a step: names run to hundreds of bytes (C++ templates). */
static uint32_t hash_bytes(const char *s, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len, w;

    for (; len >= 8; s += 8, len -= 8) {
        memcpy(&w, s, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    w = 0;
    memcpy(&w, s, len);
    h = (h ^ w) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(h ^ (h >> 32));
}

enum msim_status msim_strtab_new(struct msim_strtab **out)
{
    struct msim_strtab *t = calloc(1, sizeof(*t));
    uint32_t id;

    *out = NULL;
    if (!t)
        return MSIM_ENOMEM;
    msim_arena_init(&t->arena);
    t->mask = 1023;
    t->slots = calloc((size_t)t->mask + 1, sizeof(*t->slots));
    if (!t->slots || msim_strtab_add(t, "", 0, &id) != MSIM_OK) {
        msim_strtab_free(t);
        return MSIM_ENOMEM;
    }
    *out = t;
    return MSIM_OK;
}

void msim_strtab_free(struct msim_strtab *t)
{
    if (!t)
        return;
    msim_arena_release(&t->arena);
    free(t->entries);
    free(t->slots);
    free(t);
}

/* The slot that holds the text, or the free one where it would go. */
static uint32_t probe(const struct msim_strtab *t, const char *s, size_t len,
                      uint32_t hash)
{
    uint32_t i = hash & t->mask;

    while (t->slots[i]) {
        const struct entry *e = &t->entries[t->slots[i] - 1];

        if (e->hash == hash && e->len == len && !memcmp(e->text, s, len))
            break;
        i = (i + 1) & t->mask;
    }
    return i;
}

static enum msim_status rehash(struct msim_strtab *t)
{
    uint32_t mask = t->mask * 2 + 1, id, i;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

    if (!slots)
        return MSIM_ENOMEM;
    for (id = 0; id < t->count; id++) {
        for (i = t->entries[id].hash & mask; slots[i];)
            i = (i + 1) & mask;
        slots[i] = id + 1;
    }
    free(t->slots);
    t->slots = slots;
    t->mask = mask;
    return MSIM_OK;
}

static enum msim_status add(struct msim_strtab *t, const char *s, size_t len,
                            uint32_t hash, uint32_t *id)
{
    uint32_t slot = probe(t, s, len, hash);
    struct entry *e;
    char *copy;

    if (t->slots[slot]) {
        *id = t->slots[slot] - 1;
        return MSIM_OK;
    }
    MSIM_TRY(msim_grow((void **)&t->entries, &t->capacity, t->count,
                       sizeof(*t->entries)));
    if (t->count > t->mask / 2) {
        MSIM_TRY(rehash(t));
        slot = probe(t, s, len, hash);
    }
    copy = msim_arena_alloc(&t->arena, len + 1);
    if (!copy)
        return MSIM_ENOMEM;
    memcpy(copy, s, len);
    e = &t->entries[t->count];
    *e = (struct entry){copy, (uint32_t)len, hash};
    *id = t->count++;
    t->slots[slot] = *id + 1;
    return MSIM_OK;
}

enum msim_status msim_strtab_add(struct msim_strtab *t, const char *s,
                                 size_t len, uint32_t *id)
{
    if (len > UINT32_MAX / 2)
        return MSIM_ELIMIT;
    return add(t, s, len, hash_bytes(s, len), id);
}

enum msim_status msim_strtab_join(struct msim_strtab *t,
                                  const struct msim_strtab *from,
                                  uint32_t **numbers)
{
    uint32_t *ids = malloc(from->count * sizeof(*ids));
    enum msim_status status = ids ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; i < from->count && status == MSIM_OK; i++) {
        const struct entry *e = &from->entries[i];

        status = add(t, e->text, e->len, e->hash, &ids[i]);
    }
    if (status != MSIM_OK) {
        free(ids);
        ids = NULL;
    }
    *numbers = ids;
    return status;
}

uint32_t msim_strtab_find(const struct msim_strtab *t, const char *s)
{
    size_t len = strlen(s);
    uint32_t slot = probe(t, s, len, hash_bytes(s, len));

    return t->slots[slot] ? t->slots[slot] - 1 : UINT32_MAX;
}

const char *msim_strtab_text(const struct msim_strtab *t, uint32_t id)
{
    assert(id < t->count);
    return t->entries[id].text;
}

uint32_t msim_strtab_count(const struct msim_strtab *t)
{
    return t->count;
}
