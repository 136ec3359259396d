/*
 * core/trace/order_comms.c - collectives and the kernels that carry them out.
 *
 * Every record_param_comms becomes a row, and so does every c10d operator of a
 * backend that records none (gloo).
 *
 * New files have everything in arguments. In others the label inside
 * (`nccl:all_reduce`) or the kernel's name gives the kind, and the tensors of
 * the label or of the operator give the size. A name alone is trusted last: it
 * gives neither size nor group.
 */
#include "core/base/containers.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* The collective whose operator is `op`, or the innermost one around it. */
static uint32_t comm_around(const struct msim_trace *t, uint32_t op)
{
    uint32_t steps;

    for (steps = 0; op != MSIM_NONE && steps < 8; steps++) {
        if (t->ops[op].comm != MSIM_NONE)
            return t->ops[op].comm;
        op = t->ops[op].parent;
    }
    return MSIM_NONE;
}

/* Elements and type of the tensors in the first argument. */
static void size_of_first(const struct msim_trace *t, uint32_t block,
                          uint64_t *elems, uint8_t *dtype)
{
    const struct msim_arg *a = msim_args_get(t, block, 0);
    uint32_t i, n;

    if (!a)
        return;
    n = a->kind == MSIM_ARG_LIST ? (uint32_t)a->v.i : 0;
    for (i = 0; i <= n; i++)
        if (a[i].kind == MSIM_ARG_TENSOR) {
            *elems += msim_arg_elems(t, &a[i]);
            if (*dtype == MSIM_DT_UNKNOWN)
                *dtype = a[i].dtype;
        }
}

/*
 * Both sides of c10d::alltoall_base_(output, input, ...), _allgather_base_ and
 * the like around `op`.
 */
static bool size_of_base(const struct msim_trace *t, uint32_t op,
                         struct msim_comm *c)
{
    const struct msim_op *around;
    const struct msim_arg *out, *in;

    if (t->ops[op].parent == MSIM_NONE)
        return false;
    around = &t->ops[t->ops[op].parent];
    if (strncmp(msim_trace_text(t, around->name), "c10d::", 6) ||
        !strstr(msim_trace_text(t, around->name), "base_"))
        return false;
    out = msim_args_get(t, around->args, 0);
    in = msim_args_get(t, around->args, 1);
    if (!out || !in || out->kind != MSIM_ARG_TENSOR ||
        in->kind != MSIM_ARG_TENSOR)
        return false;
    c->in_elems = msim_arg_elems(t, in);
    c->out_elems = msim_arg_elems(t, out);
    if (c->dtype == MSIM_DT_UNKNOWN)
        c->dtype = in->dtype;
    return true;
}

/* The label is the first operator inside; one further off is another's. */
#define LABEL_WITHIN 16

/* A row from what surrounds `op`, for arguments that say nothing. */
static struct msim_comm guess(const struct msim_trace *t, uint32_t op)
{
    struct msim_comm c = {
        .sequence = -1, .peer = -1, .group = MSIM_NONE, .op = op};
    uint32_t i;

    size_of_first(t, t->ops[op].args, &c.in_elems, &c.dtype);
    for (i = op + 1; i < t->ops[op].end && i - op < LABEL_WITHIN; i++) {
        const char *name = msim_trace_text(t, t->ops[i].name);

        if (strncmp(name, "nccl:", 5))
            continue;
        c.collective = (uint8_t)msim_name_collective(name, strlen(name));
        if (c.in_elems == 0)
            size_of_first(t, t->ops[i].args, &c.in_elems, &c.dtype);
        break;
    }
    if (size_of_base(t, op, &c))
        return c;
    /* Collectives whose output has the size of the input on every rank. */
    if (c.collective == MSIM_COLL_ALL_REDUCE ||
        c.collective == MSIM_COLL_BROADCAST ||
        c.collective == MSIM_COLL_REDUCE ||
        c.collective == MSIM_COLL_ALL_TO_ALL)
        c.out_elems = c.in_elems;
    return c;
}

