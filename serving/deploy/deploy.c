/*
 * serving/deploy/deploy.c - from the words of a stage to what serves it.
 */
#include "serving/deploy/deploy.h"

#include "core/base/units.h"
#include "models/platform/platform.h"
#include "plan/describe/describe.h"
#include "serving/engine/replica.h"
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One pool of GPUs of a stage: [1] of those that only decode. */
struct side {
    struct msim_platform *platform;
    struct msim_llm_setup setup;
    struct msim_replica_rules rules;
    uint32_t replicas; /* of the engine, a replica of the stage */
};

/* A recorded pass that is all there is of a model. */
struct traced {
    const struct msim_recorder *recorder;
    const struct msim_recorded_pass *pass;
    const char *platform;
    double tokens; /* of an input; 0: all are alike */
};

struct part {
    struct msim_described model;
    struct side side[2];
    struct msim_llm_memory memory; /* LLM: of what decodes */
    struct msim_recorded_law recorded;
    struct traced traced; /* of a model that nothing describes */
    double half;
};

struct msim_deploy {
    const struct msim_app *app;
    const struct msim_recorder *recorder;
    struct msim_llm_law law;
    struct part *parts; /* one a stage */
};

static bool runs_a_model(const struct msim_stage *s)
{
    return s->kind == MSIM_STAGE_LLM || s->kind == MSIM_STAGE_MODEL;
}

bool msim_deploy_needs(const struct msim_app *app)
{
    for (uint32_t i = 0; i < app->n_stages; i++)
        if (runs_a_model(&app->stages[i]))
            return true;
    return false;
}

static double gpus_of(const struct msim_parallel *p)
{
    return (double)p->tp * (double)p->pp * (double)p->dp;
}

double msim_deploy_gpus(const struct msim_app *app, uint32_t stage)
{
    const struct msim_stage *s = &app->stages[stage];
    const struct msim_disaggregated *d = s->disaggregated;

    if (!runs_a_model(s))
        return 0;
    return d ? (double)d->prefill.replicas * gpus_of(&d->prefill.parallel) +
                   (double)d->decode.replicas * gpus_of(&d->decode.parallel)
             : gpus_of(&s->parallel);
}

/* ---- one stage ----------------------------------------------------------- */

/* The error is about this stage, whatever it said; a file that the stage names
 * is the one to mend. */
static enum msim_status about(const struct msim_app *app, uint32_t stage,
                              enum msim_status status,
                              const struct msim_error *why,
                              struct msim_error *err)
{
    if (status == MSIM_OK)
        return status;
    if (status == MSIM_EUNKNOWN || status == MSIM_EUSAGE)
        status = MSIM_EFORMAT; /* it stands in a file */
    if (why->file[0])
        return msim_fail(err, status, why->file, why->offset,
                         "%s (stages.%s of %s)",
                         why->text[0] ? why->text : msim_status_text(status),
                         app->stages[stage].name, app->path);
    return msim_fail(err, status, app->path, MSIM_OFFSET_NONE, "stages.%s: %s",
                     app->stages[stage].name,
                     why->text[0] ? why->text : msim_status_text(status));
}

/* Ranks of data parallel attention step together where experts are spread over
 * them; else each is a replica of its own. */
static bool in_step(const struct part *p, const struct msim_parallel *parallel)
{
    return p->model.moe.experts > 0 && parallel->dp > 1;
}

static void set_up(struct msim_deploy *d, struct part *p, struct side *side,
                   const struct msim_stage *s,
                   const struct msim_parallel *parallel,
                   const struct msim_engine_settings *e)
{
    bool together = in_step(p, parallel);

    side->replicas *= (uint32_t)(together ? 1 : parallel->dp);
    side->setup = (struct msim_llm_setup){
        .model = &p->model,
        .platform = side->platform,
        .law = &d->law,
        .engine = e->engine,
        .products = s->precision,
        .experts = s->precision,
        .kv = s->kv_cache,
        .tp = parallel->tp,
        .pp = parallel->pp,
        .dp = together ? parallel->dp : 1,
        .ep = together || parallel->ep <= parallel->tp ? parallel->ep : 1,
        .gpu_memory_utilization = e->gpu_memory_utilization,
        .share_is_of_rest = e->share_is_of_rest,
        .context_gib = e->context_gib,
        .profiled_seqs = e->profiled_seqs,
        .block_size = e->block_size,
        .max_num_batched_tokens = e->max_num_batched_tokens};
}

