/*
 * core/report/analyse/analysis_period.c - the period of the job, of each rank,
 * and what bounds it (core/report/analyse/period.h says the rules).
 */
#include "core/graph/task_text.h"
#include "core/report/analyse/analysis.h"
#include "core/report/analyse/period.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this share of the period a resource is said to bound it. */
#define BOUND_SHARE 0.95

/* The three runs, and the trace. */
enum side { MID, LOW, HIGH, TRACED, SIDES };
#define ALL_SIDES ((1u << SIDES) - 1)

struct side_times {
    struct msim_range *spans; /* one a window; `known`: all of it is */
    struct msim_took *took;   /* likewise */
    double *work;             /* ps of each lane in the windows that count */
};

struct finding {
    const struct msim_findings *f;
    const struct msim_graph *g;
    unsigned wanted; /* sides that are looked at, bits of 1 << side */
    struct side_times sides[SIDES];
    uint8_t *states;       /* one an iteration */
    uint8_t level;         /* state of the iterations that count */
    uint32_t *launch_from; /* one a task: the call that launched it, or NONE */
    uint32_t *main_lanes;  /* one a rank */
};

/* ---- when windows begin and end ------------------------------------------ */

static const struct msim_run *run_of(const struct finding *k, enum side side)
{
    const struct msim_run *runs[] = {&k->f->o->mid, &k->f->o->low,
                                     &k->f->o->high};

    return runs[side];
}

static bool on_gpu(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] >= MSIM_TASK_KERNEL &&
           g->kind[task] <= MSIM_TASK_COMM && g->window[task] != MSIM_NONE;
}

/* From when to when a GPU task keeps its stream; a collective's kernel runs
 * while it waits, too. False: not at all, or not known. */
static bool activity_of(const struct finding *k, enum side side, uint32_t task,
                        struct msim_activity *a)
{
    const struct msim_graph *g = k->g;
    const struct msim_task_ref *ref = &g->refs[task];
    const struct msim_trace *t = g->job->ranks[ref->rank];
    uint32_t arrival = msim_arrival(g, task), call;
    const struct msim_run *run;

    a->launched = MSIM_TIME_NONE;
    if (side == TRACED) {
        if (ref->index == MSIM_NONE ||
            t->gpu[ref->index].start == MSIM_TIME_NONE)
            return false;
        a->start = t->gpu[ref->index].start;
        a->end = a->start + t->gpu[ref->index].dur;
        call = t->gpu[ref->index].call;
        if (call != MSIM_NONE)
            a->launched = t->calls[call].start + t->calls[call].dur;
        return true;
    }
    run = run_of(k, side);
    a->start = run->start[arrival];
    a->end = msim_run_end(run, task);
    if (k->launch_from && k->launch_from[arrival] != MSIM_NONE)
        a->launched = msim_run_end(run, k->launch_from[arrival]);
    return !run->removed || !run->removed[task];
}

static void add_gpu_work(struct finding *k, enum side side)
{
    for (uint32_t t = 0; t < k->g->n_tasks; t++) {
        struct msim_range *s;
        struct msim_activity a;

        if (!on_gpu(k->g, t))
            continue;
        s = &k->sides[side].spans[k->g->window[t]];
        if (!activity_of(k, side, t, &a)) {
            s->known &= side != TRACED;
            continue;
        }
        if (s->gpu_begin == MSIM_TIME_NONE || a.start < s->gpu_begin)
            s->gpu_begin = a.start;
        if (s->gpu_end == MSIM_TIME_NONE || a.end > s->gpu_end)
            s->gpu_end = a.end;
    }
}

/* The mark of a window in its trace, or NULL. */
static const struct msim_step *step_of(const struct msim_graph *g, uint32_t w)
{
    const struct msim_trace *t = g->job->ranks[g->windows[w].rank];

    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].number == g->iterations[g->windows[w].iteration])
            return &t->steps[i];
    return NULL;
}

