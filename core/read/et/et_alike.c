/*
 * core/read/et/et_alike.c - nodes that are one that was read, but for numbers:
 * which node, in which one, which tensors.
 */
#include "core/base/hash.h"
#include "core/read/et/read_et.h"

#include <stdlib.h>
#include <string.h>

#define LOOKED_AT 1024u /* bytes of a node's beginning */

/* What a node that is kept has made. */
struct made {
    uint32_t op;          /* its row */
    uint32_t first;       /* of its tensors, in tensor_ids */
    uint32_t n_in, n_out; /* of them */
    uint32_t comm;        /* in alike.comms, or NONE */
};

/* What makes the row of a collective, besides its arguments. */
struct made_comm {
    struct msim_et_comm attrs;
    struct msim_et_size in, out;
};

/* A node that is like one that was kept. */
struct like {
    const struct made *made;
    const struct msim_spot *spots;
    const struct msim_spot_value *values;
    uint32_t n; /* of spots */
};

/* Its name and the sizes of its inputs, as far as they are near: of few nodes
 * that differ they are the same. */
static uint64_t kind_of(const char *p, size_t len)
{
    const char *end = p + (len < LOOKED_AT ? len : LOOKED_AT);
    uint64_t hash = MSIM_HASH_START;

    hash = msim_alike_hash(hash, "name\":", &p, end);
    return msim_alike_hash(hash, "shapes\":", &p, end);
}

void msim_et_alike_init(struct msim_et_alike *a)
{
    a->texts.kind = kind_of;
    a->texts.last = MSIM_NONE;
}

void msim_et_alike_release(struct msim_et_alike *a)
{
    msim_alike_release(&a->texts);
    free(a->made.data);
    free(a->comms.data);
}

void msim_et_alike_forget(struct msim_et_alike *a)
{
    a->node = NULL;
    a->texts.last = MSIM_NONE;
}

int msim_et_alike_note(struct msim_et_alike *a, enum msim_et_spot_kind kind,
                       uint32_t which, uint32_t from, size_t len)
{
    struct msim_spot *s;

    if (!a->node)
        return MSIM_OK;
    s = msim_vec_add(&a->texts.spots, sizeof(*s));
    if (!s)
        return MSIM_ENOMEM;
    *s = (struct msim_spot){.at = from,
                            .len = (uint32_t)len,
                            .kind = (uint16_t)kind,
                            .which = which};
    return MSIM_OK;
}

/* ---- rows --------------------------------------------------------------- */

enum msim_status msim_et_add_node(struct msim_reader *r,
                                  const struct msim_op *op,
                                  const struct msim_et_link *link)
{
    struct msim_trace *t = r->trace;
    struct msim_et_link *row;

    MSIM_TRY(
        msim_grow((void **)&t->ops, &t->cap_ops, t->n_ops, sizeof(*t->ops)));
    row = msim_vec_add(&msim_et_of(r)->links, sizeof(*row));
    if (!row)
        return MSIM_ENOMEM;
    *row = *link;
    t->ops[t->n_ops++] = *op;
    t->import.read++;
    t->import.records++;
    r->complete++;
    return MSIM_OK;
}

/* ---- a node like one that was read -------------------------------------- */

/* The row of `ops` that a node has by what it is like, and its numbers. */
struct copy {
    struct msim_op op;
    struct msim_et_link link;
    int64_t id;
};

static void set(struct copy *c, const struct msim_spot *s, int64_t value)
{
    switch (s->kind) {
    case MSIM_ET_SPOT_ID:
        c->id = value;
        break;
    case MSIM_ET_SPOT_PARENT:
        c->link.parent = (uint64_t)value;
        break;
    case MSIM_ET_SPOT_RF_ID:
        c->op.rf_id = (uint64_t)value;
        break;
    case MSIM_ET_SPOT_SEQ:
        c->op.seq = msim_et_seq(value);
        break;
    default:
        break;
    }
}

static struct copy copy_of(const struct msim_reader *r, const struct like *l)
{
    const struct msim_et_link *links = msim_et_of(r)->links.data;
    struct copy c = {r->trace->ops[l->made->op], links[l->made->op], -1};

    for (uint32_t i = 0; i < l->n; i++)
        set(&c, &l->spots[i], l->values[i].whole);
    c.op.et_id = (uint32_t)c.id;
    c.link.id = (uint64_t)c.id;
    return c;
}

static enum msim_status add_ids(struct msim_trace *t, const struct made *m,
                                bool details)
{
    for (uint32_t i = 0; i < m->n_in + m->n_out; i++) {
        MSIM_TRY(msim_grow((void **)&t->tensor_ids, &t->cap_tensor_ids,
                           t->n_tensor_ids, sizeof(*t->tensor_ids)));
        t->tensor_ids[t->n_tensor_ids++] = (struct msim_tensor_id){0};
        if (!details)
            continue;
        MSIM_TRY(msim_grow((void **)&t->tensor_strides, &t->cap_tensor_strides,
                           t->n_tensor_strides, sizeof(*t->tensor_strides)));
        t->tensor_strides[t->n_tensor_strides++] =
            t->tensor_strides[m->first + i];
    }
    return MSIM_OK;
}

