/*
 * core/chakra/chakra_tasks.c - the nodes of a rank with times: its tasks in
 * the dependency graph as chains of nodes (chakra_nodes.c).
 */
#include "core/chakra/write_chakra_internal.h"

#include <stdlib.h>
#include <string.h>

/* What the successors of a task wait for, seen from their rank. */
struct source {
    uint32_t node; /* or NONE: an instant */
    msim_ps lag;   /* or the instant */
};

struct tasks {
    struct msim_chakra_nodes *p;
    const struct msim_graph *g;
    const struct msim_trace *t;
    const uint32_t *order;
    uint32_t rank;
    uint32_t *pred_begin, *pred; /* edges by their target */
    msim_ps *pred_lag;
    uint32_t *last;              /* task -> last node of its chain, or NONE */
    uint32_t *passed, *n_passed; /* task without nodes -> its sources */
    struct msim_vec sources;     /* struct source */
    struct msim_vec inputs;      /* of the task at hand; struct source */
    msim_ps *release;            /* task -> instant, or TIME_NONE */
    uint32_t *op_from, *op_to;   /* ops that begin in a task */
    uint32_t *op_node, *call_node;
    msim_ps *share; /* of each op in its task's work */
    bool *has_call; /* op: a call in its sub-tree */
    bool *own_task; /* call: has a task of its own */
    uint32_t tail;  /* node that the next of this chain follows, or NONE */
};

static struct msim_chakra_out_node *node_at(const struct tasks *x, uint32_t i)
{
    return (struct msim_chakra_out_node *)x->p->nodes.data + i;
}

static bool is_host(uint8_t kind)
{
    return kind == MSIM_TASK_HOST || kind == MSIM_TASK_GAP;
}

/* ---- what begins in which task ------------------------------------------ */

/* The thread whose lane a task is on, if it is one of this rank. */
static uint32_t thread_of(const struct tasks *x, uint32_t task)
{
    uint32_t lane = x->g->lane[task];

    if (x->g->refs[task].rank != x->rank || lane == MSIM_NONE ||
        x->g->lanes[lane].device || x->g->lanes[lane].index >= x->t->n_threads)
        return MSIM_NONE;
    return x->g->lanes[lane].index;
}

/*
 * Every operator begins in one task, in order. Those to which the graph gives
 * no task (they begin while a call runs, or take no time) go to the next task
 * of their thread, the last ones to the last task.
 */
static enum msim_status place_ops(struct tasks *x)
{
    size_t n = (size_t)x->t->n_threads + 1;
    uint32_t *next = malloc(n * 2 * sizeof(*next)), *last = next + n;

    if (!next)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < x->t->n_threads; i++) {
        next[i] = x->t->threads[i].op_begin;
        last[i] = MSIM_NONE;
    }
    for (uint32_t k = 0; k < x->g->n_tasks; k++) {
        uint32_t task = x->order[k], th = thread_of(x, task);
        const struct msim_task_ref *ref = &x->g->refs[task];

        if (th == MSIM_NONE || !is_host(x->g->kind[task]))
            continue;
        last[th] = task;
        x->op_from[task] = x->op_to[task] = next[th];
        if (ref->op_end != MSIM_NONE && ref->op_end > next[th])
            x->op_to[task] = next[th] = ref->op_end;
    }
    for (uint32_t i = 0; i < x->t->n_threads; i++)
        if (last[i] != MSIM_NONE && next[i] < x->t->threads[i].op_end)
            x->op_to[last[i]] = x->t->threads[i].op_end;
    free(next);
    return MSIM_OK;
}

/* Operators with calls inside: they may go on in other tasks. */
static void mark_calls(struct tasks *x)
{
    for (uint32_t i = 0; i < x->t->n_calls; i++)
        if (x->t->calls[i].op != MSIM_NONE)
            x->has_call[x->t->calls[i].op] = true;
    for (uint32_t i = x->t->n_ops; i-- > 0;)
        if (x->has_call[i] && x->t->ops[i].parent != MSIM_NONE)
            x->has_call[x->t->ops[i].parent] = true;
}