static struct msim_range traced_span(const struct msim_graph *g, uint32_t w)
{
    const struct msim_window *win = &g->windows[w];
    const struct msim_step *step = step_of(g, w);
    struct msim_range s = {0, win->measured, MSIM_TIME_NONE, MSIM_TIME_NONE,
                           win->measured != MSIM_TIME_NONE && !win->empty};

    if (step && s.known) {
        s.known = step->start != MSIM_TIME_NONE;
        s.host_begin = step->start;
        s.host_end = step->start + step->dur;
    }
    return s;
}

static struct msim_range simulated_span(const struct msim_graph *g, uint32_t w,
                                        const struct msim_window_times *times)
{
    return (struct msim_range){times[w].begin, times[w].end, MSIM_TIME_NONE,
                               MSIM_TIME_NONE, !g->windows[w].empty};
}

/* Without marks the range is all that the rank did, its GPU work too. */
static void find_spans(struct finding *k, enum side side)
{
    const struct msim_window_times *times[] = {k->f->mid, k->f->low,
                                               k->f->high};
    struct msim_range *spans = k->sides[side].spans;

    for (uint32_t w = 0; w < k->g->n_windows; w++)
        spans[w] = side == TRACED ? traced_span(k->g, w)
                                  : simulated_span(k->g, w, times[side]);
    add_gpu_work(k, side);
}

/* ---- which iterations count ---------------------------------------------- */

/* The window of the rank that a call began in, or NONE. */
static uint32_t window_at(const struct finding *k, uint32_t rank, msim_ps at)
{
    const struct msim_range *spans = k->sides[TRACED].spans;

    for (uint32_t w = 0; w < k->g->n_windows; w++)
        if (k->g->windows[w].rank == rank && spans[w].host_begin <= at &&
            at < spans[w].host_end && !msim_window_is_whole(&k->g->windows[w]))
            return w;
    return MSIM_NONE;
}

/* Launches of each window, and those whose work is not recorded. */
static void count_launches(const struct finding *k, uint32_t *all,
                           uint32_t *lost)
{
    for (uint32_t r = 0; r < k->g->job->n_ranks; r++) {
        const struct msim_trace *t = k->g->job->ranks[r];

        for (uint32_t i = 0; i < t->n_calls && t->has_gpu_events; i++) {
            const struct msim_call *c = &t->calls[i];
            uint32_t w =
                c->kind == MSIM_CALL_LAUNCH || c->kind == MSIM_CALL_GRAPH_LAUNCH
                    ? window_at(k, r, c->start)
                    : MSIM_NONE;

            if (w == MSIM_NONE)
                continue;
            all[w]++;
            lost[w] += c->gpu == MSIM_NONE;
        }
    }
}

static enum msim_status find_undrained(const struct finding *k, bool *undrained)
{
    uint32_t n = k->g->n_windows;
    uint32_t *all = calloc(2 * (size_t)n + 1, sizeof(*all));

    if (!all)
        return MSIM_ENOMEM;
    count_launches(k, all, all + n);
    for (uint32_t w = 0; w < n; w++)
        undrained[w] = all[n + w] > MSIM_PERIOD_UNDRAINED * all[w];
    free(all);
    return MSIM_OK;
}

/* As traced, so that a what-if and the run without it speak of the same
 * iterations; from the run where GPU times are not to be read. */
static const struct side_times *judged(const struct finding *k)
{
    const struct side_times *traced = &k->sides[TRACED];
    bool known = k->f->o->gpu_times;

    for (uint32_t w = 0; known && w < k->g->n_windows; w++)
        known = traced->spans[w].known || k->g->windows[w].empty;
    return known ? traced : &k->sides[MID];
}

static enum msim_status find_states(struct finding *k)
{
    bool *undrained;
    const struct side_times *s = judged(k);
    enum msim_status status = MSIM_ENOMEM;

    if (k->f->o->states) {
        memcpy(k->states, k->f->o->states, k->g->n_iterations);
        return MSIM_OK;
    }
    undrained = calloc((size_t)k->g->n_windows + 1, sizeof(*undrained));
    if (undrained)
        status = find_undrained(k, undrained);
    if (status == MSIM_OK)
        status = msim_iteration_states(k->g, s->spans, s->took, undrained,
                                       k->states);
    free(undrained);
    return status;
}

