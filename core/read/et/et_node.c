/*
 * core/read/et/et_node.c - a row of operators out of a node that is read.
 */
#include "core/base/containers.h"
#include "core/read/et/read_et.h"
#include "core/trace/trace_columns.h"

#include <string.h>

enum msim_status msim_et_thread(struct msim_reader *r, int64_t tid,
                                uint32_t *thread)
{
    struct msim_trace *t = r->trace;
    uint32_t *slot;

    MSIM_TRY(msim_grow((void **)&t->threads, &t->cap_threads, t->n_threads,
                       sizeof(*t->threads)));
    MSIM_TRY(msim_idmap_put(&msim_et_of(r)->threads, (uint64_t)tid,
                            t->n_threads, &slot));
    *thread = *slot;
    if (*thread == t->n_threads)
        t->threads[t->n_threads++] = (struct msim_thread){.tid = tid};
    return MSIM_OK;
}

static uint8_t kind_of(const struct msim_reader *r)
{
    const struct msim_et_node *n = &msim_et_of(r)->node;
    const char *name = msim_strtab_text(r->strings, n->name);

    if (msim_name_is_root(name))
        return MSIM_OP_ROOT;
    return n->scope == 7 ? MSIM_OP_ANNOTATION : MSIM_OP_OPERATOR;
}

static enum msim_status add_values(struct msim_reader *r, struct msim_op *op)
{
    struct msim_et *e = msim_et_of(r);
    struct msim_et_size *in = &e->node.in, *out = &e->node.out;
    const char *name = msim_strtab_text(r->strings, op->name);

    MSIM_TRY(msim_et_args(r, &e->in, &op->args, &op->ids, in));
    MSIM_TRY(msim_et_args(r, &e->out, &op->outs, &op->out_ids, out));
    /* Of others core/write_et says it, where a change made the message. */
    if (!strcmp(name, "record_param_comms") || e->node.comm.seen)
        return msim_et_add_comm(r, op, in, out, &op->comm);
    return MSIM_OK;
}

/* Nodes that say something of the whole job: how fp32 is multiplied, and
 * `## process_group:init ##`, a string that holds the list of groups. */
enum msim_status msim_et_groups(struct msim_reader *r, const struct msim_op *op)
{
    const char *name = msim_strtab_text(r->strings, op->name);
    const struct msim_arg *a;
    const char *text;

    r->trace->tf32 |= strcmp(name, MSIM_TF32_LABEL) == 0;
    if (strncmp(name, "## process_group:init", 21))
        return MSIM_OK;
    a = msim_args_get(r->trace, op->args, 0);
    if (!a || a->kind != MSIM_ARG_STR)
        return MSIM_OK;
    text = msim_strtab_text(r->strings, (uint32_t)a->v.i);
    return msim_group_parse_list(r, text, strlen(text));
}

static enum msim_status check_node(struct msim_reader *r)
{
    const struct msim_et_node *n = &msim_et_of(r)->node;
    unsigned long long number = r->trace->import.records + 1;

    if (!n->has_id)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT, "node %llu has no 'id'", number);
    if (n->id >= UINT32_MAX)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT, "node %llu: 'id' is %llu, want less than 2^32",
            number, (unsigned long long)n->id);
    if (!n->has_parent)
        return (enum msim_status)msim_read_problem(
            r, MSIM_EFORMAT, "node %llu has neither 'parent' nor 'ctrl_deps'",
            (unsigned long long)n->id);
    if (!n->has_name)
        return (enum msim_status)msim_read_problem(r, MSIM_EFORMAT,
                                                   "node %llu has no 'name'",
                                                   (unsigned long long)n->id);
    return MSIM_OK;
}

/* May others be copied from it? */
static bool is_kept(const struct msim_reader *r, const struct msim_op *op)
{
    const struct msim_et *e = msim_et_of(r);

    return e->alike.node && !e->alike.odd && !e->node.ranges.len &&
           op->kind != MSIM_OP_ROOT &&
           strncmp(msim_strtab_text(r->strings, op->name), "## ", 3) != 0;
}

enum msim_status msim_et_node_end(struct msim_reader *r)
{
    struct msim_et *e = msim_et_of(r);
    const struct msim_et_node *n = &e->node;
    struct msim_op op = msim_op_empty();
    uint32_t first = r->trace->n_tensor_ids;

    MSIM_TRY(check_node(r));
    op.rf_id = n->rf_id;
    op.name = n->name;
    op.schema = n->schema;
    op.et_id = (uint32_t)n->id;
    op.seq = msim_et_seq(n->seq);
    op.scope = n->scope >= 0 && n->scope < 256 ? (uint8_t)n->scope : 0;
    op.kind = kind_of(r);
    /* The process root only holds all threads together. */
    if (op.kind == MSIM_OP_ROOT && n->parent == n->id) {
        msim_read_count(r, MSIM_IMPORT_ROOT);
        r->trace->import.records++;
        r->complete++;
        return MSIM_OK;
    }
    MSIM_TRY(msim_et_thread(r, n->tid, &op.thread));
    MSIM_TRY(add_values(r, &op));
    if (n->ranges.len)
        MSIM_TRY(msim_et_ranges(r));
    MSIM_TRY(msim_et_groups(r, &op));
    MSIM_TRY(msim_et_add_node(
        r, &op, &(struct msim_et_link){n->id, n->parent, n->fw_tid, true}));
    if (is_kept(r, &op))
        return msim_et_alike_keep(
            r, first,
            (op.out_ids == MSIM_NONE ? r->trace->n_tensor_ids : op.out_ids) -
                first);
    msim_et_alike_forget(&e->alike);
    return MSIM_OK;
}