static msim_ps self_time(const struct tasks *x, uint32_t i)
{
    const struct msim_op *op = &x->t->ops[i];
    msim_ps self = op->dur;

    for (uint32_t k = i + 1; k < op->end; k = x->t->ops[k].end)
        self -= x->t->ops[k].dur;
    return self > 0 ? self : 0;
}

/* ---- nodes -------------------------------------------------------------- */

/* What the current task waits for, as seen from this rank, into x->inputs. */
static enum msim_status add_input(struct tasks *x, uint32_t node, msim_ps lag)
{
    struct source *s = msim_vec_add(&x->inputs, sizeof(*s));

    if (!s)
        return MSIM_ENOMEM;
    *s = (struct source){node, lag};
    return MSIM_OK;
}

static enum msim_status gather(struct tasks *x, uint32_t task)
{
    x->inputs.n = 0;
    if (x->release[task] != MSIM_TIME_NONE)
        MSIM_TRY(add_input(x, MSIM_NONE, x->release[task]));
    for (uint32_t e = x->pred_begin[task]; e < x->pred_begin[task + 1]; e++) {
        uint32_t from = x->pred[e];
        msim_ps lag = x->pred_lag[e];
        const struct source *s = x->sources.data;

        if (x->last[from] != MSIM_NONE)
            MSIM_TRY(add_input(x, x->last[from], lag));
        for (uint32_t i = 0; i < x->n_passed[from]; i++)
            MSIM_TRY(add_input(x, s[x->passed[from] + i].node,
                               s[x->passed[from] + i].lag + lag));
    }
    return MSIM_OK;
}

/* A task without nodes passes on what it waits for. */
static enum msim_status pass(struct tasks *x, uint32_t task)
{
    const struct source *from = x->inputs.data;

    x->passed[task] = x->sources.n;
    x->n_passed[task] = x->inputs.n;
    for (uint32_t i = 0; i < x->inputs.n; i++) {
        struct source *s = msim_vec_add(&x->sources, sizeof(*s));

        if (!s)
            return MSIM_ENOMEM;
        *s = from[i];
    }
    return MSIM_OK;
}

/* The first node of a chain waits for what its task waits for. */
static enum msim_status take_inputs(struct tasks *x, uint32_t node)
{
    const struct source *s = x->inputs.data;

    for (uint32_t i = 0; i < x->inputs.n; i++) {
        struct msim_chakra_out_node *n = node_at(x, node);

        if (s[i].node != MSIM_NONE)
            MSIM_TRY(msim_chakra_nodes_depend(x->p, s[i].node, s[i].lag));
        else if (n->not_before == MSIM_TIME_NONE || n->not_before < s[i].lag)
            n->not_before = s[i].lag;
    }
    x->p->releases += node_at(x, node)->not_before != MSIM_TIME_NONE;
    return MSIM_OK;
}

static enum msim_status add_node(struct tasks *x, enum msim_chakra_event event,
                                 uint32_t row, msim_ps own, uint32_t ctrl)
{
    uint32_t node;

    MSIM_TRY(msim_chakra_nodes_add(x->p, event, row, own, &node));
    node_at(x, node)->ctrl = ctrl;
    if (x->tail == MSIM_NONE)
        MSIM_TRY(take_inputs(x, node));
    else
        MSIM_TRY(msim_chakra_nodes_depend(x->p, x->tail, 0));
    x->tail = node;
    return MSIM_OK;
}

static uint32_t node_of_op(const struct tasks *x, uint32_t op)
{
    return op == MSIM_NONE ? MSIM_NONE : x->op_node[op];
}

static enum msim_status add_op(struct tasks *x, uint32_t i, msim_ps own)
{
    const struct msim_op *op = &x->t->ops[i];

    MSIM_TRY(add_node(x,
                      op->kind == MSIM_OP_OPERATOR ? MSIM_CHAKRA_OPERATOR_EVENT
                      : op->kind == MSIM_OP_ROOT   ? MSIM_CHAKRA_ROOT_EVENT
                                                 : MSIM_CHAKRA_ANNOTATION_EVENT,
                      i, own, node_of_op(x, op->parent)));
    x->op_node[i] = x->tail;
    return MSIM_OK;
}

