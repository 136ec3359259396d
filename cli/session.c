#include "cli/session.h"

#include "cli/choose_costs.h"
#include "cli/datadir.h"
#include "cli/progress.h"
#include "cli/session_warn.h"
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/ops_file.h"
#include "predict/scaled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- load and choose --------------------------------------------------- */

static enum msim_status load_job(struct msim_job **job,
                                 const struct msim_session *s,
                                 const char *const *paths, uint32_t n,
                                 struct msim_error *err)
{
    struct msim_progress progress;
    enum msim_status status;

    msim_progress_start(&progress, "reading");
    status = msim_job_load(job, paths, n,
                           &(struct msim_load_options){
                               .salvage = s->o->salvage,
                               .threads = s->o->threads,
                               .progress = msim_progress_bytes,
                               .progress_ctx = &progress,
                           },
                           err);
    msim_progress_end(&progress);
    return status;
}

/* The user's table for the operators of a job; nothing without one. */
static enum msim_status add_ops(struct msim_ops **ops, struct msim_job *job,
                                const char *path, struct msim_error *err)
{
    if (!path || !job)
        return MSIM_OK;
    MSIM_TRY(msim_ops_load(ops, path, job->strings, err));
    for (uint32_t i = 0; i < job->n_ranks; i++)
        job->ranks[i]->user_ops = *ops;
    return MSIM_OK;
}

static enum msim_status check_ranks(const struct msim_session *s,
                                    struct msim_error *err)
{
    if (s->o->ranks % s->job->n_ranks == 0)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                     "option '--ranks' is %u, want a multiple of the %u ranks "
                     "in the traces",
                     s->o->ranks, s->job->n_ranks);
}

/* The ranks of the whole job. */
static uint32_t ranks_of(const struct msim_session *s)
{
    uint32_t n = s->job->n_ranks;

    for (uint32_t i = 0; i < s->job->n_ranks; i++)
        if (s->job->ranks[i]->world_size > n)
            n = s->job->ranks[i]->world_size;
    return s->o->ranks > n ? s->o->ranks : n;
}

uint32_t msim_session_gpus_a_node(const struct msim_session *s)
{
    return s->gpus_a_node ? s->gpus_a_node : MSIM_GPUS_A_NODE;
}

/* Where the ranks are, and what joins them, for costs that ask. */
static enum msim_status place(struct msim_session *s, struct msim_error *err)
{
    const char *asked = s->o->network ? "--network" : "--nodes";
    uint32_t ranks = ranks_of(s);

    if (!s->o->network && !s->o->nodes)
        return MSIM_OK;
    if (!s->platform)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got %s with measured costs, want it with '--costs "
                         "model' or scaled",
                         asked);
    if (s->o->nodes > ranks)
        return msim_fail(err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                         "option '--nodes' is %u, want at most the job's %u "
                         "rank%s",
                         s->o->nodes, ranks, ranks == 1 ? "" : "s");
    if (s->network.card_rate > 0)
        msim_platform_join(s->platform, &s->network);
    msim_platform_link(s->platform, s->links);
    s->gpus_a_node = s->o->nodes
                         ? ranks / s->o->nodes + (ranks % s->o->nodes != 0)
                         : (uint32_t)s->network.gpus_per_node;
    return MSIM_OK;
}

/* The clock that was asked for, or that the machine of another trace seems to
 * run at; last, since platforms are chosen and paired by what they are at their
 * usual one. */
static enum msim_status set_clock(struct msim_session *s,
                                  struct msim_error *err)
{
    struct msim_clock_wish seen = {0};

    if (!msim_clock_is_asked(&s->o->clock)) {
        if (!s->machine || !msim_correction_is_on(s->machine, s->platform))
            return MSIM_OK;
        seen.ratio = msim_correction_clock(s->machine);
        return seen.ratio < 1 ? msim_platform_set_clock(s->platform, &seen, err)
                              : MSIM_OK;
    }
    if (!s->platform)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got %s with measured costs, want it with '--costs "
                         "scaled' or model",
                         s->o->clock.watts > 0 ? "--power-cap" : "--clock");
    return msim_platform_set_clock(s->platform, &s->o->clock, err);
}

