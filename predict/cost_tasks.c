/*
 * predict/cost_tasks.c - durations of all tasks of a graph: host tasks here,
 * GPU tasks in predict/cost_gpu.c, `--scale` in predict/cost_scale.c.
 */
#include "predict/predict_internal.h"

#include "models/platform/platform_data.h"
#include "predict/carry/scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set_host(struct msim_costing *k, uint32_t task,
                     const struct msim_estimate *e)
{
    const struct msim_demand_estimate d = {.e = *e};

    msim_costing_set(k, task, &d, 1);
    k->c->made_by[task] = MSIM_COST_HOST;
}

/* Is the run predicted one that was not recorded? */
static bool predicts(const struct msim_costing *k)
{
    return k->opt->platform &&
           !(k->opt->source && !k->opt->works_traced &&
             msim_scaled_same(k->opt->source, k->opt->platform));
}

/*
 * As traced. Next to predicted GPU work that is a prediction, too: the host
 * would not take exactly as long again.
 */
static void set_traced(struct msim_costing *k, uint32_t task)
{
    msim_ps ps = k->g->traced[task];
    double low = 1, high = 1;

    if (ps < 0) /* no time in the trace, or one that clocks spoilt */
        ps = 0;
    if (predicts(k))
        msim_host_repeat(k->opt->host, &low, &high);
    k->c->mid[task] = ps;
    k->c->low[task] = msim_costing_times(ps, low);
    k->c->high[task] = msim_costing_times(ps, high);
    k->c->source[task] = MSIM_SOURCE_MEASURED;
    k->c->made_by[task] = MSIM_COST_TRACED;
}

/* ---- host tasks -------------------------------------------------------- */

static bool waits(enum msim_call_kind kind)
{
    switch (kind) {
    case MSIM_CALL_DEVICE_SYNC:
    case MSIM_CALL_STREAM_SYNC:
    case MSIM_CALL_EVENT_SYNC:
    case MSIM_CALL_EVENT_ELAPSED:
    case MSIM_CALL_MEMCPY:
    case MSIM_CALL_MEMCPY_SYNC:
    case MSIM_CALL_MALLOC:
    case MSIM_CALL_FREE:
        return true;
    default:
        return false;
    }
}

/*
 * On a CPU an operator with works is timed as it is called: what it takes of
 * the host itself, and what all that it calls takes, is in that time.
 */
static bool is_in_work(const struct msim_works *works,
                       const struct msim_trace *t, uint32_t op)
{
    const struct msim_work *list;
    uint32_t n;

    for (; op != MSIM_NONE; op = t->ops[op].parent)
        if (msim_works_of(works, op, &list, &n) == MSIM_OPMAP_WORKS)
            return true;
    return false;
}

static void cost_ops(struct msim_costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    struct msim_estimate sum = {.source = MSIM_SOURCE_LAW};
    bool launches =
        !k->opt->platform || !msim_platform_is_host(k->opt->platform);

    for (uint32_t i = ref->index; i < ref->op_end; i++) {
        bool timed = !launches && is_in_work(k->opt->works[ref->rank], t, i);
        struct msim_estimate e =
            timed ? msim_host_pause(k->opt->host, t, i)
                  : msim_host_dispatch(k->opt->host, t, i, launches);

        msim_costing_add(&sum, &e);
    }
    set_host(k, task, &sum);
}

/*
 * A call that may wait. Without the GPU's times the trace does not show how
 * long it worked, so that the host's figure is an upper bound.
 */
static void cost_call(struct msim_costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];
    enum msim_call_kind kind = (enum msim_call_kind)t->calls[ref->index].kind;
    struct msim_estimate e;

    if (!k->opt->host_modelled && !waits(kind)) {
        set_traced(k, task);
        return;
    }
    e = msim_host_call(k->opt->host, kind);
    if (!k->opt->host_modelled && msim_costing_ps(e.us) > k->g->traced[task])
        set_traced(k, task);
    else
        set_host(k, task, &e);
}

/* Do calls come from the host? Where GPU times were read, the graph has taken
 * the waits out of the times of calls. */
static bool calls_modelled(const struct msim_costing *k)
{
    return k->opt->platform && (!k->opt->source || k->opt->host_modelled);
}

