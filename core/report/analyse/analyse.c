/*
 * core/report/analyse/analyse.c - the figures of a prediction: iterations, the
 * slowest rank's sums, every rank's row.
 */
#include "core/report/analyse/analysis_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct analysis {
    struct msim_prediction *p;
    const struct msim_outcome *o;
    const struct msim_graph *g;
    uint32_t iteration;
    struct msim_window_times *mid, *low, *high; /* one a window each */
    struct sums *sums;                          /* likewise */
    struct msim_waits *waits;                   /* likewise */
    struct msim_binding binding;
    msim_ps *slack; /* one a task */
    struct msim_findings findings;
};

/* Per window: GPU work by launch, whenever it ran. */
struct sums {
    double kernel, kernel_measured;
    double transfer, wait, external;
    double flops, ideal_us;
    double counted; /* of `kernel`: flops known */
    /* Kernel time below and above the estimate, by what made it. */
    double down[MSIM_MADE_BY_MAX], up[MSIM_MADE_BY_MAX];
};

/* ---- sums over tasks ---------------------------------------------------- */

static double traced_us(const struct msim_graph *g, uint32_t task)
{
    const struct msim_task_ref *ref = &g->refs[task];

    return msim_traced_us(g->job->ranks[ref->rank], ref->index);
}

static void sum_task(struct analysis *a, uint32_t task)
{
    const struct msim_outcome *o = a->o;
    struct sums *s = &a->sums[a->g->window[task]];

    switch ((enum msim_task_kind)a->g->kind[task]) {
    case MSIM_TASK_KERNEL:
        s->kernel += msim_us(o->mid.dur[task]);
        s->kernel_measured += traced_us(a->g, task);
        if (o->source[task] < o->source_uncovered)
            s->counted += msim_us(o->mid.dur[task]);
        s->down[o->made_by[task]] +=
            msim_us(o->mid.dur[task] - msim_task_bound(o, o->task_low, task));
        s->up[o->made_by[task]] +=
            msim_us(msim_task_bound(o, o->task_high, task) - o->mid.dur[task]);
        break;
    case MSIM_TASK_COMM:
        s->transfer += msim_us(o->mid.dur[task]);
        s->wait += msim_us(o->mid.start[task] -
                           o->mid.start[msim_arrival(a->g, task)]);
        break;
    default:
        return;
    }
    /* what is left out of a run takes no time, and is not done */
    if (o->source[task] >= o->source_uncovered || !o->mid.dur[task])
        return;
    s->flops += (double)o->flops[task];
    s->ideal_us += o->limits ? (double)o->limits[task].tensor +
                                   (double)o->limits[task].vector
                             : (double)NAN;
}

static void sum_external(struct analysis *a)
{
    for (uint32_t i = 0; i < a->g->n_releases; i++) {
        const struct msim_release *r = &a->g->releases[i];
        uint32_t w = a->g->window[r->task];

        if (r->external && w != MSIM_NONE && r->task)
            a->sums[w].external += msim_us(a->o->mid.start[r->task] -
                                           a->o->mid.start[r->task - 1]);
    }
}

/*
 * The interval of a sum of kernels. Deviations within a family go together
 * (its kernels share a law and its bias); those of different families are
 * independent.
 */
static double deviation(const double *by_family)
{
    double sum = 0;

    for (int f = 0; f < MSIM_MADE_BY_MAX; f++)
        sum += by_family[f] * by_family[f];
    return sqrt(sum);
}

/* ---- ranks -------------------------------------------------------------- */

static void divide(double *v, size_t n, double by)
{
    for (size_t i = 0; i < n; i++)
        v[i] /= by;
}

static double measured_us(const struct msim_window *w)
{
    return w->measured == MSIM_TIME_NONE ? (double)NAN : msim_us(w->measured);
}

static void add_figure(struct msim_figure *sum, const struct msim_figure *f)
{
    sum->predicted += f->predicted;
    sum->low += f->low;
    sum->high += f->high;
    sum->measured += f->measured;
}

static struct msim_figure kernel_figure(const struct analysis *a, uint32_t w)
{
    const struct sums *s = &a->sums[w];
    struct msim_figure f = {s->kernel, s->kernel - deviation(s->down),
                            s->kernel + deviation(s->up), s->kernel_measured};

    msim_widen(a->o, &f);
    return f;
}

