/*
 * predict/target.c - what is predicted for: load what has a name, then let the
 * traces decide the rest.
 */
#include "predict/inputs.h"

#include "core/work/rules/opmap_rule.h"
#include "models/platform/platform.h"
#include "predict/carry/scaled.h"

#include <math.h>
#include <string.h>

/* ---- what has a name ----------------------------------------------------- */

enum msim_status msim_target_load(struct msim_target *t,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err)
{
    const char *data = s->data;

    memset(t, 0, sizeof(*t));
    MSIM_TRY(
        msim_host_load(&t->host, data, s->host ? s->host : "generic", err));
    if (s->network)
        MSIM_TRY(msim_network_load(&t->network, data, s->network, err));
    if (t->network.measured)
        MSIM_TRY(msim_shelf_platform(s->shelf, &t->links, data, t->network.path,
                                     err));
    if (s->platform)
        MSIM_TRY(msim_shelf_platform(s->shelf, &t->platform, data, s->platform,
                                     err));
    if (s->source_platform)
        MSIM_TRY(msim_shelf_platform(s->shelf, &t->source, data,
                                     s->source_platform, err));
    return MSIM_OK;
}

/* ---- where durations come from ------------------------------------------- */

/* A target on its way, and what decides. */
struct choosing {
    struct msim_target *t;
    const struct msim_predict_settings *s;
    const struct msim_inputs *in;
    struct msim_error *err;
};

const char *msim_cost_mode_text(enum msim_cost_mode mode)
{
    static const char *const TEXT[] = {[MSIM_COSTS_AUTO] = "auto",
                                       [MSIM_COSTS_MEASURED] = "measured",
                                       [MSIM_COSTS_MODEL] = "model",
                                       [MSIM_COSTS_SCALED] = "scaled"};

    return TEXT[mode];
}

bool msim_all_have_times(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (!job->ranks[i]->has_times)
            return false;
    return true;
}

bool msim_all_have_gpu_times(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (!job->ranks[i]->has_gpu_events)
            return false;
    return msim_all_have_times(job);
}

static enum msim_status usage(const struct choosing *c, const char *path,
                              const char *text)
{
    return msim_fail(c->err, MSIM_EUSAGE, path, MSIM_OFFSET_NONE, "%s", text);
}

/* The traced GPU, where it is one for all ranks; else NULL. */
static const struct msim_trace *one_gpu(const struct msim_job *job)
{
    const struct msim_gpu_properties *a = &job->ranks[0]->gpu_properties;

    for (uint32_t i = 1; i < job->n_ranks; i++) {
        const struct msim_gpu_properties *b = &job->ranks[i]->gpu_properties;

        if (a->name != b->name || a->sms != b->sms ||
            a->cc_major != b->cc_major || a->cc_minor != b->cc_minor)
            return NULL;
    }
    return job->ranks[0];
}

/* Whose GPU times are scaled. */
static struct msim_job *source_job(const struct choosing *c)
{
    return c->in->source_job ? c->in->source_job : c->in->job;
}

/* The GPU whose times are scaled. */
struct source {
    const char *name;                 /* its platform; NULL: not known */
    const struct msim_trace *nearest; /* whose GPU is not known: the platform
                                         is the nearest; else NULL */
    bool learned; /* the target was learned from traces of this very GPU: `name`
                     is its file */
};

/* What the settings name, else what was traced, else what is nearest to it. */
static struct source find_source(const struct choosing *c)
{
    struct msim_job *job = source_job(c);
    struct source s = {0};

    if (c->t->source)
        s.name = msim_platform_name(c->t->source);
    else
        s.name = c->t->traced;
    s.learned = s.name && c->t->platform && !c->t->source &&
                strcmp(s.name, msim_platform_base(c->t->platform)) == 0;
    if (s.learned)
        s.name = msim_platform_file(c->t->platform);
    if (s.name)
        return s;
    s.nearest = one_gpu(job);
    if (s.nearest)
        s.name = msim_platform_nearest(
            &job->arena, c->s->data,
            msim_trace_text(s.nearest, s.nearest->gpu_properties.name),
            &s.nearest->gpu_properties);
    return s;
}

