/*
 * core/report/analyse/timeline.c - a simulated run as bars on lanes.
 *
 * Every task that takes time is a bar on its lane, and every wait a bar on a
 * track beside it, before the task that waited. The critical path and the steps
 * have tracks of their own; arrows show what launched a kernel, and the
 * dependencies by which the path goes from lane to lane, and counters what runs
 * on a GPU and what is queued.
 */
#include "core/base/containers.h"
#include "core/graph/graph.h"
#include "core/report/analyse/analysis_internal.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const categories[] = {[MSIM_TASK_HOST] = "cpu_op",
                                         [MSIM_TASK_GAP] = "",
                                         [MSIM_TASK_CALL] = "cuda_runtime",
                                         [MSIM_TASK_KERNEL] = "kernel",
                                         [MSIM_TASK_COPY] = "gpu_memcpy",
                                         [MSIM_TASK_COMM] = "communication",
                                         [MSIM_TASK_JOIN] = ""};

struct drawing {
    struct msim_timeline *tl;
    const struct msim_outcome *o;
    const struct msim_graph *g;
    struct msim_binding binding;
    msim_ps *slack;
    struct msim_window_times *times;
    struct msim_path path;
    uint8_t *critical;             /* one a task */
    uint32_t *before;              /* one a lane */
    const char *waits[MSIM_HOLDS]; /* names of bars */
    struct msim_op_shapes *shapes; /* one a rank */
    struct msim_mark *marks;       /* of the path */
    msim_ps path_end;              /* of the pieces so far */
};

/* ---- lanes -------------------------------------------------------------- */

static enum msim_status add_lanes(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    const struct msim_graph *g = d->g;

    tl->lanes = msim_arena_alloc(&tl->arena,
                                 ((size_t)g->n_lanes + 1) * sizeof(*tl->lanes));
    if (!tl->lanes)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < g->n_lanes; i++) {
        char *name = msim_arena_alloc(&tl->arena, MSIM_LANE_NAME);

        if (!name)
            return MSIM_ENOMEM;
        msim_lane_name(name, g, i);
        tl->lanes[tl->n_lanes++] = (struct msim_lane_info){
            g->job->ranks[g->lanes[i].rank]->rank, g->lanes[i].device, name};
    }
    return MSIM_OK;
}

/* ---- bars --------------------------------------------------------------- */

static enum msim_status name_waits(struct drawing *d)
{
    for (unsigned hold = 0; hold < MSIM_HOLDS; hold++) {
        char *name = msim_arena_alloc(&d->tl->arena, 64);

        if (!name)
            return MSIM_ENOMEM;
        snprintf(name, 64, "wait: %s", msim_hold_text(hold));
        d->waits[hold] = name;
    }
    return MSIM_OK;
}

/* When the task's call or activity began in the trace. */
static msim_ps traced_start(const struct drawing *d, uint32_t task)
{
    const struct msim_task_ref *ref = &d->g->refs[task];
    const struct msim_trace *t = d->g->job->ranks[ref->rank];

    if (!d->o->measured || ref->index == MSIM_NONE)
        return MSIM_TIME_NONE;
    switch ((enum msim_task_kind)d->g->kind[task]) {
    case MSIM_TASK_CALL:
        return t->calls[ref->index].start;
    case MSIM_TASK_KERNEL:
    case MSIM_TASK_COPY:
    case MSIM_TASK_COMM:
        return t->gpu[ref->index].start;
    default:
        return MSIM_TIME_NONE;
    }
}

/* A kernel's wait is its stream's, not its own: its bar begins with the
 * kernel. */
static bool waits_itself(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] == MSIM_TASK_CALL || g->kind[task] == MSIM_TASK_COMM;
}

/* ---- what a kernel is ------------------------------------------------------
 */

static void describe(struct drawing *d, uint32_t task, struct msim_span *s)
{
    const struct msim_task_ref *ref = &d->g->refs[task];
    const struct msim_trace *t = d->g->job->ranks[ref->rank];
    uint32_t top = msim_task_topmost(d->g, task);

    if (d->g->kind[task] < MSIM_TASK_KERNEL)
        return;
    s->op = top ? msim_trace_text(t, top) : NULL;
    s->shapes = msim_op_shapes_of(&d->shapes[ref->rank], ref->op);
    if (ref->index == MSIM_NONE)
        return;
    s->correlation = t->gpu[ref->index].correlation;
    if (t->gpu[ref->index].config != MSIM_NONE)
        s->config = &t->configs[t->gpu[ref->index].config];
}

