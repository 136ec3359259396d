/*
 * core/sizes/alike.c - what is divided as another one of its class is.
 *
 * A size that a view divides into samples and heads going forward, and into as
 * many of each going back, is divided into the same two: 64 = 4 x 16 once and
 * 64 = 4 x 16 again, where the two 64 are one size, are one division.
 */
#include "core/base/hash.h"
#include "core/base/idmap.h"
#include "core/sizes/learning.h"

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

/* Of a square, say, flat, no number tells which side is which. */
static bool are_told_apart(const struct msim_size_learning *l, struct side x)
{
    for (uint32_t i = 0; i < x.n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (l->s->classes[x.terms[i]].size ==
                l->s->classes[x.terms[k]].size)
                return false;
    return true;
}

/* One round, with the left or the right of ties known. */
static enum msim_status unite_round(struct msim_size_learning *l, bool right,
                                    bool *more)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at;

    for (uint32_t i = 0; i < l->s->n_ties && status == MSIM_OK; i++) {
        const struct msim_size_tie *tie = &l->s->ties[i];
        struct side a = side_of(l, tie, right), b = side_of(l, tie, !right), c;

        if (!tie->sum && !are_told_apart(l, b))
            continue;
        status = msim_idmap_put(
            &seen, key_of(l, tie, a.terms, a.n, b.terms, b.n), i, &at);
        if (status != MSIM_OK || *at == i)
            continue;
        c = side_of(l, &l->s->ties[*at], !right);
        for (uint32_t k = 0; k < b.n && k < c.n; k++) {
            *more |= msim_size_united(l, b.terms[k]) !=
                     msim_size_united(l, c.terms[k]);
            msim_size_unite_classes(l, b.terms[k], c.terms[k]);
        }
    }
    msim_idmap_release(&seen);
    return status;
}

enum msim_status msim_size_unite_alike(struct msim_size_learning *l)
{
    bool more = true;

    for (int i = 0; i < ROUNDS_MOST && more; i++) {
        more = false;
        MSIM_TRY(unite_round(l, false, &more));
        MSIM_TRY(unite_round(l, true, &more));
    }
    return MSIM_OK;
}
