/*
 * predict/pipeline.c - a prediction from its settings to its figures.
 */
#include "predict/pipeline.h"

#include "core/graph/build/graph_build.h"
#include "core/rewrite/rewrite.h"
#include "core/run/engine.h"
#include "models/estimate/model.h"
#include "predict/predict_internal.h"

#include <stdlib.h>
#include <string.h>

enum msim_status msim_predict_load(struct msim_inputs *in,
                                   struct msim_target *to,
                                   const struct msim_predict_settings *s,
                                   struct msim_error *err)
{
    memset(in, 0, sizeof(*in));
    MSIM_TRY(msim_target_load(to, s, err));
    MSIM_TRY(msim_inputs_load(in, s, err));
    return msim_target_settle(to, s, in, err);
}

/* A run on its way, or what it stands on. */
struct predicting {
    struct msim_basis *basis; /* while it is built */
    struct msim_prediction_run *run;
    const uint8_t *states; /* of iterations, or NULL */
    const struct msim_predict_settings *s;
    const struct msim_inputs *in;
    const struct msim_target *to;
    struct msim_error *err;
    struct msim_asked asked;
};

/* ---- graph --------------------------------------------------------------- */

/* What a GPU ran asynchronously does not say what a CPU would do. */
static enum msim_status check_kind(const struct predicting *p)
{
    const struct msim_job *job = p->in->job;

    for (uint32_t i = 0; i < job->n_ranks && msim_target_is_host(p->to); i++)
        if (job->ranks[i]->has_gpu_events)
            return msim_fail(
                p->err, MSIM_EUSAGE, p->s->paths[0], MSIM_OFFSET_NONE,
                "the trace holds kernels of a GPU, and platform '%s' is a CPU; "
                "want a trace recorded on a CPU, or an execution trace alone",
                msim_platform_name(p->to->platform));
    return MSIM_OK;
}

static bool needs_groups(const struct msim_predict_settings *s)
{
    bool needs = s->groups;

    for (uint32_t i = 0; i < s->n_scales; i++)
        needs |= msim_scale_is_group(&s->scales[i]);
    return needs;
}

/* As traced, no work needs an estimate. */
static enum msim_status make_works(struct predicting *p)
{
    if (p->to->costs == MSIM_COSTS_MEASURED &&
        msim_target_reads_gpu_times(p->to) && !needs_groups(p->s))
        return MSIM_OK;
    return msim_asked_works(&p->asked, p->in, msim_target_is_host(p->to));
}

/* Ranks without GPU events launch what their operators would. */
static enum msim_status make_plans(struct predicting *p)
{
    struct msim_basis *b = p->basis;
    const struct msim_job *job = p->in->job;

    b->n_ranks = job->n_ranks;
    b->plans = calloc((size_t)job->n_ranks + 1, sizeof(*b->plans));
    if (!b->plans)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (msim_target_plans(p->to, job->ranks[i]))
            MSIM_TRY(msim_launch_plan_new(&b->plans[i], p->asked.works[i],
                                          msim_target_is_host(p->to),
                                          p->s->paths[0], p->err));
    return MSIM_OK;
}

/* From shapes alone nothing is known of a rank that is not there. One whose
 * peers are moved to another GPU too keeps their distance. */
static enum msim_peers peers(const struct predicting *p)
{
    if (!msim_target_reads_gpu_times(p->to))
        return MSIM_PEERS_TOGETHER;
    return msim_target_replays(p->to) ? p->s->peers : MSIM_PEERS_FOLLOW;
}

static enum msim_status build(struct predicting *p)
{
    struct msim_basis *b = p->basis;
    bool times = msim_target_reads_gpu_times(p->to);

    MSIM_TRY(check_kind(p));
    MSIM_TRY(msim_asked_views(&p->asked, p->in, &p->s->reshape, p->err));
    MSIM_TRY(make_works(p));
    MSIM_TRY(make_plans(p));
    MSIM_TRY(msim_graph_build(
        &b->graph, p->in->job,
        &(struct msim_graph_options){
            .launch_plans = (const struct msim_launch_plan *const *)b->plans,
            .device_times = times,
            .peers = peers(p),
            .slowdown = times ? 0 : msim_platform_slowdown(p->to->platform),
        },
        p->err));
    return msim_peers_follow(b->graph, p->err);
}

/* ---- durations ----------------------------------------------------------- */

