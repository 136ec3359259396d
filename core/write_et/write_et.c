/*
 * core/write_et/write_et.c - a trace as an execution trace.
 */

#include "core/base/containers.h"
#include "core/base/hash.h"
#include "core/write_et/write_et_internal.h"

#include <stdlib.h>
#include <string.h>

struct writing {
    const struct msim_trace *t;
    struct msim_json j;
    struct msim_et_names names;
    uint32_t *tensor; /* names.tensor */
    uint32_t *number; /* of operators, as nodes */
    uint32_t *open;   /* of the thread at hand: within each other */
    uint32_t *root;   /* by thread: the number of the root that is made for it;
                         0: none is */
    uint32_t n_roots;
    uint32_t last; /* number given */
    uint64_t nodes;
    char *groups; /* to be listed, or NULL */
    bool tf32;    /* the label of it is not among the operators */
};

/* ---- what cannot be said -------------------------------------------------
 */

static bool has_put_off(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR &&
            t->args[i].device == MSIM_DEV_HOST)
            return true;
    return false;
}

enum msim_status msim_write_et_check(const struct msim_trace *t,
                                     struct msim_error *err)
{
    const char *why = NULL;
    bool deep = false;

    for (uint32_t i = 0; i < t->n_ops && !deep; i++)
        deep = msim_et_block_depth(t, t->ops[i].args) > MSIM_ET_LISTS ||
               msim_et_block_depth(t, t->ops[i].outs) > MSIM_ET_LISTS;
    if (!t->has_et)
        why = "it has no execution trace: results of operators and ids of "
              "tensors are not recorded";
    else if (t->gpus > 1)
        why = "it drives several GPUs, and which tensor is on which is not "
              "kept";
    else if (has_put_off(t))
        why = "it puts work off to the host, and an execution trace does not "
              "tell that from what was recorded there";
    else if (deep)
        why = "an operator has lists nested deeper than 8";
    return why ? msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                           "cannot be written as an execution trace: %s", why)
               : MSIM_OK;
}

/* ---- numbers -------------------------------------------------------------
 */

static bool entered_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    if (t->ops[a].et_id != t->ops[b].et_id)
        return t->ops[a].et_id < t->ops[b].et_id;
    return a < b;
}

/* A trace that Kineto recorded has no roots of threads. */
static enum msim_status find_roots(struct writing *w)
{
    const struct msim_trace *t = w->t;

    w->root = calloc((size_t)t->n_threads + 1, sizeof(*w->root));
    if (!w->root)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        uint32_t *root = &w->root[t->ops[i].thread];

        if (t->ops[i].parent == MSIM_NONE && t->ops[i].kind != MSIM_OP_ROOT &&
            !*root)
            *root = MSIM_ET_ROOT + ++w->n_roots;
    }
    return MSIM_OK;
}

/* Numbers of a trace that was read are kept: those of nodes and those of
 * tensors are one count, which tells what came of what. A change numbers its
 * operators from 1, and each mention of a tensor anew. */
static bool is_recorded(const struct msim_trace *t, const uint32_t *order)
{
    bool drafted = t->n_tensor_ids > 0;

    for (uint32_t i = 0; i < t->n_tensor_ids && drafted; i++)
        drafted = t->tensor_ids[i].tensor == i + 1;
    for (uint32_t i = 0; i < t->n_ops && !drafted; i++)
        drafted = t->ops[order[i]].et_id <= MSIM_ET_ROOT ||
                  (i && t->ops[order[i]].et_id == t->ops[order[i - 1]].et_id);
    return !drafted;
}

static void keep_numbers(struct writing *w)
{
    const struct msim_trace *t = w->t;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        w->number[i] = t->ops[i].et_id;
        w->last = w->number[i] > w->last ? w->number[i] : w->last;
    }
    for (uint32_t i = 0; i < t->n_tensor_ids; i++) {
        w->tensor[i] = t->tensor_ids[i].tensor;
        w->last = w->tensor[i] > w->last ? w->tensor[i] : w->last;
    }
}

/* One piece of memory, read in one way, is one tensor. */
static uint64_t look_of(const struct msim_trace *t, uint32_t row,
                        const struct msim_arg *a)
{
    const struct msim_tensor_id *id = &t->tensor_ids[row];
    uint64_t h = msim_hash_mix(MSIM_HASH_START, id->storage);

    h = msim_hash_mix(h, (uint64_t)id->offset);
    h = msim_hash_mix(h, (uint64_t)a->dtype << 8 | a->layout);
    return msim_hash_bytes(h, msim_arg_dims(t, a), a->n * sizeof(int64_t));
}

