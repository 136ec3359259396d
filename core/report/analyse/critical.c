/*
 * core/report/analyse/critical.c - what held each task up, slack, and the
 * critical path.
 */
#include "core/report/analyse/critical.h"

#include "core/base/containers.h"
#include "core/graph/contention.h"

#include <stdlib.h>
#include <string.h>

/* ---- what holds a task -------------------------------------------------- */

unsigned msim_hold_of(const struct msim_graph *g, uint32_t by)
{
    switch (by) {
    case MSIM_BY_NOTHING:
        return MSIM_HOLDS;
    case MSIM_BY_SM:
        return MSIM_HOLD_SM;
    case MSIM_BY_ENGINE:
        return MSIM_HOLD_ENGINE;
    case MSIM_BY_PEER:
        return MSIM_HOLD_PEER;
    case MSIM_BY_RECORD:
        return MSIM_HOLD_RECORD;
    case MSIM_BY_UNKNOWN:
        return MSIM_HOLD_UNKNOWN;
    default:
        return msim_edge_kind_of(g->edge_kind[by]);
    }
}

const char *msim_hold_text(unsigned hold)
{
    switch (hold) {
    case MSIM_HOLD_SM:
        return msim_contention_text(MSIM_CONTENTION_SM);
    case MSIM_HOLD_ENGINE:
        return msim_contention_text(MSIM_CONTENTION_COPY_ENGINE);
    case MSIM_HOLD_PEER:
        return "rank without a trace";
    case MSIM_HOLD_RECORD:
        return "start as recorded";
    case MSIM_HOLD_UNKNOWN:
        return "unknown";
    default:
        return msim_edge_text((enum msim_edge_kind)hold);
    }
}

const char *msim_hold_source(const struct msim_graph *g, uint32_t by)
{
    if (msim_hold_of(g, by) >= MSIM_EDGE_KINDS)
        return NULL;
    return msim_edge_source_text(msim_edge_source_of(g->edge_kind[by]));
}

/* ---- lags --------------------------------------------------------------- */

static bool is_out(const struct msim_run *run, uint32_t task)
{
    return run->removed && run->removed[task];
}

/* Does an edge of this kind wait for another rank? */
static bool from_peers(enum msim_edge_kind kind)
{
    return kind == MSIM_EDGE_COLLECTIVE || kind == MSIM_EDGE_POINT_TO_POINT;
}

/* What edge `i` adds to its predecessor's end; false: it does not hold. */
static bool lag_of(const struct msim_graph *g, const struct msim_run *run,
                   uint32_t i, msim_ps *lag)
{
    enum msim_edge_kind kind = msim_edge_kind_of(g->edge_kind[i]);

    *lag = 0;
    if (is_out(run, g->edges[i].to))
        return !from_peers(kind);
    *lag = run->lag && run->lag[kind] >= 0 ? run->lag[kind] : g->edges[i].lag;
    return true;
}

/* ---- binding ------------------------------------------------------------ */

static bool own_order(const struct msim_graph *g, uint32_t edge)
{
    enum msim_edge_kind kind = msim_edge_kind_of(g->edge_kind[edge]);

    return kind == MSIM_EDGE_PROGRAM || kind == MSIM_EDGE_STREAM;
}

/* Tasks come in order, so of equal edges the first is from the lowest task. */
static void offer(struct msim_binding *b, const struct msim_graph *g,
                  uint32_t from, uint32_t edge)
{
    uint32_t to = g->edges[edge].to;

    if (b->by[to] != MSIM_BY_NOTHING &&
        (own_order(g, b->by[to]) || !own_order(g, edge)))
        return;
    b->from[to] = from;
    b->by[to] = edge;
}

static bool is_held(uint32_t by)
{
    return by >= MSIM_BY_UNKNOWN && by <= MSIM_BY_PEER;
}

static bool is_resource(uint32_t by)
{
    return by == MSIM_BY_SM || by == MSIM_BY_ENGINE;
}

/* An absent peer that arrives as long after this rank as in the trace is the
 * lag of an edge: it is the peer that holds the task, not the edge. */
static bool peer_follows(const struct msim_binding *b,
                         const struct msim_graph *g, const struct msim_run *run,
                         const struct msim_release *r)
{
    uint32_t from = b->from[r->task];

    return r->external && r->at == MSIM_TIME_NONE &&
           b->by[r->task] < g->n_edges &&
           msim_run_end(run, from) < run->start[r->task];
}

/* What holds a task that no edge holds. */
static uint32_t explain_rest(struct msim_binding *b, const struct msim_graph *g,
                             const struct msim_run *run)
{
    uint32_t held = 0;

    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];

        if (is_out(run, r->task))
            continue;
        if (peer_follows(b, g, run, r) ||
            (b->by[r->task] == MSIM_BY_NOTHING && r->at > 0 &&
             run->start[r->task] == r->at))
            b->by[r->task] = r->external ? MSIM_BY_PEER : MSIM_BY_RECORD;
    }
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (b->by[t] == MSIM_BY_NOTHING && run->start[t] > 0) {
            b->by[t] = MSIM_BY_UNKNOWN;
            if (run->held_by && run->held_by[t] != MSIM_NONE) {
                b->by[t] =
                    g->kind[t] == MSIM_TASK_COPY ? MSIM_BY_ENGINE : MSIM_BY_SM;
                b->from[t] = run->held_by[t];
            }
        }
        held += is_held(b->by[t]);
    }
    return held;
}

