/*
 * core/sizes/learning.c - sizes are united and tied.
 */
#include "core/sizes/sizes_internal.h"

#include "core/base/containers.h"

#define RANK_MOST 64 /* of PyTorch's tensors */

/* ---- places and classes ---------------------------------------------------
 */

uint32_t msim_size_united(struct msim_size_learning *l, uint32_t c)
{
    while (l->parent[c] != c) {
        l->parent[c] = l->parent[l->parent[c]];
        c = l->parent[c];
    }
    return c;
}

uint32_t msim_size_root(struct msim_size_learning *l, uint32_t place)
{
    uint32_t c = place == MSIM_NONE ? MSIM_NONE : l->s->places[place];

    return c == MSIM_NONE ? MSIM_NONE : msim_size_united(l, c);
}

enum msim_status msim_size_add_place(struct msim_size_learning *l, int64_t size,
                                     uint32_t *place)
{
    struct msim_sizes *s = l->s;
    uint32_t c = MSIM_NONE;

    if (size != 1) {
        MSIM_TRY(msim_grow((void **)&s->classes, &s->cap_classes, s->n_classes,
                           sizeof(*s->classes)));
        MSIM_TRY(msim_grow((void **)&l->parent, &l->cap_parent, s->n_classes,
                           sizeof(*l->parent)));
        c = s->n_classes++;
        s->classes[c] = (struct msim_size_class){.size = size, .op = l->op};
        l->parent[c] = c;
    }
    MSIM_TRY(msim_grow((void **)&s->places, &s->cap_places, s->n_places,
                       sizeof(*s->places)));
    *place = s->n_places;
    s->places[s->n_places++] = c;
    return MSIM_OK;
}

void msim_size_unite_classes(struct msim_size_learning *l, uint32_t x,
                             uint32_t y)
{
    x = msim_size_united(l, x);
    y = msim_size_united(l, y);
    if (x == y || l->s->classes[x].size != l->s->classes[y].size)
        return;
    if (x < y)
        l->parent[y] = x;
    else
        l->parent[x] = y;
}

void msim_size_unite(struct msim_size_learning *l, uint32_t a, uint32_t b)
{
    uint32_t x = msim_size_root(l, a), y = msim_size_root(l, b);

    if (x != MSIM_NONE && y != MSIM_NONE)
        msim_size_unite_classes(l, x, y);
}

/* ---- ties -----------------------------------------------------------------
 */

static enum msim_status add_term(struct msim_size_learning *l, uint32_t place,
                                 uint32_t *n)
{
    struct msim_sizes *s = l->s;
    uint32_t c = msim_size_root(l, place);

    if (c == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&s->terms, &s->cap_terms, s->n_terms,
                       sizeof(*s->terms)));
    s->terms[s->n_terms++] = c;
    ++*n;
    return MSIM_OK;
}

static enum msim_status add_tie(struct msim_size_learning *l,
                                const struct msim_size_tie *tie)
{
    struct msim_sizes *s = l->s;

    MSIM_TRY(msim_grow((void **)&s->ties, &s->cap_ties, s->n_ties,
                       sizeof(*s->ties)));
    s->ties[s->n_ties++] = *tie;
    return MSIM_OK;
}

static uint32_t only_class(struct msim_size_learning *l, const uint32_t *places,
                           uint32_t n)
{
    uint32_t only = MSIM_NONE;

    for (uint32_t i = 0; i < n; i++) {
        if (msim_size_root(l, places[i]) == MSIM_NONE)
            continue;
        if (only != MSIM_NONE)
            return MSIM_NONE;
        only = places[i];
    }
    return only;
}

enum msim_status msim_size_tie_product(struct msim_size_learning *l,
                                       const uint32_t *left, uint32_t n,
                                       const uint32_t *right, uint32_t m)
{
    uint32_t one = only_class(l, left, n), other = only_class(l, right, m);
    struct msim_size_tie tie = {.first = l->s->n_terms, .op = l->op};

    if (one != MSIM_NONE && other != MSIM_NONE) {
        msim_size_unite(l, one, other);
        return MSIM_OK;
    }
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(add_term(l, left[i], &tie.n_left));
    for (uint32_t i = 0; i < m; i++)
        MSIM_TRY(add_term(l, right[i], &tie.n_right));
    return tie.n_left + tie.n_right ? add_tie(l, &tie) : MSIM_OK;
}

int64_t msim_size_at(struct msim_size_learning *l, uint32_t place)
{
    uint32_t c = msim_size_root(l, place);

    return c == MSIM_NONE ? 1 : l->s->classes[c].size;
}

enum msim_status msim_size_tie_times(struct msim_size_learning *l,
                                     uint32_t large, uint32_t small, bool round)
{
    int64_t of = msim_size_at(l, small);
    struct msim_size_tie *tie;
    uint32_t both[2] = {small, 0}, n = l->s->n_ties;

    if (!of || msim_size_at(l, large) % of != 0)
        return MSIM_OK;
    MSIM_TRY(msim_size_add_place(l, msim_size_at(l, large) / of, &both[1]));
    MSIM_TRY(msim_size_tie_product(l, &large, 1, both, 2));
    tie = l->s->n_ties > n ? &l->s->ties[n] : NULL;
    if (tie)
        tie->share = round;
    return MSIM_OK;
}

enum msim_status msim_size_tie_sum(struct msim_size_learning *l, uint32_t whole,
                                   const uint32_t *parts, uint32_t n)
{
    struct msim_size_tie tie = {
        .first = l->s->n_terms, .op = l->op, .sum = true};

    tie.rest = msim_size_at(l, whole);
    MSIM_TRY(add_term(l, whole, &tie.n_left));
    for (uint32_t i = 0; i < n; i++) {
        if (msim_size_root(l, parts[i]) != MSIM_NONE)
            tie.rest -= msim_size_at(l, parts[i]); /* a 1 stays what it is */
        MSIM_TRY(add_term(l, parts[i], &tie.n_right));
    }
    if (!tie.n_left)
        return MSIM_OK;
    if (tie.n_right == 1 && !tie.rest)
        msim_size_unite(l, whole, parts[0]);
    return add_tie(l, &tie);
}

enum msim_status msim_size_tie_share(struct msim_size_learning *l,
                                     uint32_t whole, uint32_t part)
{
    struct msim_size_tie tie = {
        .first = l->s->n_terms, .op = l->op, .share = true};

    MSIM_TRY(add_term(l, whole, &tie.n_left));
    MSIM_TRY(add_term(l, part, &tie.n_right));
    return tie.n_left && tie.n_right ? add_tie(l, &tie) : MSIM_OK;
}

enum msim_status msim_size_count(struct msim_size_learning *l,
                                 const struct msim_size_value *v,
                                 uint32_t *place)
{
    uint32_t dims[RANK_MOST], ties = l->s->n_ties;

    *place = v->at;
    if (v->n == 1)
        return MSIM_OK;
    MSIM_TRY(msim_size_add_place(l, (int64_t)v->elems, place));
    if (v->n > RANK_MOST)
        return MSIM_OK;
    for (uint32_t i = 0; i < v->n; i++)
        dims[i] = v->at + i;
    MSIM_TRY(msim_size_tie_product(l, place, 1, dims, v->n));
    if (l->s->n_ties > ties)
        l->s->ties[ties].flat = true;
    return MSIM_OK;
}
