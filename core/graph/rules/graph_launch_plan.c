/*
 * core/graph/rules/graph_launch_plan.c - a rank without GPU events (an ET, or a
 * trace captured on a CPU), from a plan of what each operator launches.
 *
 * One host thread runs all operators in the order in which they began, since a
 * trace without times does not show what ran at the same time: autograd's
 * thread works while the main thread waits for it. Kernels queue on one stream;
 * collectives of one group on another, since PyTorch gives each communicator a
 * stream of its own, which reads what was computed before; messages on those of
 * graph_messages.c. Later kernels wait for a collective at once; or, if its
 * wait is recorded, from there on (a wait that has the number of a collective
 * is for that one); or, if a gradient hook launched it, from the end of the
 * backward pass on. An iteration ends when its GPU work has ended. On a machine
 * without a GPU the host computes itself.
 */
#include "core/base/containers.h"
#include "core/graph/rules/graph_rules.h"
#include "core/trace/trace_columns.h"

#include <stdlib.h>
#include <string.h>

/* A stream of collectives of one group, or of messages one way; tasks or NONE.
 */
struct comm_lane {
    uint32_t id;
    uint32_t last;   /* collective */
    uint32_t waits;  /* likewise, which later kernels wait for */
    uint32_t hooked; /* the last of a gradient hook */
};

struct planner {
    struct msim_graph_builder *b;
    const struct msim_trace *t;
    const struct msim_launch_plan *plan;
    uint32_t rank, host_lane, stream_lane;
    uint32_t *order; /* ops in the order they began */
    uint32_t n_order;
    uint32_t window;        /* current iteration's, or NONE */
    uint32_t host;          /* last host task */
    uint32_t stream;        /* last task of the stream of kernels, or NONE */
    uint32_t last;          /* collective or message, or NONE */
    uint32_t host_waits;    /* GPU task the next host task waits for, or NONE */
    uint32_t thread;        /* of the op before */
    bool has_waits;         /* the trace records waits for collectives */
    struct msim_idmap sent; /* by group and number: the collective's task */
    struct msim_idmap steps; /* by the op that marks them */
    uint32_t n_meetings;
    /* Messages, by comms: what each runs behind, its task, and whether another
     * runs behind it or the iteration has waited for it. */
    uint32_t *behind, *task;
    bool *over;
    struct msim_vec waits;     /* their tasks that later kernels wait for */
    struct msim_vec lanes;     /* of comm_lane */
    struct msim_idmap lane_of; /* by group, or by whom messages are from, and
                                  to: its index there */
    bool awaits, hooks;        /* any lane does */
};

static enum msim_status sort_ops(struct planner *p)
{
    struct msim_keyed *keys = malloc(((size_t)p->t->n_ops + 1) * sizeof(*keys));

    p->order = malloc(((size_t)p->t->n_ops + 1) * sizeof(*p->order));
    if (!keys || !p->order) {
        free(keys);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < p->t->n_ops; i++) {
        const struct msim_op *op = &p->t->ops[i];

        if (op->kind != MSIM_OP_ROOT)
            keys[p->n_order++] = (struct msim_keyed){
                p->t->has_times ? op->start : (int64_t)op->et_id, i};
    }
    msim_keyed_sort(keys, p->n_order);
    for (uint32_t i = 0; i < p->n_order; i++)
        p->order[i] = keys[i].index;
    free(keys);
    return MSIM_OK;
}

static enum msim_status depend(struct planner *p, enum msim_edge_kind kind,
                               uint32_t from, uint32_t to)
{
    if (from == MSIM_NONE)
        return MSIM_OK;
    return msim_builder_edge(p->b, kind, MSIM_FROM_ORDER, from, to, 0);
}

/* ---- host --------------------------------------------------------------- */

