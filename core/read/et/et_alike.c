/*
 * core/read/et/et_alike.c - nodes that are one that was read, but for numbers.
 *
 * A step calls the same operators with the same sizes for each layer and each
 * micro batch. Their nodes differ in numbers alone: which node, in which one,
 * which tensors. So the text of a node that was read is kept with the places
 * of those numbers, and a node whose text is equal outside them is a copy of
 * its row with other numbers. Whatever else differs, if by a blank, is read as
 * ever; so is what the end of a piece cuts.
 */
#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/read/et/read_et.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MOST   1024u      /* nodes */
#define TEXT_MOST   (2u << 20) /* bytes of them */
#define SPOTS_MOST  512u       /* numbers of one */
#define TRIED_MOST  16u        /* of a kind */
#define MISSES_MANY 4096u
#define LOOKED_AT   1024u /* bytes of a node's beginning */

/* A node that was read. */
struct kept {
    uint32_t text, len;      /* in alike.text, behind the bracket that opens */
    uint32_t spots, n_spots; /* in alike.all */
    uint32_t op;             /* its row */
    uint32_t first;          /* of its tensors, in tensor_ids */
    uint32_t n_in, n_out;    /* of them */
    uint32_t comm;           /* in alike.comms, or NONE */
    uint32_t other;          /* another one of its kind, or NONE */
    uint32_t next;           /* what followed the last that was like it */
};

/* What makes the row of a collective, besides its arguments. */
struct kept_comm {
    struct msim_et_comm attrs;
    struct msim_et_size in, out;
};

void msim_et_alike_release(struct msim_et_alike *a)
{
    free(a->text.data);
    free(a->all.data);
    free(a->kept.data);
    free(a->spots.data);
    free(a->comms.data);
    msim_idmap_release(&a->kinds);
}

void msim_et_alike_forget(struct msim_et_alike *a)
{
    a->node = NULL;
    a->last = MSIM_NONE;
}