static enum msim_status make_groups(struct predicting *p)
{
    const struct msim_task_groups_options o = {
        .works = p->asked.works,
        .ranks = p->s->ranks,
        .gpus_a_node = p->to->gpus_a_node,
    };

    if (!needs_groups(p->s))
        return MSIM_OK;
    return msim_task_groups_new(&p->basis->groups, p->basis->graph, &o);
}

/* Here, or before the trace was rewritten. */
static bool has_other_sizes(const struct predicting *p)
{
    return p->asked.views ||
           (p->in->origin && !msim_reshape_is_none(&p->in->origin->reshape));
}

static enum msim_status estimate(struct predicting *p)
{
    const struct msim_predict_settings *s = p->s;
    const struct msim_target *to = p->to;
    bool measured = to->costs == MSIM_COSTS_MEASURED;
    bool times = msim_target_reads_gpu_times(to);
    enum msim_status status =
        msim_costs_new(&p->basis->costs, p->basis->graph,
                       &(struct msim_cost_options){
                           .platform = measured ? NULL : to->platform,
                           .works = p->asked.works,
                           .works_traced = p->asked.works_traced,
                           .source = times ? to->source : NULL,
                           .correction = to->correction,
                           .recorded = p->in->origin != NULL,
                           .host = to->host,
                           .host_modelled = s->host != NULL,
                           .asked = has_other_sizes(p),
                           .recorded_memory = msim_inputs_memory(p->in),
                           .strict = s->strict,
                           .ranks = s->ranks,
                           .gpus_a_node = to->gpus_a_node,
                           .groups = p->basis->groups,
                       },
                       p->err);

    msim_asked_drop_works(&p->asked); /* nothing after this asks for them */
    return status;
}

/* The warnings that the job has beyond the first `begin` move to the basis. */
static enum msim_status take_warnings(struct predicting *p, uint32_t begin)
{
    struct msim_basis *b = p->basis;
    struct msim_job *job = p->in->job;
    uint32_t n = job->n_warnings - begin;

    job->n_warnings = begin;
    b->warnings = malloc(((size_t)n + 1) * sizeof(*b->warnings));
    if (!b->warnings)
        return MSIM_ENOMEM;
    if (n)
        memcpy(b->warnings, job->warnings + begin, n * sizeof(*b->warnings));
    b->n_warnings = n;
    return MSIM_OK;
}

/* The described job on this GPU, whose factors a changed one keeps. */
static enum msim_status find_described(struct predicting *p)
{
    struct msim_predict_settings s = *p->s;
    struct msim_target to = {0};
    struct msim_basis *basis = NULL;
    enum msim_status status;

    if (!msim_step_wants_described(p->s, p->in, p->to))
        return MSIM_OK;
    s.ranks = s.nodes = 0;
    s.host = NULL;
    s.reshape = (struct msim_reshape){0};
    status = msim_target_load(&to, &s, p->err);
    if (status == MSIM_OK)
        status = msim_target_choose(&to, &s, p->in, p->err);
    if (status == MSIM_OK)
        status = msim_basis_new(&basis, &s, p->in, &to, p->err);
    msim_basis_free(basis);
    msim_target_release(&to);
    return status;
}

/* Its memory, and what is known of both from measured jobs. */
static enum msim_status find_memory(struct predicting *p)
{
    struct msim_basis *b = p->basis;
    const struct msim_origin *origin = p->in->origin;
    struct msim_fit_job job = {.ranks = msim_asked_ranks(&p->asked, p->in),
                               .strings = p->in->job->strings,
                               .platform = p->to->platform,
                               .memory = &b->memory};

    MSIM_TRY(msim_rank_memory_find(&b->memory, job.ranks, p->in->job->n_ranks,
                                   job.platform));
    MSIM_TRY(find_described(p));
    MSIM_TRY(msim_step_factor_find(&b->factor, p->s, p->in, p->to, b->graph,
                                   b->costs, &b->memory, p->err));
    msim_step_factor_apply(&b->factor, b->graph, b->costs, &b->memory);
    job.origins = job.ranks;
    if (origin && (msim_rewrite_stages(&origin->rewrite) > 1 ||
                   origin->rewrite.parallel.whole))
        return MSIM_OK; /* a change is of one rank: the stages are several */
    if (origin && !p->asked.views) {
        job.origins = origin->ranks;
        job.made = (struct msim_fit_change){origin->reshape, origin->rewrite};
    }
    return msim_fit_ways_find(&b->ways, &job);
}

