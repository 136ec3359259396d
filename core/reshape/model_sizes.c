/*
 * core/reshape/model_sizes.c - a model of another width, of other heads,
 * another MLP, another vocabulary.
 */
#include "core/base/print.h"
#include "core/reshape/reshape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How many times as large a role's sizes are. */
struct ratio {
    int64_t num, den;
};

struct asking {
    const struct msim_sizes *s;
    const struct msim_model_size *sizes;
    uint32_t n;
    int64_t *to; /* by class */
    struct ratio ratios[MSIM_SIZE_ROLES];
    bool given[MSIM_SIZE_ROLES];
    struct msim_error *err;
};

/* ---- what was found --------------------------------------------------------
 */

/* The sizes that a role has, each once: "768, 1024". */
static void spell_role(const struct msim_sizes *s, uint8_t role, char *text,
                       size_t size)
{
    text[0] = '\0';
    for (uint32_t c = 0; c < s->n_classes; c++) {
        bool first = s->classes[c].role == role;

        for (uint32_t k = 0; k < c && first; k++)
            first = s->classes[k].role != role ||
                    s->classes[k].size != s->classes[c].size;
        if (first)
            msim_text_append(text, size, "%s%lld", *text ? ", " : "",
                             (long long)s->classes[c].size);
    }
}

static enum msim_status none_there(const struct asking *a,
                                   const struct msim_model_size *m)
{
    const char *name = msim_size_role_text((enum msim_size_role)m->role);
    char own[96], found[160] = "";

    spell_role(a->s, m->role, own, sizeof(own));
    if (*own)
        return msim_fail(a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "%s: none of the trace is %lld; it has %s", name,
                         (long long)m->from, own);
    for (uint8_t r = MSIM_SIZE_HIDDEN; r < MSIM_SIZE_ROLES; r++) {
        size_t n = strlen(found);

        spell_role(a->s, r, own, sizeof(own));
        if (*own)
            snprintf(found + n, sizeof(found) - n, "%s%s %s", n ? ", " : "",
                     msim_size_role_text((enum msim_size_role)r), own);
    }
    return msim_fail(a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%s: no operator of the trace says which of its sizes "
                     "that is; found %s",
                     name, *found ? found : "none of a model's sizes");
}

/* ---- what is asked for ------------------------------------------------------
 */

static enum msim_status not_whole(const struct asking *a, uint32_t c,
                                  struct ratio r)
{
    const struct msim_size_class *k = &a->s->classes[c];

    if (k->role == MSIM_SIZE_HEAD_SIZE) {
        char heads[96], width[96];

        spell_role(a->s, MSIM_SIZE_HEADS, heads, sizeof(heads));
        spell_role(a->s, MSIM_SIZE_HIDDEN, width, sizeof(width));
        return msim_fail(a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "heads do not divide the width: %s heads of %lld in a "
                         "width of %s would be of %lld * %lld / %lld each",
                         heads, (long long)k->size, width, (long long)k->size,
                         (long long)r.num, (long long)r.den);
    }
    return msim_fail(a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                     "%s of %lld would be of %lld * %lld / %lld, which is no "
                     "whole number",
                     msim_size_role_text((enum msim_size_role)k->role),
                     (long long)k->size, (long long)k->size, (long long)r.num,
                     (long long)r.den);
}

static enum msim_status give(struct asking *a, uint32_t c, struct ratio r)
{
    int64_t size = a->s->classes[c].size;

    if (r.num != r.den)
        MSIM_TRY(msim_size_is_one(a->s, c, a->err));
    if (__builtin_mul_overflow(size, r.num, &size) || size % r.den != 0 ||
        size < r.den)
        return not_whole(a, c, r);
    a->to[c] = size / r.den;
    return MSIM_OK;
}

/* The size that is asked for, and how much larger it is to be. */
static enum msim_status open_size(struct asking *a,
                                  const struct msim_model_size *m)
{
    const struct msim_sizes *s = a->s;
    char found[96];
    int64_t from = m->from;

    for (uint32_t c = 0; c < s->n_classes && !m->from; c++) {
        if (s->classes[c].role != m->role)
            continue;
        if (from && from != s->classes[c].size) {
            spell_role(s, m->role, found, sizeof(found));
            return msim_fail(
                a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                "%s: the trace has %s; want {\"from\": ..., \"to\": %lld}",
                msim_size_role_text((enum msim_size_role)m->role), found,
                (long long)m->to);
        }
        from = s->classes[c].size;
    }
    a->ratios[m->role] = (struct ratio){m->to, from};
    a->given[m->role] = true;
    for (uint32_t c = 0; c < s->n_classes; c++)
        if (s->classes[c].role == m->role && s->classes[c].size == from)
            return MSIM_OK;
    return none_there(a, m);
}

