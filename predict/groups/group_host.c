/*
 * predict/groups/group_host.c - the parts of the host's work.
 *
 * Calls are told by their kind. A stretch of a thread between calls is told by
 * the operators and labels around it, from the outside in: what an optimizer's
 * step or a data loader encloses is theirs, whatever it calls.
 */
#include "core/trace/trace_columns.h"
#include "models/host/host.h"
#include "predict/groups/group_maker.h"

#include <stdlib.h>
#include <string.h>

/* Of one rank. */
struct parts {
    const struct msim_group_maker *m;
    const struct msim_trace *t;
    uint8_t *of_name; /* by string: what the name says; NO_GROUP: nothing yet */
    uint8_t *of_op;
};

static uint8_t part_of_call(enum msim_call_kind kind)
{
    switch (kind) {
    case MSIM_CALL_LAUNCH:
    case MSIM_CALL_GRAPH_LAUNCH:
        return MSIM_HOST_PART_LAUNCH;
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
    case MSIM_CALL_MEMSET:
        return MSIM_HOST_PART_TRANSFER;
    case MSIM_CALL_DEVICE_SYNC:
    case MSIM_CALL_STREAM_SYNC:
    case MSIM_CALL_EVENT_SYNC:
    case MSIM_CALL_EVENT_ELAPSED:
        return MSIM_HOST_PART_SYNC;
    case MSIM_CALL_EVENT_RECORD:
    case MSIM_CALL_STREAM_WAIT:
    case MSIM_CALL_EVENT_QUERY:
        return MSIM_HOST_PART_EVENT;
    case MSIM_CALL_MALLOC:
    case MSIM_CALL_FREE:
        return MSIM_HOST_PART_MEMORY;
    case MSIM_CALL_OTHER:
        break;
    }
    return MSIM_HOST_PART_CALL;
}

/* PyTorch marks optimizers ("Optimizer.step#Adam.step") and loaders
 * ("enumerate(DataLoader)#..."). */
static uint8_t part_of_name(const char *name, bool label)
{
    enum msim_host_class class = msim_host_class_of(name, true);

    if (strstr(name, "DataLoader"))
        return MSIM_HOST_PART_LOADER;
    if (strncmp(name, "Optimizer.", 10) == 0)
        return MSIM_HOST_PART_OPTIMIZER;
    if (class == MSIM_HOST_COLLECTIVE)
        return MSIM_HOST_PART_COLLECTIVE;
    if (label)
        return MSIM_HOST_PART_PYTHON;
    return class == MSIM_HOST_ENGINE || class == MSIM_HOST_BACKWARD
               ? MSIM_HOST_PART_AUTOGRAD
               : MSIM_HOST_PART_DISPATCH;
}

static uint8_t own_part(const struct parts *p, const struct msim_op *op)
{
    uint8_t *known = &p->of_name[op->name];

    if (op->kind == MSIM_OP_ROOT)
        return MSIM_HOST_PART_PYTHON;
    if (op->kind == MSIM_OP_ANNOTATION) /* names of labels are no operators' */
        return part_of_name(msim_trace_text(p->t, op->name), true);
    if (*known == MSIM_NO_GROUP)
        *known = part_of_name(msim_trace_text(p->t, op->name), false);
    return *known;
}

/* Parents come before their children. */
static void find_ops(const struct parts *p)
{
    for (uint32_t i = 0; i < p->t->n_ops; i++) {
        const struct msim_op *op = &p->t->ops[i];
        uint8_t outer = op->parent == MSIM_NONE ? (uint8_t)MSIM_HOST_PART_PYTHON
                                                : p->of_op[op->parent];

        p->of_op[i] = outer == MSIM_HOST_PART_PYTHON ? own_part(p, op) : outer;
    }
}

/* What runs in a stretch: the operator that it is in, else the first that
 * begins in it. */
static uint8_t part_of_stretch(const struct parts *p, uint32_t task)
{
    const struct msim_task_ref *ref = &p->m->g->refs[task];
    uint8_t part = ref->op == MSIM_NONE ? (uint8_t)MSIM_HOST_PART_PYTHON
                                        : p->of_op[ref->op];

    if (p->m->g->kind[task] == MSIM_TASK_GAP)
        return part == MSIM_HOST_PART_LOADER || part == MSIM_HOST_PART_OPTIMIZER
                   ? part
                   : (uint8_t)MSIM_HOST_PART_PYTHON;
    for (uint32_t i = ref->index;
         part == MSIM_HOST_PART_PYTHON && i < ref->op_end; i++)
        part = p->of_op[i];
    return part;
}

static uint8_t part_of(const struct parts *p, uint32_t task)
{
    switch ((enum msim_task_kind)p->m->g->kind[task]) {
    case MSIM_TASK_HOST:
    case MSIM_TASK_GAP:
        return part_of_stretch(p, task);
    case MSIM_TASK_CALL:
        return part_of_call(
            p->m->g->refs[task].index == MSIM_NONE
                ? MSIM_CALL_LAUNCH
                : (enum msim_call_kind)p->t->calls[p->m->g->refs[task].index]
                      .kind);
    case MSIM_TASK_KERNEL:
    case MSIM_TASK_COPY:
    case MSIM_TASK_COMM:
    case MSIM_TASK_JOIN:
        break;
    }
    return MSIM_NO_GROUP;
}

static enum msim_status set_rank(const struct msim_group_maker *m, uint32_t r)
{
    struct parts p = {.m = m, .t = m->g->job->ranks[r]};
    size_t names = (size_t)msim_strtab_count(m->g->job->strings) + 1;
    enum msim_status status = MSIM_ENOMEM;

    p.of_name = malloc(names);
    p.of_op = malloc((size_t)p.t->n_ops + 1);
    if (p.of_name && p.of_op) {
        status = MSIM_OK;
        memset(p.of_name, MSIM_NO_GROUP, names);
        find_ops(&p);
        for (uint32_t i = 0; i < m->g->n_tasks; i++)
            if (m->g->refs[i].rank == r)
                m->out->part[i] = part_of(&p, i);
    }
    free(p.of_name);
    free(p.of_op);
    return status;
}

enum msim_status msim_group_host_parts(const struct msim_group_maker *m)
{
    for (uint32_t r = 0; r < m->g->job->n_ranks; r++)
        MSIM_TRY(set_rank(m, r));
    return MSIM_OK;
}