enum msim_status msim_basis_new(struct msim_basis **out,
                                const struct msim_predict_settings *s,
                                const struct msim_inputs *in,
                                const struct msim_target *to,
                                struct msim_error *err)
{
    struct predicting p = {.s = s, .in = in, .to = to, .err = err};
    uint32_t warnings_of_traces = in->job->n_warnings;
    enum msim_status status = MSIM_ENOMEM;

    *out = NULL;
    p.basis = calloc(1, sizeof(*p.basis));
    if (p.basis)
        status = build(&p);
    if (status == MSIM_OK) {
        msim_run_warnings_add(s, in, to, p.basis->graph);
        status = make_groups(&p);
    }
    if (status == MSIM_OK)
        status = estimate(&p);
    if (status == MSIM_OK)
        msim_run_warnings_bounded(in->job, p.basis->costs);
    if (status == MSIM_OK)
        status = find_memory(&p);
    if (status == MSIM_OK)
        status = take_warnings(&p, warnings_of_traces);
    msim_asked_release(&p.asked);
    in->job->n_warnings = warnings_of_traces; /* the next has its own */
    if (status == MSIM_OK)
        *out = p.basis;
    else
        msim_basis_free(p.basis);
    return status;
}

void msim_basis_free(struct msim_basis *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->plans && i < b->n_ranks; i++)
        msim_launch_plan_free(b->plans[i]);
    free(b->plans);
    msim_costs_free(b->costs);
    if (!b->borrows_graph) {
        msim_task_groups_free(b->groups);
        msim_graph_free(b->graph);
    }
    if (!b->borrows_memory)
        msim_rank_memory_release(&b->memory);
    free(b->warnings);
    free(b);
}

/* ---- simulate ------------------------------------------------------------ */

static enum msim_status new_times(struct msim_times *t, uint32_t n)
{
    t->start = malloc(((size_t)n + 1) * sizeof(*t->start));
    t->dur = malloc(((size_t)n + 1) * sizeof(*t->dur));
    t->held_by = malloc(((size_t)n + 1) * sizeof(*t->held_by));
    return t->start && t->dur && t->held_by ? MSIM_OK : MSIM_ENOMEM;
}

static void release_times(struct msim_times *t)
{
    free(t->start);
    free(t->dur);
    free(t->held_by);
}

/* What follows absent ranks, or nothing known, is uncertain on another GPU. */
static void stretch_waits(const struct predicting *p, const msim_ps *dur,
                          struct msim_scenario *scenario)
{
    const struct msim_prediction_run *run = p->run;

    if (msim_target_reads_gpu_times(p->to) && !msim_target_replays(p->to) &&
        dur != run->costs->mid)
        msim_scenario_stretch(scenario->stretch, run->graph, run->costs,
                              dur == run->long_dur);
}

/* Latencies deviate with a step that deviates as a whole. */
static void deviate_lags(msim_ps lag[MSIM_EDGE_KINDS], double by)
{
    for (int k = 0; by > 0 && k < MSIM_EDGE_KINDS; k++)
        if (lag[k] > 0)
            lag[k] = (msim_ps)((double)lag[k] * by);
}

static enum msim_status simulate_one(struct predicting *p,
                                     struct msim_engine *e, const msim_ps *dur,
                                     struct msim_times *times)
{
    const struct msim_costs *c = p->run->costs;
    struct msim_scenario scenario = {.dur = dur, .removed = c->removed};

    memcpy(scenario.lag, c->lag, sizeof(scenario.lag));
    if (dur != c->mid)
        deviate_lags(scenario.lag,
                     dur == p->run->long_dur ? c->step.high : c->step.low);
    stretch_waits(p, dur, &scenario);
    MSIM_TRY(new_times(times, p->run->graph->n_tasks));
    return msim_engine_simulate(e, &scenario, times, p->err);
}

/* The costs of the basis, with what `--scale` changes, of what is chosen. */
static enum msim_status scale(struct predicting *p)
{
    struct msim_prediction_run *run = p->run;

    run->graph = run->basis->graph;
    run->costs = run->basis->costs;
    if (!p->s->n_scales && msim_choice_is_all(&p->s->choice))
        return MSIM_OK;
    MSIM_TRY(msim_costs_scaled(&run->own_costs, run->costs, run->graph,
                               p->s->scales, p->s->n_scales));
    run->costs = run->own_costs;
    return msim_costs_choose(run->own_costs, run->graph, &p->s->choice);
}

