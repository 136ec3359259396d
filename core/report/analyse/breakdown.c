/*
 * core/report/analyse/breakdown.c - where an iteration's time goes.
 *
 * Each instant belongs to the first class that applies. One sweep over a rank's
 * begins and ends keeps running totals; a window is the difference between two
 * readings of them.
 */
#include "core/base/containers.h"
#include "core/report/analyse/outcome.h"

#include <stdlib.h>
#include <string.h>

enum mark { COMPUTE, COMMUNICATION, COPY, HOST, OPEN, CLOSE };

struct event {
    msim_ps at;
    int32_t step; /* +1 begins, -1 ends */
    uint32_t mark;
    uint32_t window; /* OPEN, CLOSE */
};

struct totals {
    msim_ps of[HOST + 1];
    msim_ps hidden_communication, hidden_copy;
};

struct sweep {
    struct event *events;
    uint32_t n, capacity;
    int32_t running[HOST + 1];
    struct totals totals;
};

/* The window that spans all of `rank` where it has no marks, else NULL. */
static struct msim_window_times *
whole(const struct msim_graph *g, struct msim_window_times *w, uint32_t rank)
{
    for (uint32_t i = 0; i < g->n_windows; i++)
        if (g->windows[i].rank == rank)
            return msim_window_is_whole(&g->windows[i]) ? &w[i] : NULL;
    return NULL;
}

static void span_whole(const struct msim_graph *g, const struct msim_run *run,
                       struct msim_window_times *w)
{
    struct msim_window_times *win = NULL;
    uint32_t rank = UINT32_MAX;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        msim_ps start = msim_run_start(run, t);
        msim_ps end = start + msim_run_took(run, t);

        if (g->refs[t].rank != rank) /* tasks come rank by rank */
            win = whole(g, w, rank = g->refs[t].rank);
        if (!win)
            continue;
        win->begin = start < win->begin ? start : win->begin;
        win->end = end > win->end ? end : win->end;
    }
}

/* When the task's thread comes to it; it may have to wait then. */
static msim_ps comes_to(const struct msim_graph *g, const struct msim_run *run,
                        uint32_t task)
{
    msim_ps at = msim_run_start(run, task), end;

    if (!task || g->lane[task - 1] != g->lane[task])
        return at;
    end = msim_run_start(run, task - 1) + msim_run_took(run, task - 1);
    return end < at ? end : at;
}

void msim_window_bounds(const struct msim_graph *g, const struct msim_run *run,
                        struct msim_window_times *w)
{
    bool any_whole = false;

    for (uint32_t i = 0; i < g->n_windows; i++) {
        const struct msim_window *win = &g->windows[i];

        any_whole |= msim_window_is_whole(win);
        memset(&w[i], 0, sizeof(w[i]));
        w[i].begin = INT64_MAX;
        if (win->first == MSIM_NONE)
            continue;
        w[i].begin = comes_to(g, run, win->first);
        w[i].end =
            msim_run_start(run, win->last) + msim_run_took(run, win->last);
    }
    if (any_whole)
        span_whole(g, run, w);
    for (uint32_t i = 0; i < g->n_windows; i++)
        if (w[i].begin > w[i].end)
            w[i].begin = w[i].end = 0;
}

static enum msim_status add(struct sweep *s, enum mark mark, msim_ps from,
                            msim_ps to, uint32_t window)
{
    if (to < from || (to == from && mark <= HOST))
        return MSIM_OK;
    for (int i = 0; i < 2; i++) {
        MSIM_TRY(msim_grow((void **)&s->events, &s->capacity, s->n,
                           sizeof(*s->events)));
        s->events[s->n++] =
            (struct event){i ? to : from, i ? -1 : 1,
                           mark < OPEN ? mark : (i ? CLOSE : OPEN), window};
    }
    return MSIM_OK;
}

