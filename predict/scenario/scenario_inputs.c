/*
 * predict/scenario/scenario_inputs.c - the traces of a scenario that trains in
 * another way.
 */
#include "predict/scenario/scenario.h"

#include "core/rewrite/split/split.h"

#include <stdlib.h>
#include <string.h>

/* Ranks of a job of which so many become one: the first of them stays. */
static uint32_t keep_first(const struct msim_trace **kept,
                           struct msim_trace *const *ranks, uint32_t n,
                           uint32_t joins)
{
    uint32_t k = 0;

    for (uint32_t i = 0; i < n; i++)
        if (joins <= 1 || ranks[i]->rank <= 0 || ranks[i]->rank % joins == 0)
            kept[k++] = ranks[i];
    return k;
}

static enum msim_status make_ranks(struct msim_scenario_inputs *x,
                                   const struct msim_trace *const *ranks,
                                   uint32_t n, struct msim_error *err)
{
    struct msim_rewrite r = x->settings.rewrite;
    uint32_t stages = msim_rewrite_stages(&r);
    uint32_t joins = r.parallel.joins ? r.parallel.joins : 1;
    struct msim_trace **made = calloc(stages, sizeof(*made));
    enum msim_status status = made ? MSIM_OK : MSIM_ENOMEM;

    r.parallel.recorded = r.parallel.tp > 1 ? r.parallel.tp
                          : n == 1 && ranks[0]->world_size == 1
                              ? 1
                              : msim_job_world(x->in.job) / joins;
    x->job.ranks = calloc((size_t)n * stages + 1, sizeof(*x->job.ranks));
    if (!x->job.ranks)
        status = MSIM_ENOMEM;
    x->job.n_ranks = x->job.ranks ? n * stages : 0;
    for (uint32_t i = 0; i < n && status == MSIM_OK; i++) {
        status = msim_rewritten_stages_new(made, ranks[i], x->in.job->strings,
                                           &r, err);
        for (uint32_t k = 0; k < stages; k++)
            x->job.ranks[k * n + i] = made[k];
    }
    free(made);
    return status;
}

/* Recorded stages become one rank, of which all else is made. */
static enum msim_status make_whole(struct msim_scenario_inputs *x,
                                   struct msim_trace *const *ranks, uint32_t n,
                                   struct msim_error *err)
{
    struct msim_rewrite *r = &x->settings.rewrite;
    const struct msim_trace *const *ts =
        (const struct msim_trace *const *)ranks;
    const struct msim_trace *first;
    struct msim_trace *whole;
    enum msim_status status;

    MSIM_TRY(msim_whole_new(&whole, ts, n, x->in.job->strings, err));
    r->parallel.whole = false;
    r->anew |= msim_rewrite_is_none(r);
    first = whole;
    status = make_ranks(x, &first, 1, err);
    msim_trace_free(whole);
    return status;
}

static enum msim_status rewrite(struct msim_scenario_inputs *x,
                                struct msim_trace *const *ranks,
                                struct msim_error *err)
{
    uint32_t n = x->in.job->n_ranks;
    const struct msim_trace **kept = calloc((size_t)n + 1, sizeof(*kept));
    enum msim_status status = MSIM_ENOMEM;

    if (kept && x->settings.rewrite.parallel.whole)
        status = make_whole(x, ranks, n, err);
    else if (kept)
        status = make_ranks(
            x, kept,
            keep_first(kept, ranks, n, x->settings.rewrite.parallel.joins),
            err);
    free(kept);
    return status;
}

/* Operators of the job, with other sizes, rewritten. */
static enum msim_status make_traces(struct msim_scenario_inputs *x,
                                    struct msim_error *err)
{
    struct msim_asked asked;
    enum msim_status status =
        msim_asked_views(&asked, &x->in, &x->settings.reshape, err);

    if (status == MSIM_OK)
        status = rewrite(x, msim_asked_ranks(&asked, &x->in), err);
    msim_asked_release(&asked);
    return status;
}

enum msim_status msim_scenario_inputs_new(struct msim_scenario_inputs *out,
                                          const struct msim_inputs *in,
                                          const struct msim_predict_settings *s,
                                          struct msim_error *err)
{
    *out = (struct msim_scenario_inputs){
        .in = *in,
        .settings = *s,
        .origin = {in->job->ranks, s->reshape, s->rewrite}};
    msim_arena_init(&out->job.arena);
    MSIM_TRY(make_traces(out, err));
    if (!in->source_job && msim_all_have_gpu_times(in->job)) {
        out->in.source_job = in->job;
        out->in.ops[1] = in->ops[0];
    }
    out->job.strings = in->job->strings;
    out->job.files = in->job->files;
    out->job.n_files = in->job->n_files;
    out->in.job = &out->job;
    out->in.origin = &out->origin;
    out->settings.reshape = (struct msim_reshape){0};
    out->settings.rewrite = (struct msim_rewrite){0};
    return MSIM_OK;
}

void msim_scenario_inputs_release(struct msim_scenario_inputs *x)
{
    for (uint32_t i = 0; x->job.ranks && i < x->job.n_ranks; i++)
        msim_trace_free(x->job.ranks[i]);
    free(x->job.ranks);
    free(x->job.warnings);
    msim_arena_release(&x->job.arena);
    *x = (struct msim_scenario_inputs){0};
}
