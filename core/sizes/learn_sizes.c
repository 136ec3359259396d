/*
 * core/sizes/learn_sizes.c - all operators of a trace, one call after the
 * other.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/sizes/sizes_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- tensors of a call ----------------------------------------------------
 */

/* Where in the results of operator `op` a tensor is. */
static uint32_t place_among(const struct msim_size_learning *l, uint32_t op,
                            const struct msim_tensor_id *who,
                            const struct msim_arg *what)
{
    const struct msim_trace *t = l->s->t;
    const struct msim_op *o = &t->ops[op];
    uint32_t id = o->out_ids;

    if (o->outs == MSIM_NONE || id == MSIM_NONE)
        return MSIM_NONE;
    for (uint32_t i = 0; i < t->blocks[o->outs].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[o->outs].first + i];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        if (t->tensor_ids[id].tensor == who->tensor && a->n == what->n &&
            a->v.i == what->v.i)
            return l->s->of_id[id];
        id++;
    }
    return MSIM_NONE;
}

/* An operator inside another one may be given what that one makes, before it
 * has come out: the value at `at` is that. */
static void unite_enclosing(struct msim_size_learning *l, uint32_t id,
                            const struct msim_arg *a, uint32_t at)
{
    const struct msim_trace *t = l->s->t;

    for (uint32_t op = t->ops[l->op].parent; op != MSIM_NONE;
         op = t->ops[op].parent) {
        uint32_t from = place_among(l, op, &t->tensor_ids[id], a);

        if (from == MSIM_NONE)
            continue;
        for (uint32_t i = 0; i < a->n; i++)
            msim_size_unite(l, from + i, at + i);
        return;
    }
}

/* Ids are used again: is what comes out now another tensor than `v`, which came
 * out of an operator that has returned and did not go into this one? */
static bool is_another(const struct msim_size_learning *l,
                       const struct msim_size_value *v)
{
    bool inside = v->op <= l->op && l->s->t->ops[v->op].end > l->op;

    return v->made && !inside && v->given_to != l->op;
}

/* The value of a tensor with row `id`: one more, or the one that it was. One
 * piece of memory, read in one way, is one tensor, whatever numbers it goes by:
 * a change has those that were recorded, or its own. Of a square the one that
 * is turned is another one; where the trace does not say which are, numbers do.
 */
static enum msim_status value_of(struct msim_size_learning *l, uint32_t id,
                                 const struct msim_arg *a, bool made,
                                 uint32_t *value)
{
    const struct msim_trace *t = l->s->t;
    uint32_t life = l->s->lives.of[id];
    const int64_t *dims = msim_arg_dims(t, a);
    uint64_t shape = msim_hash_bytes(msim_hash_mix(MSIM_HASH_START, a->layout),
                                     dims, a->n * sizeof(*dims));
    int64_t offset = t->tensor_ids[id].offset;
    const int64_t who[] = {
        life, offset, a->n,
        l->laid_out && life != MSIM_NONE ? 0 : t->tensor_ids[id].tensor};
    uint64_t key = msim_hash_bytes(shape, who, sizeof(who));
    uint32_t *row, place;

    MSIM_TRY(msim_idmap_put(&l->known, key, l->n_values, &row));
    if (made && *row < l->n_values && is_another(l, &l->values[*row]))
        *row = l->n_values;
    if (*row == l->n_values) {
        MSIM_TRY(msim_grow((void **)&l->values, &l->cap_values, l->n_values,
                           sizeof(*l->values)));
        l->values[l->n_values++] =
            (struct msim_size_value){.at = l->s->n_places,
                                     .life = life,
                                     .n = a->n,
                                     .op = l->op,
                                     .given_to = MSIM_NONE,
                                     .offset = offset,
                                     .elems = msim_arg_elems(t, a),
                                     .shape = shape,
                                     .made = made};
        for (uint32_t i = 0; i < a->n; i++)
            MSIM_TRY(msim_size_add_place(l, dims[i], &place));
        if (!made)
            unite_enclosing(l, id, a, l->values[*row].at);
    }
    if (!made)
        l->values[*row].given_to = l->op;
    *value = *row;
    return MSIM_OK;
}