/* The tensors of a node, which are the newest. */
static enum msim_status add_tensors(struct msim_reader *r, struct msim_op *op,
                                    const struct like *l)
{
    struct msim_trace *t = r->trace;
    const struct made *m = l->made;
    uint32_t first = t->n_tensor_ids;

    MSIM_TRY(add_ids(t, m, msim_et_of(r)->details));
    op->ids = m->n_in ? first : MSIM_NONE;
    op->out_ids = m->n_out ? first + m->n_in : MSIM_NONE;
    for (uint32_t i = 0; i < l->n; i++) {
        const struct msim_spot *s = &l->spots[i];
        struct msim_tensor_id *ids = t->tensor_ids + first;
        int64_t value = l->values[i].whole;

        if (s->kind == MSIM_ET_SPOT_TENSOR)
            ids[s->which - m->first].tensor = (uint32_t)value;
        else if (s->kind == MSIM_ET_SPOT_STORAGE)
            ids[s->which - m->first].storage = (uint32_t)value;
        else if (s->kind == MSIM_ET_SPOT_OFFSET)
            ids[s->which - m->first].offset = value;
    }
    return MSIM_OK;
}

/* Does an argument of that side have another number than it has in what was
 * kept? */
static bool has_others(const struct msim_reader *r, const struct like *l,
                       enum msim_et_spot_kind side, uint32_t block)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->spots[i].kind == side &&
            msim_args_get(r->trace, block, 0)[l->spots[i].which].v.i !=
                l->values[i].whole)
            return true;
    return false;
}

/* The arguments of one side: those of what was kept, with other numbers. */
static enum msim_status set_args(struct msim_reader *r, const struct like *l,
                                 enum msim_et_spot_kind side, uint32_t *block)
{
    struct msim_vec *args = &msim_et_of(r)->args;
    const struct msim_arg_block *b = &r->trace->blocks[*block];
    struct msim_arg *all;

    if (!has_others(r, l, side, *block))
        return MSIM_OK;
    args->n = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        struct msim_arg *a = msim_vec_add(args, sizeof(*a));

        if (!a)
            return MSIM_ENOMEM;
        *a = r->trace->args[b->first + i];
    }
    all = args->data;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->spots[i].kind == side)
            all[l->spots[i].which].v.i = l->values[i].whole;
    return msim_argpool_block(&r->pool, all, args->n, block);
}

static enum msim_status add_comm(struct msim_reader *r, struct msim_op *op,
                                 const struct made *m)
{
    struct msim_et *e = msim_et_of(r);
    const struct made_comm *c = e->alike.comms.data;

    if (m->comm == MSIM_NONE)
        return MSIM_OK;
    c += m->comm;
    e->node.comm = c->attrs;
    return msim_et_add_comm(r, op, &c->in, &c->out, &op->comm);
}

static enum msim_status add_node(struct msim_reader *r, struct copy *c,
                                 const struct like *l)
{
    MSIM_TRY(add_tensors(r, &c->op, l));
    MSIM_TRY(set_args(r, l, MSIM_ET_SPOT_INPUT, &c->op.args));
    MSIM_TRY(set_args(r, l, MSIM_ET_SPOT_OUTPUT, &c->op.outs));
    MSIM_TRY(add_comm(r, &c->op, l->made));
    return msim_et_add_node(r, &c->op, &c->link);
}

int msim_et_alike_take(struct msim_reader *r, const char *text, size_t len,
                       size_t *taken)
{
    struct msim_et_alike *a = &msim_et_of(r)->alike;
    struct msim_spot_value values[MSIM_ALIKE_SPOTS];
    struct like like = {.values = values};
    const char *behind;
    struct copy c;
    uint32_t k;

    a->node = NULL;
    if (msim_alike_is_vain(&a->texts))
        return MSIM_OK;
    a->node = text;
    a->at = msim_sax_offset(r->sax);
    k = msim_alike_find(&a->texts, text, len, &behind, values);
    if (k == MSIM_NONE)
        return MSIM_OK;
    like.made = (struct made *)a->made.data + k;
    like.spots = msim_alike_spots(&a->texts, k, &like.n);
    c = copy_of(r, &like);
    if (c.id < 0 || c.id >= UINT32_MAX)
        return MSIM_OK;
    *taken = (size_t)(behind - text);
    return add_node(r, &c, &like);
}

/* ---- a node is kept ------------------------------------------------------ */

static enum msim_status keep_comm(struct msim_et *e, struct made *m)
{
    struct made_comm *c;

    if (m->comm == MSIM_NONE)
        return MSIM_OK;
    m->comm = e->alike.comms.n;
    c = msim_vec_add(&e->alike.comms, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *c = (struct made_comm){e->node.comm, e->node.in, e->node.out};
    return MSIM_OK;
}

enum msim_status msim_et_alike_keep(struct msim_reader *r, uint32_t first,
                                    uint32_t n_in)
{
    struct msim_et *e = msim_et_of(r);
    struct msim_et_alike *a = &e->alike;
    const struct msim_trace *t = r->trace;
    struct made *made;
    size_t len;
    const char *text = msim_sax_since(r->sax, a->at, &len);
    uint32_t k;

    a->node = NULL;
    if (!text) {
        a->texts.last = MSIM_NONE;
        return MSIM_OK;
    }
    MSIM_TRY(msim_alike_keep(&a->texts, text, len, &k));
    if (k == MSIM_NONE)
        return MSIM_OK;
    msim_alike_room(&a->made, sizeof(*made));
    made = msim_vec_add(&a->made, sizeof(*made));
    if (!made)
        return MSIM_ENOMEM;
    *made = (struct made){.op = t->n_ops - 1,
                          .first = first,
                          .n_in = n_in,
                          .n_out = t->n_tensor_ids - first - n_in,
                          .comm = t->ops[t->n_ops - 1].comm};
    return keep_comm(e, made);
}