int msim_et_alike_note(struct msim_et_alike *a, enum msim_et_spot_kind kind,
                       uint32_t which, uint32_t from, size_t len)
{
    struct msim_et_spot *s;

    if (!a->node)
        return MSIM_OK;
    s = msim_vec_add(&a->spots, sizeof(*s));
    if (!s)
        return MSIM_ENOMEM;
    *s = (struct msim_et_spot){from, (uint32_t)len, kind, which};
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

/* Past a whole number that is not too long; false where there is none. */
static bool pass_whole(const char **at, const char *end, int64_t *value)
{
    bool below = *at < end && **at == '-';
    const char *first = *at + below, *p = first;
    int64_t v = 0;

    if (end - first > MSIM_ET_SPOT_DIGITS)
        end = first + MSIM_ET_SPOT_DIGITS;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (*p - '0');
    if (p == first || (*first == '0' && p - first > 1))
        return false;
    *value = below ? -v : v;
    *at = p;
    return true;
}

static bool pass_text(const char **at, const char *end, const char *text,
                      size_t len)
{
    if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
        return false;
    *at += len;
    return true;
}

/* Where a node that begins at `p` ends, and the numbers at its spots; NULL: it
 * is not like `k`. */
static const char *match(const struct msim_et_alike *a, const struct kept *k,
                         const char *p, const char *end, int64_t *values)
{
    const struct msim_et_spot *spots = a->all.data;
    const char *text = (const char *)a->text.data + k->text;
    uint32_t from = 0;

    for (uint32_t i = 0; i < k->n_spots; i++) {
        const struct msim_et_spot *s = &spots[k->spots + i];

        if (!pass_text(&p, end, text + from, s->at - from) ||
            !pass_whole(&p, end, &values[i]))
            return NULL;
        from = s->at + s->len;
    }
    return pass_text(&p, end, text + from, k->len - from) ? p : NULL;
}

/* From behind the first `key` up to the next quote, hashed. */
static uint64_t hash_behind(uint64_t hash, const char *key, const char **at,
                            const char *end)
{
    const char *from = memmem(*at, (size_t)(end - *at), key, strlen(key));
    const char *to;

    if (!from)
        return hash;
    from += strlen(key);
    to = memchr(from, '"', (size_t)(end - from));
    if (!to)
        return hash;
    *at = to;
    return msim_hash_bytes(hash, from, (size_t)(to - from));
}

/* Its name and the sizes of its inputs, as far as they are near: of few nodes
 * that differ they are the same. */
static uint64_t kind_of(const char *p, size_t len)
{
    const char *end = p + (len < LOOKED_AT ? len : LOOKED_AT);
    uint64_t hash = MSIM_HASH_START;

    hash = hash_behind(hash, "name\": \"", &p, end);
    return hash_behind(hash, "shapes\":", &p, end);
}

/* The row of `ops` that a node has by `k` and its numbers. */
struct copy {
    struct msim_op op;
    struct msim_et_link link;
    int64_t id;
};

static void set(struct copy *c, const struct msim_et_spot *s, int64_t value)
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

static struct copy copy_of(const struct msim_reader *r, const struct kept *k,
                           const int64_t *values)
{
    const struct msim_et *e = msim_et_of(r);
    const struct msim_et_link *links = e->links.data;
    const struct msim_et_spot *spots = e->alike.all.data;
    struct copy c = {r->trace->ops[k->op], links[k->op], -1};

    for (uint32_t i = 0; i < k->n_spots; i++)
        set(&c, &spots[k->spots + i], values[i]);
    c.op.et_id = (uint32_t)c.id;
    c.link.id = (uint64_t)c.id;
    return c;
}

static enum msim_status add_ids(struct msim_trace *t, const struct kept *k,
                                bool details)
{
    for (uint32_t i = 0; i < k->n_in + k->n_out; i++) {
        MSIM_TRY(msim_grow((void **)&t->tensor_ids, &t->cap_tensor_ids,
                           t->n_tensor_ids, sizeof(*t->tensor_ids)));
        t->tensor_ids[t->n_tensor_ids++] = (struct msim_tensor_id){0};
        if (!details)
            continue;
        MSIM_TRY(msim_grow((void **)&t->tensor_strides, &t->cap_tensor_strides,
                           t->n_tensor_strides, sizeof(*t->tensor_strides)));
        t->tensor_strides[t->n_tensor_strides++] =
            t->tensor_strides[k->first + i];
    }
    return MSIM_OK;
}

/* The tensors of a node, which are the newest. */
static enum msim_status add_tensors(struct msim_reader *r, struct msim_op *op,
                                    const struct kept *k, const int64_t *values)
{
    struct msim_trace *t = r->trace;
    const struct msim_et_spot *s = msim_et_of(r)->alike.all.data;
    uint32_t first = t->n_tensor_ids;

    MSIM_TRY(add_ids(t, k, msim_et_of(r)->details));
    op->ids = k->n_in ? first : MSIM_NONE;
    op->out_ids = k->n_out ? first + k->n_in : MSIM_NONE;
    for (uint32_t i = 0; i < k->n_spots; i++) {
        const struct msim_et_spot *at = &s[k->spots + i];
        struct msim_tensor_id *ids = t->tensor_ids + first;

        if (at->kind == MSIM_ET_SPOT_TENSOR)
            ids[at->which - k->first].tensor = (uint32_t)values[i];
        else if (at->kind == MSIM_ET_SPOT_STORAGE)
            ids[at->which - k->first].storage = (uint32_t)values[i];
        else if (at->kind == MSIM_ET_SPOT_OFFSET)
            ids[at->which - k->first].offset = values[i];
    }
    return MSIM_OK;
}

/* Does an argument of that side have another number than it has in `k`? */
static bool has_others(const struct msim_reader *r, const struct kept *k,
                       enum msim_et_spot_kind side, uint32_t block,
                       const int64_t *values)
{
    const struct msim_et_spot *s = msim_et_of(r)->alike.all.data;

    for (uint32_t i = 0; i < k->n_spots; i++)
        if (s[k->spots + i].kind == side &&
            msim_args_get(r->trace, block, 0)[s[k->spots + i].which].v.i !=
                values[i])
            return true;
    return false;
}

/* The arguments of one side: those of `k`, with other numbers. */
static enum msim_status set_args(struct msim_reader *r, const struct kept *k,
                                 enum msim_et_spot_kind side, uint32_t *block,
                                 const int64_t *values)
{
    struct msim_vec *args = &msim_et_of(r)->args;
    const struct msim_et_spot *s = msim_et_of(r)->alike.all.data;
    const struct msim_arg_block *b = &r->trace->blocks[*block];
    struct msim_arg *all;

    if (!has_others(r, k, side, *block, values))
        return MSIM_OK;
    args->n = 0;
    for (uint32_t i = 0; i < b->count; i++) {
        struct msim_arg *a = msim_vec_add(args, sizeof(*a));

        if (!a)
            return MSIM_ENOMEM;
        *a = r->trace->args[b->first + i];
    }
    all = args->data;
    for (uint32_t i = 0; i < k->n_spots; i++)
        if (s[k->spots + i].kind == side)
            all[s[k->spots + i].which].v.i = values[i];
    return msim_argpool_block(&r->pool, all, args->n, block);
}

static enum msim_status add_comm(struct msim_reader *r, struct msim_op *op,
                                 const struct kept *k)
{
    struct msim_et *e = msim_et_of(r);
    const struct kept_comm *c = e->alike.comms.data;

    if (k->comm == MSIM_NONE)
        return MSIM_OK;
    c += k->comm;
    e->node.comm = c->attrs;
    return msim_et_add_comm(r, op, &c->in, &c->out, &op->comm);
}

static enum msim_status add_node(struct msim_reader *r, struct copy *c,
                                 const struct kept *k, const int64_t *values)
{
    MSIM_TRY(add_tensors(r, &c->op, k, values));
    MSIM_TRY(set_args(r, k, MSIM_ET_SPOT_INPUT, &c->op.args, values));
    MSIM_TRY(set_args(r, k, MSIM_ET_SPOT_OUTPUT, &c->op.outs, values));
    MSIM_TRY(add_comm(r, &c->op, k));
    return msim_et_add_node(r, &c->op, &c->link);
}

/* Of those of one kind, which are listed by when they came last. */
static uint32_t find_kind(struct msim_et_alike *a, uint64_t kind, const char *p,
                          const char *end, const char **behind, int64_t *values)
{
    struct kept *all = a->kept.data;
    uint32_t k = msim_idmap_get(&a->kinds, kind), first = k, before = MSIM_NONE;
    uint32_t *slot;

    for (uint32_t n = 0; k != MSIM_NONE && n < TRIED_MOST; n++) {
        if ((*behind = match(a, &all[k], p, end, values)))
            break;
        before = k;
        k = all[k].other;
    }
    if (!*behind || before == MSIM_NONE)
        return *behind ? k : MSIM_NONE;
    all[before].other = all[k].other;
    all[k].other = first;
    if (msim_idmap_put(&a->kinds, kind, k, &slot) == MSIM_OK)
        *slot = k;
    return k;
}

/* The one that a node at `p` is like, or NONE. What followed the last time is
 * looked at first. */
static uint32_t find(struct msim_et_alike *a, const char *p, const char *end,
                     const char **behind, int64_t *values)
{
    struct kept *all = a->kept.data;
    uint32_t k = a->last == MSIM_NONE ? MSIM_NONE : all[a->last].next;

    if (k != MSIM_NONE && (*behind = match(a, &all[k], p, end, values)))
        return k;
    return find_kind(a, kind_of(p, (size_t)(end - p)), p, end, behind, values);
}

/* `k` follows what came last. */
static void follow(struct msim_et_alike *a, uint32_t k)
{
    struct kept *all = a->kept.data;

    if (a->last != MSIM_NONE)
        all[a->last].next = k;
    a->last = k;
}

int msim_et_alike_take(struct msim_reader *r, const char *text, size_t len,
                       size_t *taken)
{
    struct msim_et_alike *a = &msim_et_of(r)->alike;
    int64_t values[SPOTS_MOST];
    const char *behind = NULL;
    struct copy c;
    uint32_t k;

    a->node = NULL;
    if (a->misses > MISSES_MANY && a->misses > a->hits)
        return MSIM_OK;
    a->node = text;
    a->at = msim_sax_offset(r->sax);
    k = find(a, text, text + len, &behind, values);
    if (k != MSIM_NONE)
        c = copy_of(r, (struct kept *)a->kept.data + k, values);
    if (k == MSIM_NONE || c.id < 0 || c.id >= UINT32_MAX) {
        a->misses++;
        return MSIM_OK;
    }
    a->hits++;
    follow(a, k);
    *taken = (size_t)(behind - text);
    return add_node(r, &c, (struct kept *)a->kept.data + k, values);
}

/* ---- a node is kept ------------------------------------------------------ */

static bool before(const struct msim_et_spot *a, const struct msim_et_spot *b)
{
    return a->at < b->at;
}

/* Spots are in order of the text, but for those of lists, which are read last.
 */
static void sort_spots(struct msim_et_spot *s, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct msim_et_spot x = s[i];
        uint32_t k = i;

        for (; k > 0 && before(&x, &s[k - 1]); k--)
            s[k] = s[k - 1];
        s[k] = x;
    }
}