static void add_breakdown(struct msim_breakdown *b,
                          const struct msim_window_times *m)
{
    double busy = msim_us(m->compute + m->communication + m->copy + m->host);

    b->compute += msim_us(m->compute);
    b->communication += msim_us(m->communication);
    b->memory_copy += msim_us(m->copy);
    b->host += msim_us(m->host);
    b->idle += msim_us(m->end - m->begin) - busy;
}

static void add_window(struct analysis *a, uint32_t w, struct msim_rank_row *r)
{
    const struct msim_window_times *m = &a->mid[w];
    struct msim_figure kernels = kernel_figure(a, w);

    r->iteration_us.predicted += msim_us(m->end - m->begin);
    r->iteration_us.low += msim_us(a->low[w].end - a->low[w].begin);
    r->iteration_us.high += msim_us(a->high[w].end - a->high[w].begin);
    r->iteration_us.measured += measured_us(&a->g->windows[w]);
    add_figure(&r->kernel_us, &kernels);
    r->transfer_us += a->sums[w].transfer;
    r->wait_us += a->sums[w].wait;
    add_breakdown(&r->breakdown_us, m);
    r->overlapped_communication_us += msim_us(m->hidden_communication);
    r->overlapped_copy_us += msim_us(m->hidden_copy);
}

/* A rank's means over the selected iterations. No row where there is none. */
static uint32_t rank_row(struct analysis *a, uint32_t rank,
                         struct msim_rank_row *r)
{
    uint32_t n = 0;

    memset(r, 0, sizeof(*r));
    r->rank = a->g->job->ranks[rank]->rank;
    for (uint32_t w = 0; w < a->g->n_windows; w++) {
        if (a->g->windows[w].rank != rank ||
            !msim_window_selected(a->g, w, a->iteration))
            continue;
        add_window(a, w, r);
        n++;
    }
    if (n) {
        divide(&r->iteration_us.predicted, 4, n);
        divide(&r->kernel_us.predicted, 4, n);
        divide(&r->transfer_us, 1, n);
        divide(&r->wait_us, 1, n);
        divide(&r->breakdown_us.compute, 5, n);
        divide(&r->overlapped_communication_us, 1, n);
        divide(&r->overlapped_copy_us, 1, n);
    }
    return n;
}

static enum msim_status rank_rows(struct analysis *a, uint32_t *slowest)
{
    struct msim_prediction *p = a->p;
    uint32_t n = a->g->job->n_ranks;
    double most = -1;

    *slowest = UINT32_MAX;
    p->ranks_detail = msim_arena_alloc(&p->arena, n * sizeof(*p->ranks_detail));
    if (!p->ranks_detail)
        return MSIM_ENOMEM;
    for (uint32_t rank = 0; rank < n; rank++) {
        struct msim_rank_row *r = &p->ranks_detail[p->n_ranks_detail];

        if (!rank_row(a, rank, r))
            continue;
        if (!a->o->totals_only)
            MSIM_TRY(
                msim_analyse_waits(&a->findings, a->waits, rank, &r->waits));
        p->n_ranks_detail++;
        if (r->iteration_us.predicted <= most)
            continue;
        most = r->iteration_us.predicted;
        *slowest = rank;
        p->iteration_us = r->iteration_us;
        p->kernel_us = r->kernel_us;
        p->breakdown_us = r->breakdown_us;
        p->transfer_us = r->transfer_us;
        p->wait_us = r->wait_us;
        p->overlapped_communication_us = r->overlapped_communication_us;
        p->overlapped_copy_us = r->overlapped_copy_us;
        p->waits = r->waits;
    }
    return MSIM_OK;
}

/* ---- iterations --------------------------------------------------------- */

static void larger(double *a, double b)
{
    /* The sum stays NAN while no part is known. */
    if (isnan(*a) || b > *a)
        *a = b;
}

/* Where the time goes in the iteration's longest window. */
static void fill_longest(const struct analysis *a, uint32_t i,
                         struct msim_iteration *it)
{
    uint32_t w = msim_longest_window(a->g, a->mid, i);

    if (w == MSIM_NONE)
        return;
    it->rank = a->g->job->ranks[a->g->windows[w].rank]->rank;
    it->transfer_us = a->sums[w].transfer;
    it->wait_us = a->sums[w].wait;
    add_breakdown(&it->breakdown_us, &a->mid[w]);
    it->overlapped_communication_us = msim_us(a->mid[w].hidden_communication);
    it->overlapped_copy_us = msim_us(a->mid[w].hidden_copy);
}

