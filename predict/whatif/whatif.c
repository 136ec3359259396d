/*
 * predict/whatif/whatif.c - the change that a prediction shows, its baseline
 * and the ratio of the two.
 */
#include "predict/whatif/whatif.h"

#include "predict/carry/scaled.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the options that made it ---------------------------------------------
 */

struct options {
    struct msim_arena *arena;
    const char **items;
    uint32_t n;
};

static enum msim_status add(struct options *o, const char *name,
                            const char *value)
{
    size_t size;
    char *copy;

    if (!value)
        return MSIM_OK;
    size = strlen(value) + 1;
    copy = msim_arena_alloc(o->arena, size);
    if (!copy)
        return MSIM_ENOMEM;
    o->items[o->n++] = name;
    o->items[o->n++] = memcpy(copy, value, size);
    return MSIM_OK;
}

static enum msim_status add_number(struct options *o, const char *name,
                                   double value, const char *unit)
{
    char text[64];

    if (!(value > 0))
        return MSIM_OK;
    snprintf(text, sizeof(text), "%.10g%s", value, unit);
    return add(o, name, text);
}

/* The part of the run that was asked for. */
static enum msim_status add_choice(struct options *o,
                                   const struct msim_choice *c)
{
    char range[32];

    MSIM_TRY(add(o, "--subtree", c->subtree));
    snprintf(range, sizeof(range), "%" PRIu32 "..%" PRIu32, c->from, c->to);
    if (c->to)
        MSIM_TRY(add(o, "--range", range));
    if (c->kind != MSIM_CHOICE_ALL)
        MSIM_TRY(add(o, "--kind", MSIM_CHOICE_KINDS[c->kind]));
    MSIM_TRY(add(o, "--ops", c->ops));
    return add(o, "--exclude", c->exclude);
}

static enum msim_status list_options(struct options *o,
                                     const struct msim_predict_settings *s)
{
    size_t most = 2 * (24 + (size_t)s->n_scales);

    o->items = msim_arena_alloc(o->arena, most * sizeof(*o->items));
    if (!o->items)
        return MSIM_ENOMEM;
    MSIM_TRY(add(o, "--platform", s->platform));
    if (s->costs != MSIM_COSTS_AUTO)
        MSIM_TRY(add(o, "--costs", msim_cost_mode_text(s->costs)));
    MSIM_TRY(add(o, "--source-platform", s->source_platform));
    MSIM_TRY(add(o, "--source-trace", s->source_trace));
    MSIM_TRY(add(o, "--host", s->host));
    MSIM_TRY(add(o, "--network", s->network));
    MSIM_TRY(add_number(o, "--nodes", s->nodes, ""));
    MSIM_TRY(add(o, "--ops", s->ops));
    MSIM_TRY(add_number(o, "--clock", s->clock.ratio, ""));
    MSIM_TRY(add_number(o, "--clock", s->clock.hz * 1e-6, "MHz"));
    MSIM_TRY(add_number(o, "--power-cap", s->clock.watts, "W"));
    MSIM_TRY(add_number(o, "--index-skew", s->index_skew, ""));
    for (uint32_t i = 0; i < s->n_scales; i++)
        MSIM_TRY(add(o, "--scale", s->scales[i].text));
    if (s->peers == MSIM_PEERS_FIXED)
        MSIM_TRY(add(o, "--peers", "fixed"));
    MSIM_TRY(add_choice(o, &s->choice));
    return add_number(o, "--ranks", s->ranks, "");
}

/* ---- what is changed ------------------------------------------------------
 */

/* A factor of 1 changes nothing; what is not chosen takes no time. */
static bool changes_durations(const struct msim_predict_settings *s)
{
    bool changes = !msim_choice_is_all(&s->choice);

    for (uint32_t i = 0; i < s->n_scales; i++)
        changes |= fabs(s->scales[i].factor - 1) > 0;
    return changes;
}

static bool changes_clock(const struct msim_clock_wish *w)
{
    return msim_clock_is_asked(w) &&
           (w->hz > 0 || w->watts > 0 || fabs(w->ratio - 1) > 0);
}

/* Another machine, network or size than without these options. */
static bool changes_target(const struct msim_predict_settings *s,
                           const struct msim_inputs *in)
{
    return s->host || s->network || s->nodes || changes_clock(&s->clock) ||
           s->index_skew > 0 || s->ranks > in->job->n_ranks;
}

/* The traced run on another GPU, or at another clock: GPU times of the trace
 * are read, and are not those of the target. */
static bool leaves_gpu(const struct msim_target *to)
{
    return msim_target_reads_gpu_times(to) && !msim_target_replays(to);
}