/* The job's look-ups, on whatever GPU. */
static enum msim_status skew_indices(struct msim_session *s,
                                     struct msim_error *err)
{
    if (s->o->index_skew <= 0)
        return MSIM_OK;
    if (!s->platform)
        return msim_fail(err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got --index-skew with measured costs, want it with "
                         "'--costs model' or scaled");
    msim_platform_set_index_skew(s->platform, s->o->index_skew);
    if (s->source)
        msim_platform_set_index_skew(s->source, s->o->index_skew);
    return MSIM_OK;
}

enum msim_status msim_session_load(struct msim_session *s,
                                   const struct msim_predict_options *o,
                                   struct msim_error *err)
{
    char data[4096];

    memset(s, 0, sizeof(*s));
    s->o = o;
    MSIM_TRY(msim_datadir_find(data, sizeof(data), err));
    /* Names are checked before work that may take long. */
    MSIM_TRY(
        msim_host_load(&s->host, data, o->host ? o->host : "generic", err));
    if (o->network)
        MSIM_TRY(msim_network_load(&s->network, data, o->network, err));
    if (s->network.measured)
        MSIM_TRY(msim_platform_load(&s->links, data, s->network.path, err));
    if (o->platform)
        MSIM_TRY(msim_platform_load(&s->platform, data, o->platform, err));
    if (o->source_platform)
        MSIM_TRY(msim_platform_load(&s->source, data, o->source_platform, err));
    MSIM_TRY(load_job(&s->job, s, o->paths, o->n_paths, err));
    if (o->source_trace)
        MSIM_TRY(load_job(&s->source_job, s, &o->source_trace, 1, err));
    MSIM_TRY(add_ops(&s->ops[0], s->job, o->ops, err));
    MSIM_TRY(add_ops(&s->ops[1], s->source_job, o->ops, err));
    MSIM_TRY(check_ranks(s, err));
    MSIM_TRY(msim_choose_costs(s, data, err));
    MSIM_TRY(place(s, err));
    MSIM_TRY(skew_indices(s, err));
    return set_clock(s, err);
}

/* ---- graph and durations ----------------------------------------------- */

/* Is no GPU time of the job itself read? */
static bool is_blind(const struct msim_session *s)
{
    return strcmp(s->costs, "model") == 0 || s->machine;
}

static bool is_measured(const struct msim_session *s)
{
    return strcmp(s->costs, "measured") == 0;
}

static bool is_scaled(const struct msim_session *s)
{
    return strcmp(s->costs, "scaled") == 0;
}

bool msim_session_replays(const struct msim_session *s)
{
    return is_measured(s) || (is_scaled(s) && !s->machine &&
                              msim_scaled_same(s->source, s->platform));
}

/* Ranks without GPU events launch what their operators would. */
static enum msim_status make_plans(struct msim_session *s)
{
    bool on_host = s->platform && msim_platform_is_host(s->platform);

    s->plans = calloc((size_t)s->job->n_ranks + 1, sizeof(*s->plans));
    if (!s->plans)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < s->job->n_ranks && is_blind(s); i++)
        if (!s->job->ranks[i]->has_gpu_events)
            MSIM_TRY(msim_plan_new(&s->plans[i], s->job->ranks[i], on_host));
    return MSIM_OK;
}

/* What a GPU ran asynchronously does not say what a CPU would do. */
static enum msim_status check_kind(const struct msim_session *s,
                                   struct msim_error *err)
{
    bool on_host = s->platform && msim_platform_is_host(s->platform);

    for (uint32_t i = 0; i < s->job->n_ranks && on_host; i++)
        if (s->job->ranks[i]->has_gpu_events)
            return msim_fail(
                err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                "the trace holds kernels of a GPU, and platform '%s' is a CPU; "
                "want a trace recorded on a CPU, or an execution trace alone",
                msim_platform_name(s->platform));
    return MSIM_OK;
}