static enum msim_status keep_comm(struct msim_et *e, struct kept *k)
{
    struct kept_comm *c;

    if (k->comm == MSIM_NONE)
        return MSIM_OK;
    k->comm = e->alike.comms.n;
    c = msim_vec_add(&e->alike.comms, sizeof(*c));
    if (!c)
        return MSIM_ENOMEM;
    *c = (struct kept_comm){e->node.comm, e->node.in, e->node.out};
    return MSIM_OK;
}

static enum msim_status keep_text(struct msim_et_alike *a, struct kept *k,
                                  const char *text, size_t len)
{
    struct msim_text_piece piece;

    MSIM_TRY(msim_vec_text(&a->text, text, len, &piece));
    k->text = piece.at;
    k->len = piece.len;
    k->spots = a->all.n;
    k->n_spots = a->spots.n;
    for (uint32_t i = 0; i < a->spots.n; i++) {
        struct msim_et_spot *s = msim_vec_add(&a->all, sizeof(*s));

        if (!s)
            return MSIM_ENOMEM;
        *s = ((struct msim_et_spot *)a->spots.data)[i];
    }
    return MSIM_OK;
}

/* First of its kind, since it is most likely to come again. */
static enum msim_status list(struct msim_et_alike *a, struct kept *k,
                             const char *text, size_t len)
{
    uint32_t *first;

    MSIM_TRY(msim_idmap_put(&a->kinds, kind_of(text, len), a->kept.n, &first));
    k->other = *first == a->kept.n ? MSIM_NONE : *first;
    *first = a->kept.n;
    return MSIM_OK;
}

