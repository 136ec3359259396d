#include "cli/choose_costs.h"

#include <string.h>

bool msim_all_have_times(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (!job->ranks[i]->has_times)
            return false;
    return true;
}

/* Is there what can be scaled? A trace recorded on a CPU has times, too. */
static bool all_have_gpu_times(const struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++)
        if (!job->ranks[i]->has_gpu_events)
            return false;
    return msim_all_have_times(job);
}

/* The platform that every rank ran on, or NULL. */
static const char *traced_platform(struct msim_job *job, const char *data)
{
    const char *name = NULL;

    for (uint32_t i = 0; i < job->n_ranks; i++) {
        const struct msim_trace *t = job->ranks[i];
        const struct msim_gpu_properties *g = &t->gpu_properties;
        const char *match =
            msim_platform_match(&job->arena, data, msim_trace_text(t, g->name),
                                g->memory_bytes, g->sms);

        if (!match || (name && strcmp(name, match) != 0))
            return NULL;
        name = match;
    }
    return name;
}

static enum msim_status no_times(const struct msim_session *s, int costs,
                                 struct msim_error *err)
{
    const char *path = s->o->source_trace ? s->o->source_trace : s->o->paths[0];

    if (costs == MSIM_COSTS_SCALED)
        return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                         "no GPU times in the trace of every rank, so nothing "
                         "to scale; want '--costs model'");
    return msim_fail(err, MSIM_EFORMAT, s->o->paths[0], MSIM_OFFSET_NONE,
                     "no times in the trace, so nothing is measured; want "
                     "'--costs model' with a '--platform'");
}

/* Whose GPU times are scaled. */
static struct msim_job *source_job(const struct msim_session *s)
{
    return s->source_job ? s->source_job : s->job;
}

/* Do the traces hold the times that these costs need? */
static bool have_times_for(const struct msim_session *s, int costs)
{
    const struct msim_job *job =
        costs == MSIM_COSTS_SCALED ? source_job(s) : s->job;

    return costs == MSIM_COSTS_MODEL ||
           (costs == MSIM_COSTS_SCALED ? all_have_gpu_times(job)
                                       : msim_all_have_times(job));
}

static enum msim_status no_platform(const struct msim_session *s,
                                    struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                     "no platform to predict for: the trace names no GPU "
                     "that is known; want '--platform NAME' ('mystique-sim "
                     "platforms' lists them)");
}

static enum msim_status no_source(const struct msim_session *s,
                                  struct msim_error *err)
{
    return msim_fail(err, MSIM_EUSAGE, s->o->paths[0], MSIM_OFFSET_NONE,
                     "no platform to scale from: the trace names no GPU that "
                     "is known; want '--source-platform NAME' ('mystique-sim "
                     "platforms' lists them)");
}

/*
 * `auto`: measured where source and target are the same GPU at the same clock,
 * scaled where the source is another that is known, else model. Whoever names a
 * trace wants its times.
 */
static int choose_costs(const struct msim_session *s, const char *source)
{
    const struct msim_platform *to = s->platform;

    if (s->o->costs != MSIM_COSTS_AUTO)
        return s->o->costs;
    if (s->source_job)
        return MSIM_COSTS_SCALED;
    if (!msim_all_have_times(s->job))
        return MSIM_COSTS_MODEL;
    if (!msim_clock_is_asked(&s->o->clock) &&
        (!to || (source && strcmp(source, msim_platform_name(to)) == 0)))
        return MSIM_COSTS_MEASURED;
    return source && all_have_gpu_times(s->job) ? MSIM_COSTS_SCALED
                                                : MSIM_COSTS_MODEL;
}

/* Load what is not loaded yet. */
static enum msim_status need(struct msim_platform **p, const char *data,
                             const char *name, struct msim_error *err)
{
    return *p ? MSIM_OK : msim_platform_load(p, data, name, err);
}

enum msim_status msim_choose_costs(struct msim_session *s, const char *data,
                                   struct msim_error *err)
{
    static const char *const TEXT[] = {[MSIM_COSTS_MEASURED] = "measured",
                                       [MSIM_COSTS_MODEL] = "model",
                                       [MSIM_COSTS_SCALED] = "scaled"};
    const char *traced = traced_platform(source_job(s), data);
    const char *source = s->source ? msim_platform_name(s->source) : traced;
    const char *target = s->o->platform ? s->o->platform : source;
    int costs = choose_costs(s, source);

    s->costs = TEXT[costs];
    if (!have_times_for(s, costs))
        return no_times(s, costs, err);
    if (costs == MSIM_COSTS_SCALED && !source)
        return no_source(s, err);
    if (costs == MSIM_COSTS_SCALED)
        MSIM_TRY(need(&s->source, data, source, err));
    if (s->source_job)
        MSIM_TRY(
            msim_correction_new(&s->machine, s->source_job, s->source, err));
    if (costs == MSIM_COSTS_MEASURED)
        return MSIM_OK;
    if (!target)
        return no_platform(s, err);
    MSIM_TRY(need(&s->platform, data, target, err));
    return costs == MSIM_COSTS_SCALED
               ? msim_platform_pair(s->source, s->platform)
               : MSIM_OK;
}
