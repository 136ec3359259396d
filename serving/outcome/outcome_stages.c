/*
 * serving/outcome/outcome_stages.c - load, shares and capacity of stages, and
 * what to be careful with.
 */
#include "serving/outcome/serving_outcome_internal.h"

#include "core/base/containers.h"
#include "core/base/print.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_MS 1e9
#define PS_PER_S  1e12

/* A stage whose workers are held for more than this share of the second half
 * of the arrivals has no time left. */
#define FULL 0.99

static struct msim_serving_figure
sample_figure(const struct msim_visit_sample *s, double mean_ps, double *values)
{
    struct msim_serving_figure f;

    for (uint32_t i = 0; i < s->n; i++)
        values[i] = (double)s->value[i] / PS_PER_MS;
    f = msim_serving_figure_of(values, s->n);
    if (s->every > 1) { /* the mean is that of all visits */
        double shift = mean_ps / PS_PER_MS - f.mean;

        f.mean += shift;
        f.low += shift;
        f.high += shift;
    }
    return f;
}

/* What grows without an end: its workers are held all the time, and more waits
 * at the last arrival than did half-way there. */
static bool grows(const struct msim_stage_run *r)
{
    double before = (double)r->backlog[0], after = (double)r->backlog[1];

    return r->late_held > FULL &&
           after > before + 3 * sqrt(before) + 3 * r->worker_count / 10 + 10;
}

static void sum_up(struct msim_serving_outcome *o, uint32_t i, double critical)
{
    const struct msim_stage *def = &o->app->stages[i];
    const struct msim_stage_run *r = &o->run.stages[i];
    struct msim_stage_outcome *s = &o->stages[i];
    double hours, gpus = msim_deploy_gpus(o->app, i);

    s->name = def->name;
    s->replicas = r->replicas;
    hours = s->replicas * (o->run.end_s - o->run.begin_s) / 3600;
    if (gpus > 0)
        hours *= gpus;
    s->visits_per_s = r->visits_per_s;
    s->utilisation = r->held;
    s->computing = r->computing;
    s->in_stage = r->inside;
    s->critical_share = critical > 0 ? r->critical_ps / critical : NAN;
    s->capacity_rps = r->worker_count / r->hold_ps * PS_PER_S;
    s->gpu_hours = gpus > 0 ? hours : (double)NAN;
    s->cost = hours * def->price_per_hour;
    s->energy_kwh = hours * def->power_w / 1000;
    s->counterfactual_p99 = s->counterfactual_mean = NAN;
    s->saturated = grows(r);
    o->saturated |= s->saturated;
}

/* Where a queue grows because its workers wait for calls, who is called is
 * saturated, too, if it has no time left: its own queue is as long as those
 * workers are many, and stays so. */
static void name_callees(struct msim_serving_outcome *o)
{
    for (uint32_t i = 0; i < o->app->n_stages && o->saturated; i++)
        o->stages[i].saturated |= !o->run.stages[i].llm.is_llm &&
                                  o->run.stages[i].late_computing > FULL;
}

static double asked_rate(const struct msim_serving_wish *w)
{
    enum msim_arrival_process by = w->app->arrivals.process;

    if (w->how.rate > 0)
        return w->how.rate;
    return w->how.log || w->how.concurrency > 0 || by == MSIM_ARRIVAL_LOG ||
                   by == MSIM_ARRIVAL_CLOSED
               ? NAN
               : w->app->arrivals.rate;
}

static int64_t clients_of(const struct msim_serving_wish *w)
{
    const struct msim_arrivals *a = &w->app->arrivals;

    if (w->how.concurrency > 0 || w->how.rate > 0 || w->how.log)
        return w->how.concurrency;
    return a->process == MSIM_ARRIVAL_CLOSED ? a->concurrency : 0;
}

enum msim_status msim_outcome_stages(struct msim_serving_outcome *o,
                                     const struct msim_serving_wish *w)
{
    double critical = 0, *values;
    uint32_t most = 0;

    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        critical += o->run.stages[i].critical_ps;
        if (o->run.stages[i].waits.n > most)
            most = o->run.stages[i].waits.n;
    }
    values = malloc((most + 1u) * sizeof(*values));
    if (!values)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        const struct msim_stage_run *r = &o->run.stages[i];
        double visits = (double)r->visits;

        sum_up(o, i, critical);
        o->stages[i].queue =
            sample_figure(&r->waits, r->wait_ps / visits, values);
        o->stages[i].self =
            sample_figure(&r->selves, r->self_ps / visits, values);
    }
    free(values);
    name_callees(o);
    o->rate = (double)o->run.n_requests / o->run.end_s;
    o->asked = asked_rate(w);
    o->clients = clients_of(w);
    return MSIM_OK;
}