/* Those that count are the best of the selected ones. */
static void choose_level(struct finding *k)
{
    k->level = MSIM_ITERATION_EMPTY;
    for (uint32_t i = 0; i < k->g->n_iterations; i++)
        if ((k->f->iteration == UINT32_MAX || k->f->iteration == i) &&
            k->states[i] < k->level)
            k->level = k->states[i];
}

static bool counts(const struct finding *k, uint32_t w)
{
    return msim_window_selected(k->g, w, k->f->iteration) &&
           k->states[k->g->windows[w].iteration] == k->level;
}

/* ---- what lanes do in them ----------------------------------------------- */

/* The window that a task of the host begins in; `cursor`: one a lane, the
 * search's place so far. Tasks of a lane come in the order of time. */
static uint32_t host_window(const struct finding *k, uint32_t task,
                            uint32_t *cursor)
{
    const struct msim_graph *g = k->g;
    const struct msim_range *spans = k->sides[MID].spans;
    uint32_t lane = g->lane[task], *w = &cursor[lane];
    msim_ps at = k->f->o->mid.start[task];

    while (*w < g->n_windows && (g->windows[*w].rank != g->lanes[lane].rank ||
                                 spans[*w].host_end <= at))
        (*w)++;
    return *w < g->n_windows && spans[*w].host_begin <= at ? *w : MSIM_NONE;
}

static bool is_work(const struct finding *k, uint32_t task)
{
    const struct msim_graph *g = k->g;

    if (g->kind[task] == MSIM_TASK_GAP) /* as in the breakdown */
        return g->lane[task] == k->main_lanes[g->refs[task].rank];
    return g->kind[task] != MSIM_TASK_JOIN && g->lane[task] != MSIM_NONE;
}

static void add_work(struct finding *k, uint32_t task)
{
    const msim_ps *traced = k->g->traced;
    uint32_t lane = k->g->lane[task];

    for (int side = MID; side < TRACED; side++)
        if (k->wanted & 1u << side)
            k->sides[side].work[lane] +=
                (double)(msim_run_end(run_of(k, side), task) -
                         run_of(k, side)->start[task]);
    k->sides[TRACED].work[lane] +=
        traced[task] == MSIM_TIME_NONE ? 0 : (double)traced[task];
}

static enum msim_status find_work(struct finding *k)
{
    const struct msim_graph *g = k->g;
    uint32_t *cursor = calloc((size_t)g->n_lanes + 1, sizeof(*cursor));

    if (!cursor)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        uint32_t w;

        if (!is_work(k, t))
            continue;
        w = g->kind[t] >= MSIM_TASK_KERNEL ? g->window[t]
                                           : host_window(k, t, cursor);
        if (w != MSIM_NONE && counts(k, w))
            add_work(k, t);
    }
    free(cursor);
    return MSIM_OK;
}

/* ---- periods --------------------------------------------------------------
 */

/* Which call launched each task: for what the GPU could not begin earlier. */
static enum msim_status find_launches(struct finding *k)
{
    const struct msim_graph *g = k->g;
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(*k->launch_from);

    if (k->level < MSIM_ITERATION_FIRST)
        return MSIM_OK;
    k->launch_from = malloc(bytes);
    if (!k->launch_from)
        return MSIM_ENOMEM;
    memset(k->launch_from, 0xff, bytes);
    for (uint32_t t = 0; t < g->n_tasks; t++)
        for (uint32_t e = g->edge_begin[t]; e < g->edge_begin[t + 1]; e++)
            if (msim_edge_kind_of(g->edge_kind[e]) == MSIM_EDGE_LAUNCH)
                k->launch_from[g->edges[e].to] = t;
    return MSIM_OK;
}

