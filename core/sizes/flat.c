/*
 * core/sizes/flat.c - storages that hold tensors one behind the other: buckets
 * of gradients, parameters of a unit; and tensors that no operator made.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/sizes/sizes_internal.h"

#include <stdlib.h>

/* Room that is no tensor's is less than this share of a bucket: what aligns
 * tensors, and what fills a bucket up for its ranks. */
#define GAPS_MOST 0.02

/* ---- tensors that no operator made ----------------------------------------
 */

static void unite_values(struct msim_size_learning *l,
                         const struct msim_size_value *a,
                         const struct msim_size_value *b)
{
    for (uint32_t i = 0; i < a->n && a->n == b->n; i++)
        msim_size_unite(l, a->at + i, b->at + i);
}

/* One is the other in a row. */
static enum msim_status tie_row(struct msim_size_learning *l,
                                const struct msim_size_value *a,
                                const struct msim_size_value *b)
{
    uint32_t x, y;

    if (a->n != 1 && b->n != 1)
        return MSIM_OK;
    MSIM_TRY(msim_size_count(l, a, &x));
    MSIM_TRY(msim_size_count(l, b, &y));
    msim_size_unite(l, x, y);
    return MSIM_OK;
}

/* May a tensor of one shape at one place be taken for another that was made? A
 * matrix of as many rows as columns and the same turned look alike, and so do
 * vectors in storage that is used again. */
static bool is_told_apart(struct msim_size_learning *l,
                          const struct msim_size_value *v)
{
    return v->n > 2 ||
           (v->n == 2 && msim_size_at(l, v->at) != msim_size_at(l, v->at + 1));
}

/* As many elements from one place of one storage on, one of the two given: a
 * gradient that is a view of its bucket, a parameter by another name. */
static enum msim_status unite_given(struct msim_size_learning *l)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < 2 * l->n_values && status == MSIM_OK; i++) {
        uint32_t which = i < l->n_values ? i : i - l->n_values;
        const struct msim_size_value *v = &l->values[which];
        const int64_t where[] = {v->life, v->offset, (int64_t)v->elems};

        /* first what was made, then what was given */
        if (v->made != (i < l->n_values) || v->life == MSIM_NONE ||
            (v->made && !is_told_apart(l, v)))
            continue;
        status = msim_idmap_put(
            &seen, msim_hash_bytes(v->shape, where, sizeof(where)), which, &at);
        if (status == MSIM_OK && *at != which && !v->made)
            unite_values(l, &l->values[*at], v);
    }
    msim_idmap_release(&seen);
    return status;
}

/* The same in a row. What came first is as it lies in memory: what is turned is
 * made of it. */
static enum msim_status tie_rows(struct msim_size_learning *l)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < l->n_values && status == MSIM_OK; i++) {
        const struct msim_size_value *v = &l->values[i];
        const int64_t where[] = {v->life, v->offset, (int64_t)v->elems};

        if (v->life == MSIM_NONE)
            continue;
        status = msim_idmap_put(
            &seen, msim_hash_bytes(MSIM_HASH_START, where, sizeof(where)), i,
            &at);
        if (status == MSIM_OK && *at != i && !v->made)
            status = tie_row(l, &l->values[*at], v);
    }
    msim_idmap_release(&seen);
    return status;
}

/* ---- buckets ---------------------------------------------------------------
 */

struct flat {
    struct msim_size_learning *l;
    uint32_t *order;         /* values, by life and place */
    uint32_t *parts, cap, n; /* values of a bucket */
};

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_size_value *x = (const struct msim_size_value *)ctx + a;
    const struct msim_size_value *y = (const struct msim_size_value *)ctx + b;

    if (x->life != y->life)
        return x->life < y->life;
    if (x->offset != y->offset)
        return x->offset < y->offset;
    return x->elems > y->elems;
}

/* Values of one life, in order: those that cover it from `0` to `elems`, each
 * the largest that begins where the last one ends. False: they do not. */
static enum msim_status cover(struct flat *f, const uint32_t *of, uint32_t n,
                              uint64_t elems, bool *whole)
{
    uint64_t at = 0, gaps = 0;

    f->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct msim_size_value *v = &f->l->values[of[i]];

        if (v->offset < (int64_t)at || v->elems >= elems || !v->elems)
            continue;
        gaps += (uint64_t)v->offset - at;
        at = (uint64_t)v->offset + v->elems;
        MSIM_TRY(
            msim_grow((void **)&f->parts, &f->cap, f->n, sizeof(*f->parts)));
        f->parts[f->n++] = of[i];
    }
    *whole = f->n > 1 && at <= elems &&
             (double)(gaps + elems - at) <= GAPS_MOST * (double)elems;
    return MSIM_OK;
}

