/*
 * core/sizes/solve.c - the sizes of all classes where some are given.
 *
 * Products and sums with one unknown size say what it is. Where none is left,
 * parts follow the whole that they are of; then all that is made of nothing
 * else stays as it is; then the rest does. Each of these lets the ties say
 * more. In the end every tie must hold.
 */
#include "core/base/print.h"
#include "core/sizes/sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct solving {
    const struct msim_sizes *s;
    int64_t *to;
    uint8_t *known;
    uint8_t *made; /* by class: it is a product or a sum of others */
    struct msim_error *err;
    bool more;
};

static void set(struct solving *v, uint32_t c, int64_t size)
{
    v->to[c] = size;
    v->known[c] = 1;
    v->more = true;
}

static int64_t old(const struct solving *v, uint32_t c)
{
    return v->s->classes[c].size;
}

/* ---- one tie ---------------------------------------------------------------
 */

static const uint32_t *left_of(const struct solving *v,
                               const struct msim_size_tie *tie)
{
    return v->s->terms + tie->first;
}

static const uint32_t *right_of(const struct solving *v,
                                const struct msim_size_tie *tie)
{
    return v->s->terms + tie->first + tie->n_left;
}

/* How often classes are not known, and the last that is not. */
static uint32_t unknown_of(const struct solving *v, const uint32_t *terms,
                           uint32_t n, uint32_t *which)
{
    uint32_t many = 0;

    for (uint32_t i = 0; i < n; i++)
        if (!v->known[terms[i]]) {
            many++;
            *which = terms[i];
        }
    return many;
}

static void spell(const struct solving *v, char *text, size_t size,
                  const uint32_t *terms, uint32_t n, bool sum)
{
    char one[64];

    for (uint32_t i = 0; i < n && i < 6; i++) {
        uint32_t c = terms[i];

        snprintf(one, sizeof(one), "%s%lld", i ? sum ? " + " : " x " : "",
                 (long long)old(v, c));
        msim_text_append(text, size, "%s", one);
        if (v->known[c] && v->to[c] != old(v, c)) {
            snprintf(one, sizeof(one), " (now %lld)", (long long)v->to[c]);
            msim_text_append(text, size, "%s", one);
        }
    }
    if (n > 6)
        msim_text_append(text, size, "%s", sum ? " + ..." : " x ...");
}

static enum msim_status refuse(struct solving *v,
                               const struct msim_size_tie *tie)
{
    const struct msim_trace *t = v->s->t;
    char whole[160] = "", parts[240] = "";

    spell(v, whole, sizeof(whole), left_of(v, tie), tie->n_left, false);
    spell(v, parts, sizeof(parts), right_of(v, tie), tie->n_right, tie->sum);
    return msim_fail(v->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "'%.80s' (operator %u) has %s as %s, which cannot be with "
                     "the new sizes",
                     msim_trace_text(t, t->ops[tie->op].name), tie->op, whole,
                     parts);
}

/* The product of the known ones; false: it is beyond all sizes. */
static bool product_of(const struct solving *v, const uint32_t *terms,
                       uint32_t n, int64_t *out)
{
    *out = 1;
    for (uint32_t i = 0; i < n; i++)
        if (v->known[terms[i]] &&
            __builtin_mul_overflow(*out, v->to[terms[i]], out))
            return false;
    return true;
}

static enum msim_status solve_product(struct solving *v,
                                      const struct msim_size_tie *tie)
{
    uint32_t a, b, which = MSIM_NONE;
    int64_t x, y, rest;

    a = unknown_of(v, left_of(v, tie), tie->n_left, &which);
    b = unknown_of(v, right_of(v, tie), tie->n_right, &which);
    if (a + b != 1)
        return MSIM_OK;
    if (!product_of(v, left_of(v, tie), tie->n_left, &x) ||
        !product_of(v, right_of(v, tie), tie->n_right, &y))
        return refuse(v, tie);
    rest = a ? x : y; /* beside the unknown one */
    if (a)
        x = y;
    if (!rest)
        return MSIM_OK;
    if (x % rest != 0 && !tie->share)
        return refuse(v, tie);
    set(v, which, (x + rest - 1) / rest);
    return MSIM_OK;
}

