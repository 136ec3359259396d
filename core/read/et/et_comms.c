/*
 * core/read/et/et_comms.c - collectives of an execution trace.
 *
 * The arguments of record_param_comms are a positional list that grew:
 *
 *   1.0.1    [tensors, seq, group, rank, "name", in_splits, out_splits, world]
 *   1.0.3 on [tensors, seq | [seq, p2p], ["0", "default_pg"], rank or root,
 *             "name", in_splits, out_splits, start, stride, world]
 *
 * A wait has no `tensors`, the oldest files have no `world`, and `group` is a
 * number or a list of two strings. So positions are counted from the name, the
 * only string among them. Attributes (from 1.1.0 on) have the same by name and
 * win.
 */
#include "core/base/containers.h"
#include "core/base/texts.h"
#include "core/read/et/read_et.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <string.h>

/* The top-level arguments around the collective's name. */
struct comm_args {
    const struct msim_arg *seq, *group, *rank, *name, *splits_in, *splits_out;
    const struct msim_arg *last;           /* the world, if it is a number */
    const struct msim_arg *start, *stride; /* of global ranks, 1.0.3 on */
};

static void find_args(const struct msim_trace *t, uint32_t block,
                      struct comm_args *c)
{
    uint32_t n = msim_args_count(t, block), i;

    memset(c, 0, sizeof(*c));
    for (i = 0; i < n; i++) {
        const struct msim_arg *a = msim_args_get(t, block, i);

        if (a->kind == MSIM_ARG_STR) {
            c->name = a;
            break;
        }
    }
    if (!c->name)
        return;
    if (i >= 1)
        c->rank = msim_args_get(t, block, i - 1);
    if (i >= 2)
        c->group = msim_args_get(t, block, i - 2);
    if (i >= 3)
        c->seq = msim_args_get(t, block, i - 3);
    c->splits_in = msim_args_get(t, block, i + 1);
    c->splits_out = msim_args_get(t, block, i + 2);
    if (n > i + 3)
        c->last = msim_args_get(t, block, n - 1);
    if (n == i + 6) {
        c->start = msim_args_get(t, block, i + 3);
        c->stride = msim_args_get(t, block, i + 4);
    }
}

static int64_t int_of(const struct msim_arg *a, int64_t otherwise)
{
    if (a && a->kind == MSIM_ARG_LIST && a->n >= 1)
        a++; /* [seq, is point-to-point] */
    return a && a->kind == MSIM_ARG_INT ? a->v.i : otherwise;
}

/* The group's name as a string number; 0 where there is none (a wait). */
static enum msim_status group_name(struct msim_reader *r,
                                   const struct msim_arg *a, uint32_t *name)
{
    char text[32];
    int len;

    *name = 0;
    if (!a)
        return MSIM_OK;
    if (a->kind == MSIM_ARG_LIST && a->n && a[1].kind == MSIM_ARG_STR) {
        *name = (uint32_t)a[1].v.i;
        return MSIM_OK;
    }
    if (a->kind == MSIM_ARG_STR)
        *name = (uint32_t)a->v.i;
    if (a->kind != MSIM_ARG_INT || a->v.i == 0)
        return MSIM_OK;
    len = snprintf(text, sizeof(text), "%lld", (long long)a->v.i);
    return msim_strtab_add(r->strings, text, (size_t)len, name);
}

/* Ranks of the group: as recorded, or the number of split sizes. */
static int64_t group_size(const struct msim_et_comm *attrs,
                          const struct comm_args *a)
{
    if (attrs->has_size)
        return attrs->size;
    if (a->last && a->last->kind == MSIM_ARG_INT)
        return a->last->v.i;
    if (a->splits_in && a->splits_in->kind == MSIM_ARG_LIST && a->splits_in->n)
        return a->splits_in->n;
    if (a->splits_out && a->splits_out->kind == MSIM_ARG_LIST)
        return a->splits_out->n;
    return 0;
}

/* For these the slot before the name is a root or a peer, else this rank. */
static bool has_peer(enum msim_collective c)
{
    return c == MSIM_COLL_BROADCAST || c == MSIM_COLL_REDUCE ||
           c == MSIM_COLL_GATHER || c == MSIM_COLL_SCATTER ||
           c == MSIM_COLL_SEND || c == MSIM_COLL_RECV;
}