/* What the GPU needs for the work that window `w` launched. */
static enum msim_status need_of(const struct finding *k, enum side side,
                                uint32_t w, msim_ps *need)
{
    struct msim_activity *v;
    uint32_t n = 0;

    v = malloc(((size_t)k->g->n_tasks + 1) * sizeof(*v));
    if (!v)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < k->g->n_tasks; t++)
        if (k->g->window[t] == w && on_gpu(k->g, t))
            n += activity_of(k, side, t, &v[n]);
    *need = msim_gpu_need(v, n);
    free(v);
    return MSIM_OK;
}

/* Of one window: with what is before it, or by itself. */
static enum msim_status window_takes(const struct finding *k, enum side side,
                                     uint32_t w, double *ps)
{
    const struct msim_range *s = &k->sides[side].spans[w];
    msim_ps need, host = s->host_end - s->host_begin;

    *ps = (double)NAN;
    if (!s->known)
        return MSIM_OK;
    *ps = (double)host;
    if (k->level >= MSIM_ITERATION_FIRST &&
        !msim_window_is_whole(&k->g->windows[w])) {
        MSIM_TRY(need_of(k, side, w, &need));
        *ps = (double)(need > host ? need : host);
    } else if (k->level < MSIM_ITERATION_FIRST) {
        msim_ps took = k->sides[side].took[w].ps;

        *ps = took == MSIM_TIME_NONE ? (double)NAN : (double)took;
    }
    return MSIM_OK;
}

/* The lane of the rank that works most, or NONE. */
static uint32_t busiest(const struct finding *k, enum side side, uint32_t rank)
{
    const double *work = k->sides[side].work;
    uint32_t best = MSIM_NONE;

    for (uint32_t l = 0; l < k->g->n_lanes; l++)
        if (k->g->lanes[l].rank == rank &&
            (best == MSIM_NONE || work[l] > work[best]))
            best = l;
    return best;
}

/* In us; NAN where it is not known. */
static enum msim_status rank_period(const struct finding *k, enum side side,
                                    uint32_t rank, double *us)
{
    uint32_t n = 0, lane = busiest(k, side, rank);
    double sum = 0, one;

    for (uint32_t w = 0; w < k->g->n_windows; w++) {
        if (k->g->windows[w].rank != rank || !counts(k, w))
            continue;
        MSIM_TRY(window_takes(k, side, w, &one));
        sum += one;
        n++;
    }
    if (lane != MSIM_NONE && k->sides[side].work[lane] > sum)
        sum = k->sides[side].work[lane];
    *us = n ? sum / n / MSIM_PS_PER_US : (double)NAN;
    return MSIM_OK;
}

static enum msim_status rank_figure(const struct finding *k, uint32_t rank,
                                    struct msim_figure *f)
{
    bool paced = false;

    for (uint32_t w = 0; w < k->g->n_windows; w++)
        paced |= k->g->windows[w].rank == rank && counts(k, w) &&
                 msim_keeps_pace(k->g, k->f->o->mid.removed, w);
    MSIM_TRY(rank_period(k, MID, rank, &f->predicted));
    MSIM_TRY(rank_period(k, LOW, rank, &f->low));
    MSIM_TRY(rank_period(k, HIGH, rank, &f->high));
    MSIM_TRY(rank_period(k, TRACED, rank, &f->measured));
    if (paced) {
        f->predicted = fmax(f->predicted, f->measured);
        f->low = fmax(f->low, f->measured);
        f->high = fmax(f->high, f->measured);
    }
    /* Of differences neither run need be on its own side of the middle. */
    f->low = fmin(f->low, f->predicted);
    f->high = fmax(f->high, f->predicted);
    return MSIM_OK;
}

/* ---- what bounds it -------------------------------------------------------
 */

/* What keeps the GPU busy in the host ranges that count, as shares of them. */
struct gpu_busy {
    double compute, communication, copy;
};

static double gpu_share(const struct gpu_busy *b)
{
    return b->compute + b->communication + b->copy;
}

static const char *gpu_class(const struct gpu_busy *b)
{
    if (b->compute >= b->communication && b->compute >= b->copy)
        return "compute";
    return b->communication >= b->copy ? "communication" : "memory_copy";
}