/* c10d::allreduce_ and the like, where no operator inside says more. */
static bool is_bare_collective(const struct msim_trace *t, uint32_t i,
                               uint32_t recorded)
{
    const char *name = msim_trace_text(t, t->ops[i].name);
    uint32_t k;

    if (strncmp(name, "c10d::", 6) != 0 ||
        msim_name_collective(name, strlen(name)) == MSIM_COLL_UNKNOWN)
        return false;
    for (k = i + 1; k < t->ops[i].end; k++)
        if (t->ops[k].name == recorded)
            return false;
    return true;
}

static enum msim_status add_row(struct msim_trace *t, uint32_t i)
{
    const char *name = msim_trace_text(t, t->ops[i].name);
    struct msim_comm *c;

    MSIM_TRY(msim_grow((void **)&t->comms, &t->cap_comms, t->n_comms,
                       sizeof(*t->comms)));
    c = &t->comms[t->n_comms];
    *c = guess(t, i);
    if (c->collective == MSIM_COLL_UNKNOWN && strncmp(name, "c10d::", 6) == 0)
        c->collective = (uint8_t)msim_name_collective(name, strlen(name));
    msim_import_add(&t->import, MSIM_IMPORT_COMM_SIZE, 1);
    t->ops[i].comm = t->n_comms++;
    return MSIM_OK;
}

static enum msim_status rows_of_ops(struct msim_trace *t)
{
    uint32_t name = msim_strtab_find(t->strings, "record_param_comms"), i;

    for (i = 0; i < t->n_ops; i++) {
        struct msim_op *op = &t->ops[i];

        if (op->comm == MSIM_NONE &&
            (op->name == name || is_bare_collective(t, i, name)))
            MSIM_TRY(add_row(t, i));
        if (op->comm != MSIM_NONE)
            t->comms[op->comm].op = i;
    }
    return MSIM_OK;
}

/* What a kernel's own metadata adds to its operator's row. */
static void merge_comm(struct msim_comm *to, const struct msim_comm *from)
{
    if (to->collective == MSIM_COLL_UNKNOWN)
        to->collective = from->collective;
    if (to->dtype == MSIM_DT_UNKNOWN)
        to->dtype = from->dtype;
    if (to->in_elems == 0 && to->out_elems == 0) {
        to->in_elems = from->in_elems;
        to->out_elems = from->out_elems;
    }
    if (to->sequence < 0)
        to->sequence = from->sequence;
    if (to->peer < 0) {
        to->peer = from->peer;
        to->by_place = from->by_place;
    }
    if (to->group == MSIM_NONE)
        to->group = from->group;
}

/* A kernel with neither metadata nor an operator: only its name is known. */
static enum msim_status row_of_name(struct msim_trace *t, struct msim_gpu *g)
{
    const char *name = msim_trace_text(t, g->name);

    MSIM_TRY(msim_grow((void **)&t->comms, &t->cap_comms, t->n_comms,
                       sizeof(*t->comms)));
    t->comms[t->n_comms] = (struct msim_comm){
        .sequence = -1,
        .peer = -1,
        .group = MSIM_NONE,
        .op = MSIM_NONE,
        .collective = (uint8_t)msim_name_collective(name, strlen(name)),
    };
    g->comm = t->n_comms++;
    return MSIM_OK;
}

/* By name; each name is parsed once. `known`: 0 not yet, else the kind + 1. */
static enum msim_comm_kernel kind_of_name(const struct msim_trace *t,
                                          uint32_t name, uint8_t *known)
{
    if (!known[name])
        known[name] =
            (uint8_t)(msim_name_comm_kernel(msim_trace_text(t, name)) + 1);
    return (enum msim_comm_kernel)(known[name] - 1);
}

/* A kernel that only its name shows to be communication. */
static enum msim_status by_name(struct msim_trace *t, struct msim_gpu *g,
                                uint8_t *known)
{
    enum msim_comm_kernel kind = kind_of_name(t, g->name, known);

    if (kind == MSIM_COMM_KERNEL_NONE)
        return MSIM_OK;
    g->kind = MSIM_GPU_COMM;
    msim_import_add(&t->import, MSIM_IMPORT_COMM_NAME, 1);
    return kind == MSIM_COMM_KERNEL_MEETS ? row_of_name(t, g) : MSIM_OK;
}