/* Of the tasks that a held task had waited for before: the last to end. */
static void find_before_held(struct msim_binding *b, const struct msim_graph *g,
                             const struct msim_run *run)
{
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
            uint32_t to = g->edges[i].to;

            if (is_held(b->by[to]) &&
                (b->from[to] == MSIM_NONE ||
                 msim_run_end(run, t) > msim_run_end(run, b->from[to])))
                b->from[to] = t;
        }
}

enum msim_status msim_binding_init(struct msim_binding *b,
                                   const struct msim_graph *g,
                                   const struct msim_run *run)
{
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(*b->from);

    b->from = malloc(bytes);
    b->by = malloc(bytes);
    if (!b->from || !b->by)
        return MSIM_ENOMEM;
    memset(b->from, 0xff, bytes);
    memset(b->by, 0xff, bytes);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps end = msim_run_end(run, t), lag;

        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            if (lag_of(g, run, i, &lag) &&
                end + lag == run->start[g->edges[i].to])
                offer(b, g, t, i);
    }
    if (explain_rest(b, g, run))
        find_before_held(b, g, run);
    return MSIM_OK;
}

void msim_binding_release(struct msim_binding *b)
{
    free(b->from);
    free(b->by);
    b->from = b->by = NULL;
}

/* ---- slack -------------------------------------------------------------- */

/*
 * An order in which every task comes after all that it waited for. A wait for
 * a resource is one more edge: from the task that held it, which began before.
 */
struct order {
    uint32_t *missing, *tasks;
    uint32_t *held, *next_held; /* per task: the first of the tasks that it
                                   held; the next of them */
    uint32_t n;
};

static void order_release(struct order *o)
{
    free(o->missing);
    free(o->tasks);
    free(o->held);
    free(o->next_held);
}

static enum msim_status order_resources(struct order *o,
                                        const struct msim_graph *g,
                                        const struct msim_binding *b)
{
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(*o->held);

    o->held = malloc(bytes);
    o->next_held = malloc(bytes);
    if (!o->held || !o->next_held)
        return MSIM_ENOMEM;
    memset(o->held, 0xff, bytes);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (!is_resource(b->by[t]))
            continue;
        o->next_held[t] = o->held[b->from[t]];
        o->held[b->from[t]] = t;
        o->missing[t]++;
    }
    return MSIM_OK;
}

static void order_ready(struct order *o, uint32_t task)
{
    if (!--o->missing[task])
        o->tasks[o->n++] = task;
}

static enum msim_status order_init(struct order *o, const struct msim_graph *g,
                                   const struct msim_run *run,
                                   const struct msim_binding *b)
{
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(*o->missing);

    o->missing = malloc(bytes);
    o->tasks = malloc(bytes);
    if (!o->missing || !o->tasks)
        return MSIM_ENOMEM;
    memcpy(o->missing, g->n_preds, (size_t)g->n_tasks * sizeof(*o->missing));
    if (run->held_by)
        MSIM_TRY(order_resources(o, g, b));
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (!o->missing[t])
            o->tasks[o->n++] = t;
    for (uint32_t k = 0; k < o->n; k++) {
        uint32_t t = o->tasks[k];

        for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++)
            order_ready(o, g->edges[i].to);
        for (uint32_t h = o->held ? o->held[t] : MSIM_NONE; h != MSIM_NONE;
             h = o->next_held[h])
            order_ready(o, h);
    }
    return o->n == g->n_tasks ? MSIM_OK : MSIM_ECYCLE;
}

/* Where a rank has no marks, its one window ends with its last task. */
static msim_ps whole_end(const struct msim_graph *g,
                         const struct msim_window_times *windows, uint32_t rank,
                         msim_ps otherwise)
{
    for (uint32_t w = 0; w < g->n_windows; w++)
        if (g->windows[w].rank == rank && msim_window_is_whole(&g->windows[w]))
            return windows[w].end;
    return otherwise;
}

/* `late`: how late each task may end, so that no other task is delayed. */
static void deadlines(const struct msim_graph *g, const struct msim_run *run,
                      const struct msim_window_times *windows, msim_ps *late)
{
    msim_ps last = 0, end = 0;
    uint32_t rank = UINT32_MAX;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (msim_run_end(run, t) > last)
            last = msim_run_end(run, t);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (g->n_windows && g->refs[t].rank != rank) /* rank by rank */
            end = whole_end(g, windows, rank = g->refs[t].rank, last);
        late[t] = g->n_windows && g->lane[t] != MSIM_NONE ? end : last;
    }
    for (uint32_t w = 0; w < g->n_windows; w++) {
        uint32_t t = g->windows[w].last;

        if (g->windows[w].first != MSIM_NONE)
            late[t] = msim_run_end(run, t);
    }
}

