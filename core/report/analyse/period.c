/*
 * core/report/analyse/period.c - what each iteration took, and which of them
 * are settled: the rule, then what it is asked of, the windows of the runs and
 * of the trace, and what lanes do in them.
 */
#include "core/report/analyse/analysis_internal.h"

#include "core/base/containers.h"

#include <stdlib.h>
#include <string.h>

const char *msim_iteration_state_text(enum msim_iteration_state state)
{
    static const char *const TEXTS[] = {
        [MSIM_ITERATION_SETTLED] = "settled",
        [MSIM_ITERATION_RUN_UP] = "run-up",
        [MSIM_ITERATION_FIRST] = "first",
        [MSIM_ITERATION_UNDRAINED] = "undrained",
        [MSIM_ITERATION_EMPTY] = "empty",
    };

    return TEXTS[state];
}

/* For each rank its last window so far, or NONE; the caller frees it. */
static uint32_t *no_windows(const struct msim_graph *g)
{
    size_t bytes = ((size_t)g->job->n_ranks + 1) * sizeof(uint32_t);
    uint32_t *last = malloc(bytes);

    if (last)
        memset(last, 0xff, bytes);
    return last;
}

/* Is window `w` the iteration after window `before` of its rank? */
static bool follows(const struct msim_graph *g, const struct msim_range *spans,
                    uint32_t before, uint32_t w)
{
    return before != MSIM_NONE && spans[before].known && spans[w].known &&
           g->iterations[g->windows[w].iteration] ==
               g->iterations[g->windows[before].iteration] + 1;
}

static msim_ps later(msim_ps a, msim_ps b)
{
    return a > b ? a : b;
}

static msim_ps finish_of(const struct msim_range *s)
{
    return s->gpu_end == MSIM_TIME_NONE ? s->host_end
                                        : later(s->host_end, s->gpu_end);
}

enum msim_status msim_took_find(const struct msim_graph *g,
                                const struct msim_range *spans,
                                struct msim_took *took)
{
    uint32_t *last = no_windows(g);
    msim_ps *finish = malloc(((size_t)g->n_windows + 1) * sizeof(*finish));

    for (uint32_t w = 0; last && finish && w < g->n_windows; w++) {
        const struct msim_range *s = &spans[w];
        uint32_t *before = &last[g->windows[w].rank];

        took[w] = (struct msim_took){MSIM_TIME_NONE, 0};
        if (s->known)
            finish[w] = finish_of(s);
        if (follows(g, spans, *before, w)) {
            finish[w] = later(finish[w], finish[*before]);
            took[w].ps = finish[w] - later(s->host_begin, finish[*before]);
            took[w].more = took[w].ps - (s->host_end - s->host_begin);
        }
        *before = w;
    }
    free(finish);
    free(last);
    return last && finish ? MSIM_OK : MSIM_ENOMEM;
}

/* `before`: state of the iteration before it on its rank. */
static enum msim_iteration_state state_of(const struct msim_range *span,
                                          const struct msim_took *took,
                                          bool undrained,
                                          enum msim_iteration_state before)
{
    if (!span->known || finish_of(span) <= span->host_begin)
        return MSIM_ITERATION_EMPTY;
    if (undrained)
        return MSIM_ITERATION_UNDRAINED;
    if (took->ps == MSIM_TIME_NONE || before >= MSIM_ITERATION_UNDRAINED)
        return MSIM_ITERATION_FIRST;
    if (before != MSIM_ITERATION_SETTLED &&
        (double)took->more > MSIM_PERIOD_RUN_UP * (double)took->ps)
        return MSIM_ITERATION_RUN_UP;
    return MSIM_ITERATION_SETTLED;
}