/*
 * Learn this rank from a collective without a root: the slot before the name
 * is its place in the group. Older files do not record which rank has which
 * place.
 */
static void learn_rank(struct msim_reader *r, const struct comm_args *a,
                       enum msim_collective kind, int64_t size)
{
    int64_t place = int_of(a->rank, -1), start = int_of(a->start, -1);
    int64_t stride = int_of(a->stride, -1);

    if (r->out->rank >= 0 || has_peer(kind) || kind == MSIM_COLL_WAIT ||
        size < 2 || place < 0 || place >= size || start < 0 || stride < 1 ||
        start > INT32_MAX || stride > INT32_MAX || place > INT32_MAX)
        return;
    r->out->rank = start + stride * place;
}

static enum msim_status find_group(struct msim_reader *r, uint32_t name,
                                   int64_t size, uint32_t *group)
{
    struct msim_group *g;

    *group = MSIM_NONE;
    if (!name)
        return MSIM_OK;
    MSIM_TRY(msim_group_get(r, name, group));
    g = &r->trace->groups[*group];
    if (g->size == 0 && size > 0 && size < UINT32_MAX)
        g->size = (uint32_t)size;
    return MSIM_OK;
}

enum msim_status msim_et_add_comm(struct msim_reader *r,
                                  const struct msim_op *op,
                                  const struct msim_et_size *in,
                                  const struct msim_et_size *out,
                                  uint32_t *comm)
{
    const struct msim_et_comm *attrs = &msim_et_of(r)->node.comm;
    struct msim_trace *t = r->trace;
    struct msim_comm c = {.sequence = -1, .peer = -1, .op = MSIM_NONE};
    struct comm_args a;
    const char *text;
    int64_t peer;
    uint32_t name;

    find_args(t, op->args, &a);
    c.collective = attrs->collective;
    if (c.collective == MSIM_COLL_UNKNOWN && a.name) {
        text = msim_strtab_text(r->strings, (uint32_t)a.name->v.i);
        c.collective = (uint8_t)msim_name_collective(text, strlen(text));
    }
    c.sequence = int_of(a.seq, -1);
    peer = int_of(a.rank, -1);
    if (has_peer(c.collective) && peer >= 0 && peer <= INT32_MAX) {
        c.peer = (int32_t)peer;
        c.by_place = true;
    }
    c.in_elems = attrs->has_in ? attrs->in_elems : in->elems;
    c.out_elems = attrs->has_out ? attrs->out_elems : out->elems;
    c.dtype = in->dtype ? in->dtype : out->dtype ? out->dtype : attrs->dtype;
    learn_rank(r, &a, c.collective, group_size(attrs, &a));
    MSIM_TRY(group_name(r, a.group, &name));
    MSIM_TRY(find_group(r, attrs->group ? attrs->group : name,
                        group_size(attrs, &a), &c.group));
    MSIM_TRY(msim_grow((void **)&t->comms, &t->cap_comms, t->n_comms,
                       sizeof(*t->comms)));
    *comm = t->n_comms;
    t->comms[t->n_comms++] = c;
    return MSIM_OK;
}

static bool is(const char *s, size_t len, const char *word)
{
    return strlen(word) == len && !memcmp(s, word, len);
}

int msim_et_comm_attr(struct msim_reader *r, const char *name, size_t name_len,
                      const char *value, size_t value_len)
{
    struct msim_et_comm *c = &msim_et_of(r)->node.comm;
    int64_t n = 0;
    bool whole = msim_decimal_int(value, value_len, &n) && n >= 0;

    if (is(name, name_len, "collective_name")) {
        c->collective = (uint8_t)msim_name_collective(value, value_len);
        c->seen = true;
    } else if (is(name, name_len, "dtype")) {
        c->dtype = (uint8_t)msim_name_dtype(value, value_len);
    } else if (is(name, name_len, "in_msg_nelems") && whole) {
        c->in_elems = (uint64_t)n;
        c->has_in = true;
    } else if (is(name, name_len, "out_msg_nelems") && whole) {
        c->out_elems = (uint64_t)n;
        c->has_out = true;
    } else if (is(name, name_len, "pg_size") && whole) {
        c->size = n;
        c->has_size = true;
    } else if (is(name, name_len, "pg_name") && value_len) {
        return msim_read_string(r, value, value_len, &c->group);
    }
    return 0;
}