static msim_ps work_of(const struct tasks *x, uint32_t task)
{
    msim_ps work = x->g->traced[task];

    return work > 0 ? work : 0;
}

/*
 * A stretch of a thread. An operator that begins and ends in it takes its own
 * time out of the task's work. The rest belongs to the innermost operator that
 * goes on, or is a node before all others.
 */
static enum msim_status add_stretch(struct tasks *x, uint32_t task)
{
    uint32_t from = x->op_from[task], to = x->op_to[task], open = MSIM_NONE;
    uint32_t around = x->g->refs[task].op;
    msim_ps left = work_of(x, task);

    for (uint32_t i = from; i < to; i++) {
        x->share[i] = 0;
        if (x->has_call[i] || x->t->ops[i].end > to) {
            open = i;
            continue;
        }
        x->share[i] = self_time(x, i);
        x->share[i] = x->share[i] < left ? x->share[i] : left;
        left -= x->share[i];
    }
    if (open != MSIM_NONE)
        x->share[open] = left;
    else if (left > 0)
        MSIM_TRY(add_node(x, MSIM_CHAKRA_REST_EVENT, around, left,
                          node_of_op(x, around)));
    for (uint32_t i = from; i < to; i++)
        MSIM_TRY(add_op(x, i, x->share[i]));
    return MSIM_OK;
}

static enum msim_status add_call(struct tasks *x, uint32_t i, msim_ps own)
{
    MSIM_TRY(add_node(x, MSIM_CHAKRA_CALL_EVENT, i, own,
                      node_of_op(x, x->t->calls[i].op)));
    x->call_node[i] = x->tail;
    return MSIM_OK;
}

/* A call, and the calls inside it (a driver call in a runtime call). */
static enum msim_status add_calls(struct tasks *x, uint32_t task)
{
    uint32_t i = x->g->refs[task].index;
    uint32_t end = x->t->threads[x->t->calls[i].thread].call_end;

    MSIM_TRY(add_call(x, i, work_of(x, task)));
    while (++i < end && !x->own_task[i])
        MSIM_TRY(add_call(x, i, 0));
    return MSIM_OK;
}

static enum msim_status add_gpu(struct tasks *x, uint32_t task)
{
    static const uint8_t EVENTS[] = {
        MSIM_CHAKRA_KERNEL_EVENT, MSIM_CHAKRA_COMM_EVENT,
        MSIM_CHAKRA_MEMCPY_EVENT, MSIM_CHAKRA_MEMSET_EVENT};
    uint32_t i = x->g->refs[task].index, ctrl;
    const struct msim_gpu *g;

    if (i == MSIM_NONE)
        return MSIM_OK;
    g = &x->t->gpu[i];
    ctrl = node_of_op(x, g->op);
    if (ctrl == MSIM_NONE && g->call != MSIM_NONE)
        ctrl = x->call_node[g->call];
    return add_node(x, (enum msim_chakra_event)EVENTS[g->kind], i,
                    work_of(x, task), ctrl);
}

static enum msim_status add_task(struct tasks *x, uint32_t task)
{
    MSIM_TRY(gather(x, task));
    x->tail = MSIM_NONE;
    if (x->g->refs[task].rank == x->rank) {
        uint8_t kind = x->g->kind[task];

        if (is_host(kind))
            MSIM_TRY(add_stretch(x, task));
        else if (kind == MSIM_TASK_CALL)
            MSIM_TRY(add_calls(x, task));
        else if (kind != MSIM_TASK_JOIN)
            MSIM_TRY(add_gpu(x, task));
    }
    x->last[task] = x->tail;
    /* Another rank's work is not written here, but ranks meet in joins. */
    if (x->tail != MSIM_NONE || (x->g->refs[task].rank != x->rank &&
                                 x->g->kind[task] != MSIM_TASK_JOIN))
        return MSIM_OK;
    return pass(x, task);
}