/* With several ranks, the largest over ranks of the iteration. */
static enum msim_status iteration_row(struct analysis *a, uint32_t i)
{
    struct msim_prediction *p = a->p;
    struct msim_iteration *it = &p->iterations[p->n_iterations];
    char *name = msim_arena_alloc(&p->arena, 40);

    if (!name)
        return MSIM_ENOMEM;
    if (a->g->iterations[i] < 0)
        snprintf(name, 40, "trace");
    else
        snprintf(name, 40, "ProfilerStep#%lld", (long long)a->g->iterations[i]);
    it->name = name;
    it->us = (struct msim_figure){NAN, NAN, NAN, NAN};
    for (uint32_t w = msim_window_from(a->g, i);
         w < a->g->n_windows && a->g->windows[w].iteration == i; w++) {
        larger(&it->us.predicted, msim_us(a->mid[w].end - a->mid[w].begin));
        larger(&it->us.low, msim_us(a->low[w].end - a->low[w].begin));
        larger(&it->us.high, msim_us(a->high[w].end - a->high[w].begin));
        larger(&it->us.measured, measured_us(&a->g->windows[w]));
    }
    fill_longest(a, i, it);
    p->n_iterations++;
    return MSIM_OK;
}

static enum msim_status iteration_rows(struct analysis *a)
{
    struct msim_prediction *p = a->p;
    struct msim_figure mean = {0, 0, 0, 0};

    p->iterations = msim_arena_alloc(&p->arena, (a->g->n_iterations + 1) *
                                                    sizeof(*p->iterations));
    if (!p->iterations)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < a->g->n_iterations; i++)
        if (a->iteration == UINT32_MAX || a->iteration == i)
            MSIM_TRY(iteration_row(a, i));
    for (uint32_t i = 0; i < p->n_iterations; i++)
        add_figure(&mean, &p->iterations[i].us);
    divide(&mean.predicted, 4, p->n_iterations);
    p->iteration_us = mean;
    return MSIM_OK;
}

/*
 * Flops of kernels without shapes are guesses. A share of the peak is said
 * where these are few, and no sum at all where next to nothing else is there.
 */
#define COUNTED_FOR_MFU   0.95
#define COUNTED_FOR_FLOPS 0.05

static void settle_flops(struct msim_prediction *p)
{
    if (!(p->mfu > 0) || !(p->flops_counted >= COUNTED_FOR_MFU))
        p->mfu = NAN;
    if (!(p->flops > 0) || !(p->flops_counted >= COUNTED_FOR_FLOPS))
        p->flops = NAN;
}

/* What only the totals show, of the slowest rank. */
static void totals(struct analysis *a, uint32_t rank)
{
    struct msim_prediction *p = a->p;
    double ideal_us = 0, n = 0, kernel = 0, counted = 0;

    p->bandwidth = a->o->limits ? a->o->bandwidth : NAN;
    p->flops = p->external_wait_us = 0;
    for (uint32_t w = 0; w < a->g->n_windows; w++) {
        if (a->g->windows[w].rank != rank ||
            !msim_window_selected(a->g, w, a->iteration))
            continue;
        n++;
        p->flops += a->sums[w].flops;
        ideal_us += a->sums[w].ideal_us;
        kernel += a->sums[w].kernel;
        counted += a->sums[w].counted;
        p->external_wait_us += a->sums[w].external;
    }
    p->flops /= n;
    p->external_wait_us /= n;
    ideal_us /= n * msim_trace_gpus(a->g->job->ranks[rank]);
    p->mfu =
        p->period.us.predicted > 0 ? ideal_us / p->period.us.predicted : NAN;
    if (!a->o->limits) /* nothing is counted under traced costs */
        p->flops = NAN;
    p->flops_counted = kernel > 0 && !isnan(p->flops) ? counted / kernel : NAN;
    settle_flops(p);
    p->memory = MSIM_MEMORY_NOT_KNOWN;
}

/* ---- the whole ---------------------------------------------------------- */

/* Of a run that may be the middle one, whose bounds are known. */
static void find_bounds(const struct analysis *a, const struct msim_run *run,
                        struct msim_window_times *w)
{
    if (run->start != a->o->mid.start) {
        msim_window_bounds(a->g, run, w);
        return;
    }
    for (uint32_t i = 0; i < a->g->n_windows; i++) {
        w[i].begin = a->mid[i].begin;
        w[i].end = a->mid[i].end;
    }
}