static void cost_host(struct msim_costing *k, uint32_t task)
{
    bool planned = k->g->traced[task] == MSIM_TIME_NONE;

    if (k->g->kind[task] == MSIM_TASK_HOST &&
        (planned || k->opt->host_modelled))
        cost_ops(k, task);
    else if (k->g->kind[task] == MSIM_TASK_CALL && calls_modelled(k))
        cost_call(k, task);
    else
        set_traced(k, task);
}

/* ---- transfers whose size is not recorded ------------------------------ */

/*
 * A message has two ends, and one of them may say its size. Kineto records a
 * batch of sends and receives without sizes, and each end guesses from what it
 * computed last. The transfer is one, however: where an end has the size, all
 * take its time; else all take the longest guess, which is the larger buffer's.
 */
static bool is_guess(const struct msim_costing *k, uint32_t task)
{
    return k->g->kind[task] == MSIM_TASK_COMM &&
           k->c->source[task] >= MSIM_SOURCE_INFERRED &&
           k->c->source[task] != MSIM_SOURCE_CLASS;
}

/* The end of the transfer behind `join` that says how long it takes: one whose
 * size is recorded before all others, then the longest. */
static uint32_t leader(const struct msim_costing *k, uint32_t join)
{
    const struct msim_graph *g = k->g;
    uint32_t best = MSIM_NONE;

    for (uint32_t e = g->edge_begin[join]; e < g->edge_begin[join + 1]; e++) {
        uint32_t t = g->edges[e].to;
        bool known = !is_guess(k, t);

        if (g->kind[t] != MSIM_TASK_COMM)
            continue;
        if (best == MSIM_NONE || known > !is_guess(k, best) ||
            (known == !is_guess(k, best) && k->c->mid[t] > k->c->mid[best]))
            best = t;
    }
    return best;
}

static void take(struct msim_costs *c, uint32_t t, uint32_t from)
{
    c->mid[t] = c->mid[from];
    c->low[t] = c->low[from];
    c->high[t] = c->high[from];
    c->source[t] = c->source[from];
    c->made_by[t] = c->made_by[from];
}

static void agree(struct msim_costing *k, uint32_t join)
{
    const struct msim_graph *g = k->g;
    uint32_t from = leader(k, join);

    for (uint32_t e = g->edge_begin[join]; e < g->edge_begin[join + 1]; e++)
        if (is_guess(k, g->edges[e].to))
            take(k->c, g->edges[e].to, from);
}

static const char *name_of(const struct msim_costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];

    return msim_trace_text(t, ref->index == MSIM_NONE
                                  ? t->ops[ref->op].name
                                  : t->gpu[ref->index].name);
}

static enum msim_status cost_messages(struct msim_costing *k)
{
    const struct msim_graph *g = k->g;

    for (uint32_t t = 0; t < g->n_tasks; t++)
        if (g->kind[t] == MSIM_TASK_JOIN)
            agree(k, t);
    for (uint32_t t = 0; t < g->n_tasks; t++) {
        if (!is_guess(k, t))
            continue;
        if (!k->c->n_unsized)
            k->c->unsized = name_of(k, t);
        k->c->n_unsized += msim_job_alike(g->job, g->refs[t].rank);
        if (k->opt->strict)
            return msim_fail(k->err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                             "the size of transfer '%s' is not recorded; "
                             "without --strict it is guessed",
                             k->c->unsized);
    }
    return MSIM_OK;
}

/* Its operator's, else its own. */
static const char *shown_name(const struct msim_costing *k, uint32_t task)
{
    const struct msim_task_ref *ref = &k->g->refs[task];
    const struct msim_trace *t = k->g->job->ranks[ref->rank];

    return ref->op == MSIM_NONE ? name_of(k, task)
                                : msim_trace_text(t, t->ops[ref->op].name);
}

/* What reports count as not covered is an error under --strict, whatever made
 * it so: a type whose rate nobody states, a bound that held a law. */
static enum msim_status check_covered(const struct msim_costing *k)
{
    const struct msim_graph *g = k->g;

    for (uint32_t t = 0; t < g->n_tasks && k->opt->strict; t++)
        if (k->opt->platform && g->kind[t] >= MSIM_TASK_KERNEL &&
            g->kind[t] <= MSIM_TASK_COMM &&
            k->c->source[t] >= MSIM_SOURCE_INFERRED)
            return msim_fail(
                k->err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                "no law covers '%.80s' on '%s': what there is has the source "
                "'%s'; without --strict it is taken",
                shown_name(k, t), msim_platform_name(k->opt->platform),
                msim_source_text((enum msim_source)k->c->source[t]));
    return MSIM_OK;
}