/* What recorded passes say of the side that runs them, both where it is the
 * only one. */
static enum msim_status correct_side(struct msim_deploy *d, struct part *p,
                                     struct side *side,
                                     const struct msim_stage *s,
                                     const char *platform, struct msim_llm *llm,
                                     struct msim_error *err)
{
    if (side == &p->side[0])
        MSIM_TRY(msim_recorded_steps(&p->recorded.prefill, s, false, platform,
                                     d->recorder, llm, err));
    if (side == &p->side[1] || !s->disaggregated)
        MSIM_TRY(msim_recorded_steps(&p->recorded.decode, s, true, platform,
                                     d->recorder, llm, err));
    side->setup.prompt_factor = p->recorded.prefill.factor;
    side->setup.decode_factor = p->recorded.decode.factor;
    return MSIM_OK;
}

/* Rules follow from what memory is left: a first model says how much. */
static enum msim_status open_side(struct msim_deploy *d, struct part *p,
                                  struct side *side, const struct msim_stage *s,
                                  const struct msim_llm_pool *pool,
                                  const char *data_dir, struct msim_error *err)
{
    struct msim_engine_settings e = pool->engine;
    struct msim_llm *llm;
    enum msim_status status;
    double gib;

    side->replicas = (uint32_t)pool->replicas;
    MSIM_TRY(
        msim_platform_load(&side->platform, data_dir, pool->platform, err));
    gib = msim_platform_memory_bytes(side->platform) / MSIM_GIB;
    msim_engine_settings_settle(&e, gib, 0, p->model.context);
    set_up(d, p, side, s, &pool->parallel, &e);
    MSIM_TRY(msim_llm_new(&llm, &side->setup, err));
    e = pool->engine;
    msim_engine_settings_settle(&e, gib, msim_llm_memory_of(llm)->kv_tokens,
                                p->model.context);
    side->rules = msim_replica_rules_of(
        &e, (uint32_t)(in_step(p, &pool->parallel) ? pool->parallel.dp : 1));
    p->memory = *msim_llm_memory_of(llm);
    p->half = fmax(p->half, msim_llm_half(llm, MSIM_LLM_TPOT));
    status = correct_side(d, p, side, s, pool->platform, llm, err);
    msim_llm_free(llm);
    return status;
}

static enum msim_status open_sides(struct msim_deploy *d, struct part *p,
                                   const struct msim_stage *s,
                                   const char *data_dir, struct msim_error *err)
{
    const struct msim_disaggregated *apart = s->disaggregated;
    const struct msim_llm_pool one = {1, s->platform, s->parallel, s->engine};

    MSIM_TRY(open_side(d, p, &p->side[0], s, apart ? &apart->prefill : &one,
                       data_dir, err));
    if (apart)
        MSIM_TRY(
            open_side(d, p, &p->side[1], s, &apart->decode, data_dir, err));
    p->half = msim_recorded_half(&p->recorded, p->half);
    return MSIM_OK;
}

/* ---- one pass over what is in a batch ------------------------------------ */

/* A recorded pass, with other sizes. */
static enum msim_status time_traced(double *us, void *ctx, double batch,
                                    double tokens, struct msim_error *err)
{
    const struct traced *t = ctx;
    struct msim_pass_time is;

    MSIM_TRY(msim_pass_time_find(&is, t->recorder, t->pass, t->platform, batch,
                                 t->tokens > 0 ? tokens : 0, err));
    *us = is.us;
    return MSIM_OK;
}

