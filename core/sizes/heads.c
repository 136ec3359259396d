/*
 * core/sizes/heads.c - what attention reads through views that no operator
 * made.
 *
 * A linear layer writes queries, keys and values of all heads one beside the
 * other, and attention names views of that storage. How wide the layer is
 * follows from its storage then, not from an operator in between:
 *
 *     [tokens, (heads + 2 kv_heads) x size]   or those of queries alone, of
 * keys and values alone
 */
#include "core/base/containers.h"
#include "core/sizes/sizes_internal.h"

#include <string.h>

enum msim_status msim_size_note_heads(struct msim_size_learning *l,
                                      const struct msim_size_call *c)
{
    const struct msim_size_tensor *q = c->in, *k = q + 1;
    const struct msim_size_value *v;

    if (!strstr(c->name, "scaled_dot_product") || strstr(c->name, "backward") ||
        c->n_in < 3 || q->n != 4 || k->n != 4)
        return MSIM_OK;
    for (uint32_t i = 0; i < 2; i++) {
        v = q[i].value == MSIM_NONE ? NULL : &l->values[q[i].value];
        if (!v || v->made || v->life == MSIM_NONE)
            continue;
        MSIM_TRY(msim_grow((void **)&l->heads, &l->cap_heads, l->n_heads,
                           sizeof(*l->heads)));
        l->heads[l->n_heads++] = (struct msim_size_heads){
            v->life, l->op, q->at, q->at + 2, q->at + 1, k->at + 1, q->at + 3};
    }
    return MSIM_OK;
}

/* A place for heads of queries and `kv` times those of keys. */
static enum msim_status all_heads(struct msim_size_learning *l,
                                  const struct msim_size_heads *x, bool q,
                                  uint32_t kv, uint32_t *place)
{
    uint32_t parts[3], n = 0;
    int64_t sum = 0;

    for (uint32_t i = 0; i < kv; i++)
        parts[n++] = x->g;
    if (q)
        parts[n++] = x->h;
    *place = parts[0];
    if (n == 1)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++)
        sum += msim_size_at(l, parts[i]);
    MSIM_TRY(msim_size_add_place(l, sum, place));
    return msim_size_tie_sum(l, *place, parts, n);
}

/* Does value `v` have heads of that many, and is it tied to them? */
static enum msim_status tie_value(struct msim_size_learning *l,
                                  const struct msim_size_heads *x,
                                  const struct msim_size_value *v, bool q,
                                  uint32_t kv, bool *tied)
{
    int64_t heads =
        (q ? msim_size_at(l, x->h) : 0) + kv * msim_size_at(l, x->g);
    int64_t wide = heads * msim_size_at(l, x->d);
    int64_t tokens = msim_size_at(l, x->b) * msim_size_at(l, x->t);
    uint32_t all, parts[4], last = v->at + v->n - 1;
    bool flat = v->n == 2 && msim_size_at(l, last) == 1 &&
                msim_size_at(l, v->at) == tokens * wide;

    *tied = flat || (v->n > 1 && msim_size_at(l, last) == wide);
    if (!*tied)
        return MSIM_OK;
    MSIM_TRY(all_heads(l, x, q, kv, &all));
    parts[0] = all;
    parts[1] = x->d;
    parts[2] = x->b;
    parts[3] = x->t;
    return msim_size_tie_product(l, flat ? &v->at : &last, 1, parts,
                                 flat ? 4 : 2);
}

/* Which of them are in what a layer writes. */
static enum msim_status tie_layer(struct msim_size_learning *l,
                                  const struct msim_size_heads *x,
                                  const struct msim_size_value *v)
{
    static const struct {
        bool q;
        uint32_t kv;
    } WAYS[] = {{true, 2}, {true, 0}, {false, 2}, {true, 1}, {false, 1}};
    bool tied = false;

    for (size_t i = 0; i < sizeof(WAYS) / sizeof(*WAYS) && !tied; i++)
        MSIM_TRY(tie_value(l, x, v, WAYS[i].q, WAYS[i].kv, &tied));
    return MSIM_OK;
}

/* Queries and keys in a row, of whatever storage: where rotations of them are
 * undone. */
static bool is_row(struct msim_size_learning *l,
                   const struct msim_size_value *v,
                   const struct msim_size_heads *x)
{
    int64_t heads = msim_size_at(l, x->h) + msim_size_at(l, x->g);

    return !v->made && v->n == 2 && msim_size_at(l, v->at + 1) == 1 &&
           msim_size_at(l, v->at) == msim_size_at(l, x->b) *
                                         msim_size_at(l, x->t) * heads *
                                         msim_size_at(l, x->d);
}

enum msim_status msim_size_tie_heads(struct msim_size_learning *l)
{
    struct msim_idmap by_life = {0};
    enum msim_status status = MSIM_OK;
    uint32_t *at, n = l->n_values;

    for (uint32_t i = 0; i < l->n_heads && status == MSIM_OK; i++)
        status = msim_idmap_put(&by_life, l->heads[i].life, i, &at);
    for (uint32_t i = 0; i < n && status == MSIM_OK && l->n_heads; i++) {
        const struct msim_size_value v = l->values[i];
        uint32_t of =
            v.life == MSIM_NONE ? MSIM_NONE : msim_idmap_get(&by_life, v.life);

        if (of == MSIM_NONE && is_row(l, &v, &l->heads[0]))
            of = 0;
        if (of == MSIM_NONE || (v.n == 4 && !v.made))
            continue;
        l->op = l->heads[of].op;
        status = tie_layer(l, &l->heads[of], &v);
    }
    msim_idmap_release(&by_life);
    return status;
}