/* Sizes of `n` places but the first and the last, which may be cut, are those
 * of terms of a sum from `from` on; the two are, or are less. */
static bool is_run(struct msim_size_learning *l, const uint32_t *places,
                   uint32_t n, const uint32_t *terms, uint32_t from)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t a = msim_size_at(l, places[i]);
        int64_t b = l->s->classes[terms[from + i]].size;

        if (i && i + 1 < n ? a != b : a > b)
            return false;
    }
    return true;
}

/* One rank's share of a vector has parts that the whole has, too, in the same
 * order, and the first and the last may be cut. */
static void unite_share(struct msim_size_learning *l, uint32_t share,
                        const uint32_t *places, uint32_t n)
{
    int64_t size = msim_size_at(l, share);

    for (uint32_t i = 0; i < l->s->n_ties && n > 3; i++) {
        const struct msim_size_tie *tie = &l->s->ties[i];
        const uint32_t *terms = l->s->terms + tie->first + 1;
        int64_t whole = l->s->classes[terms[-1]].size;

        if (!tie->sum || whole <= size || whole % size != 0)
            continue;
        for (uint32_t from = 0; from + n <= tie->n_right; from++) {
            if (!is_run(l, places, n, terms, from))
                continue;
            for (uint32_t k = 0; k < n; k++)
                msim_size_unite_classes(l, l->s->places[places[k]],
                                        terms[from + k]);
            return;
        }
    }
}

static enum msim_status tie_bucket(struct flat *f, uint32_t bucket)
{
    uint32_t at = f->l->values[bucket].at;
    enum msim_status status = MSIM_OK;
    uint32_t *places = malloc((size_t)f->n * sizeof(*places));

    f->l->op = f->l->values[bucket].op;
    if (!places)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < f->n && status == MSIM_OK; i++)
        status = msim_size_count(f->l, &f->l->values[f->parts[i]], &places[i]);
    if (status == MSIM_OK)
        unite_share(f->l, at, places, f->n);
    if (status == MSIM_OK)
        status = msim_size_tie_sum(f->l, at, places, f->n);
    free(places);
    return status;
}

/* The largest of a life is a vector, and others fill it. */
static enum msim_status tie_life(struct flat *f, const uint32_t *of, uint32_t n)
{
    uint32_t largest = of[0];
    bool whole;

    if (n < 3)
        return MSIM_OK;
    for (uint32_t i = 1; i < n; i++)
        if (f->l->values[of[i]].elems > f->l->values[largest].elems)
            largest = of[i];
    if (f->l->values[largest].n != 1 || f->l->values[largest].offset ||
        f->l->values[largest].life == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(cover(f, of, n, f->l->values[largest].elems, &whole));
    return whole ? tie_bucket(f, largest) : MSIM_OK;
}

static enum msim_status tie_lives(struct flat *f, uint32_t n)
{
    const struct msim_size_value *v = f->l->values;
    uint32_t first = 0;

    for (uint32_t i = 1; i <= n; i++) {
        if (i < n && v[f->order[i]].life == v[f->order[first]].life)
            continue;
        MSIM_TRY(tie_life(f, f->order + first, i - first));
        first = i;
    }
    return MSIM_OK;
}

enum msim_status msim_size_flat(struct msim_size_learning *l)
{
    uint32_t n = l->n_values;
    struct flat f = {.l = l};
    uint32_t *tmp = malloc(((size_t)n + 1) * sizeof(*tmp));
    enum msim_status status = MSIM_ENOMEM;

    f.order = malloc(((size_t)n + 1) * sizeof(*f.order));
    if (tmp && f.order) {
        for (uint32_t i = 0; i < n; i++)
            f.order[i] = i;
        msim_sort_index(f.order, tmp, n, before, l->values);
        status = unite_given(l);
        if (status == MSIM_OK)
            status = tie_rows(l);
        if (status == MSIM_OK)
            status = tie_lives(&f, n);
    }
    free(tmp);
    free(f.order);
    free(f.parts);
    return status;
}
