/*
 * plan/traced/traced_open.c - what the trace of a plan is: whether it trains,
 * its batch, and how far a prediction of the traced run itself is off.
 */
#include "plan/traced/traced_points.h"

#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "plan/search/spec.h"
#include "predict/pipeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ONE_HOST "generic"

/* Autograd names what it evaluates; optimizers mark their steps. */
static bool trains(const struct msim_trace *t)
{
    static const char *const MARKS[] = {"autograd::engine::evaluate_function",
                                        "Optimizer.step"};

    for (uint32_t i = 0; i < t->n_ops; i++) {
        const char *name = msim_trace_text(t, t->ops[i].name);

        for (size_t k = 0; k < sizeof(MARKS) / sizeof(*MARKS); k++)
            if (strncmp(name, MARKS[k], strlen(MARKS[k])) == 0)
                return true;
    }
    return false;
}

/* The largest value of a dimension that needs no rewritten step, but other
 * sizes or types at most. */
static int64_t as_recorded(const struct msim_spec_dimension *d)
{
    switch (d->place) {
    case MSIM_SPEC_DTYPE:
        return 2; /* "bf16": the same operators */
    case MSIM_GIVEN_gpus:
    case MSIM_GIVEN_tp:
    case MSIM_GIVEN_pp:
        return 1;
    case MSIM_SPEC_HIDDEN:
    case MSIM_SPEC_SHARD:
    case MSIM_GIVEN_micro_batch:
        return INT64_MAX;
    default:
        return 0;
    }
}

/* Is any step rewritten? */
static bool rewrites(const struct msim_traced_points *of)
{
    const struct msim_spec *spec = of->spec;
    const struct msim_spec_dimension *d;

    for (uint32_t k = 0; (d = msim_spec_dimension_at(true, k)); k++)
        for (uint32_t i = 0; i < spec->values[k].n; i++)
            if (d->place == MSIM_GIVEN_grad_accum
                    ? spec->values[k].v[i] &&
                          spec->values[k].v[i] != of->about.passes
                    : spec->values[k].v[i] > as_recorded(d))
                return true;
    return spec->global_batch > 0;
}

/* The spec's `member` does not go with the trace. */
static enum msim_status refuse(const struct msim_spec *spec, const char *member,
                               const char *text, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, spec->file, MSIM_OFFSET_NONE,
                     "%s does not go with the trace: %s", member, text);
}

/* Can a step that answers requests not be so? */
static bool trains_alone(const struct msim_spec_dimension *d, int64_t v)
{
    if (d->place == MSIM_GIVEN_tp || d->place == MSIM_GIVEN_pp)
        return v > 1;
    return v && d->place != MSIM_GIVEN_gpus &&
           d->place != MSIM_GIVEN_micro_batch && d->place != MSIM_SPEC_DTYPE;
}

/* Requests and samples are not the same question. */
static enum msim_status check_unit(struct msim_traced_points *of,
                                   struct msim_spec *spec,
                                   struct msim_error *err)
{
    enum msim_spec_unit unit =
        of->about.serves ? MSIM_SPEC_UNIT_REQUESTS : MSIM_SPEC_UNIT_SAMPLES;
    const struct msim_spec_dimension *d;

    if (spec->unit_given && spec->unit != unit)
        return refuse(spec, spec->unit_member,
                      of->about.serves
                          ? "the trace has no backward pass, so that it "
                            "answers requests: want \"requests\", "
                            "limits \"requests_per_second\" and "
                            "\"latency_ms\""
                          : "the trace has a backward pass, so that it "
                            "trains: want \"samples\" and limits "
                            "\"samples_per_second\"",
                      err);
    for (uint32_t k = 0;
         of->about.serves && (d = msim_spec_dimension_at(true, k)); k++)
        for (uint32_t i = 0; i < spec->values[k].n; i++)
            if (trains_alone(d, spec->values[k].v[i]))
                return refuse(spec, d->name,
                              "the trace has no backward pass; of one that "
                              "answers requests gpus, micro_batch and "
                              "precision can be chosen",
                              err);
    if (of->about.serves && spec->global_batch)
        return refuse(spec, "global_batch",
                      "the trace has no backward pass: every GPU answers "
                      "batches of its own, want \"micro_batch\"",
                      err);
    if (of->about.serves)
        msim_spec_serve(spec);
    return MSIM_OK;
}

static enum msim_status find_batch(struct msim_traced_points *of,
                                   const struct msim_job *job,
                                   struct msim_error *err)
{
    of->about.batch = of->spec->traced_batch;
    for (uint32_t i = 0; i < job->n_ranks && !of->about.batch; i++)
        of->about.batch = msim_axis_batch_of(job->ranks[i]);
    return of->about.batch
               ? MSIM_OK
               : refuse(of->spec, "traced_batch",
                        "no operator of the trace says what the batch "
                        "is, want a whole number from 1",
                        err);
}

/* Where steps have different numbers of them, a step is one. */
static enum msim_status find_passes(struct msim_traced_points *of,
                                    const struct msim_job *job,
                                    struct msim_error *err)
{
    uint32_t n = 0;

    if (!of->about.serves && job->ranks[0]->has_et)
        MSIM_TRY(
            msim_rewrite_count_passes(&n, job->ranks[0], job->strings, err));
    of->about.passes = n ? n : 1;
    return MSIM_OK;
}