enum msim_status msim_iteration_states(const struct msim_graph *g,
                                       const struct msim_range *spans,
                                       const struct msim_took *took,
                                       const bool *undrained, uint8_t *states)
{
    uint8_t *last = malloc((size_t)g->job->n_ranks + 1);

    if (!last)
        return MSIM_ENOMEM;
    memset(last, MSIM_ITERATION_FIRST, (size_t)g->job->n_ranks + 1);
    memset(states, MSIM_ITERATION_SETTLED, g->n_iterations);
    for (uint32_t w = 0; w < g->n_windows; w++) {
        uint8_t *own = &last[g->windows[w].rank];
        uint8_t *of_all = &states[g->windows[w].iteration];

        *own = (uint8_t)state_of(&spans[w], &took[w], undrained && undrained[w],
                                 (enum msim_iteration_state) * own);
        *of_all = *own > *of_all ? *own : *of_all;
    }
    free(last);
    return MSIM_OK;
}

static bool starts_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_activity *v = ctx;

    return v[a].start < v[b].start;
}

enum msim_status msim_gpu_need(struct msim_activity *v, uint32_t n,
                               msim_ps *need)
{
    msim_ps idle = 0, end;

    *need = 0;
    if (!n)
        return MSIM_OK;
    MSIM_TRY(msim_sort_rows(v, n, sizeof(*v), starts_before, v));
    end = v[0].end;
    for (uint32_t i = 1; i < n; i++) {
        msim_ps launched = v[i].launched;

        if (launched > v[i].start)
            launched = v[i].start;
        if (launched != MSIM_TIME_NONE && launched > end)
            idle += launched - end;
        end = later(end, v[i].end);
    }
    *need = end - v[0].start - idle;
    return MSIM_OK;
}

/* ---- when windows begin and end ------------------------------------------ */

static inline msim_ps end_of(const struct msim_run *run, uint32_t task)
{
    return run->laid ? msim_laid_end(run->laid, task) : msim_run_end(run, task);
}

bool msim_period_activity(const struct msim_period_finding *k,
                          enum msim_period_side side, uint32_t task,
                          struct msim_activity *a)
{
    const struct msim_graph *g = k->g;
    const struct msim_task_ref *ref = &g->refs[task];
    const struct msim_trace *t = g->job->ranks[ref->rank];
    uint32_t arrival = msim_arrival(g, task), call;
    const struct msim_run *run;