/* The ranges of the host and the GPU as means, and the GPU's busy shares. */
static void find_ranges(const struct finding *k, uint32_t rank,
                        struct msim_period *p, struct gpu_busy *busy)
{
    msim_ps host = 0, gpu = 0, compute = 0, communication = 0, copy = 0;
    uint32_t n = 0;

    for (uint32_t w = 0; w < k->g->n_windows; w++) {
        const struct msim_range *s = &k->sides[MID].spans[w];
        const struct msim_window_times *t = &k->f->mid[w];

        if (k->g->windows[w].rank != rank || !counts(k, w))
            continue;
        host += s->host_end - s->host_begin;
        gpu += s->gpu_end == MSIM_TIME_NONE ? 0 : s->gpu_end - s->gpu_begin;
        compute += t->compute;
        communication += t->communication;
        copy += t->copy;
        n++;
    }
    p->iterations = n;
    p->host_range_us = msim_us(host) / n;
    p->gpu_range_us = msim_us(gpu) / n;
    *busy =
        (struct gpu_busy){(double)compute, (double)communication, (double)copy};
    if (host > 0)
        *busy = (struct gpu_busy){busy->compute / (double)host,
                                  busy->communication / (double)host,
                                  busy->copy / (double)host};
}

/* What most of a stream's work is. */
static const char *lane_class(const struct finding *k, uint32_t lane)
{
    double us[MSIM_TASK_COMM + 1] = {0};
    int most = MSIM_TASK_KERNEL;

    if (!k->g->lanes[lane].device)
        return "host";
    for (uint32_t t = 0; t < k->g->n_tasks; t++)
        if (k->g->lane[t] == lane && on_gpu(k->g, t) &&
            counts(k, k->g->window[t]))
            us[k->g->kind[t]] += msim_us(k->f->o->mid.dur[t]);
    for (int kind = MSIM_TASK_COPY; kind <= MSIM_TASK_COMM; kind++)
        if (us[kind] > us[most])
            most = kind;
    return most == MSIM_TASK_KERNEL ? "compute"
           : most == MSIM_TASK_COPY ? "memory_copy"
                                    : "communication";
}

/* The busiest lane, or the whole GPU where its streams keep it busy together.
 */
static enum msim_status find_bound(const struct finding *k, uint32_t rank,
                                   struct msim_period *p)
{
    uint32_t lane = busiest(k, MID, rank);
    struct gpu_busy busy;
    char *name;

    find_ranges(k, rank, p, &busy);
    if (lane == MSIM_NONE)
        return MSIM_OK;
    name = msim_arena_alloc(&k->f->p->arena, MSIM_LANE_NAME);
    if (!name)
        return MSIM_ENOMEM;
    msim_lane_name(name, k->g, lane);
    p->busiest_us = k->sides[MID].work[lane] / p->iterations / MSIM_PS_PER_US;
    p->busiest_share = p->busiest_us / p->us.predicted;
    p->busiest = name;
    p->busiest_kind = lane_class(k, lane);
    if (p->busiest_share < BOUND_SHARE && gpu_share(&busy) > p->busiest_share) {
        p->busiest_share = fmin(gpu_share(&busy), 1);
        p->busiest_us = p->busiest_share * p->us.predicted;
        p->busiest = "all streams";
        p->busiest_kind = gpu_class(&busy);
    }
    p->bounds = p->busiest_share >= BOUND_SHARE;
    return MSIM_OK;
}

/* ---- the whole ------------------------------------------------------------
 */

static enum msim_status fill_ranks(struct finding *k)
{
    struct msim_prediction *p = k->f->p;
    struct msim_rank_row *row = p->ranks_detail;
    uint32_t slowest = MSIM_NONE;

    p->period.us = (struct msim_figure){NAN, NAN, NAN, NAN};
    for (uint32_t rank = 0; rank < k->g->job->n_ranks; rank++) {
        if (!msim_findings_windows(k->f, rank))
            continue;
        MSIM_TRY(rank_figure(k, rank, &row->period_us));
        if (slowest == MSIM_NONE ||
            row->period_us.predicted > p->period.us.predicted) {
            slowest = rank;
            p->period.us = row->period_us;
            p->period.rank = row->rank;
        }
        row++;
    }
    if (slowest == MSIM_NONE || isnan(p->period.us.predicted))
        return MSIM_OK;
    return find_bound(k, slowest, &p->period);
}