static void add_wait(struct drawing *d, uint32_t task, msim_ps wait)
{
    unsigned hold = msim_hold_of(d->g, d->binding.by[task]);

    /* Only the device's own gap lies between two activities of a stream. */
    if (wait <= 0 || hold == MSIM_HOLDS || hold == MSIM_EDGE_STREAM)
        return;
    d->tl->spans[d->tl->n_spans++] = (struct msim_span){
        .name = d->waits[hold],
        .category = "wait",
        .start = d->o->mid.start[task] - wait,
        .dur = wait,
        .rank = d->g->refs[task].rank,
        .lane = d->g->lane[task],
    };
}

static void add_work(struct drawing *d, uint32_t task, msim_ps wait)
{
    const struct msim_graph *g = d->g;
    const struct msim_run *run = &d->o->mid;
    const char *category = categories[g->kind[task]];
    msim_ps dur = msim_run_end(run, task) - run->start[task];

    if (!category[0] || dur <= 0)
        return;
    d->tl->spans[d->tl->n_spans++] = (struct msim_span){
        .name = msim_task_name(g, task),
        .category = category,
        .detail = d->o->made_by_names[d->o->made_by[task]],
        .start = run->start[task],
        .dur = dur,
        .rank = g->refs[task].rank,
        .lane = g->lane[task],
        .critical = d->critical[task],
        .work = true,
        .slack = d->slack[task],
        .arrival = run->start[task] - (waits_itself(g, task) ? wait : 0),
        .traced = traced_start(d, task),
    };
    describe(d, task, &d->tl->spans[d->tl->n_spans - 1]);
}

static int by_lane_and_start(const void *a, const void *b)
{
    const struct msim_span *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    if (x->lane != y->lane)
        return MSIM_ORDER(x->lane, y->lane);
    return MSIM_ORDER(x->start, y->start);
}

static enum msim_status add_spans(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    size_t bytes = (2 * (size_t)d->g->n_tasks + 1) * sizeof(*tl->spans);

    tl->spans = msim_arena_alloc(&tl->arena, bytes);
    if (!tl->spans)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < d->g->n_tasks; t++) {
        msim_ps wait = msim_wait_before(d->g, &d->o->mid, d->before, t);

        if (d->g->lane[t] == MSIM_NONE)
            continue;
        add_wait(d, t, wait);
        add_work(d, t, wait);
    }
    qsort(tl->spans, tl->n_spans, sizeof(*tl->spans), by_lane_and_start);
    return MSIM_OK;
}

/* ---- the path ----------------------------------------------------------- */

/* The last task on a lane before `task` on the path. */
static uint32_t from_on_lane(const struct drawing *d, uint32_t task)
{
    uint32_t from = d->binding.from[task];

    while (from != MSIM_NONE && d->g->lane[from] == MSIM_NONE)
        from = d->binding.from[from];
    return from;
}

/* The arrow of a dependency from lane to lane; false: it has none. */
static bool place_arrow(const struct drawing *d, uint32_t from, uint32_t to,
                        unsigned hold, struct msim_arrow *arrow)
{
    const struct msim_graph *g = d->g;
    msim_ps at, until;

    if (from == MSIM_NONE || g->lane[from] == MSIM_NONE ||
        g->lane[to] == MSIM_NONE || g->lane[from] == g->lane[to])
        return false;
    /* An arrow leaves the bar around its start: for a launch the call that
     * begins here, else the bar that ends here. */
    at = msim_run_end(&d->o->mid, from);
    if (hold != MSIM_EDGE_LAUNCH && at - d->o->mid.start[from] > 1000)
        at -= 1000;
    until = d->o->mid.start[to];
    if (g->kind[to] == MSIM_TASK_GAP) /* the task has no bar, but its wait has,
                                         which ends here */
        until -= until > 1000 ? 1000 : 0;
    /* A kernel may start, and a copy end, before its call returns. */
    if (at > until)
        at = until;
    if (at < d->o->mid.start[from])
        return false;
    *arrow = (struct msim_arrow){
        msim_hold_text(hold), at,          until,
        g->lane[from],        g->lane[to], g->kind[to] == MSIM_TASK_GAP};
    return true;
}

static void add_arrow(struct drawing *d, const struct msim_piece *piece)
{
    unsigned hold = msim_hold_of(d->g, piece->by);
    struct msim_timeline *tl = d->tl;

    if (piece->kind == MSIM_PIECE_WORK && hold < MSIM_EDGE_KINDS &&
        place_arrow(d, from_on_lane(d, piece->task), piece->task, hold,
                    &tl->arrows[tl->n_arrows]))
        tl->n_arrows++;
}