/* Ranks of the job: those that traces and their groups name. */
static int64_t ranks_of(const struct msim_job *job)
{
    int64_t n = job->n_ranks;

    for (uint32_t i = 0; i < job->n_ranks; i++) {
        const struct msim_trace *t = job->ranks[i];

        if (t->world_size > n)
            n = t->world_size;
        for (uint32_t g = 0; g < t->n_groups; g++)
            if (t->groups[g].count > n)
                n = t->groups[g].count;
    }
    return n;
}

/* The traced run as models predict it on its own GPU, where that is known: how
 * far off they are for such a step. */
static void compare(struct msim_traced_points *of, const struct msim_inputs *in)
{
    struct msim_predict_settings s = of->settings;
    struct msim_prediction_run run = {0};
    struct msim_target to = {0};
    struct msim_error why = {0};
    enum msim_status status;

    s.platform = s.host = NULL;
    s.costs = MSIM_COSTS_MODEL;
    status = msim_target_load(&to, &s, &why);
    if (status == MSIM_OK)
        status = msim_target_choose(&to, &s, in, &why);
    if (status == MSIM_OK && to.platform)
        status = msim_predict(&run, &s, in, &to, &why);
    if (status == MSIM_OK && run.prediction) {
        of->about.measured_us = run.prediction->period.us.measured;
        of->about.predicted_us = run.prediction->period.us.predicted;
        of->about.low_us = run.prediction->period.us.low;
        of->about.high_us = run.prediction->period.us.high;
        snprintf(of->about.platform, sizeof(of->about.platform), "%s",
                 msim_platform_title(to.platform));
        of->about.memory = msim_platform_usable_bytes(to.platform);
    }
    msim_prediction_run_release(&run);
    msim_target_release(&to);
}

/*
 * A rewritten step has no times of its own. So that points can be compared, all
 * of them are rewritten then, be it to the recorded step, and take one host and
 * models, which the trace's times of kernels correct. A trace that cannot be
 * rewritten has no such points. One without times is on that host anyway, of
 * which it is told only where that is another: measured jobs do not tell hosts
 * apart (predict/pipeline.h).
 */
static void set_one_way(struct msim_traced_points *of,
                        const struct msim_inputs *in)
{
    const struct msim_rewrite anew = {.anew = true};
    struct msim_trace *trace = NULL;
    struct msim_error why = {0};

    if (of->about.serves || !rewrites(of) ||
        msim_rewritten_new(&trace, in->job->ranks[0], in->job->strings, &anew,
                           &why) != MSIM_OK)
        return;
    msim_trace_free(trace);
    of->settings.rewrite = anew;
    snprintf(of->about.host, sizeof(of->about.host), "%s", ONE_HOST);
    if (!of->settings.host && in->job->ranks[0]->has_times)
        of->settings.host = ONE_HOST;
}

static enum msim_status look(struct msim_traced_points *of,
                             struct msim_spec *spec,
                             const struct msim_inputs *in,
                             struct msim_error *err)
{
    of->about.serves = true;
    for (uint32_t i = 0; i < in->job->n_ranks; i++)
        of->about.serves &= !trains(in->job->ranks[i]);
    MSIM_TRY(check_unit(of, spec, err));
    MSIM_TRY(find_batch(of, in->job, err));
    MSIM_TRY(find_passes(of, in->job, err));
    of->about.ranks = ranks_of(in->job);
    of->about.knows_memory = true;
    for (uint32_t i = 0; i < in->job->n_ranks; i++)
        of->about.knows_memory &= in->job->ranks[i]->has_et;
    set_one_way(of, in);
    if (of->settings.host)
        snprintf(of->about.host, sizeof(of->about.host), "%s",
                 of->settings.host);
    if (msim_all_have_gpu_times(in->job))
        compare(of, in);
    return MSIM_OK;
}

/* A mistyped name fails before the trace is read. */
static enum msim_status check_platforms(const struct msim_spec *spec,
                                        const char *data_dir,
                                        struct msim_error *err)
{
    struct msim_plan_platforms platforms;
    enum msim_status status =
        msim_plan_platforms_load(&platforms, spec, data_dir, err);

    msim_plan_platforms_release(&platforms);
    return status;
}

enum msim_status msim_traced_points_open(struct msim_traced_points *out,
                                         struct msim_spec *spec,
                                         const char *data_dir,
                                         struct msim_error *err)
{
    struct msim_inputs in = {0};
    struct msim_target to = {0};
    enum msim_status status;

    *out = (struct msim_traced_points){
        .spec = spec,
        .settings = {.data = data_dir,
                     .n_paths = spec->n_traces,
                     .load = {.threads = 2},
                     .platform = spec->platforms[0].name,
                     .host = *spec->host ? spec->host : NULL,
                     .peers = MSIM_PEERS_FIXED,
                     .iteration = MSIM_ITERATION_ALL},
        .about = {.measured_us = NAN, .predicted_us = NAN}};
    for (uint32_t i = 0; i < spec->n_traces; i++)
        out->paths[i] = spec->trace[i];
    out->settings.paths = out->paths;
    MSIM_TRY(check_platforms(spec, data_dir, err));
    status = msim_predict_load(&in, &to, &out->settings, err);
    if (status == MSIM_OK && to.platform && !*spec->host) {
        snprintf(out->first_gpu, sizeof(out->first_gpu), "%s",
                 msim_platform_name(to.platform));
        out->settings.host_gpu = out->first_gpu;
    }
    if (status == MSIM_OK)
        status = look(out, spec, &in, err);
    msim_target_release(&to);
    msim_inputs_release(&in);
    return status;
}