/* From shapes alone nothing is known of a rank that is not there. One whose
 * peers are moved to another GPU too keeps their distance. */
static enum msim_peers peers(const struct msim_session *s)
{
    if (is_blind(s))
        return MSIM_PEERS_TOGETHER;
    if (!msim_session_replays(s))
        return MSIM_PEERS_FOLLOW;
    return s->o->peers == MSIM_PEERS_OPTION_FOLLOW ? MSIM_PEERS_FOLLOW
                                                   : MSIM_PEERS_FIXED;
}

static enum msim_status build(struct msim_session *s, struct msim_error *err)
{
    MSIM_TRY(check_kind(s, err));
    MSIM_TRY(make_plans(s));
    return msim_graph_build(
        &s->graph, s->job,
        &(struct msim_graph_options){
            .plans = (const struct msim_plan *const *)s->plans,
            .device_times = !is_blind(s),
            .peers = peers(s),
            .slowdown = is_blind(s) ? msim_platform_slowdown(s->platform) : 0,
        },
        err);
}

/* What was measured was another job. */
static void fold(const struct msim_session *s, struct msim_prediction *p)
{
    uint32_t each = s->o->ranks / s->job->n_ranks;

    if (each <= 1)
        return;
    p->ranks = s->o->ranks;
    p->iteration_us.measured = (double)NAN;
    for (uint32_t i = 0; i < p->n_iterations; i++)
        p->iterations[i].us.measured = (double)NAN;
    for (uint32_t i = 0; i < p->n_ranks_detail; i++) {
        p->ranks_detail[i].iteration_us.measured = (double)NAN;
        p->ranks_detail[i].stands_for = each;
    }
}

/* ---- simulate ---------------------------------------------------------- */

/*
 * A scenario in which everything goes long (`high`) or short at once.
 * Deviations of one family go together, those of different families do not,
 * and the whole GPU deviates by itself; so the sum of all is less than their
 * whole. Each keeps the share that makes the sums agree: root of the sum of
 * squares over the sum.
 */
struct deviations {
    const struct msim_session *s;
    const msim_ps *bound; /* of each task */
    double gpu;           /* of a kernel as a share of its time, signed */
};

static double law_deviation(const struct deviations *d, uint32_t task)
{
    return (double)(d->bound[task] - d->s->c->mid[task]);
}

static double gpu_deviation(const struct deviations *d, uint32_t task)
{
    return d->s->graph->kind[task] == MSIM_TASK_KERNEL
               ? d->gpu * (double)d->s->c->mid[task]
               : 0;
}

static double joint_share(const struct deviations *d)
{
    double by[MSIM_MADE_BY_MAX] = {0}, gpu = 0, squares, sum;

    for (uint32_t t = 0; t < d->s->graph->n_tasks; t++) {
        by[d->s->c->made_by[t]] += fabs(law_deviation(d, t));
        gpu += fabs(gpu_deviation(d, t));
    }
    squares = gpu * gpu;
    sum = gpu;
    for (int f = 0; f < MSIM_MADE_BY_MAX; f++) {
        squares += by[f] * by[f];
        sum += by[f];
    }
    return sum > 0 ? sqrt(squares) / sum : 0;
}

static enum msim_status make_scenario(struct msim_session *s, bool high)
{
    double factor = s->c->gpu_factor;
    struct deviations d = {s, high ? s->c->high : s->c->low,
                           high ? factor - 1 : 1 / factor - 1};
    double share = joint_share(&d);
    uint32_t n = s->graph->n_tasks;
    msim_ps *dur = malloc(((size_t)n + 1) * sizeof(*dur));

    if (!dur)
        return MSIM_ENOMEM;
    s->dur[high] = dur;
    for (uint32_t t = 0; t < n; t++) {
        double by = law_deviation(&d, t) + gpu_deviation(&d, t);

        dur[t] = MSIM_RUN_MAX;
        if (by * share < (double)(MSIM_RUN_MAX - s->c->mid[t]))
            dur[t] = s->c->mid[t] + (msim_ps)llround(by * share);
        if (dur[t] < 0) /* both deviations at once may exceed the whole */
            dur[t] = 0;
    }
    return MSIM_OK;
}

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

