/*
 * core/report/usage/usage.c - what every GPU does over time.
 *
 * Tasks become changes of what their GPU does, at their begin, where their last
 * wave begins and at their end. Sorted by time, their sum is the curve.
 */
#include "core/report/usage/usage.h"

#include "core/base/containers.h"
#include "core/report/analyse/critical.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gpu {
    uint32_t rank;  /* index into job->ranks */
    int64_t device; /* of the rank's */
    msim_ps begin, end;
    /* Of its kernels: how long all take, and those of which it is not known
     * what they hold. */
    double kernels, no_sms, no_occupancy;
};

/* By how much what a GPU does changes. LOAD stands at POWER: the share of the
 * rate that limits what runs. */
#define LOAD MSIM_USAGE_POWER
struct change {
    msim_ps at;
    uint32_t gpu;
    int32_t tasks; /* that begin, less those that end */
    double by[MSIM_USAGES];
};

struct finding {
    const struct msim_usage_ask *ask;
    const struct msim_graph *g;
    struct gpu *gpus;
    uint32_t n_gpus;
    uint32_t *gpu_of; /* one a lane, or NONE */
    struct change *changes;
    uint32_t n_changes, cap_changes;
    /* One a step of the GPU at hand: a value and how long it lasts. */
    struct lasting {
        double value;
        msim_ps time;
    } * lasting;
};

/* ---- GPUs ---------------------------------------------------------------- */

static int64_t device_of(const struct msim_graph *g,
                         const struct msim_lane *lane)
{
    const struct msim_trace *t = g->job->ranks[lane->rank];

    if (!t->n_streams)
        return 0;
    return t->streams[lane->index < t->n_streams ? lane->index : 0].device;
}

static uint32_t find_gpu(struct finding *f, uint32_t rank, int64_t device)
{
    for (uint32_t i = f->n_gpus; i-- > 0;)
        if (f->gpus[i].rank == rank && f->gpus[i].device == device)
            return i;
    f->gpus[f->n_gpus] = (struct gpu){.rank = rank, .device = device};
    return f->n_gpus++;
}

/* A stream that was added is of the rank's first GPU. */
static enum msim_status find_gpus(struct finding *f)
{
    const struct msim_graph *g = f->g;

    f->gpus = calloc((size_t)g->n_lanes + 1, sizeof(*f->gpus));
    f->gpu_of = malloc(((size_t)g->n_lanes + 1) * sizeof(*f->gpu_of));
    if (!f->gpus || !f->gpu_of)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < g->n_lanes; i++)
        f->gpu_of[i] = g->lanes[i].device ? find_gpu(f, g->lanes[i].rank,
                                                     device_of(g, &g->lanes[i]))
                                          : MSIM_NONE;
    return MSIM_OK;
}

/* From the begin of the first selected iteration of its rank to the end of the
 * last. */
static enum msim_status bound_gpus(struct finding *f)
{
    struct msim_window_times *w =
        calloc((size_t)f->g->n_windows + 1, sizeof(*w));

    if (!w)
        return MSIM_ENOMEM;
    msim_window_bounds(f->g, &f->ask->o->mid, w);
    for (uint32_t i = 0; i < f->n_gpus; i++) {
        struct gpu *gpu = &f->gpus[i];
        bool any = false;

        for (uint32_t k = 0; k < f->g->n_windows; k++) {
            if (f->g->windows[k].rank != gpu->rank ||
                !msim_window_selected(f->g, k, f->ask->iteration))
                continue;
            if (!any || w[k].begin < gpu->begin)
                gpu->begin = w[k].begin;
            if (!any || w[k].end > gpu->end)
                gpu->end = w[k].end;
            any = true;
        }
    }
    free(w);
    return MSIM_OK;
}

/* ---- changes ------------------------------------------------------------- */

static enum msim_status add(struct finding *f, const struct change *c)
{
    MSIM_TRY(msim_grow((void **)&f->changes, &f->cap_changes, f->n_changes,
                       sizeof(*f->changes)));
    f->changes[f->n_changes++] = *c;
    return MSIM_OK;
}

/* A GPU does so much from `at` to `end`. */
static enum msim_status add_between(struct finding *f, struct change c,
                                    msim_ps end)
{
    if (end <= c.at)
        return MSIM_OK;
    MSIM_TRY(add(f, &c));
    c.at = end;
    c.tasks = -c.tasks;
    for (int i = 0; i < MSIM_USAGES; i++)
        c.by[i] = -c.by[i];
    return add(f, &c);
}

/* Memory, arithmetic and the share of what limits them, of a task that takes
 * `dur`. */
static void rates(const struct finding *f, uint32_t task, msim_ps dur,
                  double by[MSIM_USAGES])
{
    const struct msim_outcome *o = f->ask->o;
    double us = (double)dur / MSIM_PS_PER_US;

    if (!o->limits)
        return;
    by[MSIM_USAGE_MEMORY] =
        (double)o->limits[task].memory / us * f->ask->device.bandwidth;
    by[MSIM_USAGE_FLOPS] = (double)o->flops[task] / us * 1e6;
    by[LOAD] = fmin(1, fmax((double)o->limits[task].memory,
                            fmax((double)o->limits[task].tensor,
                                 (double)o->limits[task].vector)) /
                           us);
}