/* Does no duration deviate, nor a wait? Then three runs are one. */
static bool is_exact(const struct predicting *p)
{
    const struct msim_costs *c = p->run->costs;
    size_t bytes = (size_t)p->run->graph->n_tasks * sizeof(*c->mid);

    return msim_target_replays(p->to) && !(c->machine.slower > 1) &&
           !(c->machine.faster > 1) && !memcmp(c->low, c->mid, bytes) &&
           !memcmp(c->high, c->mid, bytes);
}

static enum msim_status simulate_three(struct predicting *p,
                                       struct msim_engine *e)
{
    struct msim_prediction_run *run = p->run;

    run->exact = is_exact(p);
    MSIM_TRY(simulate_one(p, e, run->costs->mid, &run->mid));
    if (run->exact) {
        run->low = run->high = run->mid;
        return MSIM_OK;
    }
    MSIM_TRY(msim_scenario_durations(&run->short_dur, run->graph, run->costs,
                                     false));
    MSIM_TRY(
        msim_scenario_durations(&run->long_dur, run->graph, run->costs, true));
    MSIM_TRY(simulate_one(p, e, run->short_dur, &run->low));
    return simulate_one(p, e, run->long_dur, &run->high);
}

static enum msim_status simulate(struct predicting *p)
{
    struct msim_engine *e;
    enum msim_status status;

    MSIM_TRY(msim_engine_on(&e, p->run->basis->course, p->run->graph));
    status = simulate_three(p, e);
    msim_engine_free(e);
    return status;
}

/* ---- read off ------------------------------------------------------------ */

static struct msim_run outcome_run(const struct msim_costs *c,
                                   const struct msim_times *t)
{
    return (struct msim_run){
        .start = t->start,
        .dur = t->dur,
        .lag = c->lag,
        .removed = c->removed,
        .held_by = t->held_by,
    };
}

static void fill_outcome(struct msim_prediction_run *run, bool measured,
                         bool gpu_times, const uint8_t *states)
{
    const struct msim_costs *c = run->costs;

    for (uint8_t i = 0; i < MSIM_COST_COUNT; i++)
        run->made_by_names[i] = msim_costs_text(i);
    for (int i = 0; i < MSIM_SOURCE_COUNT; i++)
        run->source_names[i] = msim_source_text((enum msim_source)i);
    run->outcome = (struct msim_outcome){
        .graph = run->graph,
        .mid = outcome_run(c, &run->mid),
        .low = outcome_run(c, &run->low),
        .high = outcome_run(c, &run->high),
        .task_low = c->low,
        .task_mid = c->mid,
        .task_high = c->high,
        .gpu_slower = c->machine.slower,
        .gpu_faster = c->machine.faster,
        .made_by = c->made_by,
        .made_by_names = run->made_by_names,
        .n_made_by = MSIM_COST_COUNT,
        .source = c->source,
        .source_names = run->source_names,
        .source_uncovered = MSIM_SOURCE_INFERRED,
        .flops = c->flops,
        .limits = measured ? NULL : c->limits,
        .bandwidth = c->bandwidth,
        .measured = measured,
        .gpu_times = gpu_times,
        .states = states,
    };
}

/* What was measured was another job than that of all ranks. */
static void fold(const struct predicting *p)
{
    struct msim_prediction *out = p->run->prediction;
    uint32_t all = p->s->ranks       ? p->s->ranks
                   : p->s->described ? p->s->described->ranks
                                     : 0;
    uint32_t each = all / p->in->job->n_ranks;

    if (each <= 1)
        return;
    out->ranks = all;
    out->gpus *= each;
    out->iteration_us.measured = out->period.us.measured = (double)NAN;
    for (uint32_t i = 0; i < out->n_iterations; i++)
        out->iterations[i].us.measured = (double)NAN;
    for (uint32_t i = 0; i < out->n_ranks_detail; i++) {
        out->ranks_detail[i].iteration_us.measured = (double)NAN;
        out->ranks_detail[i].period_us.measured = (double)NAN;
        out->ranks_detail[i].stands_for = each;
    }
}

/* The prediction's own list: of the traces, then of the basis. */
static enum msim_status keep_warnings(const struct predicting *p)
{
    struct msim_prediction *out = p->run->prediction;
    const struct msim_job *job = p->in->job;
    const struct msim_basis *b = p->run->basis;
    size_t n = (size_t)job->n_warnings + b->n_warnings;

