/*
 * predict/measured_step.c - the factors of a described job.
 */
#include "predict/pipeline.h"

#include "core/report/analyse/outcome.h"
#include "models/platform/platform.h"
#include "predict/predict_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum msim_status msim_graph_walk(double *us, const struct msim_graph *g,
                                 const struct msim_costs *c,
                                 struct msim_error *err)
{
    size_t n = (size_t)g->n_tasks + 1;
    struct msim_times t = {.start = malloc(n * sizeof(*t.start)),
                           .dur = malloc(n * sizeof(*t.dur))};
    struct msim_window_times *windows =
        calloc((size_t)g->n_windows + 1, sizeof(*windows));
    struct msim_scenario scenario = {.dur = c->mid, .removed = c->removed};
    struct msim_run run = {
        .start = t.start, .dur = t.dur, .lag = c->lag, .removed = c->removed};
    struct msim_engine *e = NULL;
    enum msim_status status = MSIM_ENOMEM;

    *us = 0;
    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    if (t.start && t.dur && windows)
        status = msim_engine_new(&e, g);
    if (status == MSIM_OK)
        status = msim_engine_simulate(e, &scenario, &t, err);
    if (status == MSIM_OK)
        msim_window_bounds(g, &run, windows);
    for (uint32_t i = 0; status == MSIM_OK && i < g->n_windows; i++) {
        double each =
            (double)(windows[i].end - windows[i].begin) / MSIM_PS_PER_US;

        *us = each > *us ? each : *us;
    }
    msim_engine_free(e);
    free(windows);
    free(t.start);
    free(t.dur);
    return status;
}

static void set_memory(struct msim_step_factor *out,
                       const struct msim_measured_step *is,
                       const struct msim_rank_memory *m)
{
    struct msim_held_most most;

    if (!(is->peak > 0) || !msim_rank_memory_most(m, &most) || !(most.peak > 0))
        return;
    out->peak = is->peak / most.peak;
    out->low_peak = is->low_peak / is->peak;
    out->high_peak = is->high_peak / is->peak;
}

/* The place of a GPU among those that were asked for; their number: none. */
static uint32_t place_of(const struct msim_step_source *source,
                         const struct msim_platform *on)
{
    const char *name = msim_platform_name(on);
    uint32_t i = 0;

    while (i < source->n_known && strcmp(source->known[i].platform, name) != 0)
        i++;
    return i;
}

/* Those of the described job on this GPU, or, where nobody asked for that, on
 * the first that somebody asked for. */
static void recall(struct msim_step_factor *out,
                   const struct msim_step_source *source,
                   const struct msim_platform *on)
{
    uint32_t i = place_of(source, on);

    *out = (struct msim_step_factor){0};
    if (!source->n_known)
        return;
    *out = source->known[i < source->n_known ? i : 0].is;
    out->walk_us = 0; /* this job is another */
}

/* The first stays: at another clock, or on another network, the same job has
 * others. */
static void remember(struct msim_step_source *source,
                     const struct msim_platform *on,
                     const struct msim_step_factor *f)
{
    uint32_t i = place_of(source, on);

    if (i < source->n_known || i == MSIM_STEP_FACTORS)
        return;
    snprintf(source->known[i].platform, sizeof(source->known[i].platform), "%s",
             msim_platform_name(on));
    source->known[i].is = *f;
    source->n_known++;
}

/* What the step law does not see. */
static bool is_elsewhere(const struct msim_predict_settings *s)
{
    return s->ranks || s->nodes || s->host;
}

static bool is_changed(const struct msim_predict_settings *s,
                       const struct msim_inputs *in)
{
    return in->origin || !msim_reshape_is_none(&s->reshape) || is_elsewhere(s);
}

/* What is known of the changed job; nothing where the described one is that of
 * other traces, or where more is changed than the traces. */
static enum msim_status ask_changed(struct msim_measured_step *is,
                                    const struct msim_step_factor *described,
                                    const struct msim_predict_settings *s,
                                    const struct msim_inputs *in,
                                    const struct msim_platform *on,
                                    struct msim_error *err)
{
    static const struct msim_rewrite none = {0};
    const struct msim_origin *o = in->origin;
    const struct msim_step_change by = {
        o ? o->ranks : in->job->ranks, in->job->strings,
        o ? &o->reshape : &s->reshape, o ? &o->rewrite : &none};

    *is = (struct msim_measured_step){0};
    if (!(described->us > 0) || is_elsewhere(s) || !in->job->n_ranks)
        return MSIM_OK;
    return s->described->ask(is, s->described->own, &by, on, err);
}

static bool has_factor(const struct msim_predict_settings *s,
                       const struct msim_target *to)
{
    return s->described && to->platform && to->costs == MSIM_COSTS_MODEL &&
           !msim_target_reads_gpu_times(to) && !msim_target_is_host(to);
}

bool msim_step_wants_described(const struct msim_predict_settings *s,
                               const struct msim_inputs *in,
                               const struct msim_target *to)
{
    return has_factor(s, to) && !in->origin && is_elsewhere(s) &&
           place_of(s->described, to->platform) == s->described->n_known;
}