/* Of which kernels it is not known what they hold. */
static void count(struct gpu *gpu, const struct msim_holding *h, double time)
{
    gpu->kernels += time;
    if (!h->n)
        gpu->no_sms += time;
    if (!h->n || isnan(h->of[0].threads))
        gpu->no_occupancy += time;
}

static enum msim_status add_task(struct finding *f, uint32_t task)
{
    const struct msim_run *run = &f->ask->o->mid;
    msim_ps begin = run->start[msim_arrival(f->g, task)];
    msim_ps end = msim_run_end(run, task);
    uint32_t gpu = f->gpu_of[f->g->lane[task]];
    struct change all = {.at = begin, .gpu = gpu, .tasks = 1};
    const struct msim_holding *h = &f->ask->holding[task];
    double all_of = (double)(end - begin);

    if (gpu == MSIM_NONE || end <= begin)
        return MSIM_OK;
    rates(f, task, end - begin, all.by);
    MSIM_TRY(add_between(f, all, end));
    if (f->g->kind[task] != MSIM_TASK_COPY)
        count(&f->gpus[gpu], h, (double)(end - begin));
    for (unsigned i = 0; i < h->n; i++) {
        const struct msim_filling *hold = &h->of[i];
        msim_ps until =
            i + 1 < h->n ? begin + (msim_ps)(hold->share * all_of) : end;
        struct change c = {.at = begin, .gpu = gpu};

        c.by[MSIM_USAGE_SMS] = hold->sms;
        c.by[MSIM_USAGE_OCCUPANCY] = isnan(hold->threads) ? 0 : hold->threads;
        MSIM_TRY(add_between(f, c, until));
        begin = until;
    }
    return MSIM_OK;
}

static int by_gpu_and_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->gpu != y->gpu)
        return MSIM_ORDER(x->gpu, y->gpu);
    return MSIM_ORDER(x->at, y->at);
}

static enum msim_status find_changes(struct finding *f)
{
    const struct msim_graph *g = f->g;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] >= MSIM_TASK_KERNEL && g->kind[t] <= MSIM_TASK_COMM &&
            g->lane[t] != MSIM_NONE)
            MSIM_TRY(add_task(f, t));
    if (f->n_changes)
        qsort(f->changes, f->n_changes, sizeof(*f->changes), by_gpu_and_time);
    return MSIM_OK;
}

/* ---- the curve of a GPU -------------------------------------------------- */

/* Sums of what came and went are never quite nothing. */
static void settle(const struct finding *f, const struct change *sum,
                   struct msim_usage_step *out)
{
    const struct msim_usage_device *d = &f->ask->device;
    double of[MSIM_USAGES];

    for (int i = 0; i < MSIM_USAGES; i++)
        of[i] = sum->tasks ? fmax(0, sum->by[i]) : 0;
    of[MSIM_USAGE_SMS] = fmin(1, of[MSIM_USAGE_SMS]);
    of[MSIM_USAGE_OCCUPANCY] = fmin(1, of[MSIM_USAGE_OCCUPANCY]);
    of[MSIM_USAGE_POWER] =
        d->idle_watts + (d->limit_watts - d->idle_watts) * fmin(1, of[LOAD]);
    out->at = sum->at;
    for (int i = 0; i < MSIM_USAGES; i++)
        out->of[i] = (float)of[i];
}

/* The first step is at the begin, whatever was before it; what is equal to the
 * step before is none. */
static void put_step(struct msim_usage_note *n, struct msim_usage_step s)
{
    struct msim_usage_step *last =
        n->n_steps ? &n->steps[n->n_steps - 1] : NULL;

    if (s.at < n->begin)
        s.at = n->begin;
    if (last && last->at == s.at)
        *last = s;
    else if (!last || memcmp(last->of, s.of, sizeof(s.of)) != 0)
        n->steps[n->n_steps++] = s;
}

static void add_up(const struct finding *f, uint32_t gpu, uint32_t from,
                   uint32_t to, struct msim_usage_note *n)
{
    struct change sum = {.at = n->begin, .gpu = gpu};
    struct msim_usage_step s;

    settle(f, &sum, &s);
    put_step(n, s);
    for (uint32_t i = from; i < to && f->changes[i].at < n->end; i++) {
        sum.at = f->changes[i].at;
        sum.tasks += f->changes[i].tasks;
        for (int k = 0; k < MSIM_USAGES; k++)
            sum.by[k] += f->changes[i].by[k];
        settle(f, &sum, &s);
        if (i + 1 == to || f->changes[i + 1].at != s.at)
            put_step(n, s);
    }
}

/* ---- figures ------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const struct lasting *x = a, *y = b;

    return MSIM_ORDER(x->value, y->value);
}

/* The least value that is not exceeded in `part` of the time. */
static double quantile(const struct finding *f, uint32_t n, double all,
                       double part)
{
    double past = 0;

    for (uint32_t i = 0; i < n; i++) {
        past += (double)f->lasting[i].time;
        if (past >= part * all)
            return f->lasting[i].value;
    }
    return f->lasting[n - 1].value;
}