/* A host task that covers ops [first, end), behind the one before it. */
static enum msim_status add_host(struct planner *p, uint32_t first,
                                 uint32_t end)
{
    struct msim_task_ref ref = {first, first, end, (uint16_t)p->rank, 0};
    uint32_t id;

    if (first == end)
        ref.op = MSIM_NONE;
    MSIM_TRY(msim_builder_task(p->b, MSIM_TASK_HOST, p->host_lane, ref,
                               MSIM_TIME_NONE, MSIM_TIME_NONE, &id));
    if (p->host != MSIM_NONE)
        MSIM_TRY(msim_builder_edge(p->b, MSIM_EDGE_PROGRAM, MSIM_FROM_ORDER,
                                   p->host, id, 0));
    p->host = id;
    MSIM_TRY(depend(p, MSIM_EDGE_STREAM_SYNC, p->host_waits, id));
    p->host_waits = MSIM_NONE;
    return MSIM_OK;
}

/* ---- device ------------------------------------------------------------- */

static enum msim_status add_gpu(struct planner *p, enum msim_task_kind kind,
                                uint32_t lane, uint32_t op, uint32_t work,
                                uint32_t *id)
{
    struct msim_task_ref ref = {MSIM_NONE, op, MSIM_NONE, (uint16_t)p->rank,
                                (uint16_t)work};

    MSIM_TRY(msim_builder_task(p->b, kind, lane, ref, MSIM_TIME_NONE,
                               kind == MSIM_TASK_JOIN ? 0 : MSIM_TIME_NONE,
                               id));
    p->b->g->window[*id] = p->window;
    return MSIM_OK;
}

static enum msim_task_kind task_kind(enum msim_launch_kind what)
{
    return what == MSIM_LAUNCH_KERNEL ? MSIM_TASK_KERNEL : MSIM_TASK_COPY;
}

/* Of the collective, and of all messages, that later kernels wait for. */
static enum msim_status await(struct planner *p, uint32_t id)
{
    const uint32_t *of = p->waits.data;
    struct comm_lane *lanes = p->lanes.data;

    for (uint32_t i = 0; i < p->lanes.n && p->awaits; i++) {
        MSIM_TRY(depend(p, MSIM_EDGE_EVENT, lanes[i].waits, id));
        lanes[i].waits = MSIM_NONE;
    }
    for (uint32_t i = 0; i < p->waits.n; i++)
        MSIM_TRY(depend(p, MSIM_EDGE_EVENT, of[i], id));
    p->awaits = false;
    p->waits.n = 0;
    return MSIM_OK;
}

static enum msim_status add_kernel(struct planner *p, uint32_t op,
                                   uint32_t work, enum msim_launch_kind what)
{
    uint32_t id;

    MSIM_TRY(add_gpu(p, task_kind(what), p->stream_lane, op, work, &id));
    MSIM_TRY(depend(p, MSIM_EDGE_LAUNCH, p->host, id));
    MSIM_TRY(depend(p, MSIM_EDGE_STREAM, p->stream, id));
    MSIM_TRY(await(p, id));
    p->stream = id;
    if (what == MSIM_LAUNCH_COPY_BACK)
        p->host_waits = id;
    return MSIM_OK;
}

/* The host computes it where it is called. */
static enum msim_status add_on_host(struct planner *p, uint32_t op,
                                    uint32_t work, enum msim_launch_kind what)
{
    uint32_t id;

    MSIM_TRY(add_gpu(p, task_kind(what), p->host_lane, op, work, &id));
    MSIM_TRY(depend(p, MSIM_EDGE_PROGRAM, p->host, id));
    MSIM_TRY(await(p, id));
    p->host = id;
    p->stream = id;
    return MSIM_OK;
}

/* Was it launched while a gradient was accumulated, by DDP's reducer, which
 * overlaps? */
static bool in_gradient_hook(const struct planner *p, uint32_t op)
{
    for (; op != MSIM_NONE; op = p->t->ops[op].parent)
        if (strstr(msim_trace_text(p->t, p->t->ops[op].name), "AccumulateGrad"))
            return true;
    return false;
}

/* Nothing where the collective has no number. */
static enum msim_status note_sent(struct planner *p, uint32_t comm, uint32_t id)
{
    const struct msim_comm *m = comm == MSIM_NONE ? NULL : &p->t->comms[comm];
    uint32_t *at;

    if (!m || m->sequence < 0)
        return MSIM_OK;
    MSIM_TRY(msim_idmap_put(&p->sent, msim_idmap_pair(m->group, m->sequence),
                            id, &at));
    *at = id;
    return MSIM_OK;
}