static enum msim_status keep(struct msim_et *e, const struct kept *row,
                             const char *text, size_t len)
{
    struct msim_et_alike *a = &e->alike;
    struct kept *k;

    sort_spots(a->spots.data, a->spots.n);
    k = msim_vec_add(&a->kept, sizeof(*k));
    if (!k)
        return MSIM_ENOMEM;
    a->kept.n--; /* until all of it is */
    *k = *row;
    MSIM_TRY(keep_comm(e, k));
    MSIM_TRY(keep_text(a, k, text, len));
    MSIM_TRY(list(a, k, text, len));
    follow(a, a->kept.n++);
    return MSIM_OK;
}

enum msim_status msim_et_alike_keep(struct msim_reader *r, uint32_t first,
                                    uint32_t n_in)
{
    struct msim_et_alike *a = &msim_et_of(r)->alike;
    const struct msim_trace *t = r->trace;
    struct kept row = {.op = t->n_ops - 1,
                       .first = first,
                       .n_in = n_in,
                       .n_out = t->n_tensor_ids - first - n_in,
                       .comm = t->ops[t->n_ops - 1].comm,
                       .other = MSIM_NONE,
                       .next = MSIM_NONE};
    size_t len;
    const char *text = a->node ? msim_sax_since(r->sax, a->at, &len) : NULL;

    a->node = NULL;
    if (!text || a->kept.n == KEPT_MOST || a->spots.n > SPOTS_MOST ||
        len > TEXT_MOST - a->text.n) {
        a->last = MSIM_NONE;
        return MSIM_OK;
    }
    return keep(msim_et_of(r), &row, text, len);
}