static enum msim_status solve_sum(struct solving *v,
                                  const struct msim_size_tie *tie)
{
    const uint32_t *parts = right_of(v, tie);
    uint32_t whole = *left_of(v, tie), which = MSIM_NONE, many;
    int64_t sum = tie->rest, size;

    many = unknown_of(v, parts, tie->n_right, &which);
    for (uint32_t i = 0; i < tie->n_right; i++)
        sum += v->known[parts[i]] ? v->to[parts[i]] : 0;
    if (!many && !v->known[whole])
        set(v, whole, sum);
    if (!many || !v->known[whole])
        return MSIM_OK;
    for (uint32_t i = 0; i < tie->n_right; i++)
        if (!v->known[parts[i]] && parts[i] != which)
            return MSIM_OK;
    size = v->to[whole] - sum;
    if (size < 0 || size % many != 0)
        return refuse(v, tie);
    set(v, which, size / many);
    return MSIM_OK;
}

static bool is_part(const struct msim_size_tie *tie)
{
    return tie->share && tie->n_left == 1 && tie->n_right == 1 && !tie->sum;
}

static enum msim_status propagate(struct solving *v)
{
    do {
        v->more = false;
        for (uint32_t i = 0; i < v->s->n_ties; i++) {
            const struct msim_size_tie *tie = &v->s->ties[i];

            if (is_part(tie))
                continue;
            MSIM_TRY(tie->sum ? solve_sum(v, tie) : solve_product(v, tie));
        }
    } while (v->more);
    return MSIM_OK;
}

/* ---- what ties do not say ---------------------------------------------------
 */

/* A half stays a half, and all but the last stays all but the last. */
static void follow(struct solving *v, uint32_t whole, uint32_t part)
{
    int64_t from = old(v, whole), size = old(v, part), to = v->to[whole];
    int64_t apart = to - (from - size);

    if (v->known[part] || !v->known[whole] || !from)
        return;
    if (from % size == 0 && to % (from / size) == 0)
        set(v, part, to / (from / size));
    else if (size % from == 0)
        set(v, part, size / from * to);
    else
        set(v, part, apart > 0 ? apart : size);
}

/* Parts of a sum that nothing else says keep their shares of it. */
static void share_out(struct solving *v, const struct msim_size_tie *tie)
{
    const uint32_t *parts = right_of(v, tie);
    uint32_t whole = *left_of(v, tie);
    int64_t from = old(v, whole), to = v->to[whole];

    for (uint32_t i = 0; i < tie->n_right && v->known[whole] && from; i++) {
        int64_t size;

        if (!v->known[parts[i]] &&
            !__builtin_mul_overflow(old(v, parts[i]), to, &size) &&
            size % from == 0)
            set(v, parts[i], size / from);
    }
}

static enum msim_status follow_all(struct solving *v)
{
    do {
        v->more = false;
        for (uint32_t i = 0; i < v->s->n_ties; i++) {
            const struct msim_size_tie *tie = &v->s->ties[i];

            if (is_part(tie))
                follow(v, *left_of(v, tie), *right_of(v, tie));
            else if (tie->sum)
                share_out(v, tie);
            if (v->more)
                break;
        }
        if (v->more) {
            MSIM_TRY(propagate(v));
            v->more = true;
        }
    } while (v->more);
    return MSIM_OK;
}

static void find_made(struct solving *v)
{
    for (uint32_t i = 0; i < v->s->n_ties; i++) {
        const struct msim_size_tie *tie = &v->s->ties[i];

        if (tie->n_left == 1 && (tie->n_right > 1 || tie->sum))
            v->made[*left_of(v, tie)] = 1;
        if (tie->n_right == 1 && tie->n_left > 1)
            v->made[*right_of(v, tie)] = 1;
    }
}

/* Unknown sizes in ties with some that change: what stays of them is a choice.
 */
static void find_tied(struct solving *v, uint8_t *tied)
{
    memset(tied, 0, v->s->n_classes);
    for (uint32_t i = 0; i < v->s->n_ties; i++) {
        const struct msim_size_tie *tie = &v->s->ties[i];
        const uint32_t *terms = left_of(v, tie);
        bool changes = false;

        for (uint32_t k = 0; k < tie->n_left + tie->n_right; k++)
            changes |=
                v->known[terms[k]] && v->to[terms[k]] != old(v, terms[k]);
        for (uint32_t k = 0; k < tie->n_left + tie->n_right && changes; k++)
            tied[terms[k]] = 1;
    }
}

/* Of those the one that stays first: what no parameter has, since it is of
 * data; then the smallest, such as a number of ranks. NONE: all are known. */
