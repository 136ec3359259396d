#include "cli/session_warn.h"

#include "models/host/host_class.h"
#include "predict/scaled.h"

#include <math.h>
#include <string.h>

/* Whose times they are. */
static void warn_scaled(struct msim_session *s)
{
    char clock[MSIM_CLOCK_TEXT] = "";

    if (s->platform)
        msim_clock_text(msim_platform_clock(s->platform), clock, sizeof(clock));
    if (s->source && !s->machine && !msim_scaled_same(s->source, s->platform))
        msim_job_warn(s->job,
                      "GPU times were measured on %s and are scaled to %s%s%s; "
                      "launch latencies, gaps and what waits for what are "
                      "those of the traced run",
                      msim_platform_name(s->source),
                      msim_platform_name(s->platform), *clock ? " at " : "",
                      clock);
    if (s->machine)
        msim_job_warn(s->job,
                      "GPU times are what models say, corrected by what they "
                      "were in '%s'; those of the job itself are not used",
                      s->o->source_trace);
}

static void warn_clock(struct msim_session *s)
{
    const struct msim_sm_clock *c =
        s->platform ? msim_platform_clock(s->platform) : NULL;
    char text[MSIM_CLOCK_TEXT];

    if (!c || !(c->ratio > 0))
        return;
    msim_clock_text(c, text, sizeof(text));
    msim_job_warn(s->job,
                  "SM clock %s: what SMs pace takes %.3g times as long, within "
                  "a factor of %.2f more; device memory and links keep their "
                  "rates",
                  text, 1 / c->ratio,
                  exp(msim_clock_half_width(c, 1 / c->ratio)));
}

/* What the traces themselves cast doubt on. */
static void warn_traces(struct msim_session *s)
{
    double slowed = 0;

    for (uint32_t i = 0; i < s->job->n_ranks; i++)
        if (!s->plans[i]) /* else its host times are not used */
            slowed = fmax(slowed, msim_host_recording_us(s->job->ranks[i]));
    if (slowed >= MSIM_HOST_SLOWED_US && !s->o->host)
        msim_job_warn(s->job,
                      "recording slowed the host down: an operator that does "
                      "nothing took %.0f us, want below %.0f; '--host generic' "
                      "answers for a run without a profiler",
                      slowed, MSIM_HOST_SLOWED_US);
    msim_warn_queued_idle(s->job, s->graph);
    if (s->graph->unexplained > 0)
        msim_job_warn(
            s->job,
            "%u GPU activities began later than all that the traces show "
            "explains, by %.1f us in all; they are simulated without",
            s->graph->n_unexplained,
            (double)s->graph->unexplained / MSIM_PS_PER_US);
}

/* Traced ranks that stand for others are simulated once: equal work arrives
 * at the same instant, however many do it. */
static void warn_folded(struct msim_session *s)
{
    uint32_t traced = s->job->n_ranks;

    if (s->o->ranks <= traced)
        return;
    if (strcmp(s->costs, "measured") != 0)
        msim_job_warn(s->job,
                      "each of the %u traced ranks stands for %u: collectives "
                      "of all ranks are costed among %u, %u on a host, and "
                      "every rank puts into them what was traced",
                      traced, s->o->ranks / traced, s->o->ranks,
                      msim_session_gpus_a_node(s));
    else
        msim_job_warn(s->job,
                      "each of the %u traced ranks stands for %u, but "
                      "transfers take what they took among those traced; "
                      "'--costs model' costs them among %u",
                      traced, s->o->ranks / traced, s->o->ranks);
}

void msim_session_warn(struct msim_session *s)
{
    warn_traces(s);
    warn_scaled(s);
    warn_clock(s);
    warn_folded(s);
}