static bool is_change(const struct msim_predict_settings *s,
                      const struct msim_inputs *in,
                      const struct msim_target *to)
{
    return changes_durations(s) || changes_target(s, in) || leaves_gpu(to);
}

/* Did the job run on the GPU that is predicted for, as far as is known? */
static bool ran_here(const struct msim_inputs *in, const struct msim_target *to)
{
    if (!to->platform || !in->job->n_ranks ||
        !in->job->ranks[0]->has_gpu_events)
        return true;
    return to->traced &&
           strcmp(to->traced, msim_platform_name(to->platform)) == 0;
}

/* ---- baselines ------------------------------------------------------------
 */

/* The same job without the change. */
struct baseline {
    struct msim_predict_settings settings;
    struct msim_target own_target;
    struct msim_basis *own_basis;
    const struct msim_basis *basis;
    const struct msim_target *to;
    struct msim_times times;
    struct msim_outcome outcome;
    uint8_t *states;
    double us;
};

static void baseline_release(struct baseline *b)
{
    free(b->times.start);
    free(b->times.dur);
    free(b->states);
    msim_basis_free(b->own_basis);
    msim_target_release(&b->own_target);
}

/* By the same costs on the same GPU; nothing else is asked for. */
static void set_settings(struct baseline *b,
                         const struct msim_predict_settings *s,
                         const struct msim_target *to)
{
    b->settings = *s;
    b->settings.costs = to->costs;
    b->settings.host = b->settings.network = NULL;
    b->settings.clock = (struct msim_clock_wish){0};
    b->settings.index_skew = 0;
    b->settings.ranks = b->settings.nodes = 0;
    b->settings.n_scales = 0;
    b->settings.choice = (struct msim_choice){0};
}

static enum msim_status own_target(struct baseline *b,
                                   const struct msim_inputs *in,
                                   struct msim_error *err)
{
    MSIM_TRY(msim_target_load(&b->own_target, &b->settings, err));
    MSIM_TRY(msim_target_choose(&b->own_target, &b->settings, in, err));
    MSIM_TRY(
        msim_basis_new(&b->own_basis, &b->settings, in, &b->own_target, err));
    b->to = &b->own_target;
    b->basis = b->own_basis;
    return MSIM_OK;
}

static enum msim_status simulate(struct baseline *b, struct msim_error *err)
{
    const struct msim_graph *g = b->basis->graph;
    const struct msim_costs *c = b->basis->costs;
    struct msim_scenario scenario = {.dur = c->mid, .removed = c->removed};
    size_t n = (size_t)g->n_tasks + 1;
    struct msim_engine *e;
    enum msim_status status;

    b->times.start = malloc(n * sizeof(*b->times.start));
    b->times.dur = malloc(n * sizeof(*b->times.dur));
    b->states = calloc((size_t)g->n_iterations + 1, 1);
    if (!b->times.start || !b->times.dur || !b->states)
        return MSIM_ENOMEM;
    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    MSIM_TRY(msim_engine_new(&e, g));
    status = msim_engine_simulate(e, &scenario, &b->times, err);
    msim_engine_free(e);
    return status;
}

static enum msim_status find_baseline(struct baseline *b, uint32_t iteration)
{
    const struct msim_costs *c = b->basis->costs;

    b->outcome = (struct msim_outcome){
        .graph = b->basis->graph,
        .mid = {.start = b->times.start,
                .dur = b->times.dur,
                .lag = c->lag,
                .removed = c->removed},
        .gpu_times = msim_target_reads_gpu_times(b->to),
    };
    MSIM_TRY(msim_period_find(&b->outcome, iteration, b->states, &b->us));
    b->outcome.states = b->states;
    return MSIM_OK;
}

/* ---- predictions with one -------------------------------------------------
 */

static enum msim_status set_options(struct msim_prediction *p,
                                    const struct msim_predict_settings *s)
{
    struct options o = {.arena = &p->arena};

    MSIM_TRY(list_options(&o, s));
    p->scenario.options = o.items;
    p->scenario.n_options = o.n;
    return MSIM_OK;
}

static void set_ratio(struct msim_scenario_note *n, double baseline_us,
                      const struct msim_figure *ratio)
{
    n->baseline_us = baseline_us;
    n->ratio = ratio->predicted;
    n->ratio_low = ratio->low;
    n->ratio_high = ratio->high;
}

/* The traced run is known without an interval. */
static void against_trace(struct msim_prediction *p)
{
    struct msim_figure *us = &p->period.us;
    double base = us->measured;
    struct msim_figure ratio = {us->predicted / base, us->low / base,
                                us->high / base, (double)NAN};

    p->scenario.traced = true;
    set_ratio(&p->scenario, base, &ratio);
}