/* All that is known of a model that nothing describes. */
static enum msim_status open_traced(struct msim_deploy *d, struct part *p,
                                    const struct msim_stage *s,
                                    struct msim_error *err)
{
    struct msim_pass_time is;

    MSIM_TRY(msim_pass_time_find(&is, d->recorder, &s->prefill.of[0],
                                 s->platform, 0, 0, err));
    p->traced = (struct traced){d->recorder, &s->prefill.of[0], s->platform,
                                (double)is.tokens};
    return MSIM_OK;
}

static enum msim_status pass_of(struct msim_model_pass **pass, struct part *p,
                                struct msim_error *err)
{
    if (!p->traced.pass)
        return msim_model_pass_new(pass, &p->model, p->side[0].platform, err);
    return msim_model_pass_of(pass, time_traced, &p->traced, p->traced.tokens,
                              err);
}

static enum msim_status open_pass(struct msim_deploy *d, struct part *p,
                                  const struct msim_stage *s,
                                  const char *data_dir, struct msim_error *err)
{
    struct msim_model_pass *pass;
    enum msim_status status;

    MSIM_TRY(
        msim_platform_load(&p->side[0].platform, data_dir, s->platform, err));
    if (!s->model)
        MSIM_TRY(open_traced(d, p, s, err));
    MSIM_TRY(pass_of(&pass, p, err));
    status =
        msim_recorded_passes(&p->recorded.prefill, s, d->recorder, pass, err);
    p->half =
        p->recorded.prefill.n ? p->recorded.prefill.half : MSIM_MODEL_PASS_HALF;
    msim_model_pass_free(pass);
    return status;
}

static enum msim_status open_stage(struct msim_deploy *d, uint32_t stage,
                                   const char *data_dir, struct msim_error *err)
{
    const struct msim_stage *s = &d->app->stages[stage];
    struct part *p = &d->parts[stage];

    if (s->model)
        MSIM_TRY(msim_described_find(&p->model, s->model, data_dir, NULL, err));
    return s->kind == MSIM_STAGE_MODEL ? open_pass(d, p, s, data_dir, err)
                                       : open_sides(d, p, s, data_dir, err);
}

/* ---- all of them --------------------------------------------------------- */

enum msim_status msim_deploy_open(struct msim_deploy **out,
                                  const struct msim_app *app,
                                  const char *data_dir, const char *fit,
                                  const struct msim_recorder *recorder,
                                  struct msim_error *err)
{
    struct msim_deploy *d = calloc(1, sizeof(*d));
    enum msim_status status = MSIM_OK;

    *out = NULL;
    if (!d)
        return MSIM_ENOMEM;
    d->app = app;
    d->recorder = recorder;
    d->parts = calloc(app->n_stages, sizeof(*d->parts));
    if (!d->parts)
        status = MSIM_ENOMEM;
    else if (fit)
        status = msim_llm_law_read(&d->law, fit, err);
    else if (msim_deploy_needs(app))
        status = msim_llm_law_load(&d->law, data_dir, err);
    for (uint32_t i = 0; i < app->n_stages && status == MSIM_OK; i++) {
        struct msim_error why = {0};

        if (runs_a_model(&app->stages[i]))
            status = about(app, i, open_stage(d, i, data_dir, &why), &why, err);
    }
    if (status != MSIM_OK)
        msim_deploy_free(d);
    else
        *out = d;
    return status;
}

void msim_deploy_free(struct msim_deploy *d)
{
    for (uint32_t i = 0; d && d->parts && i < d->app->n_stages; i++) {
        msim_platform_free(d->parts[i].side[0].platform);
        msim_platform_free(d->parts[i].side[1].platform);
    }
    if (d)
        free(d->parts);
    free(d);
}

const struct msim_llm_law *msim_deploy_law(const struct msim_deploy *d)
{
    return &d->law;
}

void msim_deploy_set_law(struct msim_deploy *d, const struct msim_llm_law *law)
{
    d->law = *law;
}

const char *msim_deploy_model(const struct msim_deploy *d, uint32_t stage)
{
    return d->parts[stage].model.name;
}