/* The collective that wait `m` is for: the one of its number, else the last. */
static uint32_t waited_for(const struct planner *p, const struct msim_comm *m)
{
    uint32_t id =
        m->sequence < 0
            ? MSIM_NONE
            : msim_idmap_get(&p->sent, msim_idmap_pair(m->group, m->sequence));

    return id == MSIM_NONE ? p->last : id;
}

static bool is_message(const struct planner *p, uint32_t comm)
{
    struct msim_message ends;

    return comm != MSIM_NONE &&
           msim_message_of(p->t, &p->t->comms[comm], &ends);
}

/* Collectives that name no group are of one. */
static uint64_t lane_key(const struct planner *p, uint32_t comm)
{
    bool named = comm != MSIM_NONE && p->t->comms[comm].group != MSIM_NONE;

    return named || is_message(p, comm)
               ? msim_graph_group_key(p->b, p->rank, comm)
               : 0;
}

static enum msim_status find_lane(struct planner *p, uint32_t comm,
                                  struct comm_lane **lane)
{
    uint64_t key = lane_key(p, comm);
    struct comm_lane *lanes;
    uint32_t *at;

    MSIM_TRY(msim_idmap_put(&p->lane_of, key, MSIM_NONE, &at));
    if (*at == MSIM_NONE) {
        *at = p->lanes.n;
        lanes = msim_vec_add(&p->lanes, sizeof(*lanes));
        if (!lanes)
            return MSIM_ENOMEM;
        *lanes = (struct comm_lane){MSIM_NONE, MSIM_NONE, MSIM_NONE, MSIM_NONE};
        MSIM_TRY(
            msim_builder_lane(p->b, p->rank, p->lanes.n, true, &lanes->id));
    }
    lanes = p->lanes.data;
    *lane = &lanes[*at];
    return MSIM_OK;
}

/* Later kernels wait for a collective instead of the one before on its lane,
 * which runs before it; for a message, beside others. */
static enum msim_status let_wait(struct planner *p, uint32_t id)
{
    uint32_t *at, comm;
    struct comm_lane *lane;

    if (id == MSIM_NONE)
        return MSIM_OK;
    comm = p->t->ops[p->b->g->refs[id].op].comm;
    if (!is_message(p, comm)) {
        MSIM_TRY(find_lane(p, comm, &lane));
        lane->waits = id;
        p->awaits = true;
        return MSIM_OK;
    }
    at = msim_vec_add(&p->waits, sizeof(*at));
    if (!at)
        return MSIM_ENOMEM;
    *at = id;
    return MSIM_OK;
}

/* What a call runs behind; it is the last then. */
static uint32_t put_last(struct planner *p, struct comm_lane *lane,
                         uint32_t comm, uint32_t id)
{
    uint32_t before = lane->last, behind;

    p->last = id;
    if (!is_message(p, comm)) {
        lane->last = id;
        return before;
    }
    behind = p->behind[comm];
    p->task[comm] = id;
    if (behind == MSIM_NONE)
        return MSIM_NONE;
    p->over[behind] = true;
    return p->task[behind];
}

static enum msim_status add_comm(struct planner *p, uint32_t op, uint32_t work)
{
    uint32_t arrive, id, comm = p->t->ops[op].comm;
    struct comm_lane *lane;

    MSIM_TRY(find_lane(p, comm, &lane));
    MSIM_TRY(add_gpu(p, MSIM_TASK_JOIN, lane->id, op, work, &arrive));
    MSIM_TRY(add_gpu(p, MSIM_TASK_COMM, lane->id, op, work, &id));
    MSIM_TRY(depend(p, MSIM_EDGE_LAUNCH, p->host, arrive));
    MSIM_TRY(depend(p, MSIM_EDGE_STREAM, put_last(p, lane, comm, id), arrive));
    MSIM_TRY(depend(p, MSIM_EDGE_INPUT, p->stream, arrive));
    MSIM_TRY(depend(p, MSIM_EDGE_PROGRAM, arrive, id));
    if (in_gradient_hook(p, op)) {
        lane->hooked = id;
        p->hooks = true;
    } else if (!p->has_waits) {
        MSIM_TRY(let_wait(p, id));
    }
    MSIM_TRY(note_sent(p, p->t->ops[op].comm, id));
    return msim_builder_meet(
        p->b,
        (struct msim_meeting){
            .group = msim_graph_group_key(p->b, p->rank, p->t->ops[op].comm),
            .ordinal = p->n_meetings++,
            .early = p->t->n_steps && p->window == MSIM_NONE,
            .rank = p->rank,
            .comm = p->t->ops[op].comm,
            .arrive = arrive,
            .transfer = id});
}