/* From each call to what it launches, whether the path goes there or not. */
static enum msim_status add_launches(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    const struct msim_graph *g = d->g;

    tl->launches = msim_arena_alloc(&tl->arena, ((size_t)g->n_edges + 1) *
                                                    sizeof(*tl->launches));
    if (!tl->launches)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++)
            if (msim_edge_kind_of(g->edge_kind[e]) == MSIM_EDGE_LAUNCH &&
                place_arrow(d, t, g->edges[e].to, MSIM_EDGE_LAUNCH,
                            &tl->launches[tl->n_launches]))
                tl->n_launches++;
    return MSIM_OK;
}

/* Iterations of ranks overlap a little: what is before the end of the last one
 * is left out. */
static enum msim_status add_mark(struct drawing *d,
                                 const struct msim_piece *piece)
{
    static const char *const KINDS[] = {[MSIM_PIECE_WORK] = "work",
                                        [MSIM_PIECE_LAG] = "latency",
                                        [MSIM_PIECE_HELD] = "held"};
    struct msim_timeline *tl = d->tl;
    msim_ps start = piece->start > d->path_end ? piece->start : d->path_end;
    msim_ps end = piece->start + piece->dur;
    unsigned hold = msim_hold_of(d->g, piece->by);

    if (end <= start)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&d->marks, &tl->cap_path, tl->n_path,
                       sizeof(*d->marks)));
    d->marks[tl->n_path++] = (struct msim_mark){
        .name = piece->kind == MSIM_PIECE_WORK
                    ? msim_task_name(d->g, piece->task)
                : hold < MSIM_HOLDS ? msim_hold_text(hold)
                                    : "start",
        .kind = piece->kind == MSIM_PIECE_WORK
                    ? msim_task_kind_text(
                          (enum msim_task_kind)d->g->kind[piece->task])
                    : KINDS[piece->kind],
        .start = start,
        .dur = end - start,
        .rank = d->g->job->ranks[d->g->refs[piece->task].rank]->rank,
        .lane = d->g->lane[piece->task],
    };
    d->path_end = end;
    return MSIM_OK;
}

static enum msim_status add_path(struct drawing *d, uint32_t w)
{
    MSIM_TRY(
        msim_path_find(&d->path, d->g, &d->o->mid, &d->binding, w, d->times));
    for (uint32_t i = 0; i < d->path.n; i++) {
        const struct msim_piece *piece = &d->path.pieces[i];

        MSIM_TRY(add_mark(d, piece));
        /* Iterations of ranks overlap: the arrow may exist already. */
        if (piece->kind == MSIM_PIECE_WORK && !d->critical[piece->task])
            add_arrow(d, piece);
        if (piece->kind == MSIM_PIECE_WORK && piece->dur > 0)
            d->critical[piece->task] = 1;
    }
    return MSIM_OK;
}

static enum msim_status add_paths(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    size_t n = (size_t)d->g->n_tasks + 1;

    tl->arrows = msim_arena_alloc(&tl->arena, n * sizeof(*tl->arrows));
    if (!tl->arrows)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < d->g->n_iterations; i++) {
        uint32_t w = msim_longest_window(d->g, d->times, i);

        if (w != MSIM_NONE)
            MSIM_TRY(add_path(d, w));
    }
    return MSIM_OK;
}

/* ---- steps and counters -------------------------------------------------- */

static enum msim_status add_steps(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    const struct msim_graph *g = d->g;

    tl->path = msim_arena_alloc(&tl->arena,
                                ((size_t)tl->n_path + 1) * sizeof(*tl->path));
    tl->steps = msim_arena_alloc(&tl->arena, ((size_t)g->n_windows + 1) *
                                                 sizeof(*tl->steps));
    if (!tl->path || !tl->steps)
        return MSIM_ENOMEM;
    if (tl->n_path)
        memcpy(tl->path, d->marks, tl->n_path * sizeof(*tl->path));
    for (uint32_t w = 0; w < g->n_windows; w++) {
        long long number = g->iterations[g->windows[w].iteration];
        char *name = msim_arena_alloc(&tl->arena, 40);

        if (!name)
            return MSIM_ENOMEM;
        if (number < 0)
            snprintf(name, 40, "trace");
        else
            snprintf(name, 40, "ProfilerStep#%lld", number);
        if (d->times[w].end > d->times[w].begin)
            tl->steps[tl->n_steps++] =
                (struct msim_mark){name,
                                   "step",
                                   d->times[w].begin,
                                   d->times[w].end - d->times[w].begin,
                                   g->job->ranks[g->windows[w].rank]->rank,
                                   MSIM_NONE};
    }
    return MSIM_OK;
}