static void fill_states(struct finding *k)
{
    struct msim_prediction *p = k->f->p;
    uint32_t row = 0;

    for (uint32_t i = 0; i < k->g->n_iterations; i++)
        if (k->f->iteration == UINT32_MAX || k->f->iteration == i)
            p->iterations[row++].state = msim_iteration_state_text(
                (enum msim_iteration_state)k->states[i]);
    p->period.state =
        msim_iteration_state_text((enum msim_iteration_state)k->level);
}

static enum msim_status find_side(struct finding *k, enum side side)
{
    struct side_times *s = &k->sides[side];
    size_t n = (size_t)k->g->n_windows + 1;

    s->spans = calloc(n, sizeof(*s->spans));
    s->took = calloc(n, sizeof(*s->took));
    s->work = calloc((size_t)k->g->n_lanes + 1, sizeof(*s->work));
    if (!s->spans || !s->took || !s->work)
        return MSIM_ENOMEM;
    if (!(k->wanted & 1u << side))
        return MSIM_OK;
    find_spans(k, side);
    return msim_took_find(k->g, s->spans, s->took);
}

static enum msim_status find_all(struct finding *k)
{
    k->main_lanes = msim_main_lanes(k->g);
    k->states = calloc((size_t)k->g->n_iterations + 1, 1);
    if (!k->main_lanes || !k->states)
        return MSIM_ENOMEM;
    for (int side = MID; side < SIDES; side++)
        MSIM_TRY(find_side(k, (enum side)side));
    MSIM_TRY(find_states(k));
    choose_level(k);
    MSIM_TRY(find_work(k));
    return find_launches(k);
}

static void release(struct finding *k)
{
    for (int side = MID; side < SIDES; side++) {
        free(k->sides[side].spans);
        free(k->sides[side].took);
        free(k->sides[side].work);
    }
    free(k->states);
    free(k->launch_from);
    free(k->main_lanes);
}

enum msim_status msim_analyse_period(const struct msim_findings *f)
{
    struct finding k = {.f = f, .g = f->g, .wanted = ALL_SIDES};
    enum msim_status status = find_all(&k);

    if (status == MSIM_OK)
        status = fill_ranks(&k);
    if (status == MSIM_OK)
        fill_states(&k);
    release(&k);
    return status;
}

/* The largest over ranks, in us. */
static enum msim_status job_period(const struct finding *k, double *us)
{
    *us = (double)NAN;
    for (uint32_t rank = 0; rank < k->g->job->n_ranks; rank++) {
        double own;

        if (!msim_findings_windows(k->f, rank))
            continue;
        MSIM_TRY(rank_period(k, MID, rank, &own));
        if (isnan(*us) || own > *us)
            *us = own;
    }
    return MSIM_OK;
}

enum msim_status msim_period_find(const struct msim_outcome *o,
                                  uint32_t iteration, uint8_t *states,
                                  double *us)
{
    struct msim_window_times *mid =
        calloc((size_t)o->graph->n_windows + 1, sizeof(*mid));
    struct msim_findings f = {
        .o = o, .g = o->graph, .iteration = iteration, .mid = mid};
    struct finding k = {.f = &f, .g = o->graph, .wanted = 1u << MID};
    enum msim_status status = MSIM_ENOMEM;

    if (!o->states) /* judged by the trace, and by its marks */
        k.wanted |= 1u << TRACED;
    if (mid) {
        msim_window_bounds(o->graph, &o->mid, mid);
        status = find_all(&k);
    }
    if (status == MSIM_OK)
        status = job_period(&k, us);
    if (status == MSIM_OK && states)
        memcpy(states, k.states, o->graph->n_iterations);
    release(&k);
    free(mid);
    return status;
}