static enum msim_status add_tensor(struct msim_size_learning *l, uint32_t *n,
                                   const struct msim_arg *a, uint32_t id,
                                   bool made)
{
    struct msim_size_tensor x = {
        .n = a->n, .at = MSIM_NONE, .value = MSIM_NONE};

    MSIM_TRY(msim_grow((void **)&l->tensors, &l->cap_tensors, *n,
                       sizeof(*l->tensors)));
    x.dims = msim_arg_dims(l->s->t, a);
    if (id != MSIM_NONE) {
        MSIM_TRY(value_of(l, id, a, made, &x.value));
        x.at = l->values[x.value].at;
        l->s->of_id[id] = x.at;
    }
    l->tensors[(*n)++] = x;
    return MSIM_OK;
}

/* The tensors of a list of arguments behind those that are there. */
static enum msim_status add_tensors(struct msim_size_learning *l, uint32_t *n,
                                    uint32_t block, uint32_t id, bool made)
{
    const struct msim_trace *t = l->s->t;
    uint32_t tops = msim_args_count(t, block);

    for (uint32_t top = 0; top < tops; top++) {
        const struct msim_arg *a = msim_args_get(t, block, top);
        const struct msim_arg *end = msim_arg_next(a);
        bool list = a->kind == MSIM_ARG_LIST;
        uint32_t item = 0;

        for (a += list; a < end; a++) {
            if (a->kind != MSIM_ARG_TENSOR)
                continue;
            MSIM_TRY(add_tensor(l, n, a, id, made));
            l->tensors[*n - 1].top = top;
            l->tensors[*n - 1].item = list ? item : MSIM_NONE;
            item++;
            id += id != MSIM_NONE;
        }
    }
    return MSIM_OK;
}

static bool is_leaf(const struct msim_trace *t, uint32_t i)
{
    return t->ops[i].end == i + 1;
}

static enum msim_status learn_call(struct msim_size_learning *l, uint32_t i)
{
    const struct msim_trace *t = l->s->t;
    struct msim_size_call c = {.t = t, .op = &t->ops[i]};
    uint32_t n = 0;
    bool is;

    l->op = i;
    c.name = msim_trace_text(t, c.op->name);
    MSIM_TRY(add_tensors(l, &n, c.op->args, c.op->ids, false));
    c.n_in = n;
    MSIM_TRY(add_tensors(l, &n, c.op->outs, c.op->out_ids, true));
    c.n_out = n - c.n_in;
    if (!n)
        return MSIM_OK;
    c.in = l->tensors;
    c.out = l->tensors + c.n_in;
    MSIM_TRY(msim_size_note_heads(l, &c));
    MSIM_TRY(msim_size_note_bucket(l, &c));
    MSIM_TRY(msim_size_shape(l, &c, &is));
    if (!is && !msim_size_signature(l, &c) &&
        (is_leaf(t, i) || strncmp(c.name, "aten::", 6) == 0))
        msim_size_spread(l, &c);
    return MSIM_OK;
}

/* ---- all of it ------------------------------------------------------------
 */

/* Classes that were united get one number, and ties those numbers. */
static enum msim_status number_classes(struct msim_size_learning *l)
{
    struct msim_sizes *s = l->s;
    uint32_t *to = malloc(((size_t)s->n_classes + 1) * sizeof(*to)), n = 0;

    if (!to)
        return MSIM_ENOMEM;
    for (uint32_t c = 0; c < s->n_classes; c++) {
        uint32_t root = msim_size_united(l, c); /* the least of its class */

        if (root == c) {
            s->classes[n] = s->classes[c];
            to[c] = n++;
        } else {
            to[c] = to[root];
        }
    }
    s->n_classes = n;
    for (uint32_t i = 0; i < s->n_places; i++)
        if (s->places[i] != MSIM_NONE)
            s->places[i] = to[s->places[i]];
    for (uint32_t i = 0; i < s->n_terms; i++)
        s->terms[i] = to[s->terms[i]];
    free(to);
    return MSIM_OK;
}

