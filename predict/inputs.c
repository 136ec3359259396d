/*
 * predict/inputs.c - the traces of a prediction.
 */
#include "predict/inputs.h"

#include "core/graph/graph.h"
#include "core/job/job.h"
#include "core/rewrite/rewrite.h"
#include "core/trace/trace_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The user's table for the operators of a job; nothing without one. */
static enum msim_status load_ops(struct msim_ops **ops,
                                 const struct msim_job *job, const char *path,
                                 struct msim_error *err)
{
    if (!path || !job)
        return MSIM_OK;
    return msim_ops_load(ops, path, job->strings, err);
}

/* Predictions know no strides: they are the same where schemas are read, too
 * (settings.load.details). */
static void forget_strides(struct msim_job *job)
{
    for (uint32_t i = 0; i < job->n_ranks; i++) {
        job->ranks[i]->n_tensor_strides = 0;
        if (job->ranks[i]->et)
            job->ranks[i]->et->n_tensor_strides = 0;
    }
}

enum msim_status msim_inputs_load(struct msim_inputs *in,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err)
{
    struct msim_load_options whole = s->load;

    whole.fold = false;
    memset(in, 0, sizeof(*in));
    MSIM_TRY(
        s->texts
            ? msim_job_load_texts(&in->job, s->texts, s->n_texts, &s->load, err)
            : msim_job_load(&in->job, s->paths, s->n_paths, &s->load, err));
    forget_strides(in->job);
    MSIM_TRY(msim_job_check_work(in->job, err));
    MSIM_TRY(msim_job_check_steps(in->job, err));
    if (s->source_trace)
        MSIM_TRY(
            msim_job_load(&in->source_job, &s->source_trace, 1, &whole, err));
    MSIM_TRY(load_ops(&in->ops[0], in->job, s->ops, err));
    return load_ops(&in->ops[1], in->source_job, s->ops, err);
}

bool msim_inputs_as_traced(const struct msim_inputs *in,
                           const struct msim_predict_settings *s)
{
    return !in->origin && msim_reshape_is_none(&s->reshape) &&
           s->ranks <= in->job->n_ranks;
}

/* ---- the iteration that is asked for ------------------------------------- */

static const char *left_why(const struct msim_job *job, int64_t number)
{
    const char *why = NULL;

    for (uint32_t r = 0; r < job->n_ranks && !why; r++)
        why = msim_step_left_why(job->ranks[r], number);
    return why;
}

static struct msim_step_numbers numbers_of(const struct msim_job *job)
{
    uint32_t r = 0;

    while (r + 1 < job->n_ranks && !job->ranks[r]->n_steps)
        r++;
    return msim_step_numbers_of(job->ranks[r]);
}

enum msim_status msim_iteration_find(uint32_t *index,
                                     const struct msim_predict_settings *s,
                                     const struct msim_job *job,
                                     const struct msim_graph *g,
                                     struct msim_error *err)
{
    int64_t want = s->iteration;
    const char *why;

    *index = UINT32_MAX;
    if (want == MSIM_ITERATION_ALL)
        return MSIM_OK;
    for (uint32_t i = 0; i < g->n_iterations; i++)
        if (g->iterations[i] == want)
            *index = i;
    if (*index != UINT32_MAX)
        return MSIM_OK;
    why = left_why(job, want);
    if (why)
        return msim_fail(err, MSIM_EUSAGE, s->paths[0], MSIM_OFFSET_NONE,
                         "iteration %lld is left out of the run: %s, want one "
                         "of %s",
                         (long long)want, why, numbers_of(job).text);
    if (want < g->n_iterations) {
        *index = (uint32_t)want;
        return MSIM_OK;
    }
    return msim_fail(err, MSIM_EUSAGE, s->paths[0], MSIM_OFFSET_NONE,
                     "no iteration %lld, want one of the %u that 'mystique-sim "
                     "info' counts as steps",
                     (long long)want, g->n_iterations);
}

/* ---- what GPUs run ------------------------------------------------------- */