/* Do the traces hold the times that these costs need? */
static bool have_times_for(const struct choosing *c, enum msim_cost_mode costs)
{
    switch (costs) {
    case MSIM_COSTS_SCALED:
        return msim_all_have_gpu_times(source_job(c));
    case MSIM_COSTS_MEASURED:
        return msim_all_have_times(c->in->job);
    default:
        return true;
    }
}

static enum msim_status no_times(const struct choosing *c,
                                 enum msim_cost_mode costs)
{
    const struct msim_predict_settings *s = c->s;

    if (costs == MSIM_COSTS_SCALED)
        return msim_fail(c->err, MSIM_EFORMAT,
                         s->source_trace ? s->source_trace : s->paths[0],
                         MSIM_OFFSET_NONE,
                         "not every rank's trace has GPU times, so there is "
                         "nothing to scale; want '--costs model'");
    return msim_fail(c->err, MSIM_EFORMAT, s->paths[0], MSIM_OFFSET_NONE,
                     "no times in the trace, so nothing is measured; want "
                     "'--costs model' with a '--platform'");
}

static bool is_target(const struct choosing *c, const struct source *source)
{
    return source->name && !source->nearest &&
           (source->learned ||
            strcmp(source->name, msim_platform_name(c->t->platform)) == 0);
}

/* The costs of `auto`. Whoever names another trace wants its times. */
static enum msim_cost_mode choose_costs(const struct choosing *c,
                                        const struct source *source)
{
    const struct msim_platform *to = c->t->platform;

    if (c->s->costs != MSIM_COSTS_AUTO)
        return c->s->costs;
    if (c->in->source_job)
        return MSIM_COSTS_SCALED;
    if (!msim_all_have_times(c->in->job))
        return MSIM_COSTS_MODEL;
    if (!msim_clock_is_asked(&c->s->clock) && !c->t->reshaped &&
        (!to || (is_target(c, source) && !c->in->job->unrecorded)))
        return MSIM_COSTS_MEASURED;
    /* Without a target that is the traced GPU, which must be known. */
    return source->name && (to || !source->nearest) &&
                   msim_all_have_gpu_times(c->in->job)
               ? MSIM_COSTS_SCALED
               : MSIM_COSTS_MODEL;
}

static bool has_shapes(const struct msim_job *job)
{
    for (uint32_t r = 0; r < job->n_ranks; r++)
        for (uint32_t i = 0; i < job->ranks[r]->n_args; i++)
            if (job->ranks[r]->args[i].kind == MSIM_ARG_TENSOR)
                return true;
    return false;
}

/* Measured times are better than sizes guessed from names. */
static enum msim_status check_guess(const struct choosing *c)
{
    if (c->s->costs != MSIM_COSTS_AUTO || c->t->costs != MSIM_COSTS_MODEL ||
        !msim_all_have_gpu_times(c->in->job) || has_shapes(c->in->job))
        return MSIM_OK;
    return usage(c, c->s->paths[0],
                 "the trace has times but does not say of which GPU, and no "
                 "shapes; want '--source-platform NAME' to scale its times, "
                 "or '--costs model' to guess from names of kernels");
}

/* Load what is not loaded yet. */
static enum msim_status need(const struct choosing *c, struct msim_platform **p,
                             const char *name)
{
    return *p ? MSIM_OK
              : msim_shelf_platform(c->s->shelf, p, c->s->data, name, c->err);
}

/* The GPU that times are scaled from. */
static enum msim_status need_source(const struct choosing *c,
                                    const struct source *source)
{
    if (!source->name)
        return usage(c, c->s->paths[0],
                     "no platform to scale from: the trace names no GPU that "
                     "is known; want '--source-platform NAME' ('mystique-sim "
                     "platforms' lists them)");
    MSIM_TRY(need(c, &c->t->source, source->name));
    if (source->nearest) {
        c->t->unknown = source->nearest;
        msim_platform_liken(c->t->source, &source->nearest->gpu_properties);
    }
    return MSIM_OK;
}

/* The GPU that is predicted for. */
static enum msim_status need_platform(const struct choosing *c,
                                      const char *target)
{
    if (!target)
        return usage(c, c->s->paths[0],
                     "no platform to predict for: the trace names no GPU "
                     "that is known; want '--platform NAME' ('mystique-sim "
                     "platforms' lists them)");
    return need(c, &c->t->platform, target);
}