/* ---- warnings ------------------------------------------------------------ */

static enum msim_status warn(struct msim_serving_outcome *o, const char *fmt,
                             ...) MSIM_PRINTF(2, 3);

static enum msim_status warn(struct msim_serving_outcome *o, const char *fmt,
                             ...)
{
    char text[512];
    char **more = realloc(o->warnings, (o->n_warnings + 1) * sizeof(*more));
    va_list args;

    if (!more)
        return MSIM_ENOMEM;
    o->warnings = more;
    va_start(args, fmt);
    msim_vprint_text(text, sizeof(text), fmt, args);
    va_end(args);
    more[o->n_warnings] = strdup(text);
    return more[o->n_warnings] ? (o->n_warnings++, MSIM_OK) : MSIM_ENOMEM;
}

/* A percentile p wants 100 / (1 - p) requests: a hundred beyond it. */
static enum msim_status warn_few(struct msim_serving_outcome *o,
                                 const struct msim_class_outcome *c)
{
    static const struct {
        const char *name;
        uint64_t wants;
    } P[] = {{"p50", 200}, {"p90", 1000}, {"p99", 10000}};

    for (int i = 0; i < 3; i++)
        if (c->requests < P[i].wants)
            MSIM_TRY(warn(o, "%s of %s is rough: of %llu requests, want %llu",
                          P[i].name, c->name, (unsigned long long)c->requests,
                          (unsigned long long)P[i].wants));
    return MSIM_OK;
}

/* Engines refuse what they could never hold; nothing else has no end. */
static enum msim_status warn_refused(struct msim_serving_outcome *o,
                                     const struct msim_class_outcome *c)
{
    if (c->unfinished == 0)
        return MSIM_OK;
    return warn(o,
                "%llu requests of %s never end: they have more tokens than an "
                "LLM takes (max_model_len, or its KV cache)",
                (unsigned long long)c->unfinished, c->name);
}

/* Engines end what grows beyond it. */
static enum msim_status warn_cut(struct msim_serving_outcome *o,
                                 const struct msim_class_outcome *c)
{
    if (c->cut == 0)
        return MSIM_OK;
    return warn(o,
                "%llu answers of %s are cut: with their prompts they have more "
                "tokens than an LLM takes (max_model_len, or its KV cache)",
                (unsigned long long)c->cut, c->name);
}

/* More came than was served before the last one came. */
static enum msim_status warn_unended(struct msim_serving_outcome *o,
                                     const struct msim_class_outcome *c)
{
    if (!isnan(c->throughput_rps) || !(o->run.end_s > o->run.begin_s))
        return MSIM_OK;
    return warn(o,
                "no request of %s ends between the warm-up and the last "
                "arrival, so it has no rate: want more requests",
                c->name);
}

enum msim_status msim_outcome_warnings(struct msim_serving_outcome *o,
                                       const struct msim_serving_wish *w)
{
    if (!(o->run.end_s > o->run.begin_s))
        MSIM_TRY(warn(o, "no time passes between the warm-up and the last "
                         "arrival, so there are no rates"));
    if (w->counterfactuals && !o->counterfactuals)
        MSIM_TRY(warn(o, "counterfactual: left out of a run that long, ask for "
                         "a stage with --free"));
    for (uint32_t i = 0; i < o->app->n_classes; i++) {
        MSIM_TRY(warn_refused(o, &o->classes[i]));
        MSIM_TRY(warn_cut(o, &o->classes[i]));
        MSIM_TRY(warn_unended(o, &o->classes[i]));
        MSIM_TRY(warn_few(o, &o->classes[i]));
    }
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->stages[i].saturated)
            MSIM_TRY(warn(o,
                          "%s is saturated: more comes than it can serve, so "
                          "latencies grow with the length of the run",
                          o->stages[i].name));
    return MSIM_OK;
}