static enum msim_status simulate_one(struct msim_session *s,
                                     struct msim_engine *e, const msim_ps *dur,
                                     int i, struct msim_error *err)
{
    struct msim_scenario scenario = {.dur = dur, .out = s->c->out};

    memcpy(scenario.lag, s->c->lag, sizeof(scenario.lag));
    MSIM_TRY(new_times(&s->run[i], s->graph->n_tasks));
    return msim_engine_simulate(e, &scenario, &s->run[i], err);
}

static enum msim_status simulate(struct msim_session *s, struct msim_error *err)
{
    struct msim_engine *e;
    enum msim_status status;

    MSIM_TRY(make_scenario(s, false));
    MSIM_TRY(make_scenario(s, true));
    MSIM_TRY(msim_engine_new(&e, s->graph));
    status = simulate_one(s, e, s->c->mid, 0, err);
    if (status == MSIM_OK)
        status = simulate_one(s, e, s->dur[0], 1, err);
    if (status == MSIM_OK)
        status = simulate_one(s, e, s->dur[1], 2, err);
    msim_engine_free(e);
    return status;
}

/* ---- read off ---------------------------------------------------------- */

static enum msim_status find_iteration(const struct msim_session *s,
                                       uint32_t *index, struct msim_error *err)
{
    const struct msim_graph *g = s->graph;
    int64_t want = s->o->iteration;

    *index = UINT32_MAX;
    if (want == MSIM_ITERATION_ALL)
        return MSIM_OK;
    for (uint32_t i = 0; i < g->n_iterations; i++)
        if (g->iterations[i] == want)
            *index = i;
    if (*index == UINT32_MAX && want < g->n_iterations)
        *index = (uint32_t)want;
    if (*index != UINT32_MAX)
        return MSIM_OK;
    return msim_fail(err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                     "no iteration %lld, want one of the %u that 'mystique-sim "
                     "info' counts as steps",
                     (long long)want, g->n_iterations);
}

static const char *const *made_by_names(struct msim_session *s)
{
    const char **names =
        msim_arena_alloc(&s->job->arena, MSIM_MADE_BY_MAX * sizeof(*names));

    for (uint8_t i = 0; names && i < MSIM_COST_COUNT; i++)
        names[i] = msim_costs_text(i);
    return names;
}

static const char *const *source_names(struct msim_session *s)
{
    const char **names =
        msim_arena_alloc(&s->job->arena, MSIM_SOURCE_COUNT * sizeof(*names));

    for (int i = 0; names && i < MSIM_SOURCE_COUNT; i++)
        names[i] = msim_source_text((enum msim_source)i);
    return names;
}

static struct msim_run outcome_run(const struct msim_session *s, int i)
{
    return (struct msim_run){
        .start = s->run[i].start,
        .dur = s->run[i].dur,
        .lag = s->c->lag,
        .out = s->c->out,
        .held_by = s->run[i].held_by,
    };
}

static enum msim_status fill_outcome(struct msim_session *s)
{
    s->outcome = (struct msim_outcome){
        .graph = s->graph,
        .mid = outcome_run(s, 0),
        .low = outcome_run(s, 1),
        .high = outcome_run(s, 2),
        .task_low = s->c->low,
        .task_mid = s->c->mid,
        .task_high = s->c->high,
        .gpu_factor = s->c->gpu_factor,
        .made_by = s->c->made_by,
        .made_by_names = made_by_names(s),
        .n_made_by = MSIM_COST_COUNT,
        .source = s->c->source,
        .source_names = source_names(s),
        .source_bound = MSIM_SOURCE_BOUND,
        .flops = s->c->flops,
        .ideal_us = is_measured(s) ? NULL : s->c->ideal_us,
        .measured = is_measured(s),
    };
    return s->outcome.made_by_names && s->outcome.source_names ? MSIM_OK
                                                               : MSIM_ENOMEM;
}