/* Blocks of a model say the same over and over. */
static enum msim_status drop_repeated(struct msim_sizes *s)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;
    uint32_t n = 0, *at;

    for (uint32_t i = 0; i < s->n_ties && status == MSIM_OK; i++) {
        const struct msim_size_tie tie = s->ties[i];
        const int64_t head[] = {tie.n_left, tie.n_right, tie.sum, tie.share,
                                tie.rest};
        uint64_t key = msim_hash_bytes(MSIM_HASH_START, head, sizeof(head));

        key = msim_hash_bytes(key, s->terms + tie.first,
                              ((size_t)tie.n_left + tie.n_right) *
                                  sizeof(*s->terms));
        status = msim_idmap_put(&seen, key, i, &at);
        if (status == MSIM_OK && *at == i)
            s->ties[n++] = tie;
    }
    s->n_ties = n;
    msim_idmap_release(&seen);
    return status;
}

static void mark_weights(struct msim_size_learning *l)
{
    for (uint32_t i = 0; i < l->n_gradients; i++) {
        const struct msim_size_value *v = &l->values[l->gradients[i].value];

        for (uint32_t k = 0; k < v->n; k++)
            if (l->s->places[v->at + k] != MSIM_NONE)
                l->s->classes[l->s->places[v->at + k]].weight = 1;
    }
}

/* In the order in which they began, since tensors have their ids by turns. */
static enum msim_status learn_calls(struct msim_size_learning *l)
{
    const struct msim_sizes *s = l->s;
    uint32_t n = s->t->n_ops;
    uint32_t *order = malloc(((size_t)n + 1) * sizeof(*order));
    enum msim_status status = order ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; order && i < n; i++)
        order[s->lives.place[i]] = i;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++)
        status = learn_call(l, order[i]);
    free(order);
    return status;
}

/* Does the trace say in which order tensors lie? Where none is turned it may
 * not. */
static bool is_laid_out(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR &&
            t->args[i].layout == MSIM_LAYOUT_TURNED)
            return true;
    return false;
}

static enum msim_status learn_all(struct msim_size_learning *l)
{
    struct msim_sizes *s = l->s;

    l->laid_out = is_laid_out(s->t);
    MSIM_TRY(learn_calls(l));
    MSIM_TRY(msim_size_tie_heads(l));
    MSIM_TRY(msim_size_flat(l));
    MSIM_TRY(msim_size_tie_buckets(l));
    MSIM_TRY(msim_size_unite_alike(l));
    MSIM_TRY(number_classes(l));
    mark_weights(l);
    MSIM_TRY(drop_repeated(s));
    return msim_size_roles(s);
}

enum msim_status msim_sizes_learn(struct msim_sizes *out,
                                  const struct msim_trace *t,
                                  struct msim_error *err)
{
    struct msim_size_learning l = {.s = out};
    size_t n = (size_t)t->n_tensor_ids + 1;
    enum msim_status status;

    *out = (struct msim_sizes){.t = t};
    if (!t->has_et || !t->n_tensor_ids)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "the trace has no ids of tensors, by which sizes are "
                         "followed; want an execution trace, or one beside "
                         "the Kineto trace");
    out->of_id = malloc(n * sizeof(*out->of_id));
    if (!out->of_id)
        return MSIM_ENOMEM;
    memset(out->of_id, 0xff, n * sizeof(*out->of_id));
    status = msim_lives_find(&out->lives, t);
    if (status == MSIM_OK)
        status = learn_all(&l);
    free(l.parent);
    free(l.values);
    free(l.tensors);
    free(l.heads);
    free(l.gradients);
    free(l.buckets);
    msim_idmap_release(&l.known);
    return status;
}