const char *msim_deploy_platform(const struct msim_deploy *d, uint32_t stage)
{
    return msim_platform_name(d->parts[stage].side[0].platform);
}

double msim_deploy_half(const struct msim_deploy *d, uint32_t stage)
{
    return d->parts[stage].half;
}

const struct msim_recorded_law *
msim_deploy_recorded(const struct msim_deploy *d, uint32_t stage)
{
    return &d->parts[stage].recorded;
}

const struct msim_llm_memory *msim_deploy_memory(const struct msim_deploy *d,
                                                 uint32_t stage)
{
    return &d->parts[stage].memory;
}

/* ---- a simulator --------------------------------------------------------- */

static void free_llm(void *llm)
{
    msim_llm_free(llm);
}

/* Step times of that side, which live as long as the simulator. */
static enum msim_status times_of(struct msim_serving *s,
                                 const struct side *side,
                                 struct msim_llm_times *times,
                                 struct msim_error *err)
{
    struct msim_llm *llm;

    MSIM_TRY(msim_llm_new(&llm, &side->setup, err));
    *times = msim_llm_times_of(llm);
    return msim_serving_own(s, llm, free_llm);
}

/* What a request takes before its first step: the law's. */
static double arrival_of(const struct msim_deploy *d, uint32_t stage)
{
    const struct msim_stage *of = &d->app->stages[stage];

    return of->kind == MSIM_STAGE_LLM ? d->law.arrival_us[of->engine.engine]
                                      : 0;
}

static void free_pass(void *pass)
{
    msim_model_pass_free(pass);
}

/* A batch takes as long as one of inputs that are as long as its mean one. */
static double pass_us(void *pass, const struct msim_llm_step *step)
{
    double tokens = 0;

    for (uint32_t i = 0; i < step->n_chunks; i++)
        tokens += step->chunks[i].tokens;
    return msim_model_pass_us(pass, step->n_chunks, tokens / step->n_chunks);
}

static enum msim_status put_pass(struct part *p, struct msim_serving *s,
                                 uint32_t stage, struct msim_error *err)
{
    struct msim_model_pass *pass;
    struct msim_llm_times times = {.step_us = pass_us};

    MSIM_TRY(pass_of(&pass, p, err));
    msim_model_pass_correct(pass, p->recorded.prefill.factor);
    times.ctx = pass;
    MSIM_TRY(msim_serving_own(s, pass, free_pass));
    return msim_serving_set_model(s, stage, &times);
}

static enum msim_status put_stage(const struct msim_deploy *d,
                                  struct msim_serving *s, uint32_t stage,
                                  struct msim_error *err)
{
    struct part *p = &d->parts[stage];
    struct msim_serving_llm llm = {.serve = p->side[0].rules,
                                   .decode = p->side[1].rules,
                                   .serve_replicas = p->side[0].replicas,
                                   .decode_replicas = p->side[1].replicas,
                                   .kv_token_bytes = p->memory.kv_token,
                                   .arrival_us = arrival_of(d, stage)};

    if (d->app->stages[stage].kind == MSIM_STAGE_MODEL)
        return put_pass(p, s, stage, err);
    MSIM_TRY(times_of(s, &p->side[0], &llm.serve_times, err));
    if (llm.decode_replicas) {
        llm.kv_transfer_gbps =
            d->app->stages[stage].disaggregated->kv_transfer_gbps;
        MSIM_TRY(times_of(s, &p->side[1], &llm.decode_times, err));
    }
    return msim_serving_set_llm(s, stage, &llm);
}

enum msim_status msim_deploy_simulator(struct msim_serving **out,
                                       const struct msim_deploy *d,
                                       struct msim_error *err)
{
    enum msim_status status = msim_serving_new(out, d->app, err);

    for (uint32_t i = 0; i < d->app->n_stages && status == MSIM_OK; i++)
        if (runs_a_model(&d->app->stages[i]))
            status = put_stage(d, *out, i, err);
    if (status != MSIM_OK) {
        msim_serving_free(*out);
        *out = NULL;
    }
    return status;
}