/* The clock that was asked for, into the report. */
static void note_clock(const struct msim_session *s, struct msim_prediction *p)
{
    const struct msim_sm_clock *c =
        s->platform ? msim_platform_clock(s->platform) : NULL;
    char *text;

    if (!c || !(c->ratio > 0))
        return;
    text = msim_arena_alloc(&p->arena, MSIM_CLOCK_TEXT);
    if (!text)
        return;
    msim_clock_text(c, text, MSIM_CLOCK_TEXT);
    p->clock = (struct msim_clock_note){
        .text = text,
        .ratio = c->ratio,
        .hz = c->usual_hz > 0 ? c->ratio * c->usual_hz : (double)NAN,
        .usual_hz = c->usual_hz > 0 ? c->usual_hz : (double)NAN,
        .power_cap_watts = c->watts > 0 ? c->watts : (double)NAN,
        .interval_factor = exp(msim_clock_half_width(c, 1 / c->ratio)),
    };
}

static enum msim_status analyse(struct msim_session *s, struct msim_error *err)
{
    struct msim_prediction *p;

    MSIM_TRY(find_iteration(s, &s->iteration, err));
    MSIM_TRY(fill_outcome(s));
    MSIM_TRY(msim_analyse(&s->prediction, &s->outcome, s->iteration, err));
    p = s->prediction;
    fold(s, p);
    p->version = MSIM_VERSION;
    p->platform = s->platform ? msim_platform_name(s->platform) : NULL;
    p->source_platform = is_scaled(s) ? msim_platform_name(s->source) : NULL;
    p->source_trace = s->o->source_trace;
    p->costs = s->costs;
    p->host = !is_measured(s) || s->o->host ? msim_host_name(s->host) : NULL;
    if (!is_measured(s) && !s->o->host && msim_all_have_times(s->job) &&
        !s->plans[0])
        p->host = "traced";
    note_clock(s, p);
    p->network = s->o->network ? s->network.name : NULL;
    p->nodes = s->o->nodes;
    p->inputs = s->o->paths;
    p->n_inputs = s->o->n_paths;
    p->warnings = s->job->warnings;
    p->n_warnings = s->job->n_warnings;
    return MSIM_OK;
}

enum msim_status msim_session_run(struct msim_session *s,
                                  struct msim_error *err)
{
    MSIM_TRY(build(s, err));
    msim_session_warn(s);
    MSIM_TRY(msim_costs_new(&s->c, s->graph,
                            &(struct msim_cost_options){
                                .platform = is_measured(s) ? NULL : s->platform,
                                .source = is_blind(s) ? NULL : s->source,
                                .machine = s->machine,
                                .host = s->host,
                                .host_modelled = s->o->host != NULL,
                                .strict = s->o->strict,
                                .ranks = s->o->ranks,
                                .gpus_a_node = msim_session_gpus_a_node(s),
                                .scales = s->o->scales,
                                .n_scales = s->o->n_scales,
                            },
                            err));
    MSIM_TRY(simulate(s, err));
    return analyse(s, err);
}

void msim_session_release(struct msim_session *s)
{
    for (uint32_t i = 0; s->plans && i < s->job->n_ranks; i++)
        msim_plan_free(s->plans[i]);
    free(s->plans);
    msim_prediction_free(s->prediction);
    for (int i = 0; i < 3; i++)
        release_times(&s->run[i]);
    free(s->dur[0]);
    free(s->dur[1]);
    msim_costs_free(s->c);
    msim_graph_free(s->graph);
    msim_host_free(s->host);
    msim_platform_free(s->platform);
    msim_platform_free(s->source);
    msim_platform_free(s->links);
    msim_correction_free(s->machine);
    msim_job_free(s->source_job);
    msim_job_free(s->job);
    msim_ops_free(s->ops[0]);
    msim_ops_free(s->ops[1]);
}