    out->warnings =
        msim_arena_alloc(&out->arena, (n + 1) * sizeof(*out->warnings));
    if (!out->warnings)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_warnings; i++)
        out->warnings[out->n_warnings++] = job->warnings[i];
    for (uint32_t i = 0; i < b->n_warnings; i++)
        out->warnings[out->n_warnings++] = b->warnings[i];
    return MSIM_OK;
}

/* The run outlives what its states came from. */
static enum msim_status keep_states(struct msim_prediction_run *run,
                                    const uint8_t *states)
{
    size_t n = run->graph->n_iterations;

    if (!states)
        return MSIM_OK;
    run->states = malloc(n + 1);
    if (!run->states)
        return MSIM_ENOMEM;
    memcpy(run->states, states, n);
    return MSIM_OK;
}

static enum msim_status read_off(struct predicting *p)
{
    struct msim_prediction_run *run = p->run;

    MSIM_TRY(msim_iteration_find(&run->iteration, p->s, p->in->job, run->graph,
                                 p->err));
    MSIM_TRY(keep_states(run, p->states));
    fill_outcome(run, p->to->costs == MSIM_COSTS_MEASURED,
                 msim_target_reads_gpu_times(p->to), run->states);
    run->outcome.totals_only = p->s->totals_only;
    run->outcome.kernels = p->s->kernels;
    run->outcome.shapes = p->s->shapes;
    MSIM_TRY(
        msim_analyse(&run->prediction, &run->outcome, run->iteration, p->err));
    MSIM_TRY(msim_rank_memory_note(&run->basis->memory, run->graph,
                                   p->s->totals_only ? NULL : run->mid.start,
                                   run->prediction));
    if (msim_inputs_as_traced(p->in, p->s))
        MSIM_TRY(msim_rank_memory_recorded(run->graph, run->iteration,
                                           run->prediction));
    MSIM_TRY(msim_fit_ways_note(&run->basis->ways, run->prediction));
    if (p->s->usage)
        MSIM_TRY(msim_run_usage(run->prediction, &run->outcome, run->iteration,
                                p->s, p->in, p->to, p->err));
    run->prediction->step = (struct msim_step_note){run->basis->factor.us,
                                                    run->basis->factor.walk_us,
                                                    run->basis->factor.peak};
    if (p->s->totals_only) {
        msim_run_guard(NULL, run->graph, run->costs, run->prediction);
        return MSIM_OK;
    }
    fold(p);
    msim_run_describe(run->prediction, p->s, p->in, p->to,
                      run->basis->plans[0] != NULL);
    if (p->to->platform)
        msim_warn_emulated(p->in->job, p->to->platform, run->costs);
    msim_run_guard(p->in->job, run->graph, run->costs, run->prediction);
    MSIM_TRY(msim_prediction_list_ranks(run->prediction, p->in->job));
    return keep_warnings(p);
}

/* ---- all of it ----------------------------------------------------------- */

enum msim_status msim_predict_from(
    struct msim_prediction_run *run, const struct msim_basis *basis,
    const struct msim_predict_settings *s, const struct msim_inputs *in,
    const struct msim_target *to, const uint8_t *states, struct msim_error *err)
{
    struct predicting p = {
        .run = run, .states = states, .s = s, .in = in, .to = to, .err = err};

    memset(run, 0, sizeof(*run));
    run->basis = basis;
    MSIM_TRY(scale(&p));
    MSIM_TRY(simulate(&p));
    return read_off(&p);
}

enum msim_status msim_predict(struct msim_prediction_run *run,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to,
                              struct msim_error *err)
{
    struct msim_basis *basis;
    enum msim_status status;

    memset(run, 0, sizeof(*run));
    MSIM_TRY(msim_basis_new(&basis, s, in, to, err));
    status = msim_predict_from(run, basis, s, in, to, NULL, err);
    run->own_basis = basis;
    return status;
}

void msim_prediction_run_release(struct msim_prediction_run *run)
{
    msim_prediction_free(run->prediction);
    release_times(&run->mid);
    if (!run->exact) {
        release_times(&run->low);
        release_times(&run->high);
    }
    free(run->short_dur);
    free(run->long_dur);
    free(run->states);
    msim_costs_free(run->own_costs);
    msim_basis_free(run->own_basis);
    memset(run, 0, sizeof(*run));
}