static enum msim_status count_tensors(struct writing *w,
                                      struct msim_idmap *seen, uint32_t block,
                                      uint32_t row)
{
    const struct msim_trace *t = w->t;

    if (block == MSIM_NONE || row == MSIM_NONE)
        return MSIM_OK;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];
        uint32_t *number;

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        w->tensor[row] = w->last + 1;
        if (t->tensor_ids[row].storage) {
            MSIM_TRY(
                msim_idmap_put(seen, look_of(t, row, a), w->last + 1, &number));
            w->tensor[row] = *number;
        }
        w->last += w->tensor[row] == w->last + 1;
        row++;
    }
    return MSIM_OK;
}

/* As PyTorch counts: an operator when it begins, then what it is given, then
 * those in it, then what it gives. */
static enum msim_status count_op(struct writing *w, struct msim_idmap *seen,
                                 uint32_t op)
{
    const struct msim_op *ops = w->t->ops;
    uint32_t end = op + 1;

    w->number[op] = ++w->last;
    MSIM_TRY(count_tensors(w, seen, ops[op].args, ops[op].ids));
    for (; op != MSIM_NONE && ops[op].end == end; op = ops[op].parent)
        MSIM_TRY(count_tensors(w, seen, ops[op].outs, ops[op].out_ids));
    return MSIM_OK;
}

static enum msim_status number_all(struct writing *w)
{
    const struct msim_trace *t = w->t;
    size_t n = (size_t)t->n_ops + 1;
    uint32_t *order = malloc(2 * n * sizeof(*order));
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;

    if (!order)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_ops; i++)
        order[i] = i;
    msim_sort_index(order, order + n, t->n_ops, entered_before, t);
    w->last = MSIM_ET_ROOT + w->n_roots;
    if (!w->n_roots && is_recorded(t, order))
        keep_numbers(w);
    else
        for (uint32_t i = 0; i < t->n_ops && status == MSIM_OK; i++)
            status = count_op(w, &seen, order[i]);
    msim_idmap_release(&seen);
    free(order);
    return status;
}

static enum msim_status take_room(struct writing *w)
{
    const struct msim_trace *t = w->t;
    size_t n = (size_t)t->n_ops + 1;

    w->number = malloc(n * sizeof(*w->number));
    w->open = malloc(n * sizeof(*w->open));
    w->tensor = calloc((size_t)t->n_tensor_ids + 1, sizeof(*w->tensor));
    w->names = (struct msim_et_names){t, w->tensor};
    return w->number && w->open && w->tensor ? MSIM_OK : MSIM_ENOMEM;
}

/* ---- labels in front -----------------------------------------------------
 */

static bool has_label(const struct msim_trace *t, const char *name)
{
    for (uint32_t i = 0; i < t->n_ops; i++)
        if (!strcmp(msim_trace_text(t, t->ops[i].name), name))
            return true;
    return false;
}

static void put_text(struct msim_json *j, const void *of, enum msim_et_column c)
{
    if (c == MSIM_ET_VALUES)
        msim_json_text(j, NULL, of);
    else if (c == MSIM_ET_TYPES)
        msim_json_text(j, NULL, "String");
    else {
        msim_json_open(j, NULL, '[', false);
        msim_json_close(j);
    }
}

/* What a node that stands in none is in. */
static uint32_t root_of(const struct writing *w, uint32_t thread)
{
    return thread < w->t->n_threads && w->root[thread] ? w->root[thread]
                                                       : MSIM_ET_ROOT;
}

static int64_t thread_id(const struct msim_trace *t, uint32_t thread)
{
    return thread == MSIM_NONE ? 0 : t->threads[thread].tid;
}

static void put_roots(struct writing *w)
{
    for (uint32_t i = 0; i < w->t->n_threads; i++) {
        const struct msim_et_record n = {.id = w->root[i],
                                         .parent = MSIM_ET_ROOT,
                                         .sequence = -1,
                                         .thread = thread_id(w->t, i),
                                         .name = MSIM_ET_THREAD_NAME,
                                         .scope = 7};

        if (!w->root[i])
            continue;
        msim_et_file_node(&w->j, &n);
        w->nodes++;
    }
}

/* They stand first in the file and are in the first thread's root; their
 * numbers are behind all others. */
