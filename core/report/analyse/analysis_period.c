/*
 * core/report/analyse/analysis_period.c - the period of the job, of each rank,
 * and what bounds it (core/report/analyse/period.c says the rules).
 */
#include "core/graph/graph.h"
#include "core/report/analyse/analysis_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Above this share of the period a resource is said to bound it. */
#define BOUND_SHARE 0.95

#define ALL_SIDES ((1u << MSIM_PERIOD_SIDES) - 1)

/* ---- periods --------------------------------------------------------------
 */

/* Which call launched each task: for what the GPU could not begin earlier. */
static enum msim_status find_launches(struct msim_period_finding *k)
{
    const struct msim_graph *g = k->g;
    size_t bytes = ((size_t)g->n_tasks + 1) * sizeof(*k->launch_from);

    if (k->level < MSIM_ITERATION_FIRST || k->launch_from)
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
static enum msim_status need_of(const struct msim_period_finding *k,
                                enum msim_period_side side, uint32_t w,
                                msim_ps *need)
{
    uint32_t begin = k->gpu_begin[w], end = k->gpu_begin[w + 1], n = 0;
    struct msim_activity *v = malloc(((size_t)end - begin + 1) * sizeof(*v));
    enum msim_status status;

    if (!v)
        return MSIM_ENOMEM;
    for (uint32_t i = begin; i < end; i++)
        n += msim_period_activity(k, side, k->on_gpu[i], &v[n]);
    status = msim_gpu_need(v, n, need);
    free(v);
    return status;
}

/* Of one window: with what is before it, or by itself. */
static enum msim_status window_takes(const struct msim_period_finding *k,
                                     enum msim_period_side side, uint32_t w,
                                     double *ps)
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
static uint32_t busiest(const struct msim_period_finding *k,
                        enum msim_period_side side, uint32_t rank)
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
static enum msim_status rank_period(const struct msim_period_finding *k,
                                    enum msim_period_side side, uint32_t rank,
                                    double *us)
{
    uint32_t n = 0, lane = busiest(k, side, rank);
    double sum = 0, one;

    for (uint32_t w = 0; w < k->g->n_windows; w++) {
        if (k->g->windows[w].rank != rank || !msim_period_counts(k, w))
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

/* Is this the arrival of an absent rank that keeps its time? */
static bool paces(const struct msim_release *r)
{
    return r->external && r->at != MSIM_TIME_NONE;
}

static bool may_pace(const struct msim_graph *g)
{
    for (uint32_t i = 0; i < g->n_releases; i++)
        if (paces(&g->releases[i]))
            return true;
    return false;
}

/* Does an iteration that counts meet absent ranks that keep their times? */
static bool is_paced(const struct msim_period_finding *k, uint32_t rank)
{
    const struct msim_graph *g = k->g;
    const uint8_t *removed = k->f->o->mid.removed;

    for (uint32_t i = 0; i < g->n_releases; i++) {
        const struct msim_release *r = &g->releases[i];
        uint32_t w = g->window[r->task];

        if (paces(r) && w != MSIM_NONE && g->windows[w].rank == rank &&
            msim_period_counts(k, w) && !(removed && removed[r->task]))
            return true;
    }
    return false;
}

static enum msim_status rank_figure(const struct msim_period_finding *k,
                                    uint32_t rank, struct msim_figure *f)
{
    MSIM_TRY(rank_period(k, MSIM_PERIOD_MID, rank, &f->predicted));
    MSIM_TRY(rank_period(k, MSIM_PERIOD_LOW, rank, &f->low));
    MSIM_TRY(rank_period(k, MSIM_PERIOD_HIGH, rank, &f->high));
    MSIM_TRY(rank_period(k, MSIM_PERIOD_TRACED, rank, &f->measured));
    if (is_paced(k, rank)) {
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
static void find_ranges(const struct msim_period_finding *k, uint32_t rank,
                        struct msim_period *p, struct gpu_busy *busy)
{
    msim_ps host = 0, gpu = 0, compute = 0, communication = 0, copy = 0;
    uint32_t n = 0;

    for (uint32_t w = 0; w < k->g->n_windows; w++) {
        const struct msim_range *s = &k->sides[MSIM_PERIOD_MID].spans[w];
        const struct msim_window_times *t = &k->f->mid[w];

        if (k->g->windows[w].rank != rank || !msim_period_counts(k, w))
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
static const char *lane_class(const struct msim_period_finding *k,
                              uint32_t lane)
{
    double us[MSIM_TASK_COMM + 1] = {0};
    int most = MSIM_TASK_KERNEL;

    if (!k->g->lanes[lane].device)
        return "host";
    for (uint32_t t = 0; t < k->g->n_tasks; t++)
        if (k->g->lane[t] == lane && msim_period_on_gpu(k->g, t) &&
            msim_period_counts(k, k->g->window[t]))
            us[k->g->kind[t]] += msim_us(k->f->o->mid.dur[t]);
    for (int kind = MSIM_TASK_COPY; kind <= MSIM_TASK_COMM; kind++)
        if (us[kind] > us[most])
            most = kind;
    return most == MSIM_TASK_KERNEL ? "compute"
           : most == MSIM_TASK_COPY ? "memory_copy"
                                    : "communication";
}

/* Waiting for peers keeps a stream, but does not bound the job. */
static double waiting_share(const struct msim_period_finding *k, int64_t rank)
{
    const struct msim_prediction *p = k->f->p;

    for (uint32_t i = 0; i < p->n_ranks_detail; i++)
        if (p->ranks_detail[i].rank == rank &&
            p->ranks_detail[i].iteration_us.predicted > 0)
            return p->ranks_detail[i].wait_us /
                   p->ranks_detail[i].iteration_us.predicted;
    return 0;
}

/* The busiest lane, or the whole GPU where its streams keep it busy together.
 */
static enum msim_status find_bound(const struct msim_period_finding *k,
                                   uint32_t rank, struct msim_period *p)
{
    uint32_t lane = busiest(k, MSIM_PERIOD_MID, rank);
    struct gpu_busy busy;
    char *name;

    find_ranges(k, rank, p, &busy);
    if (lane == MSIM_NONE)
        return MSIM_OK;
    name = msim_arena_alloc(&k->f->p->arena, MSIM_LANE_NAME);
    if (!name)
        return MSIM_ENOMEM;
    msim_lane_name(name, k->g, lane);
    p->busiest_us =
        k->sides[MSIM_PERIOD_MID].work[lane] / p->iterations / MSIM_PS_PER_US;
    p->busiest_share = p->busiest_us / p->us.predicted;
    p->busiest = name;
    p->busiest_kind = lane_class(k, lane);
    if (p->busiest_share < BOUND_SHARE && gpu_share(&busy) > p->busiest_share) {
        p->busiest_share = fmin(gpu_share(&busy), 1);
        p->busiest_us = p->busiest_share * p->us.predicted;
        p->busiest = "all streams";
        p->busiest_kind = gpu_class(&busy);
    }
    p->bounds = p->busiest_share - waiting_share(k, p->rank) >= BOUND_SHARE;
    return MSIM_OK;
}

/* ---- the whole ------------------------------------------------------------
 */

static enum msim_status fill_ranks(struct msim_period_finding *k)
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

static void fill_states(struct msim_period_finding *k)
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

/* What all runs of one graph share. */
static enum msim_status prepare(struct msim_period_finding *k)
{
    const struct msim_graph *g = k->g;

    k->main_lanes = msim_main_lanes(g);
    k->states = calloc((size_t)g->n_iterations + 1, 1);
    k->lane_at = malloc(((size_t)g->n_lanes + 1) * sizeof(*k->lane_at));
    k->counts = malloc((size_t)g->n_windows + 1);
    if (!k->main_lanes || !k->states || !k->lane_at || !k->counts)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_period_find_stretches(k));
    return msim_period_prepare(k);
}

/* What windows and lanes do in the runs of this outcome. */
static enum msim_status find_all(struct msim_period_finding *k)
{
    for (int side = MSIM_PERIOD_MID; side < MSIM_PERIOD_TRACED; side++)
        MSIM_TRY(msim_period_find_side(k, (enum msim_period_side)side));
    MSIM_TRY(msim_period_find_states(k));
    msim_period_find_work(k);
    return find_launches(k);
}

static void release(struct msim_period_finding *k)
{
    msim_period_release(k);
    free(k->states);
    free(k->stretches);
    free(k->lane_at);
    free(k->counts);
    free(k->launch_from);
    free(k->main_lanes);
}

enum msim_status msim_analyse_period(const struct msim_findings *f)
{
    struct msim_period_finding k = {.f = f, .g = f->g, .wanted = ALL_SIDES};
    enum msim_status status = prepare(&k);

    if (status == MSIM_OK)
        status = find_all(&k);
    if (status == MSIM_OK)
        status = fill_ranks(&k);
    if (status == MSIM_OK)
        fill_states(&k);
    release(&k);
    return status;
}

/* ---- the period alone ----------------------------------------------------
 */

/* The largest over ranks, in us. */
static enum msim_status job_period(const struct msim_period_finding *k,
                                   double *us)
{
    *us = (double)NAN;
    for (uint32_t rank = 0; rank < k->g->job->n_ranks; rank++) {
        double own, traced;

        if (!msim_findings_windows(k->f, rank))
            continue;
        MSIM_TRY(rank_period(k, MSIM_PERIOD_MID, rank, &own));
        if (is_paced(k, rank)) {
            MSIM_TRY(rank_period(k, MSIM_PERIOD_TRACED, rank, &traced));
            own = fmax(own, traced);
        }
        if (isnan(*us) || own > *us)
            *us = own;
    }
    return MSIM_OK;
}

struct msim_period_finder {
    struct msim_outcome o;
    struct msim_window_times *mid;
    struct msim_findings f;
    struct msim_period_finding k;
};

enum msim_status msim_period_finder_new(struct msim_period_finder **out,
                                        const struct msim_outcome *o,
                                        uint32_t iteration)
{
    struct msim_period_finder *x = calloc(1, sizeof(*x));

    *out = NULL;
    if (!x)
        return MSIM_ENOMEM;
    x->o = *o;
    x->mid = calloc((size_t)o->graph->n_windows + 1, sizeof(*x->mid));
    x->f = (struct msim_findings){
        .o = &x->o, .g = o->graph, .iteration = iteration, .mid = x->mid};
    x->k = (struct msim_period_finding){
        .f = &x->f,
        .g = o->graph,
        .wanted = 1u << MSIM_PERIOD_MID |
                  (may_pace(o->graph) ? 1u << MSIM_PERIOD_TRACED : 0)};
    if (!x->mid || prepare(&x->k) != MSIM_OK) {
        msim_period_finder_free(x);
        return MSIM_ENOMEM;
    }
    *out = x;
    return MSIM_OK;
}

void msim_period_finder_free(struct msim_period_finder *x)
{
    if (!x)
        return;
    release(&x->k);
    free(x->mid);
    free(x);
}

enum msim_status msim_period_finder_find(struct msim_period_finder *x,
                                         const struct msim_run *run, double *us)
{
    x->o.mid = *run;
    msim_window_bounds(x->o.graph, run, x->mid);
    MSIM_TRY(find_all(&x->k));
    return job_period(&x->k, us);
}

enum msim_status msim_period_find(const struct msim_outcome *o,
                                  uint32_t iteration, uint8_t *states,
                                  double *us)
{
    struct msim_period_finder *x;
    enum msim_status status;

    MSIM_TRY(msim_period_finder_new(&x, o, iteration));
    status = msim_period_finder_find(x, &o->mid, us);
    if (status == MSIM_OK && states)
        memcpy(states, x->k.states, o->graph->n_iterations);
    msim_period_finder_free(x);
    return status;
}