static struct msim_usage_figure
figure(struct finding *f, const struct msim_usage_note *n, enum msim_usage of)
{
    double all = (double)(n->end - n->begin), sum = 0;

    for (uint32_t i = 0; i < n->n_steps; i++) {
        msim_ps until = i + 1 < n->n_steps ? n->steps[i + 1].at : n->end;

        f->lasting[i] = (struct lasting){(double)n->steps[i].of[of],
                                         until - n->steps[i].at};
        sum += f->lasting[i].value * (double)f->lasting[i].time;
    }
    qsort(f->lasting, n->n_steps, sizeof(*f->lasting), by_value);
    return (struct msim_usage_figure){
        .mean = sum / all,
        .p10 = quantile(f, n->n_steps, all, 0.1),
        .median = quantile(f, n->n_steps, all, 0.5),
        .p90 = quantile(f, n->n_steps, all, 0.9),
        .most = f->lasting[n->n_steps - 1].value,
    };
}

static bool is_known(const struct finding *f, const struct gpu *gpu,
                     enum msim_usage of)
{
    const struct msim_usage_device *d = &f->ask->device;
    double guessed = MSIM_USAGE_GUESSED * gpu->kernels;

    switch (of) {
    case MSIM_USAGE_SMS:
        return gpu->no_sms <= guessed;
    case MSIM_USAGE_OCCUPANCY:
        return gpu->no_occupancy <= guessed;
    case MSIM_USAGE_POWER:
        return f->ask->o->limits && d->limit_watts > 0;
    default:
        return f->ask->o->limits && d->bandwidth > 0;
    }
}

static const struct msim_usage_figure UNKNOWN = {NAN, NAN, NAN, NAN, NAN};

static void find_figures(struct finding *f, const struct gpu *gpu,
                         struct msim_usage_note *n)
{
    for (int of = 0; of < MSIM_USAGES; of++) {
        bool known = is_known(f, gpu, (enum msim_usage)of);

        n->of[of] = known ? figure(f, n, (enum msim_usage)of) : UNKNOWN;
        for (uint32_t i = 0; i < n->n_steps && !known; i++)
            n->steps[i].of[of] = NAN;
    }
}

static enum msim_status note_gpu(struct finding *f, uint32_t i, uint32_t from,
                                 uint32_t to, struct msim_prediction *p)
{
    const struct msim_usage_device *d = &f->ask->device;
    const struct gpu *gpu = &f->gpus[i];
    struct msim_usage_note *n = &p->usage[p->n_usage];

    if (gpu->end <= gpu->begin || from == to)
        return MSIM_OK;
    *n = (struct msim_usage_note){
        .rank = f->g->job->ranks[gpu->rank]->rank,
        .device = gpu->device,
        .begin = gpu->begin,
        .end = gpu->end,
        .bandwidth = d->bandwidth > 0 ? d->bandwidth : (double)NAN,
        .power_watts = d->limit_watts > 0 ? d->limit_watts : (double)NAN,
    };
    n->steps = msim_arena_alloc(&p->arena,
                                ((size_t)(to - from) + 1) * sizeof(*n->steps));
    if (!n->steps)
        return MSIM_ENOMEM;
    add_up(f, i, from, to, n);
    find_figures(f, gpu, n);
    p->n_usage++;
    return MSIM_OK;
}

static int by_rank(const void *a, const void *b)
{
    const struct msim_usage_note *x = a, *y = b;

    if (x->rank != y->rank)
        return MSIM_ORDER(x->rank, y->rank);
    return MSIM_ORDER(x->device, y->device);
}

static enum msim_status note_all(struct finding *f, struct msim_prediction *p)
{
    uint32_t from = 0;

    p->usage = msim_arena_alloc(&p->arena,
                                ((size_t)f->n_gpus + 1) * sizeof(*p->usage));
    f->lasting = malloc(((size_t)f->n_changes + 1) * sizeof(*f->lasting));
    if (!p->usage || !f->lasting)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < f->n_gpus; i++) {
        uint32_t to = from;

        while (to < f->n_changes && f->changes[to].gpu == i)
            to++;
        MSIM_TRY(note_gpu(f, i, from, to, p));
        from = to;
    }
    if (p->n_usage)
        qsort(p->usage, p->n_usage, sizeof(*p->usage), by_rank);
    return MSIM_OK;
}

enum msim_status msim_usage_find(const struct msim_usage_ask *ask,
                                 struct msim_prediction *p)
{
    struct finding f = {.ask = ask, .g = ask->o->graph};
    enum msim_status status = find_gpus(&f);

    p->n_usage = 0;
    if (status == MSIM_OK)
        status = bound_gpus(&f);
    if (status == MSIM_OK)
        status = find_changes(&f);
    if (status == MSIM_OK)
        status = note_all(&f, p);
    free(f.gpus);
    free(f.gpu_of);
    free(f.changes);
    free(f.lasting);
    return status;
}