static void put_front(struct writing *w)
{
    const struct msim_trace *t = w->t;
    bool rooted = t->n_ops && t->ops[0].kind == MSIM_OP_ROOT;
    struct msim_et_record n = {.id = w->last + 1,
                               .parent = rooted ? w->number[0] : root_of(w, 0),
                               .sequence = -1,
                               .thread = t->n_threads ? t->threads[0].tid : 1,
                               .scope = 7};

    if (w->tf32) {
        n.name = MSIM_TF32_LABEL;
        msim_et_file_node(&w->j, &n);
        n.id++;
        w->nodes++;
    }
    if (!w->groups)
        return;
    n.name = MSIM_ET_GROUPS_NAME;
    n.in = (struct msim_et_side){put_text, w->groups};
    msim_et_file_node(&w->j, &n);
    w->nodes++;
}

/* ---- operators -----------------------------------------------------------
 */

/* Of operator `op`; `text` holds it. NULL: no input has one. */
static const char *ranges_of(const struct msim_trace *t, uint32_t op,
                             char *text, size_t size)
{
    const struct msim_op *o = &t->ops[op];
    uint32_t tensors = 0, low = 0, high = t->n_ranges;
    size_t n = 0;

    if (!t->n_ranges || o->args == MSIM_NONE || o->ids == MSIM_NONE)
        return NULL;
    for (uint32_t i = 0; i < t->blocks[o->args].count; i++)
        tensors +=
            t->args[t->blocks[o->args].first + i].kind == MSIM_ARG_TENSOR;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (t->ranges[mid].id < o->ids)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < t->n_ranges && t->ranges[low].id < o->ids + tensors &&
           n + 80 < size;
         low++)
        n += (size_t)snprintf(text + n, size - n, "%s\"%u\":[%lld,%lld]",
                              n ? "," : "{", t->ranges[low].id - o->ids,
                              (long long)t->ranges[low].low,
                              (long long)t->ranges[low].high);
    if (!n)
        return NULL;
    snprintf(text + n, size - n, "}");
    return text;
}

static void put_op(struct writing *w, uint32_t op)
{
    const struct msim_trace *t = w->t;
    const struct msim_op *o = &t->ops[op];
    const struct msim_et_block in = {&w->names, o->args, o->ids};
    const struct msim_et_block out = {&w->names, o->outs, o->out_ids};
    char ranges[4096];
    struct msim_et_said said;
    struct msim_et_record n = {.id = w->number[op],
                               .parent = o->parent == MSIM_NONE
                                             ? root_of(w, o->thread)
                                             : w->number[o->parent],
                               .rf_id = o->rf_id,
                               .sequence = o->seq,
                               .thread = thread_id(t, o->thread),
                               .fw_thread = thread_id(t, o->fw_thread),
                               .name = msim_trace_text(t, o->name),
                               .schema = msim_trace_text(t, o->schema),
                               .scope = o->scope,
                               .in = {msim_et_block_put, &in},
                               .out = {msim_et_block_put, &out}};

    n.ranges = ranges_of(t, op, ranges, sizeof(ranges));
    if (o->comm != MSIM_NONE) {
        said = msim_et_said_of(&w->names, op);
        n.in = (struct msim_et_side){msim_et_said_put, &said};
        n.message = &said.message;
    }
    msim_et_file_node(&w->j, &n);
    w->nodes++;
}

/* A node is written once it is closed; threads one after the other. */
static void put_ops(struct writing *w)
{
    const struct msim_trace *t = w->t;
    uint32_t depth = 0;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        while (depth && t->ops[w->open[depth - 1]].end <= i)
            put_op(w, w->open[--depth]);
        w->open[depth++] = i;
    }
    while (depth)
        put_op(w, w->open[--depth]);
}

/* ---- the whole -----------------------------------------------------------
 */

static enum msim_status prepare(struct writing *w)
{
    w->tf32 = w->t->tf32 && !has_label(w->t, MSIM_TF32_LABEL);
    MSIM_TRY(msim_et_groups_text(&w->groups, w->t));
    MSIM_TRY(find_roots(w));
    MSIM_TRY(take_room(w));
    return number_all(w);
}

enum msim_status
msim_write_et(const struct msim_trace *t, int64_t process,
              const char *generator,
              enum msim_status (*sink)(void *, const char *, size_t), void *ctx,
              uint64_t *nodes, struct msim_error *err)
{
    struct writing w = {.t = t};
    enum msim_status status = msim_write_et_check(t, err);

    if (status == MSIM_OK)
        status = prepare(&w);
    if (status == MSIM_OK) {
        msim_et_file_begin(&w.j, sink, ctx, generator, process);
        put_roots(&w);
        put_front(&w);
        put_ops(&w);
        status = msim_et_file_end(&w.j);
    }
    if (nodes)
        *nodes = w.nodes + 1; /* the process's root */
    free(w.groups);
    free(w.root);
    free(w.tensor);
    free(w.number);
    free(w.open);
    return status;
}
