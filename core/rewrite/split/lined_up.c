/*
 * core/rewrite/split/lined_up.c - traces one behind the other.
 */
#include "core/rewrite/split/split_internal.h"

#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* What the traces before have, which the next begins with. */
struct begin {
    uint32_t tensor, storage, et_id;
    int32_t seq;
};

static enum msim_status put(void **to, uint32_t *n, uint32_t *cap,
                            const void *from, uint32_t more, size_t size)
{
    void *bigger;

    if (*n > MSIM_NONE - 1 - more)
        return MSIM_ELIMIT;
    bigger = realloc(*to, ((size_t)*n + more + 1) * size);
    if (!bigger)
        return MSIM_ENOMEM;
    *to = bigger;
    if (more)
        memcpy((char *)bigger + *n * size, from, more * size);
    *n += more;
    *cap = *n;
    return MSIM_OK;
}

#define PUT(field)                                                             \
    MSIM_TRY(put((void **)&o->field, &o->n_##field, &o->cap_##field, t->field, \
                 t->n_##field, sizeof(*t->field)))

static enum msim_status put_columns(struct msim_trace *o,
                                    const struct msim_trace *t)
{
    PUT(ops);
    PUT(tensor_ids);
    PUT(comms);
    return MSIM_OK;
}

static void move(uint32_t *index, uint32_t by)
{
    if (*index != MSIM_NONE)
        *index += by;
}

/* Lists are those of the traces before, where they are equal. */
static enum msim_status put_block(struct msim_argpool *pool,
                                  const struct msim_trace *t, uint32_t block,
                                  struct msim_arg *args, uint32_t *index)
{
    uint32_t n = t->blocks[block].count;

    memcpy(args, t->args + t->blocks[block].first, n * sizeof(*args));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t dims;

        if (args[i].kind != MSIM_ARG_TENSOR)
            continue;
        MSIM_TRY(msim_argpool_dims(pool, msim_arg_dims(t, &args[i]), args[i].n,
                                   &dims));
        args[i].v.i = dims;
    }
    return msim_argpool_block(pool, args, n, index);
}

/* By block of `t`, which one it is. */
static enum msim_status put_blocks(struct msim_argpool *pool,
                                   const struct msim_trace *t, uint32_t *of)
{
    struct msim_arg *args = malloc(((size_t)t->n_args + 1) * sizeof(*args));
    enum msim_status status = args ? MSIM_OK : MSIM_ENOMEM;

    for (uint32_t i = 0; i < t->n_blocks && status == MSIM_OK; i++)
        status = put_block(pool, t, i, args, &of[i]);
    free(args);
    return status;
}

static void move_op(struct msim_op *op, const struct msim_trace *o,
                    const uint32_t *block, const struct begin *by)
{
    move(&op->parent, o->n_ops);
    move(&op->end, o->n_ops);
    if (op->args != MSIM_NONE)
        op->args = block[op->args];
    if (op->outs != MSIM_NONE)
        op->outs = block[op->outs];
    move(&op->ids, o->n_tensor_ids);
    move(&op->out_ids, o->n_tensor_ids);
    move(&op->comm, o->n_comms);
    op->et_id += by->et_id;
    if (op->seq >= 0)
        op->seq += by->seq;
}

/* The columns of `t`, which stand behind those that `o` had, by its numbers. */
static void move_all(struct msim_trace *all, const struct msim_trace *o,
                     const uint32_t *block, struct begin *by)
{
    struct begin next = *by;

    for (uint32_t i = o->n_ops; i < all->n_ops; i++) {
        struct msim_op *op = &all->ops[i];

        move_op(op, o, block, by);
        next.et_id = op->et_id > next.et_id ? op->et_id : next.et_id;
        next.seq = op->seq >= next.seq ? op->seq + 1 : next.seq;
    }
    for (uint32_t i = o->n_tensor_ids; i < all->n_tensor_ids; i++) {
        struct msim_tensor_id *x = &all->tensor_ids[i];

        x->tensor += x->tensor ? by->tensor : 0;
        x->storage += x->storage ? by->storage : 0;
        next.tensor = x->tensor > next.tensor ? x->tensor : next.tensor;
        next.storage = x->storage > next.storage ? x->storage : next.storage;
    }
    for (uint32_t i = o->n_comms; i < all->n_comms; i++) {
        all->comms[i].group = MSIM_NONE;
        move(&all->comms[i].op, o->n_ops);
    }
    *by = next;
}

/* The columns of `t` behind those of `o`. How far apart elements lie is left
 * out. */
static enum msim_status append(struct msim_trace *o, struct msim_argpool *pool,
                               const struct msim_trace *t, struct begin *by)
{
    uint32_t *block = malloc(((size_t)t->n_blocks + 1) * sizeof(*block));
    const struct msim_trace before = *o;
    enum msim_status status = block ? put_blocks(pool, t, block) : MSIM_ENOMEM;

    if (status == MSIM_OK)
        status = put_columns(o, t);
    if (status == MSIM_OK)
        move_all(o, &before, block, by);
    free(block);
    return status;
}

static enum msim_status fill_all(struct msim_trace *o, uint32_t *first,
                                 const struct msim_trace *const *ts, uint32_t n)
{
    struct msim_argpool pool;
    struct begin by = {0};
    enum msim_status status = MSIM_OK;

    msim_argpool_init(&pool, o);
    for (uint32_t k = 0; k < n && status == MSIM_OK; k++) {
        first[k] = o->n_ops;
        status = append(o, &pool, ts[k], &by);
    }
    first[n] = o->n_ops;
    msim_argpool_release(&pool);
    return status;
}

static enum msim_status fill(struct msim_trace *o, uint32_t *first,
                             const struct msim_trace *const *ts, uint32_t n)
{
    const struct msim_trace *t = ts[0];

    PUT(threads);
    PUT(left_steps);
    o->strings = t->strings;
    o->rank = 0;
    o->world_size = 1;
    o->host = t->host;
    o->gpu_properties = t->gpu_properties;
    o->has_et = true;
    o->cpu_only = t->cpu_only;
    o->tf32 = t->tf32;
    MSIM_TRY(fill_all(o, first, ts, n));
    return msim_order_topmost(o);
}

enum msim_status msim_lined_up_new(struct msim_trace **out, uint32_t *first,
                                   const struct msim_trace *const *ts,
                                   uint32_t n)
{
    enum msim_status status;

    *out = calloc(1, sizeof(**out));
    if (!*out)
        return MSIM_ENOMEM;
    status = fill(*out, first, ts, n);
    if (status != MSIM_OK) {
        msim_trace_free(*out);
        *out = NULL;
    }
    return status;
}
