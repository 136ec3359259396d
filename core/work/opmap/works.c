/*
 * core/work/opmap/works.c - mapping every operator, and storing equal answers
 * once.
 *
 * Two answers are equal where their bytes are: msim_opmap_work() zeroes works
 * before rules fill them in. The hash table lives only while works are made.
 */
#include "core/work/opmap/opmap.h"

#include "core/base/containers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The lists by their hashes: open addressing, at most half full. */
struct known {
    uint32_t *slots;  /* list + 1; 0: free */
    uint64_t *hashes; /* of each list */
    uint32_t mask, cap_hashes;
};

static uint64_t hash_of(const struct msim_work *works, uint32_t n,
                        enum msim_opmap_result r)
{
    uint64_t h = 0x9e3779b97f4a7c15u + (uint64_t)r, v;

    static_assert(sizeof(*works) % sizeof(v) == 0, "whole words");
    for (size_t i = 0; i < n * sizeof(*works) / sizeof(v); i++) {
        memcpy(&v, (const unsigned char *)works + i * sizeof(v), sizeof(v));
        h = (h ^ v) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h;
}

static enum msim_status grow_slots(struct known *k, uint32_t n)
{
    uint32_t mask = k->mask ? k->mask * 2 + 1 : 255;
    uint32_t *slots = calloc((size_t)mask + 1, sizeof(*slots));

    if (!slots)
        return MSIM_ENOMEM;
    for (uint32_t list = 0; list < n; list++) {
        uint32_t i = (uint32_t)k->hashes[list] & mask;

        while (slots[i])
            i = (i + 1) & mask;
        slots[i] = list + 1;
    }
    free(k->slots);
    k->slots = slots;
    k->mask = mask;
    return MSIM_OK;
}

static bool is_list(const struct msim_works *w, uint32_t list,
                    const struct msim_work *works, uint32_t n,
                    enum msim_opmap_result r)
{
    const struct msim_work_list *l = &w->lists[list];

    return l->n == n && l->result == r &&
           (n == 0 ||
            memcmp(&w->works[l->first], works, n * sizeof(*works)) == 0);
}

static enum msim_status add_list(struct msim_works *w, struct known *k,
                                 uint64_t hash, const struct msim_work *works,
                                 uint32_t n, enum msim_opmap_result r)
{
    MSIM_TRY(msim_grow((void **)&w->lists, &w->cap_lists, w->n_lists,
                       sizeof(*w->lists)));
    MSIM_TRY(msim_grow((void **)&k->hashes, &k->cap_hashes, w->n_lists,
                       sizeof(*k->hashes)));
    w->lists[w->n_lists] = (struct msim_work_list){
        .first = w->n_works, .n = (uint8_t)n, .result = (uint8_t)r};
    k->hashes[w->n_lists++] = hash;
    for (uint32_t i = 0; i < n; i++) {
        MSIM_TRY(msim_grow((void **)&w->works, &w->cap_works, w->n_works,
                           sizeof(*w->works)));
        memcpy(&w->works[w->n_works++], &works[i], sizeof(*works));
    }
    return MSIM_OK;
}

/* The number of the list, which is stored where it is new. */
static enum msim_status intern(struct msim_works *w, struct known *k,
                               const struct msim_work *works, uint32_t n,
                               enum msim_opmap_result r, uint32_t *list)
{
    uint64_t hash = hash_of(works, n, r);
    uint32_t i;

    if (!k->slots || w->n_lists > k->mask / 2)
        MSIM_TRY(grow_slots(k, w->n_lists));
    for (i = (uint32_t)hash & k->mask; k->slots[i]; i = (i + 1) & k->mask) {
        *list = k->slots[i] - 1;
        if (k->hashes[*list] == hash && is_list(w, *list, works, n, r))
            return MSIM_OK;
    }
    *list = w->n_lists;
    MSIM_TRY(add_list(w, k, hash, works, n, r));
    k->slots[i] = *list + 1;
    return MSIM_OK;
}

static enum msim_status map_all(struct msim_works *w, struct known *k,
                                enum msim_opmap_place place)
{
    const struct msim_trace *t = w->trace;
    const uint32_t *begin = w->kernels.begin;
    struct msim_work works[MSIM_OPMAP_MAX];

    memset(works, 0, sizeof(works));
    for (uint32_t i = 0; i < t->n_ops; i++) {
        int launched = t->has_gpu_events ? (int)(begin[i + 1] - begin[i]) : -1;
        enum msim_opmap_result r = MSIM_OPMAP_NO_KERNEL;
        uint32_t n = 0;

        /* Most operators launched nothing. A transfer may be launched
         * inside. */
        if (launched != 0 || t->ops[i].comm != MSIM_NONE)
            r = msim_opmap(t, w->user, i, launched, place, works, &n);
        MSIM_TRY(intern(w, k, works, n, r, &w->list_of[i]));
    }
    return MSIM_OK;
}

static enum msim_status make(struct msim_works *w, enum msim_opmap_place place)
{
    struct known k = {0};
    enum msim_status status;

    w->list_of = calloc((size_t)w->trace->n_ops + 1, sizeof(*w->list_of));
    if (!w->list_of)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_op_kernels_init(&w->kernels, w->trace));
    status = map_all(w, &k, place);
    free(k.slots);
    free(k.hashes);
    return status;
}

enum msim_status msim_works_new(struct msim_works **out,
                                const struct msim_trace *t,
                                const struct msim_ops *user,
                                enum msim_opmap_place place)
{
    struct msim_works *w = calloc(1, sizeof(*w));
    enum msim_status status;

    *out = NULL;
    if (!w)
        return MSIM_ENOMEM;
    w->trace = t;
    w->user = user;
    status = make(w, place);
    if (status != MSIM_OK) {
        msim_works_free(w);
        return status;
    }
    *out = w;
    return MSIM_OK;
}

void msim_works_free(struct msim_works *w)
{
    if (!w)
        return;
    msim_op_kernels_release(&w->kernels);
    free(w->list_of);
    free(w->lists);
    free(w->works);
    free(w);
}

enum msim_status msim_works_new_ranks(struct msim_works ***out,
                                      struct msim_trace *const *ranks,
                                      uint32_t n, const struct msim_ops *user,
                                      bool on_cpu)
{
    struct msim_works **works = calloc((size_t)n + 1, sizeof(*works));
    enum msim_status status = works ? MSIM_OK : MSIM_ENOMEM;

    *out = NULL;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = msim_works_new(&works[i], ranks[i], user,
                                msim_opmap_place_of(ranks[i], on_cpu));
    if (status != MSIM_OK) {
        msim_works_free_ranks(works, n);
        return status;
    }
    *out = works;
    return MSIM_OK;
}

void msim_works_free_ranks(struct msim_works **works, uint32_t n)
{
    for (uint32_t i = 0; works && i < n; i++)
        msim_works_free(works[i]);
    free(works);
}

enum msim_opmap_result msim_works_of(const struct msim_works *w, uint32_t op,
                                     const struct msim_work **works,
                                     uint32_t *n)
{
    const struct msim_work_list *l = &w->lists[w->list_of[op]];

    *works = l->n ? &w->works[l->first] : NULL;
    *n = l->n;
    return (enum msim_opmap_result)l->result;
}