static uint32_t next_kept(const struct solving *v, bool made)
{
    const struct msim_size_class *k = v->s->classes;
    uint32_t best = MSIM_NONE;

    for (uint32_t c = 0; c < v->s->n_classes; c++)
        if (!v->known[c] && v->made[c] <= made &&
            (best == MSIM_NONE || k[c].weight < k[best].weight ||
             (k[c].weight == k[best].weight && k[c].size < k[best].size)))
            best = c;
    return best;
}

/* What is not known stays, and ties say more. */
static enum msim_status keep(struct solving *v, bool made, uint8_t *tied)
{
    const struct msim_sizes *s = v->s;
    uint32_t c;

    find_tied(v, tied);
    for (c = 0; c < s->n_classes; c++)
        if (!v->known[c] && v->made[c] <= made && !s->classes[c].weight &&
            !tied[c])
            set(v, c, old(v, c));
    MSIM_TRY(propagate(v));
    MSIM_TRY(follow_all(v));
    while ((c = next_kept(v, made)) != MSIM_NONE) {
        set(v, c, old(v, c));
        MSIM_TRY(propagate(v));
        MSIM_TRY(follow_all(v));
    }
    return MSIM_OK;
}

static enum msim_status check(struct solving *v)
{
    for (uint32_t i = 0; i < v->s->n_ties; i++) {
        const struct msim_size_tie *tie = &v->s->ties[i];
        int64_t a, b = tie->rest;

        if (tie->share)
            continue;
        if (!product_of(v, left_of(v, tie), tie->n_left, &a))
            return refuse(v, tie);
        for (uint32_t k = 0; tie->sum && k < tie->n_right; k++)
            b += v->to[right_of(v, tie)[k]];
        if (!tie->sum && !product_of(v, right_of(v, tie), tie->n_right, &b))
            return refuse(v, tie);
        if (a != b)
            return refuse(v, tie);
    }
    return MSIM_OK;
}

static enum msim_status solve(struct solving *v, uint8_t *tied)
{
    const struct msim_sizes *s = v->s;

    find_made(v);
    for (uint32_t c = 0; c < s->n_classes; c++) {
        if (v->to[c])
            v->known[c] = 1;
        else if (s->classes[c].role || !s->classes[c].size)
            set(v, c, s->classes[c].size);
    }
    MSIM_TRY(propagate(v));
    MSIM_TRY(follow_all(v));
    MSIM_TRY(keep(v, false, tied));
    MSIM_TRY(keep(v, true, tied));
    return check(v);
}

enum msim_status msim_sizes_solve(const struct msim_sizes *s, int64_t *to,
                                  struct msim_error *err)
{
    struct solving v = {.s = s, .to = to, .err = err};
    enum msim_status status = MSIM_ENOMEM;
    uint8_t *tied;

    v.known = calloc((size_t)s->n_classes + 1, 1);
    v.made = calloc((size_t)s->n_classes + 1, 1);
    tied = calloc((size_t)s->n_classes + 1, 1);
    if (v.known && v.made && tied)
        status = solve(&v, tied);
    free(tied);
    free(v.known);
    free(v.made);
    return status;
}

/* ---- roles
 * ------------------------------------------------------------------- */

enum msim_status msim_size_is_one(const struct msim_sizes *s, uint32_t c,
                                  struct msim_error *err)
{
    const struct msim_size_class *k = &s->classes[c];

    if (!k->also)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "a size of %lld is %s and %s at once ('%.80s', operator "
                     "%u): the two cannot be told apart",
                     (long long)k->size,
                     msim_size_role_text((enum msim_size_role)k->role),
                     msim_size_role_text((enum msim_size_role)k->also),
                     msim_trace_text(s->t, s->t->ops[k->op].name), k->op);
}

enum msim_status msim_sizes_scale(const struct msim_sizes *s,
                                  enum msim_size_role role, int64_t num,
                                  int64_t den, int64_t *to, uint32_t *n,
                                  struct msim_error *err)
{
    *n = 0;
    for (uint32_t c = 0; c < s->n_classes; c++) {
        int64_t size = s->classes[c].size;

        if (s->classes[c].role != role)
            continue;
        if (num != den)
            MSIM_TRY(msim_size_is_one(s, c, err));
        if (__builtin_mul_overflow(size, num, &size) || size % den != 0)
            return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                             "%s of %lld times %lld / %lld is no whole number",
                             msim_size_role_text(role),
                             (long long)s->classes[c].size, (long long)num,
                             (long long)den);
        to[c] = size / den;
        ++*n;
    }
    return MSIM_OK;
}
