/*
 * core/link/link_et.c - an execution trace linked with the Kineto trace of its
 * rank.
 *
 * Record function ids match operators where both files have them and the names
 * agree. Otherwise (before 2024, or two runs) operators are matched by name and
 * order: the topmost ones of a thread as sequences, then the callees of each
 * matched pair, and so on down. Labels are left out, since users put them where
 * they like. An ET usually has one iteration and a Kineto trace many, so the
 * ET's sequence may repeat.
 */
#include "core/link/link_et.h"
#include "core/base/containers.h"

#include "core/link/sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    uint32_t *ops, n, cap;
};

struct linker {
    struct msim_trace *k;
    const struct msim_trace *e;
    struct msim_strtab *strings;
    uint32_t *node; /* by op of k: its op of e, or NONE */
    bool by_id;     /* so found, not by name and order */
    struct list k_list, e_list, k_names, e_names, match, work;
};

static enum msim_status push(struct list *l, uint32_t value)
{
    MSIM_TRY(msim_grow((void **)&l->ops, &l->cap, l->n, sizeof(*l->ops)));
    l->ops[l->n++] = value;
    return MSIM_OK;
}

/* Operators in [from, to) that are not inside another one of the range. */
static enum msim_status topmost(const struct msim_trace *t, uint32_t from,
                                uint32_t to, struct list *ops,
                                struct list *names)
{
    uint32_t i = from;

    ops->n = names->n = 0;
    while (i < to) {
        if (t->ops[i].kind != MSIM_OP_OPERATOR) {
            i++; /* a label: what it encloses counts in its place */
            continue;
        }
        MSIM_TRY(push(ops, i));
        MSIM_TRY(push(names, t->ops[i].name));
        i = t->ops[i].end;
    }
    return MSIM_OK;
}

/* Match two ranges, one level deep; put the matched pairs on the work list. */
static enum msim_status match_level(struct linker *l, uint32_t k_from,
                                    uint32_t k_to, uint32_t e_from,
                                    uint32_t e_to, bool repeat)
{
    uint32_t i;

    MSIM_TRY(topmost(l->k, k_from, k_to, &l->k_list, &l->k_names));
    MSIM_TRY(topmost(l->e, e_from, e_to, &l->e_list, &l->e_names));
    if (l->k_list.n == 0 || l->e_list.n == 0)
        return MSIM_OK;
    l->match.n = 0;
    for (i = 0; i < l->k_list.n; i++)
        MSIM_TRY(push(&l->match, MSIM_NONE));
    MSIM_TRY(msim_sequence_match(l->e_names.ops, l->e_names.n, l->k_names.ops,
                                 l->k_names.n, repeat, l->match.ops));
    for (i = 0; i < l->k_list.n; i++) {
        if (l->match.ops[i] == MSIM_NONE)
            continue;
        l->node[l->k_list.ops[i]] = l->e_list.ops[l->match.ops[i]];
        MSIM_TRY(push(&l->work, l->k_list.ops[i]));
    }
    return MSIM_OK;
}

static enum msim_status match_threads(struct linker *l, uint32_t k_thread,
                                      uint32_t e_thread)
{
    const struct msim_thread *kt = &l->k->threads[k_thread];
    const struct msim_thread *et = &l->e->threads[e_thread];

    l->work.n = 0;
    MSIM_TRY(match_level(l, kt->op_begin, kt->op_end, et->op_begin, et->op_end,
                         true));
    while (l->work.n) {
        uint32_t k = l->work.ops[--l->work.n], e = l->node[k];

        MSIM_TRY(match_level(l, k + 1, l->k->ops[k].end, e + 1,
                             l->e->ops[e].end, false));
    }
    return MSIM_OK;
}

/* ---- which thread is which ---------------------------------------------- */

/* How many operators of the two threads have a name in common; `count` is all
 * zero. */
static uint64_t common_names(const struct linker *l,
                             const struct msim_thread *kt,
                             const struct msim_thread *et, uint32_t *count)
{
    uint64_t common = 0;
    uint32_t i;

    for (i = kt->op_begin; i < kt->op_end; i++)
        count[l->k->ops[i].name]++;
    for (i = et->op_begin; i < et->op_end; i++)
        if (l->e->ops[i].kind == MSIM_OP_OPERATOR && count[l->e->ops[i].name]) {
            count[l->e->ops[i].name]--;
            common++;
        }
    for (i = kt->op_begin; i < kt->op_end; i++)
        count[l->k->ops[i].name] = 0;
    return common;
}

