/*
 * core/sizes/alike.c - what is divided as another one of its class is.
 *
 * A size that a view divides into samples and heads going forward, and into as
 * many of each going back, is divided into the same two: 64 = 4 x 16 once and
 * 64 = 4 x 16 again, where the two 64 are one size, are one division.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/sizes/sizes_internal.h"

/* What is said of the other one may be said of what it unites. */
#define ROUNDS_MOST 16

/* Of classes `known`, as they are, and of numbers of those that are divided. */
static uint64_t key_of(struct msim_size_learning *l,
                       const struct msim_size_tie *tie, const uint32_t *known,
                       uint32_t n, const uint32_t *other, uint32_t m)
{
    const int64_t head[] = {tie->sum, tie->share, tie->rest, n, m};
    uint64_t key = msim_hash_bytes(MSIM_HASH_START, head, sizeof(head));

    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = msim_size_united(l, known[i]);

        key = msim_hash_bytes(key, &c, sizeof(c));
    }
    for (uint32_t i = 0; i < m; i++) {
        int64_t size = l->s->classes[other[i]].size;

        key = msim_hash_bytes(key, &size, sizeof(size));
    }
    return key;
}

struct side {
    const uint32_t *terms;
    uint32_t n;
};

static struct side side_of(const struct msim_size_learning *l,
                           const struct msim_size_tie *tie, bool right)
{
    const uint32_t *terms = l->s->terms + tie->first;

    return right ? (struct side){terms + tie->n_left, tie->n_right}
                 : (struct side){terms, tie->n_left};
}

/* Of a square, flat, no number tells which side is which: that of a gradient
 * may be turned. */
static bool are_told_apart(const struct msim_size_learning *l, struct side x)
{
    for (uint32_t i = 0; i < x.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (l->s->classes[x.terms[i]].size ==
                l->s->classes[x.terms[k]].size)
                return false;
    return true;
}

/* The other sides of two ties are one, size by size. */
static bool unite_sides(struct msim_size_learning *l, struct side a,
                        struct side b)
{
    bool more = false;

    for (uint32_t k = 0; k < a.n && k < b.n; k++) {
        more |=
            msim_size_united(l, a.terms[k]) != msim_size_united(l, b.terms[k]);
        msim_size_unite_classes(l, a.terms[k], b.terms[k]);
    }
    return more;
}

/* One round, in which each side of a tie is known once. Which of them a product
 * has on the left is no matter. */
static enum msim_status unite_round(struct msim_size_learning *l, bool *more)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < 2 * l->s->n_ties && status == MSIM_OK; i++) {
        const struct msim_size_tie *tie = &l->s->ties[i / 2];
        struct side a = side_of(l, tie, i % 2), b = side_of(l, tie, !(i % 2));
        uint64_t key;

        if (tie->flat && !are_told_apart(l, b))
            continue;
        key = key_of(l, tie, a.terms, a.n, b.terms, b.n);
        if (tie->sum)
            key = msim_hash_byte(key, i % 2);
        status = msim_idmap_put(&seen, key, i, &at);
        if (status == MSIM_OK && *at != i)
            *more |=
                unite_sides(l, b, side_of(l, &l->s->ties[*at / 2], !(*at % 2)));
    }
    msim_idmap_release(&seen);
    return status;
}

enum msim_status msim_size_unite_alike(struct msim_size_learning *l)
{
    bool more = true;

    for (int i = 0; i < ROUNDS_MOST && more; i++) {
        more = false;
        MSIM_TRY(unite_round(l, &more));
    }
    return MSIM_OK;
}