static int by_rank_and_time(const void *a, const void *b)
{
    const struct msim_load *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    return MSIM_ORDER(x->at, y->at);
}

/* Changes first, then what they sum to; one for each instant. */
static void sum_loads(struct msim_timeline *tl)
{
    uint32_t n = 0;

    if (tl->n_loads)
        qsort(tl->loads, tl->n_loads, sizeof(*tl->loads), by_rank_and_time);
    for (uint32_t i = 0; i < tl->n_loads; i++) {
        struct msim_load now = tl->loads[i];

        if (n && tl->loads[n - 1].rank == now.rank) {
            now.busy += tl->loads[n - 1].busy;
            now.queued += tl->loads[n - 1].queued;
            n -= tl->loads[n - 1].at == now.at;
        }
        tl->loads[n++] = now;
    }
    tl->n_loads = n;
}

static void change(struct msim_timeline *tl, msim_ps at, int64_t rank,
                   int32_t busy, int32_t queued)
{
    tl->loads[tl->n_loads++] = (struct msim_load){at, rank, busy, queued};
}

static enum msim_status add_loads(struct drawing *d)
{
    struct msim_timeline *tl = d->tl;
    const struct msim_graph *g = d->g;
    const struct msim_run *run = &d->o->mid;

    tl->loads = msim_arena_alloc(&tl->arena,
                                 (2 * ((size_t)g->n_tasks + g->n_edges) + 1) *
                                     sizeof(*tl->loads));
    if (!tl->loads)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        int64_t rank = g->job->ranks[g->refs[t].rank]->rank;
        uint32_t from = msim_arrival(g, t);

        if (g->kind[t] >= MSIM_TASK_KERNEL && g->kind[t] <= MSIM_TASK_COMM &&
            msim_run_end(run, t) > run->start[from]) {
            change(tl, run->start[from], rank, 1, 0);
            change(tl, msim_run_end(run, t), rank, -1, 0);
        }
        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++) {
            uint32_t to = g->edges[e].to;

            if (msim_edge_kind_of(g->edge_kind[e]) != MSIM_EDGE_LAUNCH ||
                run->start[to] <= msim_run_end(run, t))
                continue;
            change(tl, msim_run_end(run, t), rank, 0, 1);
            change(tl, run->start[to], rank, 0, -1);
        }
    }
    sum_loads(tl);
    return MSIM_OK;
}

/* ---- the whole ---------------------------------------------------------- */

static enum msim_status take_memory(struct drawing *d)
{
    size_t n = (size_t)d->g->n_tasks + 1;

    d->slack = malloc(n * sizeof(*d->slack));
    d->critical = calloc(n, 1);
    d->times = calloc((size_t)d->g->n_windows + 1, sizeof(*d->times));
    d->before = msim_lanes_none(d->g);
    d->shapes = calloc((size_t)d->g->job->n_ranks + 1, sizeof(*d->shapes));
    if (!d->slack || !d->critical || !d->times || !d->before || !d->shapes)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < d->g->job->n_ranks; i++)
        MSIM_TRY(msim_op_shapes_init(&d->shapes[i], d->g->job->ranks[i],
                                     &d->tl->arena));
    return MSIM_OK;
}

static enum msim_status draw(struct drawing *d)
{
    MSIM_TRY(take_memory(d));
    msim_window_bounds(d->g, &d->o->mid, d->times);
    MSIM_TRY(msim_binding_init(&d->binding, d->g, &d->o->mid));
    MSIM_TRY(msim_slack(d->g, &d->o->mid, &d->binding, d->times, d->slack));
    MSIM_TRY(add_lanes(d));
    MSIM_TRY(name_waits(d));
    MSIM_TRY(add_paths(d));
    MSIM_TRY(add_launches(d));
    MSIM_TRY(add_steps(d));
    MSIM_TRY(add_loads(d));
    return add_spans(d);
}

enum msim_status msim_timeline_new(struct msim_timeline **out,
                                   const struct msim_outcome *o)
{
    struct drawing d = {.o = o, .g = o->graph};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    d.tl = calloc(1, sizeof(*d.tl));
    if (d.tl) {
        msim_arena_init(&d.tl->arena);
        status = draw(&d);
    }
    free(d.slack);
    free(d.critical);
    free(d.times);
    free(d.before);
    for (uint32_t i = 0; d.shapes && i < d.g->job->n_ranks; i++)
        msim_op_shapes_release(&d.shapes[i]);
    free(d.shapes);
    free(d.marks);
    msim_binding_release(&d.binding);
    msim_path_release(&d.path);
    if (status == MSIM_OK)
        *out = d.tl;
    else
        msim_timeline_free(d.tl);
    return status;
}