static int64_t common(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* a x 1 / b, in lowest terms. */
static struct ratio over(struct ratio a, struct ratio b)
{
    int64_t x = common(a.num, a.den), y = common(b.num, b.den), z;
    struct ratio r;

    a = (struct ratio){a.num / x, a.den / x};
    b = (struct ratio){b.num / y, b.den / y};
    r = (struct ratio){a.num * b.den, a.den * b.num};
    z = common(r.num, r.den);
    return (struct ratio){r.num / z, r.den / z};
}

/* What goes with what is asked for. */
static void set_ratios(struct asking *a)
{
    struct ratio *r = a->ratios;

    r[MSIM_SIZE_KV_HEADS] = r[MSIM_SIZE_HEADS];
    r[MSIM_SIZE_HEAD_SIZE] = over(r[MSIM_SIZE_HIDDEN], r[MSIM_SIZE_HEADS]);
    r[MSIM_SIZE_INNER] = r[MSIM_SIZE_HIDDEN];
    if (!a->given[MSIM_SIZE_FFN])
        r[MSIM_SIZE_FFN] = r[MSIM_SIZE_HIDDEN];
}

static bool is_asked(const struct asking *a, const struct msim_size_class *k)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->sizes[i].role == k->role && a->sizes[i].from &&
            a->sizes[i].from != k->size)
            return false;
    return true;
}

/* Are all terms of a tie but class `c`, which it has once, known by a role? */
static bool is_last_unknown(const struct msim_sizes *s,
                            const struct msim_size_tie *tie, uint32_t c)
{
    const uint32_t *terms = s->terms + tie->first;
    uint32_t own = 0, unknown = 0;

    for (uint32_t k = 0; k < tie->n_left + tie->n_right; k++) {
        own += terms[k] == c;
        unknown += !s->classes[terms[k]].role;
    }
    return own == 1 && unknown == 1 && !tie->share;
}

/* Is it a product or a sum of others, or what is left of one, which say what it
 * is? */
static bool is_made(const struct msim_sizes *s, uint32_t c)
{
    for (uint32_t i = 0; i < s->n_ties; i++) {
        const struct msim_size_tie *tie = &s->ties[i];
        const uint32_t *terms = s->terms + tie->first;

        if ((tie->n_left == 1 && terms[0] == c &&
             (tie->n_right > 1 || tie->sum)) ||
            (tie->n_right == 1 && tie->n_left > 1 && terms[tie->n_left] == c) ||
            is_last_unknown(s, tie, c))
            return true;
    }
    return false;
}

static bool is_changed(const struct asking *a, const struct msim_size_class *k)
{
    return a->given[k->role] && a->to[k - a->s->classes] != k->size;
}

/* A layer has a size of that number, and nothing says whether it is the one
 * that changes: an operator in between recorded no result. */
static enum msim_status check_layers(const struct asking *a)
{
    const struct msim_sizes *s = a->s;

    for (uint32_t c = 0; c < s->n_classes; c++) {
        const struct msim_size_class *k = &s->classes[c];

        if (!k->layer || k->role || a->to[c] != k->size || is_made(s, c))
            continue;
        for (uint32_t d = 0; d < s->n_classes; d++)
            if (s->classes[d].role && s->classes[d].size == k->size &&
                is_changed(a, &s->classes[d]))
                return msim_fail(
                    a->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                    "'%.80s' (operator %u) has a size of %lld that nothing "
                    "tells from %s, or ties to it",
                    msim_trace_text(s->t, s->t->ops[k->op].name), k->op,
                    (long long)k->size,
                    msim_size_role_text(
                        (enum msim_size_role)s->classes[d].role));
    }
    return MSIM_OK;
}

static enum msim_status give_all(struct asking *a)
{
    for (int r = 0; r < MSIM_SIZE_ROLES; r++)
        a->ratios[r] = (struct ratio){1, 1};
    for (uint32_t i = 0; i < a->n; i++)
        MSIM_TRY(open_size(a, &a->sizes[i]));
    set_ratios(a);
    for (uint32_t c = 0; c < a->s->n_classes; c++) {
        const struct msim_size_class *k = &a->s->classes[c];

        if (k->role && is_asked(a, k))
            MSIM_TRY(give(a, c, a->ratios[k->role]));
    }
    MSIM_TRY(msim_sizes_solve(a->s, a->to, a->err));
    return check_layers(a);
}

enum msim_status msim_model_resized_new(struct msim_trace **out,
                                        const struct msim_trace *t,
                                        const struct msim_model_size *sizes,
                                        uint32_t n, struct msim_error *err)
{
    struct msim_sizes s = {0};
    struct asking a = {.s = &s, .sizes = sizes, .n = n, .err = err};
    enum msim_status status = msim_sizes_learn(&s, t, err);

    *out = NULL;
    if (status == MSIM_OK) {
        a.to = calloc((size_t)s.n_classes + 1, sizeof(*a.to));
        status = a.to ? give_all(&a) : MSIM_ENOMEM;
    }
    if (status == MSIM_OK)
        status = msim_resized_new(out, &s, a.to);
    free(a.to);
    msim_sizes_release(&s);
    return status;
}
