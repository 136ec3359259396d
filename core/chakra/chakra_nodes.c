/*
 * core/chakra/chakra_nodes.c - nodes and their dependencies, and the nodes of
 * a rank without times.
 */
#include "core/chakra/write_chakra_internal.h"

#include "core/base/containers.h"

#include <stdlib.h>

void msim_chakra_nodes_release(struct msim_chakra_nodes *p)
{
    free(p->nodes.data);
    free(p->deps.data);
    *p = (struct msim_chakra_nodes){0};
}

enum msim_status msim_chakra_nodes_add(struct msim_chakra_nodes *p,
                                       enum msim_chakra_event event,
                                       uint32_t row, msim_ps own,
                                       uint32_t *index)
{
    struct msim_chakra_out_node *n = msim_vec_add(&p->nodes, sizeof(*n));

    if (!n)
        return MSIM_ENOMEM;
    *n = (struct msim_chakra_out_node){.own = own,
                                       .not_before = MSIM_TIME_NONE,
                                       .row = row,
                                       .op = MSIM_NONE,
                                       .ctrl = MSIM_NONE,
                                       .deps = p->deps.n,
                                       .event = (uint8_t)event};
    *index = p->nodes.n - 1;
    return MSIM_OK;
}

enum msim_status msim_chakra_nodes_depend(struct msim_chakra_nodes *p,
                                          uint32_t node, msim_ps lag)
{
    struct msim_chakra_out_node *n =
        (struct msim_chakra_out_node *)p->nodes.data + p->nodes.n - 1;
    struct msim_chakra_dep *dep = p->deps.data;
    int64_t ns = lag / 1000;

    ns = ns > INT32_MAX ? INT32_MAX : ns < INT32_MIN ? INT32_MIN : ns;
    for (uint32_t i = n->deps; i < n->deps + n->n_deps; i++) {
        if (dep[i].node != node)
            continue;
        if (dep[i].lag_ns < ns)
            dep[i].lag_ns = (int32_t)ns;
        return MSIM_OK;
    }
    dep = msim_vec_add(&p->deps, sizeof(*dep));
    if (!dep)
        return MSIM_ENOMEM;
    *dep = (struct msim_chakra_dep){node, (int32_t)ns};
    /* The array may have moved, not the node. */
    n->n_deps++;
    p->delays += ns != 0;
    p->delayed += ns * 1000;
    return MSIM_OK;
}

/* ---- without times ------------------------------------------------------ */

struct shapes {
    struct msim_chakra_nodes *p;
    const struct msim_trace *t;
    const struct msim_chakra_work *works;
    uint32_t *node; /* of each operator */
    uint32_t last, last_kernel, last_comm;
    bool wait; /* the next kernel waits for the last collective */
};

static bool by_id(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    return t->ops[a].et_id < t->ops[b].et_id;
}

static enum msim_status depend(struct shapes *s, uint32_t node)
{
    return node == MSIM_NONE ? MSIM_OK
                             : msim_chakra_nodes_depend(s->p, node, 0);
}

/* An activity of the GPU that operator `i` starts. */
static enum msim_status add_made(struct shapes *s, uint32_t i, uint32_t comm,
                                 uint32_t *last)
{
    struct msim_chakra_out_node *n;
    uint32_t index;

    MSIM_TRY(
        msim_chakra_nodes_add(s->p, MSIM_CHAKRA_MADE_EVENT, comm, 0, &index));
    n = (struct msim_chakra_out_node *)s->p->nodes.data + index;
    n->op = i;
    n->ctrl = s->node[i];
    MSIM_TRY(depend(s, s->node[i]));
    MSIM_TRY(depend(s, *last));
    *last = index;
    return MSIM_OK;
}

/*
 * One stream of kernels and one of communication, each in order. A collective
 * waits for the kernel before it, and a kernel after a wait for the collective
 * before that wait.
 */
static enum msim_status add_work(struct shapes *s, uint32_t i)
{
    uint32_t comm = s->t->ops[i].comm;

    if (comm != MSIM_NONE && s->t->comms[comm].collective == MSIM_COLL_WAIT) {
        s->wait = s->last_comm != MSIM_NONE;
        return MSIM_OK;
    }
    if (comm != MSIM_NONE) {
        MSIM_TRY(add_made(s, i, comm, &s->last_comm));
        return depend(s, s->last_kernel);
    }
    if (!s->works || (s->works[i].bytes <= 0 && s->works[i].flops <= 0))
        return MSIM_OK;
    MSIM_TRY(add_made(s, i, MSIM_NONE, &s->last_kernel));
    if (s->wait)
        MSIM_TRY(depend(s, s->last_comm));
    s->wait = false;
    return MSIM_OK;
}

static enum msim_status add_op(struct shapes *s, uint32_t i)
{
    static const uint8_t EVENTS[] = {MSIM_CHAKRA_OPERATOR_EVENT,
                                     MSIM_CHAKRA_ANNOTATION_EVENT,
                                     MSIM_CHAKRA_ROOT_EVENT};
    const struct msim_op *op = &s->t->ops[i];
    struct msim_chakra_out_node *n;

    MSIM_TRY(msim_chakra_nodes_add(
        s->p, (enum msim_chakra_event)EVENTS[op->kind], i, 0, &s->node[i]));
    n = (struct msim_chakra_out_node *)s->p->nodes.data + s->node[i];
    n->ctrl = op->parent == MSIM_NONE ? MSIM_NONE : s->node[op->parent];
    MSIM_TRY(depend(s, s->last));
    s->last = s->node[i];
    return add_work(s, i);
}

enum msim_status msim_chakra_nodes_shapes(struct msim_chakra_nodes *p,
                                          const struct msim_trace *t,
                                          const struct msim_chakra_work *works)
{
    struct shapes s = {.p = p,
                       .t = t,
                       .works = works,
                       .last = MSIM_NONE,
                       .last_kernel = MSIM_NONE,
                       .last_comm = MSIM_NONE};
    size_t n = (size_t)t->n_ops + 1;
    uint32_t *memory = malloc(n * 3 * sizeof(*memory));
    enum msim_status status = MSIM_OK;

    if (!memory)
        return MSIM_ENOMEM;
    p->trace = t;
    s.node = memory;
    for (uint32_t i = 0; i < t->n_ops; i++) {
        s.node[i] = MSIM_NONE;
        memory[n + i] = i;
    }
    msim_sort_index(memory + n, memory + n * 2, t->n_ops, by_id, t);
    for (uint32_t i = 0; i < t->n_ops && status == MSIM_OK; i++)
        status = add_op(&s, memory[n + i]);
    free(memory);
    return status;
}