static enum msim_status set_costs(const struct choosing *c)
{
    struct msim_target *t = c->t;
    struct source source;

    t->traced = msim_shelf_traced(c->s->shelf, source_job(c), c->s->data);
    source = find_source(c);
    t->reshaped = !msim_reshape_is_none(&c->s->reshape);
    t->costs = choose_costs(c, &source);
    if (!have_times_for(c, t->costs))
        return no_times(c, t->costs);
    if (t->reshaped && t->costs == MSIM_COSTS_MEASURED)
        return usage(c, NULL,
                     "other sizes are asked for with measured costs, which are "
                     "those of the traced sizes; want '--costs scaled' or "
                     "model");
    MSIM_TRY(check_guess(c));
    if (t->costs == MSIM_COSTS_SCALED)
        MSIM_TRY(need_source(c, &source));
    if (c->in->source_job || (t->reshaped && t->costs == MSIM_COSTS_SCALED))
        MSIM_TRY(msim_shelf_correction(
            c->s->shelf, &t->correction, &t->shares_correction, source_job(c),
            c->in->ops[c->in->source_job ? 1 : 0], t->source, c->err));
    if (t->costs == MSIM_COSTS_MEASURED)
        return MSIM_OK;
    MSIM_TRY(need_platform(c, c->s->platform   ? c->s->platform
                              : source.nearest ? NULL
                                               : source.name));
    return t->costs == MSIM_COSTS_SCALED
               ? msim_platform_pair(t->source, t->platform)
               : MSIM_OK;
}

/* ---- the job on the platform --------------------------------------------- */

static enum msim_status check_ranks(const struct choosing *c)
{
    if (c->s->ranks % c->in->job->n_ranks == 0)
        return MSIM_OK;
    return msim_fail(c->err, MSIM_EUSAGE, c->s->paths[0], MSIM_OFFSET_NONE,
                     "option '--ranks' is %u, want a multiple of the %u ranks "
                     "in the traces",
                     c->s->ranks, c->in->job->n_ranks);
}

/* The ranks of the whole job. */
static uint32_t ranks_of(const struct choosing *c)
{
    uint32_t n = msim_job_world(c->in->job);

    return c->s->ranks > n ? c->s->ranks : n;
}

static enum msim_status check_nodes(const struct choosing *c, uint32_t ranks)
{
    if (!c->t->platform)
        return msim_fail(c->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got %s with measured costs, want it with '--costs "
                         "model' or scaled",
                         c->s->network ? "--network" : "--nodes");
    if (c->s->nodes > ranks)
        return msim_fail(c->err, MSIM_EUSAGE, c->s->paths[0], MSIM_OFFSET_NONE,
                         "option '--nodes' is %u, want at most the job's %u "
                         "rank%s",
                         c->s->nodes, ranks, ranks == 1 ? "" : "s");
    return MSIM_OK;
}

/* GPUs that are linked without a network. A described job has its own, which
 * plans and tables of jobs have, too. */
static uint32_t usual_node(const struct choosing *c)
{
    if (c->s->gpus_a_node)
        return c->s->gpus_a_node;
    return c->s->described && c->t->platform
               ? msim_platform_gpus_a_node(c->t->platform)
               : MSIM_GPUS_A_NODE;
}

/* Where the ranks are, and what joins them. */
static enum msim_status set_network(const struct choosing *c)
{
    struct msim_target *t = c->t;
    uint32_t nodes = c->s->nodes, ranks = ranks_of(c);

    t->gpus_a_node = usual_node(c);
    if (!c->s->network && !nodes)
        return MSIM_OK;
    MSIM_TRY(check_nodes(c, ranks));
    if (t->network.card_rate > 0)
        msim_platform_join(t->platform, &t->network);
    if (t->links)
        msim_platform_link(t->platform, t->links);
    if (nodes)
        t->gpus_a_node = ranks / nodes + (ranks % nodes != 0);
    else if ((uint32_t)t->network.gpus_per_node)
        t->gpus_a_node = (uint32_t)t->network.gpus_per_node;
    return MSIM_OK;
}

