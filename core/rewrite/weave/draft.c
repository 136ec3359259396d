/*
 * core/rewrite/weave/draft.c - a trace in the making.
 */
#include "core/rewrite/weave/draft.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

/* X(field): columns that the new trace has from the recorded one. */
#define KEPT_COLUMNS(X)                                                        \
    X(threads) X(groups) X(group_ranks) X(blocks) X(args) X(dims)

static enum msim_status copy_column(void **to, uint32_t *n_to, uint32_t *cap,
                                    const void *from, uint32_t n, size_t size)
{
    *to = malloc(n * size + size);
    if (!*to)
        return MSIM_ENOMEM;
    if (n)
        memcpy(*to, from, n * size);
    *n_to = *cap = n;
    return MSIM_OK;
}

static enum msim_status open_out(struct msim_draft *d)
{
    const struct msim_trace *t = d->t;
    struct msim_trace *o = calloc(1, sizeof(*o));

    d->out = o;
    if (!o)
        return MSIM_ENOMEM;
#define X(field)                                                               \
    MSIM_TRY(copy_column((void **)&o->field, &o->n_##field, &o->cap_##field,   \
                         t->field, t->n_##field, sizeof(*t->field)));
    KEPT_COLUMNS(X)
#undef X
    o->strings = t->strings;
    o->rank = t->rank;
    o->world_size = t->world_size;
    o->host = t->host;
    o->gpu_properties = t->gpu_properties;
    o->has_et = t->has_et;
    o->tf32 = t->tf32;
    o->cpu_only = t->cpu_only;
    return MSIM_OK;
}

enum msim_status msim_draft_begin(struct msim_draft *d,
                                  const struct msim_trace *t,
                                  struct msim_strtab *strings)
{
    *d = (struct msim_draft){.t = t, .strings = strings, .group = MSIM_NONE};
    MSIM_TRY(open_out(d));
    msim_argpool_init(&d->pool, d->out);
    MSIM_TRY(msim_lives_find(&d->lives, t));
    d->storage = malloc(((size_t)d->lives.n + 1) * sizeof(*d->storage));
    d->placed = malloc(((size_t)t->n_ops + 1) * sizeof(*d->placed));
    if (!d->storage || !d->placed)
        return MSIM_ENOMEM;
    memset(d->placed, 0xff, (size_t)t->n_ops * sizeof(*d->placed));
    for (uint32_t i = 0; i < d->lives.n; i++)
        msim_draft_renew(d, i);
    return MSIM_OK;
}

void msim_draft_release(struct msim_draft *d)
{
    msim_argpool_release(&d->pool);
    msim_lives_release(&d->lives);
    msim_trace_free(d->out);
    free(d->storage);
    free(d->placed);
    free(d->args);
    *d = (struct msim_draft){0};
}

enum msim_status msim_draft_add_group(struct msim_draft *d, const char *name,
                                      uint32_t size, int64_t first,
                                      int64_t step, uint32_t *index)
{
    struct msim_trace *o = d->out;
    struct msim_group g = {.size = size, .first = o->n_group_ranks};

    MSIM_TRY(msim_strtab_add(d->strings, name, strlen(name), &g.name));
    for (uint32_t i = 0; i < size && size <= MSIM_DRAFT_LISTED; i++) {
        MSIM_TRY(msim_grow((void **)&o->group_ranks, &o->cap_group_ranks,
                           o->n_group_ranks, sizeof(*o->group_ranks)));
        o->group_ranks[o->n_group_ranks++] = (int32_t)(first + i * step);
        g.count++;
    }
    MSIM_TRY(msim_grow((void **)&o->groups, &o->cap_groups, o->n_groups,
                       sizeof(*o->groups)));
    *index = o->n_groups;
    o->groups[o->n_groups++] = g;
    return MSIM_OK;
}

uint32_t msim_draft_fresh(struct msim_draft *d)
{
    return ++d->last_storage;
}

uint32_t msim_draft_fresh_run(struct msim_draft *d, uint32_t n)
{
    uint32_t first = d->last_storage + 1;

    d->last_storage += n;
    return first;
}

void msim_draft_renew(struct msim_draft *d, uint32_t life)
{
    d->storage[life] = msim_draft_fresh(d);
}

struct msim_draft_place msim_draft_own_place(const struct msim_draft *d,
                                             uint32_t op)
{
    uint32_t parent = d->t->ops[op].parent;

    return (struct msim_draft_place){parent == MSIM_NONE ? MSIM_NONE
                                                         : d->placed[parent],
                                     d->t->ops[op].thread};
}

/* ---- tensors -------------------------------------------------------------
 */

/* Tensors that a change brings have numbers that none of a program's has: one a
 * storage, so that what is written and what is read is one tensor. */
#define OWN_TENSORS 0x80000000u

static enum msim_status add_id(struct msim_draft *d, uint32_t tensor,
                               uint32_t storage, int64_t offset,
                               uint32_t strides)
{
    struct msim_trace *o = d->out;

    MSIM_TRY(msim_grow((void **)&o->tensor_ids, &o->cap_tensor_ids,
                       o->n_tensor_ids, sizeof(*o->tensor_ids)));
    MSIM_TRY(msim_grow((void **)&o->tensor_strides, &o->cap_tensor_strides,
                       o->n_tensor_ids, sizeof(*o->tensor_strides)));
    o->tensor_ids[o->n_tensor_ids] =
        (struct msim_tensor_id){tensor, storage, offset};
    o->tensor_strides[o->n_tensor_ids++] = strides;
    o->n_tensor_strides = o->n_tensor_ids;
    return MSIM_OK;
}

static enum msim_status add_own(struct msim_draft *d, uint32_t storage,
                                int64_t offset, uint32_t strides)
{
    /* What has no storage is not one tensor with all else that has none. */
    uint32_t tensor =
        storage ? OWN_TENSORS + storage : UINT32_MAX - d->out->n_tensor_ids;

    return add_id(d, tensor, storage, offset, strides);
}

static enum msim_status copy_id(struct msim_draft *d, uint32_t id, bool whole)
{
    const struct msim_trace *t = d->t;
    uint32_t life = d->lives.of[id];

    if (!whole)
        return add_own(d, life == MSIM_NONE ? 0 : d->storage[life], 0,
                       MSIM_NONE);
    return add_id(d, t->tensor_ids[id].tensor,
                  life == MSIM_NONE ? 0 : d->storage[life],
                  t->tensor_ids[id].offset,
                  t->n_tensor_strides ? t->tensor_strides[id] : MSIM_NONE);
}

/* The ids of the tensors of a list. */
static enum msim_status copy_ids(struct msim_draft *d, uint32_t block,
                                 uint32_t *ids)
{
    const struct msim_trace *t = d->t;
    uint32_t id = *ids;

    if (block == MSIM_NONE || id == MSIM_NONE)
        return MSIM_OK;
    *ids = d->out->n_tensor_ids;
    for (uint32_t i = 0; i < t->blocks[block].count; i++)
        if (t->args[t->blocks[block].first + i].kind == MSIM_ARG_TENSOR)
            MSIM_TRY(copy_id(d, id++, true));
    return MSIM_OK;
}

/* Room for `n` arguments of a list that is made. */
static enum msim_status make_room(struct msim_draft *d, uint32_t n)
{
    while (d->cap_args < n)
        MSIM_TRY(msim_grow((void **)&d->args, &d->cap_args, d->cap_args,
                           sizeof(*d->args)));
    return MSIM_OK;
}

/* One share of a tensor, flat. One number is whole everywhere. */
static enum msim_status cut(struct msim_draft *d, struct msim_arg *a,
                            uint32_t share)
{
    uint64_t elems = msim_arg_elems(d->t, a);
    int64_t part = (int64_t)(elems / share + (elems % share != 0));
    uint32_t index;

    if (elems <= 1)
        return MSIM_OK;
    MSIM_TRY(msim_argpool_dims(&d->pool, &part, 1, &index));
    a->n = 1;
    a->v.i = index;
    return MSIM_OK;
}

#define RANK_MOST 64

/* `*whole`: it is as recorded. */
static enum msim_status resize(struct msim_draft *d, struct msim_arg *a,
                               uint32_t id, const struct msim_draft_how *how,
                               bool *whole)
{
    int64_t dims[RANK_MOST];
    uint32_t index;

    if (!how->resize || !a->n || a->n > RANK_MOST || id == MSIM_NONE)
        return MSIM_OK;
    memcpy(dims, msim_arg_dims(d->t, a), a->n * sizeof(*dims));
    how->resize(how->ctx, a, id, dims);
    if (!memcmp(dims, msim_arg_dims(d->t, a), a->n * sizeof(*dims)))
        return MSIM_OK;
    *whole = false;
    MSIM_TRY(msim_argpool_dims(&d->pool, dims, a->n, &index));
    a->v.i = index;
    return MSIM_OK;
}

static uint8_t type_of(const struct msim_draft *d, const struct msim_arg *a,
                       uint32_t id, const struct msim_draft_how *how)
{
    uint32_t life = id == MSIM_NONE ? MSIM_NONE : d->lives.of[id];

    if (how->types && life != MSIM_NONE && how->types[life])
        return how->types[life];
    return how->from != how->to && a->dtype == how->from ? how->to : a->dtype;
}

static uint32_t share_of(const struct msim_draft *d, uint32_t id,
                         const struct msim_draft_how *how)
{
    uint32_t life = id == MSIM_NONE ? MSIM_NONE : d->lives.of[id];

    return how->others && life != MSIM_NONE && how->others[life]
               ? how->other_share
               : how->share;
}

/* Tensor `id` of the recorded list, as the copy has it. */
static enum msim_status change_tensor(struct msim_draft *d, struct msim_arg *a,
                                      uint32_t id,
                                      const struct msim_draft_how *how)
{
    uint32_t share = share_of(d, id, how);
    bool whole = share <= 1;

    a->dtype = type_of(d, a, id, how);
    MSIM_TRY(resize(d, a, id, how, &whole));
    if (share > 1)
        MSIM_TRY(cut(d, a, share));
    if (how->device)
        a->device = how->device;
    return id == MSIM_NONE ? MSIM_OK : copy_id(d, id, whole);
}

/* A list of several tensors and nothing else. */
static bool is_tensors(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_LIST && a->n > 1 && a->v.i == (int64_t)a->n &&
           a[1].kind == MSIM_ARG_TENSOR;
}

/* Is what the list at `from` holds cut, and how many tensors are left? */
static bool is_cut(const struct msim_arg *from,
                   const struct msim_draft_how *how, uint32_t *left)
{
    if (!how->kept || from->kind != MSIM_ARG_LIST || from->n != how->n_kept ||
        from->v.i != (int64_t)from->n || !from->n ||
        from[1].kind != MSIM_ARG_TENSOR)
        return false;
    *left = 0;
    for (uint32_t i = 0; i < how->n_kept; i++)
        *left += how->kept[i] != 0;
    return true;
}

/* Lists as the copy has them; a list that is picked from has one tensor. */
static enum msim_status change_list(struct msim_draft *d, uint32_t *block,
                                    uint32_t *ids,
                                    const struct msim_draft_how *how)
{
    const struct msim_trace *t = d->t;
    uint32_t id = *ids, n = 0, skip = 0, left = 0, in = 0, kept;
    struct msim_arg_block b;

    if (*block == MSIM_NONE)
        return MSIM_OK;
    b = t->blocks[*block];
    MSIM_TRY(make_room(d, b.count));
    if (id != MSIM_NONE)
        *ids = d->out->n_tensor_ids;
    for (uint32_t i = 0; i < b.count; i++) {
        const struct msim_arg *from = &t->args[b.first + i];
        bool tensor = from->kind == MSIM_ARG_TENSOR;
        uint32_t at = id;

        id += tensor && id != MSIM_NONE;
        if (left && (left--, skip-- != 0))
            continue; /* another parameter's */
        if (in && !how->kept[how->n_kept - in--])
            continue; /* cut off */
        d->args[n] = *from;
        if (is_cut(from, how, &kept)) {
            in = how->n_kept;
            d->args[n].n = kept;
            d->args[n].v.i = kept;
        }
        if (how->pick && is_tensors(from)) {
            skip = how->pick <= from->n ? how->pick - 1 : 0;
            left = from->n;
            d->args[n].n = 1;
            d->args[n].v.i = 1;
        }
        if (tensor)
            MSIM_TRY(change_tensor(d, &d->args[n], at, how));
        n++;
    }
    return msim_argpool_block(&d->pool, d->args, n, block);
}

/* ---- operators -----------------------------------------------------------
 */

static enum msim_status add_op(struct msim_draft *d, struct msim_op op,
                               uint32_t *index)
{
    struct msim_trace *o = d->out;

    MSIM_TRY(
        msim_grow((void **)&o->ops, &o->cap_ops, o->n_ops, sizeof(*o->ops)));
    op.et_id = o->n_ops + 1;
    op.start = op.dur = MSIM_TIME_NONE;
    if (index)
        *index = o->n_ops;
    o->ops[o->n_ops++] = op;
    return MSIM_OK;
}

/* The operator that is added next has a message like `comm`. */
static enum msim_status add_comm(struct msim_draft *d,
                                 const struct msim_comm *comm, uint32_t *index)
{
    struct msim_trace *o = d->out;

    MSIM_TRY(msim_grow((void **)&o->comms, &o->cap_comms, o->n_comms,
                       sizeof(*o->comms)));
    o->comms[o->n_comms] = *comm;
    o->comms[o->n_comms].op = o->n_ops;
    *index = o->n_comms++;
    return MSIM_OK;
}

static bool is_plain(const struct msim_draft_how *how)
{
    return how->share <= 1 && !how->others && how->from == how->to &&
           !how->device && !how->types && !how->pick && !how->kept &&
           !how->resize;
}

static enum msim_status copy_side(struct msim_draft *d, uint32_t *block,
                                  uint32_t *ids,
                                  const struct msim_draft_how *how)
{
    return is_plain(how) ? copy_ids(d, *block, ids)
                         : change_list(d, block, ids, how);
}

/* `copy` of operator `op`, whose lists are done, where it goes. */
static enum msim_status place_copy(struct msim_draft *d, uint32_t op,
                                   struct msim_op *copy,
                                   const struct msim_draft_how *how)
{
    if (copy->comm != MSIM_NONE)
        MSIM_TRY(add_comm(d, &d->t->comms[copy->comm], &copy->comm));
    if (copy->seq >= 0)
        copy->seq += how->later;
    copy->parent = how->at.parent;
    copy->thread = how->at.thread;
    return add_op(d, *copy, &d->placed[op]);
}

enum msim_status msim_draft_copy(struct msim_draft *d, uint32_t op,
                                 const struct msim_draft_how *how)
{
    struct msim_op copy = d->t->ops[op];

    MSIM_TRY(copy_side(d, &copy.args, &copy.ids, how));
    MSIM_TRY(copy_side(d, &copy.outs, &copy.out_ids, how));
    return place_copy(d, op, &copy, how);
}

/* ---- copies part by part -------------------------------------------------
 */

static enum msim_status put_part(struct msim_draft *d, struct msim_arg *a,
                                 const struct msim_draft_part *x)
{
    const struct msim_trace *t = d->t;
    uint32_t index, life;

    *a = t->args[x->arg];
    if (a->kind == MSIM_ARG_LIST && x->count) {
        a->n = (uint32_t)x->count;
        a->v.i = x->count;
    }
    if (a->kind == MSIM_ARG_INT && x->moved)
        a->v.i = x->at;
    if (a->kind != MSIM_ARG_TENSOR)
        return MSIM_OK;
    if (x->count) {
        MSIM_TRY(msim_argpool_dims(&d->pool, &x->count, 1, &index));
        a->v.i = index;
    }
    if (x->id == MSIM_NONE)
        return MSIM_OK;
    life = d->lives.of[x->id];
    return add_own(d,
                   x->storage          ? x->storage
                   : life == MSIM_NONE ? 0
                                       : d->storage[life],
                   x->moved ? x->at : t->tensor_ids[x->id].offset,
                   t->n_tensor_strides && !x->count ? t->tensor_strides[x->id]
                                                    : MSIM_NONE);
}

static enum msim_status put_parts(struct msim_draft *d, uint32_t *block,
                                  uint32_t *ids,
                                  const struct msim_draft_part *parts,
                                  uint32_t n)
{
    if (*block == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(make_room(d, n));
    if (*ids != MSIM_NONE)
        *ids = d->out->n_tensor_ids;
    for (uint32_t i = 0; i < n; i++)
        MSIM_TRY(put_part(d, &d->args[i], &parts[i]));
    return msim_argpool_block(&d->pool, d->args, n, block);
}

enum msim_status msim_draft_copy_parts(struct msim_draft *d, uint32_t op,
                                       const struct msim_draft_how *how,
                                       const struct msim_draft_parts *parts)
{
    struct msim_op copy = d->t->ops[op];

    MSIM_TRY(put_parts(d, &copy.args, &copy.ids, parts->in, parts->n_in));
    MSIM_TRY(put_parts(d, &copy.outs, &copy.out_ids, parts->out, parts->n_out));
    return place_copy(d, op, &copy, how);
}

static enum msim_status put_tensor(struct msim_draft *d, struct msim_arg *to,
                                   const struct msim_draft_tensor *x)
{
    uint32_t index;

    if (x->none) {
        to->kind = MSIM_ARG_NONE;
        return MSIM_OK;
    }
    MSIM_TRY(msim_argpool_dims(&d->pool, x->dims, x->n, &index));
    to->kind = MSIM_ARG_TENSOR;
    to->dtype = x->dtype;
    to->device = x->device;
    to->n = x->n;
    to->v.i = index;
    return add_own(d, x->storage, 0, MSIM_NONE);
}

/* Tensors, in lists where they stand in such, then the numbers behind them. */
static enum msim_status put_args(struct msim_draft *d,
                                 const struct msim_draft_tensor *x, uint32_t n,
                                 uint32_t list, const struct msim_arg *plain,
                                 uint32_t n_plain, uint32_t *block,
                                 uint32_t *ids)
{
    uint32_t all = n + (list ? n / list : 0) + n_plain, at = 0;

    MSIM_TRY(make_room(d, all));
    memset(d->args, 0, all * sizeof(*d->args)); /* compared as bytes */
    *ids = d->out->n_tensor_ids;
    for (uint32_t i = 0; i < n; i++) {
        if (list && i % list == 0) {
            d->args[at].kind = MSIM_ARG_LIST;
            d->args[at].n = list;
            d->args[at++].v.i = list;
        }
        MSIM_TRY(put_tensor(d, &d->args[at++], &x[i]));
    }
    if (n_plain)
        memcpy(&d->args[at], plain, n_plain * sizeof(*plain));
    return msim_argpool_block(&d->pool, d->args, all, block);
}

enum msim_status msim_draft_add(struct msim_draft *d,
                                const struct msim_draft_op *op, uint32_t *index)
{
    struct msim_op made = msim_op_empty();

    MSIM_TRY(
        msim_strtab_add(d->strings, op->name, strlen(op->name), &made.name));
    made.et_id = op->et_id;
    made.kind = op->label ? MSIM_OP_ANNOTATION : MSIM_OP_OPERATOR;
    made.scope = op->label ? 7 : 0;
    made.parent = op->at.parent;
    made.thread = op->at.thread;
    if (op->n_in)
        MSIM_TRY(put_args(d, op->in, op->n_in, op->list, op->plain, op->n_plain,
                          &made.args, &made.ids));
    if (op->n_out)
        MSIM_TRY(put_args(d, op->out, op->n_out, op->list, NULL, 0, &made.outs,
                          &made.out_ids));
    if (op->comm)
        MSIM_TRY(add_comm(d, op->comm, &made.comm));
    return add_op(d, made, index);
}

/* ---- tensors that are given ----------------------------------------------
 */

bool msim_draft_given(const struct msim_draft *d, uint32_t op, uint32_t life,
                      struct msim_draft_tensor *out)
{
    const struct msim_trace *t = d->t;
    const struct msim_op *o = &t->ops[op];
    uint32_t id = o->ids;

    if (o->args == MSIM_NONE || id == MSIM_NONE)
        return false;
    for (uint32_t i = 0; i < t->blocks[o->args].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[o->args].first + i];

        if (a->kind != MSIM_ARG_TENSOR || d->lives.of[id++] != life)
            continue;
        *out = (struct msim_draft_tensor){.dtype = a->dtype,
                                          .device = a->device,
                                          .n = a->n,
                                          .storage = d->storage[life],
                                          .dims = msim_arg_dims(t, a)};
        return true;
    }
    return false;
}