static enum msim_status comm_of_kernel(struct msim_trace *t, struct msim_gpu *g,
                                       uint8_t *known)
{
    uint32_t around = g->op == MSIM_NONE ? MSIM_NONE : comm_around(t, g->op);
    struct msim_comm *c;

    if (g->kind == MSIM_GPU_COMM && around != MSIM_NONE && around != g->comm) {
        if (g->comm != MSIM_NONE)
            merge_comm(&t->comms[around], &t->comms[g->comm]);
        g->comm = around;
    } else if (g->kind == MSIM_GPU_KERNEL && around != MSIM_NONE) {
        g->kind = MSIM_GPU_COMM;
        g->comm = around;
    } else if (g->kind == MSIM_GPU_KERNEL) {
        return by_name(t, g, known);
    }
    if (g->comm == MSIM_NONE)
        return MSIM_OK;
    c = &t->comms[g->comm];
    if (c->collective == MSIM_COLL_UNKNOWN) {
        const char *name = msim_trace_text(t, g->name);

        c->collective = (uint8_t)msim_name_collective(name, strlen(name));
    }
    return MSIM_OK;
}

/* Nothing launched, nothing inside, no tensor: Work::wait(). */
static void find_waits(struct msim_trace *t)
{
    uint32_t i;

    for (i = 0; i < t->n_comms; i++) {
        struct msim_comm *c = &t->comms[i];

        if (c->collective == MSIM_COLL_UNKNOWN && c->op != MSIM_NONE &&
            c->in_elems == 0 && t->ops[c->op].end == c->op + 1)
            c->collective = MSIM_COLL_WAIT;
    }
}

/* Remove rows that were merged into others. */
static enum msim_status drop_unused(struct msim_trace *t)
{
    uint32_t *place, i, n = 0;

    if (t->n_comms == 0)
        return MSIM_OK;
    place = malloc(t->n_comms * sizeof(*place));
    if (!place)
        return MSIM_ENOMEM;
    for (i = 0; i < t->n_comms; i++)
        place[i] = t->comms[i].op == MSIM_NONE ? MSIM_NONE : 0;
    for (i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].comm != MSIM_NONE)
            place[t->gpu[i].comm] = 0;
    for (i = 0; i < t->n_comms; i++) {
        if (place[i] == MSIM_NONE)
            continue;
        t->comms[n] = t->comms[i];
        place[i] = n++;
    }
    t->n_comms = n;
    for (i = 0; i < t->n_ops; i++)
        if (t->ops[i].comm != MSIM_NONE)
            t->ops[i].comm = place[t->ops[i].comm];
    for (i = 0; i < t->n_gpu; i++)
        if (t->gpu[i].comm != MSIM_NONE)
            t->gpu[i].comm = place[t->gpu[i].comm];
    free(place);
    return MSIM_OK;
}

static enum msim_status find_kernels(struct msim_trace *t)
{
    uint8_t *known = calloc(msim_strtab_count(t->strings), 1);
    enum msim_status status = known ? MSIM_OK : MSIM_ENOMEM;
    uint32_t i;

    for (i = 0; i < t->n_gpu && status == MSIM_OK; i++)
        if (t->gpu[i].kind == MSIM_GPU_KERNEL ||
            t->gpu[i].kind == MSIM_GPU_COMM)
            status = comm_of_kernel(t, &t->gpu[i], known);
    free(known);
    return status;
}

enum msim_status msim_order_comms(struct msim_trace *t)
{
    MSIM_TRY(rows_of_ops(t));
    MSIM_TRY(find_kernels(t));
    find_waits(t);
    return drop_unused(t);
}

bool msim_order_cpu_only(const struct msim_trace *t)
{
    uint32_t i;

    if (t->has_gpu_events)
        return false;
    for (i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR &&
            t->args[i].device == MSIM_DEV_GPU)
            return false;
    return true;
}