/* The class of a task in the breakdown; OPEN: none. */
static enum mark mark_of(const struct msim_outcome *o, uint32_t task,
                         uint32_t main_lane)
{
    switch ((enum msim_task_kind)o->graph->kind[task]) {
    case MSIM_TASK_KERNEL:
        return COMPUTE;
    case MSIM_TASK_COMM:
        return COMMUNICATION;
    case MSIM_TASK_COPY:
        return COPY;
    case MSIM_TASK_HOST:
    case MSIM_TASK_CALL:
        return HOST;
    case MSIM_TASK_GAP:
        /* A gap is the interpreter's time on the thread that iterates. On
         * another thread it may be a time in which nobody needed the
         * thread. */
        return o->graph->lane[task] == main_lane ? HOST : OPEN;
    case MSIM_TASK_JOIN:
        break;
    }
    return OPEN;
}

/* Traced work on each lane, in ps; the caller frees it. */
static msim_ps *lane_work(const struct msim_graph *g)
{
    msim_ps *work = calloc((size_t)g->n_lanes + 1, sizeof(*work));

    for (uint32_t t = 0; work && t < g->n_tasks; t++)
        if (g->lane[t] != MSIM_NONE && g->traced[t] > 0)
            work[g->lane[t]] += g->traced[t];
    return work;
}

uint32_t *msim_main_lanes(const struct msim_graph *g)
{
    size_t bytes = ((size_t)g->job->n_ranks + 1) * sizeof(uint32_t);
    uint32_t *main = malloc(bytes);
    msim_ps *work = lane_work(g);

    if (main && work)
        memset(main, 0xff, bytes);
    for (uint32_t l = 0; main && work && l < g->n_lanes; l++) {
        uint32_t *m = &main[g->lanes[l].rank];

        if (!g->lanes[l].device && (*m == MSIM_NONE || work[l] > work[*m]))
            *m = l;
    }
    for (uint32_t w = g->n_windows; main && work && w-- > 0;)
        if (g->windows[w].first != MSIM_NONE)
            main[g->windows[w].rank] = g->lane[g->windows[w].first];
    if (!work) {
        free(main);
        return NULL;
    }
    free(work);
    return main;
}

/* Tasks come rank by rank: the first of each, and one past its last. */
struct range {
    uint32_t begin, end;
};

static struct range *rank_ranges(const struct msim_graph *g)
{
    struct range *of = calloc((size_t)g->job->n_ranks + 1, sizeof(*of));

    for (uint32_t t = 0; of && t < g->n_tasks; t++) {
        struct range *r = &of[g->refs[t].rank];

        if (g->lane[t] == MSIM_NONE) /* a meeting of ranks */
            continue;
        r->begin = r->end ? r->begin : t;
        r->end = t + 1;
    }
    return of;
}

/* An interval that may go on: what follows it on its lane often begins where
 * it ends, and whether one runs is all that counts, not how many. */
struct stretch {
    enum mark mark; /* OPEN: none yet */
    msim_ps from, to;
};

static enum msim_status end_stretch(struct sweep *s, const struct stretch *x)
{
    return x->mark == OPEN ? MSIM_OK : add(s, x->mark, x->from, x->to, 0);
}

static enum msim_status collect(struct sweep *s, const struct msim_outcome *o,
                                uint32_t rank, uint32_t lane,
                                struct range tasks,
                                const struct msim_window_times *w)
{
    const struct msim_graph *g = o->graph;
    struct stretch last = {.mark = OPEN};

    for (uint32_t t = tasks.begin; t < tasks.end; t++) {
        enum mark mark = mark_of(o, t, lane);
        msim_ps from = o->mid.start[t], to = from + o->mid.dur[t];

        if (g->refs[t].rank != rank || mark == OPEN)
            continue;
        /* A collective's kernel runs while it waits for peers, too. */
        if (mark == COMMUNICATION)
            from = o->mid.start[msim_arrival(g, t)];
        if (mark == last.mark && from == last.to) {
            last.to = to;
            continue;
        }
        MSIM_TRY(end_stretch(s, &last));
        last = (struct stretch){mark, from, to};
    }
    MSIM_TRY(end_stretch(s, &last));
    for (uint32_t i = 0; i < g->n_windows; i++)
        if (g->windows[i].rank == rank)
            MSIM_TRY(add(s, OPEN, w[i].begin, w[i].end, i));
    return MSIM_OK;
}