static enum msim_status simulate_sums(struct analysis *a)
{
    size_t n = (size_t)a->g->n_windows + 1;

    a->mid = calloc(n, sizeof(*a->mid));
    a->low = calloc(n, sizeof(*a->low));
    a->high = calloc(n, sizeof(*a->high));
    a->sums = calloc(n, sizeof(*a->sums));
    if (!a->mid || !a->low || !a->high || !a->sums)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_breakdown_find(a->o, a->mid));
    find_bounds(a, &a->o->low, a->low);
    find_bounds(a, &a->o->high, a->high);
    for (uint32_t t = 0; t < a->g->n_tasks; t++)
        if (a->g->window[t] != MSIM_NONE)
            sum_task(a, t);
    sum_external(a);
    return MSIM_OK;
}

/* What held each task, and how much longer it could have taken. */
static enum msim_status find_causes(struct analysis *a)
{
    const struct msim_run *run = &a->o->mid;

    a->waits = calloc((size_t)a->g->n_windows + 1, sizeof(*a->waits));
    a->slack = malloc(((size_t)a->g->n_tasks + 1) * sizeof(*a->slack));
    if (!a->waits || !a->slack)
        return MSIM_ENOMEM;
    MSIM_TRY(msim_binding_init(&a->binding, a->g, run));
    MSIM_TRY(msim_slack(a->g, run, &a->binding, a->mid, a->slack));
    MSIM_TRY(msim_waits_find(a->g, run, &a->binding, a->mid, a->waits));
    a->findings.binding = &a->binding;
    a->findings.slack = a->slack;
    return MSIM_OK;
}

static enum msim_status analyse(struct analysis *a)
{
    uint32_t slowest;

    MSIM_TRY(simulate_sums(a));
    a->findings = (struct msim_findings){.p = a->p,
                                         .o = a->o,
                                         .g = a->g,
                                         .iteration = a->iteration,
                                         .mid = a->mid,
                                         .low = a->low,
                                         .high = a->high};
    if (!a->o->totals_only)
        MSIM_TRY(find_causes(a));
    a->p->ranks = msim_job_traced(a->g->job);
    a->p->gpus = 0;
    for (uint32_t r = 0; r < a->g->job->n_ranks; r++)
        a->p->gpus +=
            msim_trace_gpus(a->g->job->ranks[r]) * msim_job_alike(a->g->job, r);
    MSIM_TRY(rank_rows(a, &slowest));
    if (slowest == UINT32_MAX)
        return MSIM_EUNKNOWN;
    MSIM_TRY(iteration_rows(a));
    MSIM_TRY(msim_analyse_period(&a->findings));
    totals(a, slowest);
    if (a->o->totals_only)
        return a->o->kernels ? msim_analyse_kernels(&a->findings, slowest)
                             : MSIM_OK;
    MSIM_TRY(msim_analyse_path(&a->findings));
    MSIM_TRY(msim_analyse_edges(&a->findings));
    MSIM_TRY(msim_analyse_comm(&a->findings));
    MSIM_TRY(msim_analyse_copied(&a->findings));
    MSIM_TRY(msim_analyse_kernels(&a->findings, slowest));
    MSIM_TRY(msim_analyse_phases(&a->findings, slowest));
    MSIM_TRY(msim_analyse_host(&a->findings, slowest));
    return msim_analyse_ops(&a->findings, slowest);
}

static void release(struct analysis *a)
{
    free(a->mid);
    free(a->low);
    free(a->high);
    free(a->sums);
    free(a->waits);
    free(a->slack);
    msim_binding_release(&a->binding);
}

enum msim_status msim_analyse(struct msim_prediction **out,
                              const struct msim_outcome *o, uint32_t iteration,
                              struct msim_error *err)
{
    struct analysis a = {.o = o, .g = o->graph, .iteration = iteration};
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    a.p = calloc(1, sizeof(*a.p));
    if (a.p) {
        msim_arena_init(&a.p->arena);
        status = analyse(&a);
    }
    release(&a);
    if (status != MSIM_OK) {
        msim_prediction_free(a.p);
        return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                         status == MSIM_EUNKNOWN ? "no iteration in the traces"
                                                 : "no memory for the report");
    }
    *out = a.p;
    return MSIM_OK;
}