static enum msim_status add_works(struct planner *p, uint32_t op)
{
    uint32_t first = p->plan->first[op], end = p->plan->first[op + 1];

    for (uint32_t w = first; w < end; w++) {
        enum msim_launch_kind what = (enum msim_launch_kind)p->plan->kinds[w];

        if (what == MSIM_LAUNCH_COMM)
            MSIM_TRY(add_comm(p, op, w - first));
        else if (p->plan->on_host)
            MSIM_TRY(add_on_host(p, op, w - first, what));
        else
            MSIM_TRY(add_kernel(p, op, w - first, what));
    }
    return MSIM_OK;
}

/* ---- iterations --------------------------------------------------------- */

static enum msim_status await_comms(struct planner *p)
{
    const struct comm_lane *lanes = p->lanes.data;

    for (uint32_t i = 0; i < p->lanes.n; i++)
        MSIM_TRY(depend(p, MSIM_EDGE_STREAM_SYNC, lanes[i].last, p->host));
    for (uint32_t i = 0; i < p->t->n_comms; i++) {
        if (p->task[i] == MSIM_NONE || p->over[i])
            continue;
        p->over[i] = true;
        MSIM_TRY(depend(p, MSIM_EDGE_STREAM_SYNC, p->task[i], p->host));
    }
    return MSIM_OK;
}

/* The host waits for all that its iteration launched; then the step ends. */
static enum msim_status close_window(struct planner *p, uint32_t first)
{
    struct msim_window *w;

    if (p->window == MSIM_NONE)
        return MSIM_OK;
    p->host_waits = p->plan->on_host ? MSIM_NONE : p->stream;
    MSIM_TRY(add_host(p, first, first));
    MSIM_TRY(await_comms(p));
    w = &p->b->g->windows[p->window];
    w->last = p->host;
    p->window = MSIM_NONE;
    return MSIM_OK;
}

/* An anchor task that begins the iteration. */
static enum msim_status open_window(struct planner *p, uint32_t op,
                                    uint32_t step)
{
    int64_t number = step == MSIM_NONE ? -1 : p->t->steps[step].number;
    struct msim_window w = {
        .rank = p->rank, .step = step, .measured = MSIM_TIME_NONE};

    MSIM_TRY(add_host(p, op, op));
    w.first = p->host;
    w.last = p->host;
    p->window = p->b->g->n_windows;
    return msim_builder_window(p->b, w, number);
}

static enum msim_status index_steps(struct planner *p)
{
    uint32_t *slot;

    for (uint32_t s = 0; s < p->t->n_steps; s++)
        MSIM_TRY(msim_idmap_put(&p->steps, p->t->steps[s].op, s, &slot));
    return MSIM_OK;
}

/* A step ends where its thread goes on behind the step's sub-tree. */
static enum msim_status step_marks(struct planner *p, uint32_t i,
                                   uint32_t *step)
{
    const struct msim_trace *t = p->t;
    uint32_t begins = t->ops[i].kind == MSIM_OP_ANNOTATION && t->n_steps
                          ? msim_idmap_get(&p->steps, i)
                          : MSIM_NONE;

    if (*step != MSIM_NONE) {
        uint32_t mark = t->steps[*step].op;

        if (t->ops[i].thread == t->ops[mark].thread && i >= t->ops[mark].end) {
            MSIM_TRY(close_window(p, i));
            *step = MSIM_NONE;
        }
    }
    if (begins == MSIM_NONE)
        return MSIM_OK;
    MSIM_TRY(close_window(p, i));
    *step = begins;
    return open_window(p, i, begins);
}

/* ---- the walk ----------------------------------------------------------- */