/* The job's look-ups, on both GPUs alike. */
static enum msim_status set_index_skew(const struct choosing *c)
{
    if (c->s->index_skew <= 0)
        return MSIM_OK;
    if (!c->t->platform)
        return usage(c, NULL,
                     "got --index-skew with measured costs, want it with "
                     "'--costs model' or scaled");
    msim_platform_set_index_skew(c->t->platform, c->s->index_skew);
    if (c->t->source)
        msim_platform_set_index_skew(c->t->source, c->s->index_skew);
    return MSIM_OK;
}

/* The clock that the machine of another trace seems to run at. */
static enum msim_status set_clock_seen(const struct choosing *c)
{
    struct msim_target *t = c->t;
    struct msim_clock_wish seen = {0};

    if (!t->correction)
        return MSIM_OK;
    seen.ratio = msim_correction_clock(t->correction);
    if (!(seen.ratio < 1))
        return MSIM_OK;
    if (t->reshaped) /* its times are scaled, not those of models alone */
        MSIM_TRY(msim_platform_set_clock(t->source, &seen, c->err));
    return msim_correction_is_on(t->correction, t->platform)
               ? msim_platform_set_clock(t->platform, &seen, c->err)
               : MSIM_OK;
}

/* Last, since platforms are chosen and paired by what they are at their usual
 * clock. */
static enum msim_status set_clock(const struct choosing *c)
{
    if (!msim_clock_is_asked(&c->s->clock))
        return set_clock_seen(c);
    if (!c->t->platform)
        return msim_fail(c->err, MSIM_EUSAGE, NULL, MSIM_OFFSET_NONE,
                         "got %s with measured costs, want it with '--costs "
                         "scaled' or model",
                         c->s->clock.watts > 0 ? "--power-cap" : "--clock");
    return msim_platform_set_clock(c->t->platform, &c->s->clock, c->err);
}

enum msim_status msim_target_choose(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    const struct msim_inputs *in,
                                    struct msim_error *err)
{
    const struct choosing c = {.t = t, .s = s, .in = in, .err = err};

    MSIM_TRY(check_ranks(&c));
    MSIM_TRY(set_costs(&c));
    MSIM_TRY(set_network(&c));
    MSIM_TRY(set_index_skew(&c));
    if (t->platform)
        msim_host_set_gpu(t->host, s->host_gpu
                                       ? s->host_gpu
                                       : msim_platform_name(t->platform));
    return set_clock(&c);
}

enum msim_status msim_target_settle(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    struct msim_inputs *in,
                                    struct msim_error *err)
{
    MSIM_TRY(msim_inputs_place(in, false));
    MSIM_TRY(msim_target_choose(t, s, in, err));
    return msim_inputs_place(in, msim_target_forms_gpu(t));
}

void msim_target_release(struct msim_target *t)
{
    msim_host_free(t->host);
    msim_platform_free(t->platform);
    msim_platform_free(t->source);
    msim_platform_free(t->links);
    if (!t->shares_correction)
        msim_correction_free(t->correction);
    memset(t, 0, sizeof(*t));
}

/* ---- questions ----------------------------------------------------------- */

bool msim_target_reads_gpu_times(const struct msim_target *t)
{
    return t->costs != MSIM_COSTS_MODEL && (!t->correction || t->reshaped);
}

bool msim_target_replays(const struct msim_target *t)
{
    return t->costs == MSIM_COSTS_MEASURED ||
           (t->costs == MSIM_COSTS_SCALED && !t->correction && !t->reshaped &&
            msim_scaled_same(t->source, t->platform));
}

bool msim_target_is_host(const struct msim_target *t)
{
    return t->platform && msim_platform_is_host(t->platform);
}

bool msim_target_is_one_host(const struct msim_target *a,
                             const struct msim_target *b)
{
    return strcmp(msim_host_name(a->host), msim_host_name(b->host)) == 0 &&
           fabs(log(msim_host_speed(a->host) / msim_host_speed(b->host))) <
               1e-9;
}

bool msim_target_forms_gpu(const struct msim_target *t)
{
    return t->platform && !msim_platform_is_host(t->platform) &&
           t->costs == MSIM_COSTS_MODEL;
}

bool msim_target_plans(const struct msim_target *t,
                       const struct msim_trace *rank)
{
    return !msim_target_reads_gpu_times(t) && !rank->has_gpu_events;
}