static msim_ps least(msim_ps a, msim_ps b)
{
    return a < b ? a : b;
}

/* The latest end of `t` at which its followers still end in time. */
static msim_ps latest_end(const struct msim_graph *g,
                          const struct msim_run *run, const struct order *o,
                          const msim_ps *late, uint32_t t)
{
    msim_ps by = late[t], lag;

    for (uint32_t i = g->edge_begin[t]; i < g->edge_begin[t + 1]; i++) {
        uint32_t to = g->edges[i].to;

        if (lag_of(g, run, i, &lag))
            by = least(by, late[to] - (msim_run_end(run, to) - run->start[to]) -
                               lag);
    }
    for (uint32_t h = o->held ? o->held[t] : MSIM_NONE; h != MSIM_NONE;
         h = o->next_held[h])
        by = least(by, late[h] - msim_run_end(run, h) + msim_run_end(run, t));
    return by;
}

enum msim_status msim_slack(const struct msim_graph *g,
                            const struct msim_run *run,
                            const struct msim_binding *b,
                            const struct msim_window_times *windows,
                            msim_ps *slack)
{
    struct order o = {0};
    enum msim_status status = order_init(&o, g, run, b);

    if (status == MSIM_OK) {
        deadlines(g, run, windows, slack);
        for (uint32_t k = o.n; k-- > 0;)
            slack[o.tasks[k]] = latest_end(g, run, &o, slack, o.tasks[k]);
        for (uint32_t t = 0; t < g->n_tasks; t++)
            slack[t] -= msim_run_end(run, t);
    }
    order_release(&o);
    return status;
}

/* ---- the path ----------------------------------------------------------- */

static enum msim_status add_piece(struct msim_path *p, struct msim_piece piece)
{
    MSIM_TRY(
        msim_grow((void **)&p->pieces, &p->capacity, p->n, sizeof(*p->pieces)));
    p->pieces[p->n++] = piece;
    return MSIM_OK;
}

/* The task with whose end a window ends. */
static uint32_t last_task(const struct msim_graph *g,
                          const struct msim_run *run, uint32_t w)
{
    const struct msim_window *win = &g->windows[w];
    uint32_t last = win->last;

    if (!msim_window_is_whole(win))
        return last;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->refs[t].rank == win->rank &&
            (last == MSIM_NONE ||
             msim_run_end(run, t) > msim_run_end(run, last)))
            last = t;
    return last;
}

/*
 * One step back: the task's own piece, and the piece between it and the end of
 * the task before. `*at` is where the explained part begins; at the window's
 * begin the path ends.
 */
static enum msim_status step_back(struct msim_path *p,
                                  const struct msim_run *run,
                                  const struct msim_binding *b, uint32_t t,
                                  msim_ps begin, msim_ps *at)
{
    msim_ps start = run->start[t] > begin ? run->start[t] : begin, end;
    struct msim_piece piece = {.task = t, .by = b->by[t]};

    /* A negative lag lets a task start before its predecessor; then no part of
     * the predecessor is on the path. */
    piece.start = start < *at ? start : *at;
    piece.dur = *at - piece.start;
    MSIM_TRY(add_piece(p, piece));
    *at = piece.start;
    if (*at <= begin)
        return MSIM_OK;
    end = b->from[t] == MSIM_NONE ? begin : msim_run_end(run, b->from[t]);
    if (end < begin)
        end = begin;
    if (end >= *at)
        return MSIM_OK;
    piece.kind = is_held(b->by[t]) ? MSIM_PIECE_HELD : MSIM_PIECE_LAG;
    piece.start = end;
    piece.dur = *at - end;
    *at = end;
    return add_piece(p, piece);
}

static void reverse(struct msim_path *p)
{
    for (uint32_t i = 0; i < p->n / 2; i++) {
        struct msim_piece swap = p->pieces[i];

        p->pieces[i] = p->pieces[p->n - 1 - i];
        p->pieces[p->n - 1 - i] = swap;
    }
}

enum msim_status msim_path_find(struct msim_path *path,
                                const struct msim_graph *g,
                                const struct msim_run *run,
                                const struct msim_binding *b, uint32_t w,
                                const struct msim_window_times *times)
{
    msim_ps at = times[w].end;
    uint32_t t = last_task(g, run, w);

    path->n = 0;
    while (t != MSIM_NONE && at > times[w].begin && path->n < 2 * g->n_tasks) {
        MSIM_TRY(step_back(path, run, b, t, times[w].begin, &at));
        t = b->from[t];
    }
    reverse(path);
    return MSIM_OK;
}

void msim_path_release(struct msim_path *path)
{
    free(path->pieces);
    memset(path, 0, sizeof(*path));
}

uint32_t msim_longest_window(const struct msim_graph *g,
                             const struct msim_window_times *times,
                             uint32_t iteration)
{
    uint32_t longest = MSIM_NONE;

    for (uint32_t w = msim_window_from(g, iteration);
         w < g->n_windows && g->windows[w].iteration == iteration; w++)
        if (longest == MSIM_NONE ||
            times[w].end - times[w].begin >
                times[longest].end - times[longest].begin)
            longest = w;
    return longest;
}