/* The reducer waits for its buckets. */
static void wait_for_hooked(struct planner *p)
{
    struct comm_lane *lanes = p->lanes.data;

    for (uint32_t i = 0; i < p->lanes.n; i++) {
        if (lanes[i].hooked == MSIM_NONE)
            continue;
        lanes[i].waits = lanes[i].hooked;
        lanes[i].hooked = MSIM_NONE;
        p->awaits = true;
    }
    p->hooks = false;
}

/* What changes for later kernels when op `i` begins. */
static enum msim_status note_waits(struct planner *p, uint32_t i)
{
    const struct msim_op *op = &p->t->ops[i];

    if (op->comm != MSIM_NONE &&
        p->t->comms[op->comm].collective == MSIM_COLL_WAIT)
        MSIM_TRY(let_wait(p, waited_for(p, &p->t->comms[op->comm])));
    /* Back from autograd's thread: the reducer has waited for its buckets. */
    if (op->thread != p->thread && p->hooks)
        wait_for_hooked(p);
    p->thread = op->thread;
    return MSIM_OK;
}

/*
 * Ops that launch nothing share one host task with the next op that does, as
 * long as they follow each other in the trace as well.
 */
static enum msim_status walk(struct planner *p)
{
    const struct msim_trace *t = p->t;
    uint32_t first = 0, end = 0, step = MSIM_NONE;

    for (uint32_t k = 0; k < p->n_order; k++) {
        uint32_t i = p->order[k];
        bool mark = t->ops[i].kind == MSIM_OP_ANNOTATION && t->n_steps;

        if (i != end || mark || t->ops[i].thread != p->thread) {
            if (first != end)
                MSIM_TRY(add_host(p, first, end));
            first = end = i;
        }
        MSIM_TRY(step_marks(p, i, &step));
        MSIM_TRY(note_waits(p, i));
        end = i + 1;
        if (p->plan->first[i] == p->plan->first[i + 1])
            continue;
        MSIM_TRY(add_host(p, first, end));
        first = end;
        MSIM_TRY(add_works(p, i));
    }
    if (first != end)
        MSIM_TRY(add_host(p, first, end));
    return close_window(p, p->t->n_ops);
}

static enum msim_status add_lanes(struct planner *p)
{
    MSIM_TRY(msim_builder_lane(p->b, p->rank, MSIM_NONE, false, &p->host_lane));
    return msim_builder_lane(p->b, p->rank, 0, true, &p->stream_lane);
}

static enum msim_status find_messages(struct planner *p)
{
    size_t n = (size_t)p->t->n_comms + 1;

    p->behind = malloc(n * sizeof(*p->behind));
    p->task = malloc(n * sizeof(*p->task));
    p->over = calloc(n, sizeof(*p->over));
    if (!p->behind || !p->task || !p->over)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        p->task[i] = MSIM_NONE;
    return msim_graph_message_order(p->b->job, p->rank, p->behind);
}

static enum msim_status run(struct planner *p)
{
    MSIM_TRY(find_messages(p));
    MSIM_TRY(sort_ops(p));
    MSIM_TRY(add_lanes(p));
    MSIM_TRY(index_steps(p));
    for (uint32_t i = 0; i < p->t->n_comms; i++)
        p->has_waits |= p->t->comms[i].collective == MSIM_COLL_WAIT;
    if (!p->t->n_steps)
        MSIM_TRY(open_window(p, 0, MSIM_NONE));
    return walk(p);
}

enum msim_status msim_graph_launch_plan(struct msim_graph_builder *b,
                                        uint32_t rank,
                                        const struct msim_launch_plan *plan)
{
    struct planner p = {.b = b,
                        .t = b->job->ranks[rank],
                        .plan = plan,
                        .rank = rank,
                        .window = MSIM_NONE,
                        .host = MSIM_NONE,
                        .stream = MSIM_NONE,
                        .last = MSIM_NONE,
                        .host_waits = MSIM_NONE,
                        .thread = MSIM_NONE};
    enum msim_status status = run(&p);

    msim_idmap_release(&p.sent);
    msim_idmap_release(&p.steps);
    msim_idmap_release(&p.lane_of);
    free(p.lanes.data);
    free(p.waits.data);
    free(p.behind);
    free(p.task);
    free(p.over);
    free(p.order);
    return status;
}