/* Rows of synchronisations, which no task stands for. */
static enum msim_status add_syncs(struct tasks *x)
{
    for (uint32_t i = 0; i < x->t->n_syncs; i++) {
        uint32_t call = x->t->syncs[i].call, node;

        MSIM_TRY(
            msim_chakra_nodes_add(x->p, MSIM_CHAKRA_SYNC_EVENT, i, 0, &node));
        if (call == MSIM_NONE || x->call_node[call] == MSIM_NONE)
            continue;
        node_at(x, node)->ctrl = x->call_node[call];
        MSIM_TRY(msim_chakra_nodes_depend(x->p, x->call_node[call], 0));
    }
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

/* Edges by their target: a counting sort of the edges by source. */
static void turn_edges(struct tasks *x)
{
    const struct msim_graph *g = x->g;
    uint32_t *at = x->pred_begin + 1;

    for (uint32_t e = 0; e < g->n_edges; e++)
        at[g->edges[e].to + 1]++;
    for (uint32_t t = 1; t <= g->n_tasks; t++)
        at[t] += at[t - 1];
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++) {
            uint32_t k = at[g->edges[e].to]++;

            x->pred[k] = t;
            x->pred_lag[k] = g->edges[e].lag;
        }
}

static void list_releases(struct tasks *x)
{
    const struct msim_graph *g = x->g;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        x->release[t] = MSIM_TIME_NONE;
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (x->release[g->releases[i].task] < g->releases[i].at)
            x->release[g->releases[i].task] = g->releases[i].at;
}

static void mark_own_tasks(struct tasks *x)
{
    for (uint32_t t = 0; t < x->g->n_tasks; t++)
        if (x->g->kind[t] == MSIM_TASK_CALL && x->g->refs[t].rank == x->rank)
            x->own_task[x->g->refs[t].index] = true;
}

static enum msim_status plan(struct tasks *x)
{
    turn_edges(x);
    list_releases(x);
    mark_own_tasks(x);
    mark_calls(x);
    MSIM_TRY(place_ops(x));
    for (uint32_t k = 0; k < x->g->n_tasks; k++)
        MSIM_TRY(add_task(x, x->order[k]));
    return add_syncs(x);
}

/* The arrays with one entry a task, an operator or a call. */
static bool allocate(struct tasks *x)
{
    size_t n = (size_t)x->g->n_tasks + 2, edges = (size_t)x->g->n_edges + 1;
    size_t ops = (size_t)x->t->n_ops + 1, calls = (size_t)x->t->n_calls + 1;

    x->pred_begin = calloc(n + 1, sizeof(*x->pred_begin));
    x->pred = malloc(edges * sizeof(*x->pred));
    x->pred_lag = malloc(edges * sizeof(*x->pred_lag));
    x->last = calloc(n * 5, sizeof(*x->last));
    x->release = malloc(n * sizeof(*x->release));
    x->op_node = malloc((ops + calls) * sizeof(*x->op_node));
    x->share = calloc(ops, sizeof(*x->share));
    x->has_call = calloc(ops, sizeof(*x->has_call));
    x->own_task = calloc(calls, sizeof(*x->own_task));
    if (!x->pred_begin || !x->pred || !x->pred_lag || !x->last || !x->release ||
        !x->op_node || !x->share || !x->has_call || !x->own_task)
        return false;
    x->passed = x->last + n;
    x->n_passed = x->last + n * 2;
    x->op_from = x->last + n * 3;
    x->op_to = x->last + n * 4;
    x->call_node = x->op_node + ops;
    memset(x->op_node, 0xff, (ops + calls) * sizeof(*x->op_node));
    return true;
}

enum msim_status msim_chakra_nodes_timed(struct msim_chakra_nodes *p,
                                         const struct msim_graph *g,
                                         const uint32_t *order, uint32_t rank)
{
    struct tasks x = {
        .p = p, .g = g, .t = g->job->ranks[rank], .order = order, .rank = rank};
    enum msim_status status = MSIM_ENOMEM;

    p->trace = x.t;
    if (allocate(&x))
        status = plan(&x);
    free(x.pred_begin);
    free(x.pred);
    free(x.pred_lag);
    free(x.last);
    free(x.release);
    free(x.op_node);
    free(x.share);
    free(x.has_call);
    free(x.own_task);
    free(x.sources.data);
    free(x.inputs.data);
    return status;
}