/* ---- all of it --------------------------------------------------------- */

static enum msim_status allocate(struct msim_costs *c, uint32_t n)
{
    c->mid = calloc((size_t)n + 1, sizeof(*c->mid));
    c->low = calloc((size_t)n + 1, sizeof(*c->low));
    c->high = calloc((size_t)n + 1, sizeof(*c->high));
    c->removed = calloc((size_t)n + 1, 1);
    c->source = calloc((size_t)n + 1, 1);
    c->made_by = calloc((size_t)n + 1, 1);
    c->flops = calloc((size_t)n + 1, sizeof(*c->flops));
    c->limits = calloc((size_t)n + 1, sizeof(*c->limits));
    return c->mid && c->low && c->high && c->removed && c->source &&
                   c->made_by && c->flops && c->limits
               ? MSIM_OK
               : MSIM_ENOMEM;
}

/* Under scaled costs two machines may differ from their models; under corrected
 * ones none, where the target is the machine of the source trace. */
static struct msim_whole_job_machine
machine_of(const struct msim_cost_options *opt, bool alone)
{
    double either;

    if (!opt->source && !opt->correction)
        return msim_whole_job_machine_of(opt->platform, alone);
    if (opt->source)
        either = msim_scaled_factor(opt->source, opt->platform);
    else if (msim_correction_is_on(opt->correction, opt->platform))
        either = 1;
    else
        either = msim_platform_trace_factor(opt->platform);
    return (struct msim_whole_job_machine){either, either};
}

/*
 * Latencies and gaps of the trace stay as they are under scaled costs: they
 * belong to the host and the driver more than to the GPU.
 */
static void set_lags(struct msim_costing *k)
{
    const struct msim_platform *to = k->opt->platform, *from = k->opt->source;

    for (int kind = 0; kind < MSIM_EDGE_KINDS; kind++)
        k->c->lag[kind] = -1;
    k->c->machine = (struct msim_whole_job_machine){1, 1};
    if (!to)
        return;
    k->c->machine = machine_of(k->opt, k->alone);
    if (from)
        return;
    k->c->lag[MSIM_EDGE_LAUNCH] =
        msim_costing_ps(msim_host_launch_latency(k->opt->host).us);
    k->c->lag[MSIM_EDGE_STREAM] =
        msim_costing_ps(msim_host_kernel_gap(k->opt->host).us);
}

static enum msim_status cost_tasks(struct msim_costing *k)
{
    const struct msim_graph *g = k->g;

    for (uint32_t i = 0; i < g->n_tasks; i++) {
        bool gpu =
            g->kind[i] >= MSIM_TASK_KERNEL && g->kind[i] <= MSIM_TASK_COMM;

        if (!gpu)
            cost_host(k, i);
        else if (!k->opt->platform)
            set_traced(k, i);
        else if (g->refs[i].index == MSIM_NONE)
            MSIM_TRY(msim_cost_planned(k, i));
    }
    for (k->rank = 0; k->opt->platform && k->rank < g->job->n_ranks; k->rank++)
        if (g->job->ranks[k->rank]->has_gpu_events)
            MSIM_TRY(msim_cost_rank(k));
    MSIM_TRY(cost_messages(k));
    MSIM_TRY(check_covered(k));
    set_lags(k);
    return msim_cost_scale(k->c, k->g, k->opt->scales, k->opt->n_scales);
}

enum msim_status msim_costs_scaled(struct msim_costs **out,
                                   const struct msim_costs *base,
                                   const struct msim_graph *g,
                                   const struct msim_scale *scales,
                                   uint32_t n_scales)
{
    struct msim_costs *c = calloc(1, sizeof(*c));
    size_t n = g->n_tasks;

    *out = NULL;
    if (!c || allocate(c, g->n_tasks) != MSIM_OK) {
        msim_costs_free(c);
        return MSIM_ENOMEM;
    }
    memcpy(c->mid, base->mid, n * sizeof(*c->mid));
    memcpy(c->low, base->low, n * sizeof(*c->low));
    memcpy(c->high, base->high, n * sizeof(*c->high));
    memcpy(c->removed, base->removed, n);
    memcpy(c->source, base->source, n);
    memcpy(c->made_by, base->made_by, n);
    memcpy(c->flops, base->flops, n * sizeof(*c->flops));
    memcpy(c->limits, base->limits, n * sizeof(*c->limits));
    memcpy(c->lag, base->lag, sizeof(c->lag));
    c->bandwidth = base->bandwidth;
    c->machine = base->machine;
    c->step = base->step;
    c->marks = base->marks;
    c->groups = base->groups;
    if (msim_cost_scale(c, g, scales, n_scales) != MSIM_OK) {
        msim_costs_free(c);
        return MSIM_ENOMEM;
    }
    *out = c;
    return MSIM_OK;
}