/* So many times what its graph takes, or that part of it, takes no measured
 * job; and from so much on what bounds it is not in the graph. */
#define MOST_TIMES  10
#define MUCH_LONGER 2

static bool is_apart(double factor, double times)
{
    return factor > times || factor * times < 1;
}

static bool is_near(const struct msim_step_factor *f)
{
    return !is_apart(f->us, MOST_TIMES) &&
           !(f->peak > 0 && is_apart(f->peak, MOST_TIMES));
}

/* False: the description is of other traces. */
static bool belongs(const struct msim_step_factor *f,
                    const struct msim_step_source *source,
                    const struct msim_inputs *in)
{
    bool all = !source->files || source->files == in->job->n_ranks;

    if (all && is_near(f)) {
        if (is_apart(f->us, MUCH_LONGER))
            msim_job_warn(in->job,
                          "measured jobs take x %.2f of what the graph takes: "
                          "what bounds them is not in it, and what a change "
                          "brings is told better by a whatif of the model",
                          f->us);
        return true;
    }
    if (all)
        msim_job_warn(in->job,
                      "synth.json describes a job of x %.3g the time, x %.3g "
                      "the memory of these traces: it is taken for another's, "
                      "and the graph is predicted by itself",
                      f->us, f->peak);
    else
        msim_job_warn(in->job,
                      "synth.json describes %u files, here are %u: it is taken "
                      "for another's, and the graph is predicted by itself",
                      source->files, in->job->n_ranks);
    return false;
}

/* From what is known of a job, and its graph without that. */
static enum msim_status
make_factor(struct msim_step_factor *out, const struct msim_measured_step *is,
            const struct msim_graph *g, const struct msim_costs *c,
            const struct msim_rank_memory *m, struct msim_error *err)
{
    *out = (struct msim_step_factor){0};
    if (is->us > 0)
        MSIM_TRY(msim_graph_walk(&out->walk_us, g, c, err));
    if (!(out->walk_us > 0))
        return MSIM_OK;
    out->us = is->us / out->walk_us;
    out->low = is->low_us / is->us;
    out->high = is->high_us / is->us;
    set_memory(out, is, m);
    return MSIM_OK;
}

enum msim_status msim_step_factor_find(
    struct msim_step_factor *out, const struct msim_predict_settings *s,
    const struct msim_inputs *in, const struct msim_target *to,
    const struct msim_graph *g, const struct msim_costs *c,
    const struct msim_rank_memory *m, struct msim_error *err)
{
    struct msim_measured_step is = {0};
    struct msim_step_factor own;

    *out = (struct msim_step_factor){0};
    if (!has_factor(s, to))
        return MSIM_OK;
    if (is_changed(s, in)) {
        recall(out, s->described, to->platform);
        MSIM_TRY(ask_changed(&is, out, s, in, to->platform, err));
        MSIM_TRY(make_factor(&own, &is, g, c, m, err));
        if (own.us > 0 && is_near(&own))
            *out = own;
        return MSIM_OK;
    }
    MSIM_TRY(
        s->described->ask(&is, s->described->own, NULL, to->platform, err));
    MSIM_TRY(make_factor(out, &is, g, c, m, err));
    if (out->us > 0 && !belongs(out, s->described, in))
        *out = (struct msim_step_factor){0};
    remember(s->described, to->platform, out);
    return MSIM_OK;
}

void msim_step_factor_apply(const struct msim_step_factor *f,
                            const struct msim_graph *g, struct msim_costs *c,
                            struct msim_rank_memory *m)
{
    if (!(f->us > 0))
        return;
    for (uint32_t i = 0; i < g->n_tasks; i++) {
        c->mid[i] = msim_costing_times(c->mid[i], f->us);
        c->low[i] = msim_costing_times(c->low[i], f->us);
        c->high[i] = msim_costing_times(c->high[i], f->us);
    }
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        if (c->lag[k] > 0)
            c->lag[k] = msim_costing_times(c->lag[k], f->us);
    c->step = (struct msim_step_scale){f->us, f->low, f->high};
    if (f->peak > 0)
        msim_rank_memory_scale(m, f->peak, f->low_peak, f->high_peak);
}

enum msim_status msim_step_factor_memory(const struct msim_predict_settings *s,
                                         const struct msim_inputs *in,
                                         const struct msim_platform *on,
                                         struct msim_rank_memory *m,
                                         struct msim_error *err)
{
    struct msim_step_factor f = {0}, own = {0};
    struct msim_measured_step is = {0};

    if (s->described)
        recall(&f, s->described, on);
    if (f.us > 0 && is_changed(s, in))
        MSIM_TRY(ask_changed(&is, &f, s, in, on, err));
    set_memory(&own, &is, m);
    if (own.peak > 0 && !is_apart(own.peak, MOST_TIMES)) {
        own.us = f.us;
        f = own;
    }
    if (f.us > 0 && f.peak > 0)
        msim_rank_memory_scale(m, f.peak, f.low_peak, f.high_peak);
    return MSIM_OK;
}