    a->launched = MSIM_TIME_NONE;
    if (side == MSIM_PERIOD_TRACED) {
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
    run = msim_period_run(k, side);
    a->start = msim_run_start(run, arrival);
    a->end = end_of(run, task);
    if (k->launch_from && k->launch_from[arrival] != MSIM_NONE)
        a->launched = end_of(run, k->launch_from[arrival]);
    return !run->removed || !run->removed[task];
}

/* Work that a what-if adds was not in the traced run. */
static bool is_added(const struct msim_graph *g, uint32_t task)
{
    return g->own_name && g->own_name[task] && g->refs[task].index == MSIM_NONE;
}

static void add_gpu_work(struct msim_period_finding *k,
                         enum msim_period_side side)
{
    for (uint32_t i = 0; i < k->gpu_begin[k->g->n_windows]; i++) {
        uint32_t t = k->on_gpu[i];
        struct msim_range *s = &k->sides[side].spans[k->g->window[t]];
        struct msim_activity a;

        if (!msim_period_activity(k, side, t, &a)) {
            s->known &= side != MSIM_PERIOD_TRACED || is_added(k->g, t);
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
    const struct msim_window *win = &g->windows[w];

    return win->step == MSIM_NONE ? NULL
                                  : &g->job->ranks[win->rank]->steps[win->step];
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
static void find_spans(struct msim_period_finding *k,
                       enum msim_period_side side)
{
    const struct msim_window_times *times[] = {k->f->mid, k->f->low,
                                               k->f->high};
    struct msim_range *spans = k->sides[side].spans;

    for (uint32_t w = 0; w < k->g->n_windows; w++)
        spans[w] = side == MSIM_PERIOD_TRACED
                       ? traced_span(k->g, w)
                       : simulated_span(k->g, w, times[side]);
    add_gpu_work(k, side);
}

enum msim_status msim_period_find_side(struct msim_period_finding *k,
                                       enum msim_period_side side)
{
    struct msim_side_times *s = &k->sides[side];
    size_t n = (size_t)k->g->n_windows + 1;

    if (!(k->wanted & 1u << side))
        return MSIM_OK;
    if (msim_period_is_mid(k, side)) {
        memcpy(s->spans, k->sides[MSIM_PERIOD_MID].spans,
               n * sizeof(*s->spans));
        memcpy(s->took, k->sides[MSIM_PERIOD_MID].took, n * sizeof(*s->took));
        return MSIM_OK;
    }
    find_spans(k, side);
    return msim_took_find(k->g, s->spans, s->took);
}

/* ---- which iterations count ---------------------------------------------- */

/* The traced windows that are marked. */
static enum msim_status place_marked(const struct msim_period_finding *k,
                                     struct msim_windows *x)
{
    const struct msim_range *spans = k->sides[MSIM_PERIOD_TRACED].spans;

    MSIM_TRY(msim_windows_init(x, k->g->n_windows, k->g->job->n_ranks));
    for (uint32_t w = 0; w < k->g->n_windows; w++)
        if (!msim_window_is_whole(&k->g->windows[w]))
            msim_windows_add(x, k->g->windows[w].rank, w, spans[w].host_begin,
                             spans[w].host_end);
    msim_windows_place(x);
    return MSIM_OK;
}

/* Launches of each window, and those whose work is not recorded. */
static void count_launches(const struct msim_period_finding *k,
                           const struct msim_windows *x, uint32_t *all,
                           uint32_t *lost)
{
    for (uint32_t r = 0; r < k->g->job->n_ranks; r++) {
        const struct msim_trace *t = k->g->job->ranks[r];

        for (uint32_t i = 0; i < t->n_calls && t->has_gpu_events; i++) {
            const struct msim_call *c = &t->calls[i];
            uint32_t w =
                c->kind == MSIM_CALL_LAUNCH || c->kind == MSIM_CALL_GRAPH_LAUNCH
                    ? msim_windows_at(x, r, c->start)
                    : MSIM_NONE;

            if (w == MSIM_NONE)
                continue;
            all[w]++;
            lost[w] += c->gpu == MSIM_NONE;
        }
    }
}

static enum msim_status find_undrained(struct msim_period_finding *k)
{
    uint32_t n = k->g->n_windows;
    uint32_t *all = calloc(2 * (size_t)n + 1, sizeof(*all));
    struct msim_windows marked = {0};
    enum msim_status status = place_marked(k, &marked);

    k->undrained = calloc((size_t)n + 1, sizeof(*k->undrained));
    if (!all || !k->undrained)
        status = MSIM_ENOMEM;
    if (status == MSIM_OK && !k->f->o->states) {
        count_launches(k, &marked, all, all + n);
        for (uint32_t w = 0; w < n; w++)
            k->undrained[w] = all[n + w] > MSIM_PERIOD_UNDRAINED * all[w];
    }
    msim_windows_release(&marked);
    free(all);
    return status;
}

/* As traced, so that a what-if and the run without it speak of the same
 * iterations; from the run where GPU times are not to be read. */
static const struct msim_side_times *judged(const struct msim_period_finding *k)
{
    const struct msim_side_times *traced = &k->sides[MSIM_PERIOD_TRACED];
    bool known = k->f->o->gpu_times;

    for (uint32_t w = 0; known && w < k->g->n_windows; w++)
        known = traced->spans[w].known || k->g->windows[w].empty;
    return known ? traced : &k->sides[MSIM_PERIOD_MID];
}

/* Those that count are the best of the selected ones. */
static void choose_level(struct msim_period_finding *k)
{
    k->level = MSIM_ITERATION_EMPTY;
    for (uint32_t i = 0; i < k->g->n_iterations; i++)
        if ((k->f->iteration == UINT32_MAX || k->f->iteration == i) &&
            k->states[i] < k->level)
            k->level = k->states[i];
}

enum msim_status msim_period_find_states(struct msim_period_finding *k)
{
    const struct msim_side_times *s = judged(k);

    if (k->f->o->states)
        memcpy(k->states, k->f->o->states, k->g->n_iterations);
    else
        MSIM_TRY(msim_iteration_states(k->g, s->spans, s->took, k->undrained,
                                       k->states));
    choose_level(k);
    return MSIM_OK;
}

/* ---- what lanes do in them ----------------------------------------------- */

static bool is_work(const struct msim_period_finding *k, uint32_t task)
{
    const struct msim_graph *g = k->g;

    if (g->kind[task] == MSIM_TASK_GAP) /* as in the breakdown */
        return g->lane[task] == k->main_lanes[g->refs[task].rank];
    return g->kind[task] != MSIM_TASK_JOIN && g->lane[task] != MSIM_NONE;
}

/* Is a task of a lane's stretch on the GPU, and in which window then? */
static uint32_t stretch_of(const struct msim_graph *g, uint32_t task)
{
    return g->kind[task] < MSIM_TASK_KERNEL ? MSIM_PERIOD_ON_HOST
                                            : g->window[task];
}

/* Tasks that lanes work on, as stretches. */
enum msim_status msim_period_find_stretches(struct msim_period_finding *k)
{
    const struct msim_graph *g = k->g;
    struct msim_stretch *last = NULL;

    for (uint32_t t = 0; t < g->n_tasks; t++) {
        uint32_t window = stretch_of(g, t);

        if (window == MSIM_NONE || !is_work(k, t))
            continue;
        if (last && last->end == t && last->lane == g->lane[t] &&
            last->window == window) {
            last->end++;
            continue;
        }
        MSIM_TRY(msim_grow((void **)&k->stretches, &k->cap_stretches,
                           k->n_stretches, sizeof(*k->stretches)));
        last = &k->stretches[k->n_stretches++];
        *last = (struct msim_stretch){t, t + 1, g->lane[t], window};
    }
    return MSIM_OK;
}

/* What the tasks from `t` to before `end` take, of a run or (NULL) traced. */
static double sum_tasks(const struct msim_period_finding *k,
                        const struct msim_run *run, uint32_t t, uint32_t end)
{
    double traced = 0;
    msim_ps sum = 0; /* they are one behind another in a run that ends */

    if (t == end)
        return 0;
    if (run && run->laid && k->g->kind[t] < MSIM_TASK_KERNEL)
        return (double)(run->laid->line[end] - run->laid->line[t]);
    if (run) {
        for (; t < end; t++)
            sum += msim_run_took(run, t);
        return (double)sum;
    }
    for (; t < end; t++)
        traced +=
            k->g->traced[t] == MSIM_TIME_NONE ? 0 : (double)k->g->traced[t];
    return traced;
}

/* The first task of a stretch from `t` on that begins at `at` or later. */
static uint32_t first_from(const struct msim_run *run, uint32_t t, uint32_t end,
                           msim_ps at)
{
    while (t < end) {
        uint32_t mid = t + (end - t) / 2;

        if (msim_run_start(run, mid) < at)
            t = mid + 1;
        else
            end = mid;
    }
    return t;
}

/* The first of the rank's windows from `w` on that ends behind `at`. */
static uint32_t window_from(const struct msim_period_finding *k, uint32_t w,
                            uint32_t rank, msim_ps at)
{
    const struct msim_range *spans = k->sides[MSIM_PERIOD_MID].spans;

    while (w < k->g->n_windows &&
           (k->g->windows[w].rank != rank || spans[w].host_end <= at))
        w++;
    return w;
}

/* Those of the host count that begin in a window that counts: a thread's tasks
 * come in the order of time. `*w`: the window that its lane is in. */
static double sum_host(const struct msim_period_finding *k,
                       const struct msim_run *run, const struct msim_stretch *s,
                       uint32_t *w)
{
    const struct msim_run *mid = &k->f->o->mid;
    uint32_t rank = k->g->lanes[s->lane].rank;
    msim_ps last = msim_run_start(mid, s->end - 1);
    double sum = 0;

    for (uint32_t t = s->begin, from; t < s->end;) {
        msim_ps at = msim_run_start(mid, t);
        const struct msim_range *span;

        *w = window_from(k, *w, rank, at);
        if (*w == k->g->n_windows)
            break;
        span = &k->sides[MSIM_PERIOD_MID].spans[*w];
        from = at >= span->host_begin
                   ? t
                   : first_from(mid, t, s->end, span->host_begin);
        t = last < span->host_end
                ? s->end
                : first_from(mid, from, s->end, span->host_end);
        if (k->counts[*w])
            sum += sum_tasks(k, run, from, t);
    }
    return sum;
}

/* Work in windows that count by lane, of a run or (NULL) of the trace. */
static void sum_work(const struct msim_period_finding *k,
                     const struct msim_run *run, double *by_lane)
{
    memset(by_lane, 0, k->g->n_lanes * sizeof(*by_lane));
    memset(k->lane_at, 0, k->g->n_lanes * sizeof(*k->lane_at));
    for (uint32_t i = 0; i < k->n_stretches; i++) {
        const struct msim_stretch *s = &k->stretches[i];

        if (s->window == MSIM_PERIOD_ON_HOST)
            by_lane[s->lane] += sum_host(k, run, s, &k->lane_at[s->lane]);
        else if (k->counts[s->window])
            by_lane[s->lane] += sum_tasks(k, run, s->begin, s->end);
    }
}

void msim_period_find_work(struct msim_period_finding *k)
{
    for (uint32_t w = 0; w < k->g->n_windows; w++)
        k->counts[w] = msim_period_counts(k, w);
    for (int i = MSIM_PERIOD_MID; i < MSIM_PERIOD_TRACED; i++) {
        enum msim_period_side side = (enum msim_period_side)i;

        if (msim_period_is_mid(k, side))
            memcpy(k->sides[side].work, k->sides[MSIM_PERIOD_MID].work,
                   k->g->n_lanes * sizeof(double));
        else if (k->wanted & 1u << side)
            sum_work(k, msim_period_run(k, side), k->sides[side].work);
    }
    if (k->wanted & 1u << MSIM_PERIOD_TRACED)
        sum_work(k, NULL, k->sides[MSIM_PERIOD_TRACED].work);
}

/* ---- what all runs share ------------------------------------------------- */

/* In the order of their windows. */
static enum msim_status find_on_gpu(struct msim_period_finding *k)
{
    const struct msim_graph *g = k->g;
    uint32_t *begin = calloc((size_t)g->n_windows + 2, sizeof(*begin));

    k->gpu_begin = begin;
    k->on_gpu = malloc(((size_t)g->n_tasks + 1) * sizeof(*k->on_gpu));
    if (!k->on_gpu || !begin)
        return MSIM_ENOMEM;
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (msim_period_on_gpu(g, t))
            begin[g->window[t] + 2]++;
    for (uint32_t w = 2; w < g->n_windows + 2; w++)
        begin[w] += begin[w - 1];
    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (msim_period_on_gpu(g, t))
            k->on_gpu[begin[g->window[t] + 1]++] = t;
    return MSIM_OK;
}

enum msim_status msim_period_prepare(struct msim_period_finding *k)
{
    size_t n = (size_t)k->g->n_windows + 1;

    for (int side = MSIM_PERIOD_MID; side < MSIM_PERIOD_SIDES; side++) {
        struct msim_side_times *s = &k->sides[side];

        s->spans = calloc(n, sizeof(*s->spans));
        s->took = calloc(n, sizeof(*s->took));
        s->work = calloc((size_t)k->g->n_lanes + 1, sizeof(*s->work));
        if (!s->spans || !s->took || !s->work)
            return MSIM_ENOMEM;
    }
    MSIM_TRY(find_on_gpu(k));
    find_spans(k, MSIM_PERIOD_TRACED);
    MSIM_TRY(msim_took_find(k->g, k->sides[MSIM_PERIOD_TRACED].spans,
                            k->sides[MSIM_PERIOD_TRACED].took));
    return find_undrained(k);
}

void msim_period_release(struct msim_period_finding *k)
{
    for (int side = MSIM_PERIOD_MID; side < MSIM_PERIOD_SIDES; side++) {
        free(k->sides[side].spans);
        free(k->sides[side].took);
        free(k->sides[side].work);
    }
    free(k->on_gpu);
    free(k->gpu_begin);
    free(k->undrained);
}