/* Task `old` of the base. */
static void take_over(struct msim_costs *c, uint32_t t,
                      const struct msim_costs *base, uint32_t old)
{
    c->mid[t] = base->mid[old];
    c->low[t] = base->low[old];
    c->high[t] = base->high[old];
    c->removed[t] = base->removed[old];
    c->source[t] = base->source[old];
    c->made_by[t] = base->made_by[old];
    c->flops[t] = base->flops[old];
    c->limits[t] = base->limits[old];
}

static void take_added(struct msim_costs *c, uint32_t t,
                       const struct msim_cost_added *a)
{
    c->mid[t] = a->mid;
    c->low[t] = a->low;
    c->high[t] = a->high;
    c->source[t] = a->source;
    c->made_by[t] = a->made_by;
    c->flops[t] = a->flops;
    c->limits[t] = a->limits;
}

enum msim_status msim_costs_overlaid(struct msim_costs **out,
                                     const struct msim_costs *base,
                                     uint32_t n_base,
                                     const struct msim_cost_added *added,
                                     const uint32_t *from, uint32_t n)
{
    struct msim_costs *c = calloc(1, sizeof(*c));

    *out = NULL;
    if (!c || allocate(c, n) != MSIM_OK) {
        msim_costs_free(c);
        return MSIM_ENOMEM;
    }
    for (uint32_t t = 0; t < n; t++)
        if (from[t] < n_base)
            take_over(c, t, base, from[t]);
        else
            take_added(c, t, &added[from[t] - n_base]);
    memcpy(c->lag, base->lag, sizeof(c->lag));
    c->bandwidth = base->bandwidth;
    c->machine = base->machine;
    c->step = base->step;
    c->marks = base->marks;
    *out = c;
    return MSIM_OK;
}

bool msim_costs_alone(const struct msim_graph *g)
{
    return g->job->n_ranks == 1 && !g->job->ranks[0]->has_gpu_events;
}

static enum msim_status run(struct msim_costing *k)
{
    MSIM_TRY(allocate(k->c, k->g->n_tasks));
    k->c->groups = k->opt->groups;
    k->c->bandwidth = k->opt->platform
                          ? msim_platform_usual(k->opt->platform)->bandwidth
                          : (double)NAN;
    return cost_tasks(k);
}

enum msim_status msim_costs_new(struct msim_costs **out,
                                const struct msim_graph *g,
                                const struct msim_cost_options *opt,
                                struct msim_error *err)
{
    struct msim_costing k = {.g = g,
                             .opt = opt,
                             .err = err,
                             .alone = opt->ranks <= 1 && msim_costs_alone(g)};
    enum msim_status status;

    *out = NULL;
    k.c = calloc(1, sizeof(*k.c));
    if (!k.c)
        return MSIM_ENOMEM;
    status = run(&k);
    msim_estimate_cache_release(&k.cache);
    msim_estimate_cache_release(&k.cache_source);
    if (status != MSIM_OK) {
        msim_costs_free(k.c);
        return msim_fail(err, status, NULL, MSIM_OFFSET_NONE,
                         "cannot estimate durations: %s",
                         msim_status_text(status));
    }
    *out = k.c;
    return MSIM_OK;
}

void msim_costs_free(struct msim_costs *c)
{
    if (!c)
        return;
    free(c->mid);
    free(c->low);
    free(c->high);
    free(c->removed);
    free(c->source);
    free(c->made_by);
    free(c->flops);
    free(c->limits);
    free(c);
}

const char *msim_costs_text(uint8_t made_by)
{
    if (made_by == MSIM_COST_TRACED)
        return "measured";
    if (made_by == MSIM_COST_HOST)
        return "host";
    if (made_by == MSIM_COST_CLASS)
        return "class";
    return msim_family_text((enum msim_family)made_by);
}