/* The captures back in the job, which owns them. */
static void restore(struct msim_inputs *in)
{
    for (uint32_t i = 0; in->captured && i < in->job->n_ranks; i++) {
        if (!in->captured[i])
            continue;
        msim_trace_free(in->job->ranks[i]);
        in->job->ranks[i] = in->captured[i];
    }
    free(in->captured);
    in->captured = NULL;
}

enum msim_status msim_inputs_place(struct msim_inputs *in, bool gpu_form)
{
    struct msim_job *job = in->job;

    if (!gpu_form) {
        restore(in);
        return MSIM_OK;
    }
    if (in->captured)
        return MSIM_OK;
    in->captured = calloc((size_t)job->n_ranks + 1, sizeof(*in->captured));
    if (!in->captured)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < job->n_ranks; i++) {
        struct msim_trace *form;

        MSIM_TRY(msim_gpu_form_new(&form, job->ranks[i], job->strings));
        if (!form)
            continue;
        in->captured[i] = job->ranks[i];
        job->ranks[i] = form;
    }
    return MSIM_OK;
}

bool msim_inputs_are_captured(const struct msim_inputs *in)
{
    for (uint32_t i = 0; !in->captured && i < in->job->n_ranks; i++)
        if (in->job->ranks[i]->cpu_only)
            return true;
    return false;
}

enum msim_status msim_inputs_formed(struct msim_inputs *out,
                                    struct msim_job *job,
                                    const struct msim_inputs *in)
{
    size_t n = in->job->n_ranks;

    *out = *in;
    *job = *in->job;
    out->job = job;
    out->captured = NULL;
    job->ranks = calloc(n + 1, sizeof(*job->ranks));
    if (!job->ranks)
        return MSIM_ENOMEM;
    memcpy(job->ranks, in->job->ranks, n * sizeof(*job->ranks));
    return msim_inputs_place(out, true);
}

void msim_inputs_formed_release(struct msim_inputs *formed)
{
    if (!formed->job)
        return;
    if (formed->job->ranks)
        restore(formed);
    free(formed->job->ranks);
    *formed = (struct msim_inputs){0};
}

void msim_inputs_release(struct msim_inputs *in)
{
    if (in->job)
        restore(in);
    msim_job_free(in->source_job);
    msim_job_free(in->job);
    msim_ops_free(in->ops[0]);
    msim_ops_free(in->ops[1]);
    memset(in, 0, sizeof(*in));
}

double msim_inputs_memory(const struct msim_inputs *in)
{
    double least = INFINITY;

    for (uint32_t r = 0; r < in->job->n_ranks; r++) {
        const struct msim_trace *t = in->job->ranks[r];

        if (t->has_gpu_events)
            least = fmin(least, (double)t->gpu_properties.memory_bytes);
    }
    return least;
}

/* ---- what is asked of a device --------------------------------------------
 */

enum msim_status msim_asked_views(struct msim_asked *out,
                                  const struct msim_inputs *in,
                                  const struct msim_reshape *reshape,
                                  struct msim_error *err)
{
    *out = (struct msim_asked){.n = in->job->n_ranks};
    if (msim_reshape_is_none(reshape))
        return MSIM_OK;
    return msim_reshaped_ranks(&out->views, in->job->ranks, out->n, reshape,
                               err);
}

struct msim_trace *const *msim_asked_ranks(const struct msim_asked *a,
                                           const struct msim_inputs *in)
{
    return a->views ? a->views : in->job->ranks;
}

enum msim_status msim_asked_works(struct msim_asked *a,
                                  const struct msim_inputs *in, bool on_cpu)
{
    MSIM_TRY(msim_works_new_ranks(&a->works, msim_asked_ranks(a, in), a->n,
                                  in->ops[0], on_cpu));
    return a->views ? msim_works_new_ranks(&a->works_traced, in->job->ranks,
                                           a->n, in->ops[0], on_cpu)
                    : MSIM_OK;
}

void msim_asked_drop_works(struct msim_asked *a)
{
    msim_works_free_ranks(a->works_traced, a->n);
    msim_works_free_ranks(a->works, a->n);
    a->works = a->works_traced = NULL;
}

void msim_asked_release(struct msim_asked *a)
{
    msim_asked_drop_works(a);
    msim_reshaped_free_ranks(a->views, a->n);
    a->views = NULL;
}
