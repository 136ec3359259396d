/*
 * models/estimate/estimate_cache.c - a hash table of works.
 *
 * A hit is a hash of the work's words and one comparison, where a model takes
 * microseconds: a pick, a law and some 200 trees.
 */
#include "models/estimate/model.h"

#include "core/base/containers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void msim_estimate_cache_release(struct msim_estimate_cache *m)
{
    free(m->works);
    free(m->estimates);
    free(m->slots);
    memset(m, 0, sizeof(*m));
}

static uint32_t hash_work(const struct msim_work *w)
{
    const unsigned char *p = (const unsigned char *)w;
    uint64_t h = 0x9e3779b97f4a7c15u, v;

    static_assert(sizeof(*w) % sizeof(v) == 0, "whole words");
    for (size_t i = 0; i < sizeof(*w); i += sizeof(v)) {
        memcpy(&v, p + i, sizeof(v));
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return (uint32_t)h;
}

static enum msim_status cache_grow(struct msim_estimate_cache *m)
{
    uint32_t mask = m->mask ? m->mask * 2 + 1 : 1023;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

    if (!slots)
        return MSIM_ENOMEM;
    for (uint32_t e = 0; e < m->n; e++) {
        uint32_t i = hash_work(&m->works[e]) & mask;

        while (slots[i])
            i = (i + 1) & mask;
        slots[i] = e + 1;
    }
    free(m->slots);
    m->slots = slots;
    m->mask = mask;
    return MSIM_OK;
}

enum msim_status msim_estimate_cache_predict(struct msim_estimate_cache *m,
                                             const struct msim_platform *p,
                                             const struct msim_work *w,
                                             bool strict,
                                             struct msim_estimate *out,
                                             struct msim_error *err)
{
    uint32_t i;

    if (!m->slots || m->n > m->mask / 2)
        MSIM_TRY(cache_grow(m));
    for (i = hash_work(w) & m->mask; m->slots[i]; i = (i + 1) & m->mask)
        if (!memcmp(&m->works[m->slots[i] - 1], w, sizeof(*w))) {
            *out = m->estimates[m->slots[i] - 1];
            return MSIM_OK;
        }
    MSIM_TRY(msim_model_predict(p, w, strict, out, err));
    MSIM_TRY(
        msim_grow((void **)&m->works, &m->cap_works, m->n, sizeof(*m->works)));
    MSIM_TRY(msim_grow((void **)&m->estimates, &m->cap_estimates, m->n,
                       sizeof(*m->estimates)));
    m->works[m->n] = *w;
    m->estimates[m->n] = *out;
    m->slots[i] = ++m->n;
    return MSIM_OK;
}