static bool before(const struct event *x, const struct event *y)
{
    return x->at < y->at || (x->at == y->at && x->mark < y->mark);
}

/* The end of the events from `i` on that are in order. */
static uint32_t run_end(const struct event *e, uint32_t i, uint32_t n)
{
    for (i++; i < n && !before(&e[i], &e[i - 1]);)
        i++;
    return i;
}

static void merge(const struct event *a, const struct event *a_end,
                  const struct event *b, const struct event *b_end,
                  struct event *out)
{
    while (a < a_end && b < b_end)
        *out++ = before(b, a) ? *b++ : *a++;
    memcpy(out, a, (size_t)(a_end - a) * sizeof(*out));
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*out));
}

/* Events come lane by lane, and those of a lane nearly in order: runs that are
 * in order are merged two by two until there is one. */
static enum msim_status sort_events(struct sweep *s)
{
    struct event *to = malloc(((size_t)s->n + 1) * sizeof(*to)), *swap;

    if (!to)
        return MSIM_ENOMEM;
    while (run_end(s->events, 0, s->n) < s->n) {
        for (uint32_t i = 0, mid, end; i < s->n; i = end) {
            mid = run_end(s->events, i, s->n);
            end = mid < s->n ? run_end(s->events, mid, s->n) : mid;
            merge(s->events + i, s->events + mid, s->events + mid,
                  s->events + end, to + i);
        }
        swap = s->events;
        s->events = to;
        to = swap;
    }
    free(to);
    return MSIM_OK;
}

static void advance(struct sweep *s, msim_ps dt)
{
    const int32_t *r = s->running;
    struct totals *t = &s->totals;

    for (int m = COMPUTE; m <= HOST; m++)
        if (r[m]) {
            t->of[m] += dt;
            break;
        }
    if (r[COMMUNICATION] && r[COMPUTE])
        t->hidden_communication += dt;
    if (r[COPY] && (r[COMPUTE] || r[COMMUNICATION]))
        t->hidden_copy += dt;
}

/* Add (`sign` 1) or take away (-1) the running totals. */
static void read_totals(const struct totals *t, int sign,
                        struct msim_window_times *w)
{
    w->compute += sign * t->of[COMPUTE];
    w->communication += sign * t->of[COMMUNICATION];
    w->copy += sign * t->of[COPY];
    w->host += sign * t->of[HOST];
    w->hidden_communication += sign * t->hidden_communication;
    w->hidden_copy += sign * t->hidden_copy;
}

static void run(struct sweep *s, struct msim_window_times *w)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct event *e = &s->events[i];

        if (i)
            advance(s, e->at - s->events[i - 1].at);
        if (e->mark <= HOST)
            s->running[e->mark] += e->step;
        else
            read_totals(&s->totals, e->mark == CLOSE ? 1 : -1, &w[e->window]);
    }
}

enum msim_status msim_breakdown_find(const struct msim_outcome *o,
                                     struct msim_window_times *w)
{
    struct range *tasks = rank_ranges(o->graph);
    uint32_t *main = msim_main_lanes(o->graph);
    enum msim_status status = tasks && main ? MSIM_OK : MSIM_ENOMEM;

    msim_window_bounds(o->graph, &o->mid, w);
    for (uint32_t r = 0; r < o->graph->job->n_ranks && status == MSIM_OK; r++) {
        struct sweep s = {0};

        status = collect(&s, o, r, main[r], tasks[r], w);
        if (status == MSIM_OK && s.n)
            status = sort_events(&s);
        if (status == MSIM_OK)
            run(&s, w);
        free(s.events);
    }
    free(tasks);
    free(main);
    return status;
}