/* The threads with most operators, at most `max`: all are compared with all,
 * and small threads are not worth that. */
static uint32_t busiest(const struct msim_trace *t, uint32_t *out, uint32_t max)
{
    uint32_t i, j, n = 0;

    for (i = 0; i < t->n_threads; i++) {
        uint32_t ops = t->threads[i].op_end - t->threads[i].op_begin;

        if (ops == 0)
            continue;
        for (j = n < max ? n : max; j > 0; j--) {
            const struct msim_thread *o = &t->threads[out[j - 1]];

            if (o->op_end - o->op_begin >= ops)
                break;
            if (j < max)
                out[j] = out[j - 1];
        }
        if (j < max)
            out[j] = i;
        n += n < max;
    }
    return n;
}

#define MAX_THREADS 32

/* Pair threads greedily, those with most names in common first. */
static enum msim_status match_by_name(struct linker *l)
{
    uint32_t ks[MAX_THREADS], es[MAX_THREADS], i, j;
    uint32_t n_k = busiest(l->k, ks, MAX_THREADS);
    uint32_t n_e = busiest(l->e, es, MAX_THREADS);
    uint64_t score[MAX_THREADS][MAX_THREADS];
    uint32_t *count = calloc(msim_strtab_count(l->k->strings), sizeof(*count));
    enum msim_status status = MSIM_OK;

    if (!count)
        return MSIM_ENOMEM;
    for (i = 0; i < n_k; i++)
        for (j = 0; j < n_e; j++)
            score[i][j] = common_names(l, &l->k->threads[ks[i]],
                                       &l->e->threads[es[j]], count);
    free(count);
    while (status == MSIM_OK) {
        uint64_t best = 0;
        uint32_t bi = 0, bj = 0;

        for (i = 0; i < n_k; i++)
            for (j = 0; j < n_e; j++)
                if (score[i][j] > best) {
                    best = score[i][j];
                    bi = i;
                    bj = j;
                }
        if (best == 0)
            break;
        status = match_threads(l, ks[bi], es[bj]);
        for (i = 0; i < n_k; i++)
            score[i][bj] = 0;
        for (j = 0; j < n_e; j++)
            score[bi][j] = 0;
    }
    return status;
}

/* ---- by record function id ---------------------------------------------- */

/*
 * Ids count up from the start of the profiler, so two runs of one program have
 * the same ids, too; only names show whether they mean the same. True where at
 * least half of the operators that have an id found their name.
 */
static enum msim_status match_by_id(struct linker *l)
{
    struct msim_idmap ids = {0};
    enum msim_status status = MSIM_OK;
    uint32_t i, *slot, e;
    uint64_t with_id = 0, found = 0;

    for (i = 0; i < l->e->n_ops && status == MSIM_OK; i++)
        if (l->e->ops[i].rf_id)
            status = msim_idmap_put(&ids, l->e->ops[i].rf_id, i, &slot);
    for (i = 0; i < l->k->n_ops && status == MSIM_OK; i++) {
        if (!l->k->ops[i].rf_id || l->k->ops[i].kind != MSIM_OP_OPERATOR)
            continue;
        with_id++;
        e = msim_idmap_get(&ids, l->k->ops[i].rf_id);
        if (e == MSIM_NONE || l->e->ops[e].name != l->k->ops[i].name)
            continue;
        l->node[i] = e;
        found++;
    }
    msim_idmap_release(&ids);
    l->by_id = found && found * 2 >= with_id;
    return status;
}

/* ---- taking over -------------------------------------------------------- */

/* Where the columns of `e` begin after they were appended to those of `k`. */
struct offsets {
    uint32_t dims, args, blocks, ids, strides, ranges;
};

static uint32_t moved(uint32_t index, uint32_t by)
{
    return index == MSIM_NONE ? MSIM_NONE : index + by;
}