static enum msim_status against_baseline(struct msim_prediction_run *run,
                                         const struct baseline *b,
                                         struct msim_error *err)
{
    struct msim_ratio_side base = {.outcome = &b->outcome,
                                   .costs = b->basis->costs,
                                   .iteration = run->iteration};
    struct msim_ratio_side changed = {.outcome = &run->outcome,
                                      .costs = run->costs,
                                      .iteration = run->iteration};
    struct msim_deviating *deviating;
    struct msim_figure ratio;
    enum msim_status status;

    MSIM_TRY(msim_deviating_new(&deviating, &base, NULL));
    status = msim_ratio_find(deviating, &changed, &ratio, err);
    msim_deviating_free(deviating);
    MSIM_TRY(status);
    run->prediction->scenario.traced = b->to->costs == MSIM_COSTS_MEASURED;
    set_ratio(&run->prediction->scenario, b->us, &ratio);
    return MSIM_OK;
}

static enum msim_status predict_changed(struct msim_prediction_run *run,
                                        const struct msim_predict_settings *s,
                                        const struct msim_inputs *in,
                                        const struct msim_target *to,
                                        struct baseline *b,
                                        struct msim_error *err)
{
    struct msim_basis *basis;
    uint32_t iteration;
    enum msim_status status;

    MSIM_TRY(msim_basis_new(&basis, s, in, to, err));
    b->basis = basis;
    b->to = to;
    status = msim_select_check(s, in, basis->costs, basis->graph, err);
    if (status == MSIM_OK)
        status = msim_iteration_find(&iteration, s, in->job, basis->graph, err);
    if (status == MSIM_OK && !leaves_gpu(to)) {
        set_settings(b, s, to);
        if (changes_target(s, in))
            status = own_target(b, in, err);
        if (status == MSIM_OK)
            status = simulate(b, err);
        if (status == MSIM_OK)
            status = find_baseline(b, iteration);
    }
    if (status == MSIM_OK)
        status = msim_predict_from(run, basis, s, in, to, b->states, err);
    run->own_basis = basis;
    return status;
}

/* Does every task take what it takes without the change? */
static bool same_durations(const struct msim_prediction_run *run,
                           const struct baseline *b)
{
    const struct msim_costs *c = run->costs, *d = b->basis->costs;
    uint32_t n = run->graph->n_tasks;

    return n == b->basis->graph->n_tasks &&
           memcmp(c->mid, d->mid, n * sizeof(*c->mid)) == 0 &&
           memcmp(c->lag, d->lag, sizeof(c->lag)) == 0;
}

static enum msim_status add_warning(struct msim_prediction *p, const char *text)
{
    const char **more = msim_arena_alloc(
        &p->arena, ((size_t)p->n_warnings + 1) * sizeof(*more));

    if (!more)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < p->n_warnings; i++)
        more[i] = p->warnings[i];
    more[p->n_warnings++] = text;
    p->warnings = more;
    return MSIM_OK;
}

static enum msim_status warn_idle(struct msim_prediction_run *run,
                                  const struct msim_predict_settings *s,
                                  const struct msim_target *to)
{
    const char *text = msim_select_idle(s, to, run->graph);

    return text ? add_warning(run->prediction, text) : MSIM_OK;
}

enum msim_status msim_whatif_predict(struct msim_prediction_run *run,
                                     const struct msim_predict_settings *s,
                                     const struct msim_inputs *in,
                                     const struct msim_target *to,
                                     struct msim_error *err)
{
    struct baseline b = {0};
    uint32_t warnings_of_traces = in->job->n_warnings;
    enum msim_status status;

    memset(run, 0, sizeof(*run));
    if (!is_change(s, in, to)) {
        MSIM_TRY(msim_predict(run, s, in, to, err));
        run->prediction->elsewhere = !ran_here(in, to);
        return warn_idle(run, s, to);
    }
    status = predict_changed(run, s, in, to, &b, err);
    in->job->n_warnings = warnings_of_traces;
    if (status == MSIM_OK)
        status = set_options(run->prediction, s);
    if (status == MSIM_OK) {
        run->prediction->elsewhere = true;
        if (leaves_gpu(to))
            against_trace(run->prediction);
        else
            status = against_baseline(run, &b, err);
        if (status == MSIM_OK && b.own_basis && same_durations(run, &b))
            status = add_warning(run->prediction,
                                 "the options change no duration of this job");
    }
    if (status == MSIM_OK)
        status = warn_idle(run, s, to);
    baseline_release(&b);
    return status;
}