#define APPEND(field)                                                          \
    do {                                                                       \
        uint32_t i_;                                                           \
        for (i_ = 0; i_ < e->n_##field; i_++) {                                \
            MSIM_TRY(msim_grow((void **)&k->field, &k->cap_##field,            \
                               k->n_##field, sizeof(*k->field)));              \
            k->field[k->n_##field++] = e->field[i_];                           \
        }                                                                      \
    } while (0)

static enum msim_status append_columns(struct msim_trace *k,
                                       const struct msim_trace *e,
                                       struct offsets *at)
{
    uint32_t i;

    *at = (struct offsets){k->n_dims,       k->n_args,           k->n_blocks,
                           k->n_tensor_ids, k->n_tensor_strides, k->n_ranges};
    APPEND(dims);
    APPEND(args);
    APPEND(blocks);
    APPEND(tensor_ids);
    APPEND(tensor_strides);
    APPEND(ranges);
    for (i = at->args; i < k->n_args; i++)
        if (k->args[i].kind == MSIM_ARG_TENSOR)
            k->args[i].v.i += at->dims;
    for (i = at->blocks; i < k->n_blocks; i++)
        k->blocks[i].first += at->args;
    for (i = at->strides; i < k->n_tensor_strides; i++)
        k->tensor_strides[i] = moved(k->tensor_strides[i], at->dims);
    for (i = at->ranges; i < k->n_ranges; i++)
        k->ranges[i].id += at->ids;
    return MSIM_OK;
}

/* The group of `e` in `k`, by name; made if `k` does not have it. */
static enum msim_status take_group(struct msim_trace *k,
                                   const struct msim_trace *e, uint32_t from,
                                   uint32_t *to)
{
    const struct msim_group *g;
    uint32_t i;

    *to = MSIM_NONE;
    if (from == MSIM_NONE)
        return MSIM_OK;
    g = &e->groups[from];
    for (i = 0; i < k->n_groups; i++)
        if (k->groups[i].name == g->name) {
            if (k->groups[i].size == 0)
                k->groups[i].size = g->size;
            *to = i;
            return MSIM_OK;
        }
    MSIM_TRY(msim_grow((void **)&k->groups, &k->cap_groups, k->n_groups,
                       sizeof(*k->groups)));
    k->groups[k->n_groups] = *g;
    k->groups[k->n_groups].first = k->n_group_ranks;
    for (i = 0; i < g->count; i++) {
        MSIM_TRY(msim_grow((void **)&k->group_ranks, &k->cap_group_ranks,
                           k->n_group_ranks, sizeof(*k->group_ranks)));
        k->group_ranks[k->n_group_ranks++] = e->group_ranks[g->first + i];
    }
    *to = k->n_groups++;
    return MSIM_OK;
}

/* A collective: what Kineto did not record. */
static enum msim_status take_comm(struct msim_trace *k,
                                  const struct msim_trace *e, uint32_t from,
                                  uint32_t to)
{
    const struct msim_comm *c = &e->comms[from];
    struct msim_comm *kc = &k->comms[to];
    uint32_t group;

    MSIM_TRY(take_group(k, e, c->group, &group));
    if (c->collective != MSIM_COLL_UNKNOWN)
        kc->collective = c->collective;
    if (c->dtype != MSIM_DT_UNKNOWN)
        kc->dtype = c->dtype;
    if (c->in_elems || c->out_elems) {
        kc->in_elems = c->in_elems;
        kc->out_elems = c->out_elems;
    }
    if (kc->sequence < 0)
        kc->sequence = c->sequence;
    if (kc->peer < 0) {
        kc->peer = c->peer;
        kc->by_place = c->by_place;
    }
    if (kc->group == MSIM_NONE)
        kc->group = group;
    return MSIM_OK;
}

/* ---- sizes ----------------------------------------------------------------
 */

static bool has_sizes(const struct msim_arg *a)
{
    return a->kind == MSIM_ARG_TENSOR && a->n > 0;
}

static bool is_other(const struct msim_trace *t, const struct msim_arg *a,
                     const struct msim_arg *b)
{
    return has_sizes(a) && has_sizes(b) &&
           (a->n != b->n || memcmp(&t->dims[a->v.i], &t->dims[b->v.i],
                                   a->n * sizeof(*t->dims)) != 0);
}

/* The first tensor of two lists of arguments that has other sizes in each. */
static bool find_other(const struct msim_trace *t, uint32_t one, uint32_t two,
                       const struct msim_arg **a, const struct msim_arg **b)
{
    const struct msim_arg *a_end, *b_end;

    if (one == MSIM_NONE || two == MSIM_NONE)
        return false;
    *a = &t->args[t->blocks[one].first];
    *b = &t->args[t->blocks[two].first];
    a_end = *a + t->blocks[one].count;
    b_end = *b + t->blocks[two].count;
    for (; *a < a_end && *b < b_end; ++*a, ++*b) {
        if (is_other(t, *a, *b))
            return true;
        *a += (*a)->kind == MSIM_ARG_LIST ? (*a)->v.i : 0;
        *b += (*b)->kind == MSIM_ARG_LIST ? (*b)->v.i : 0;
    }
    return false;
}

static size_t put_sizes(char *text, size_t size, const struct msim_trace *t,
                        const struct msim_arg *a)
{
    size_t len = 0;

    for (uint32_t i = 0; i < a->n && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%lld",
                                i ? " x " : "", (long long)t->dims[a->v.i + i]);
    return len < size ? len : size - 1;
}

/* One operator has both records, by its own id: of one run they agree. `args`
 * are those of the node. */
static enum msim_status compare_sizes(struct linker *l,
                                      const struct msim_op *op, uint32_t args)
{
    struct msim_trace *k = l->k;
    const struct msim_arg *a, *b;
    struct msim_import_count *c;
    char text[240];
    size_t len;

    if (!find_other(k, op->args, args, &a, &b))
        return MSIM_OK;
    c = msim_import_add(&k->import, MSIM_IMPORT_OTHER_SIZES, 1);
    if (c->example)
        return MSIM_OK;
    len = (size_t)snprintf(text, sizeof(text), "'%.80s' of ",
                           msim_trace_text(k, op->name));
    len += put_sizes(text + len, 60, k, a);
    len += (size_t)snprintf(text + len, sizeof(text) - len, " has a node of ");
    len += put_sizes(text + len, 60, k, b);
    return msim_strtab_add(l->strings, text, len, &c->example);
}

/* ---- all of it ------------------------------------------------------------
 */

static enum msim_status take_over(struct linker *l, uint64_t *linked,
                                  uint64_t *total)
{
    struct offsets at;
    uint32_t i;

    MSIM_TRY(append_columns(l->k, l->e, &at));
    for (i = 0; i < l->k->n_ops; i++) {
        struct msim_op *k = &l->k->ops[i];
        const struct msim_op *e;

        *total += k->kind == MSIM_OP_OPERATOR;
        if (l->node[i] == MSIM_NONE)
            continue;
        *linked += k->kind == MSIM_OP_OPERATOR;
        e = &l->e->ops[l->node[i]];
        if (l->by_id)
            MSIM_TRY(compare_sizes(l, k, moved(e->args, at.blocks)));
        k->args = moved(e->args, at.blocks);
        k->outs = moved(e->outs, at.blocks);
        k->ids = moved(e->ids, at.ids);
        k->out_ids = moved(e->out_ids, at.ids);
        k->et_id = e->et_id;
        k->schema = e->schema;
        k->scope = e->scope;
        if (k->seq < 0)
            k->seq = e->seq;
        if (k->comm != MSIM_NONE && e->comm != MSIM_NONE)
            MSIM_TRY(take_comm(l->k, l->e, e->comm, k->comm));
    }
    if (l->k->world_size == 0)
        l->k->world_size = l->e->world_size;
    l->k->has_et = true;
    return MSIM_OK;
}

enum msim_status msim_link_et(struct msim_trace *k, const struct msim_trace *e,
                              struct msim_strtab *strings, uint64_t *linked,
                              uint64_t *total)
{
    struct linker l = {.k = k, .e = e, .strings = strings};
    enum msim_status status = MSIM_OK;

    *linked = *total = 0;
    l.node = malloc(((size_t)k->n_ops + 1) * sizeof(*l.node));
    if (!l.node)
        return MSIM_ENOMEM;
    memset(l.node, 0xff, ((size_t)k->n_ops + 1) * sizeof(*l.node));
    status = match_by_id(&l);
    if (status == MSIM_OK && !l.by_id) {
        memset(l.node, 0xff, ((size_t)k->n_ops + 1) * sizeof(*l.node));
        status = match_by_name(&l);
    }
    if (status == MSIM_OK)
        status = take_over(&l, linked, total);
    if (!l.by_id)
        msim_import_add(&k->import, MSIM_IMPORT_NODE_ORDER, *linked);
    free(l.node);
    free(l.k_list.ops);
    free(l.e_list.ops);
    free(l.k_names.ops);
    free(l.e_names.ops);
    free(l.match.ops);
    free(l.work.ops);
    return status;
}
