/*
 * serving/outcome/outcome_json.c - an outcome as JSON, schema
 * mystique-sim/serving/1.
 *
 * How long the simulation took is in the text report only, as everywhere: the
 * same seed gives the same bytes.
 */
#include "core/base/json.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>

static void put_figure(struct msim_json *j, const char *key,
                       const struct msim_serving_figure *f)
{
    if (isnan(f->mean)) {
        msim_json_text(j, key, NULL);
        return;
    }
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "mean", f->mean);
    msim_json_number(j, "p50", f->p50);
    msim_json_number(j, "p90", f->p90);
    msim_json_number(j, "p99", f->p99);
    msim_json_number(j, "low", f->low);
    msim_json_number(j, "high", f->high);
    msim_json_close(j);
}

static void put_class(struct msim_json *j, const struct msim_class_outcome *c)
{
    msim_json_open(j, c->name, '{', true);
    msim_json_unsigned(j, "requests", c->requests);
    msim_json_unsigned(j, "unfinished", c->unfinished);
    put_figure(j, "e2e_ms", &c->e2e);
    put_figure(j, "ttft_ms", &c->ttft);
    put_figure(j, "tpot_ms", &c->tpot);
    msim_json_number(j, "throughput_rps", c->throughput_rps);
    msim_json_number(j, "throughput_tokens_per_s", c->tokens_per_s);
    msim_json_number(j, "goodput_rps", c->goodput_rps);
    msim_json_number(j, "violations", c->violations);
    msim_json_unsigned(j, "late_requests", c->late);
    msim_json_close(j);
}

static void put_interval(struct msim_json *j, const char *key,
                         const struct msim_serving_figure *f)
{
    msim_json_open(j, key, '{', false);
    msim_json_number(j, "value", f->mean);
    msim_json_number(j, "low", f->low);
    msim_json_number(j, "high", f->high);
    msim_json_close(j);
}

static void put_llm(struct msim_json *j, const struct msim_stage_outcome *s,
                    const struct msim_llm_run *llm)
{
    put_interval(j, "capacity_tokens_per_s", &s->tokens);
    msim_json_number(j, "kv_peak_share", llm->kv_peak_share);
    msim_json_number(j, "preemptions", llm->preemptions);
    msim_json_number(j, "prefix_hit_share", llm->prefix_hit_share);
    msim_json_number(j, "batch_mean", llm->batch_mean);
    msim_json_number(j, "step_ms", llm->step_ms);
}

static void put_stage(struct msim_json *j, const struct msim_stage_outcome *s,
                      const struct msim_llm_run *llm)
{
    msim_json_open(j, s->name, '{', true);
    msim_json_number(j, "replicas", s->replicas);
    msim_json_number(j, "visits_per_s", s->visits_per_s);
    msim_json_number(j, "utilisation", s->utilisation);
    msim_json_number(j, "computing", s->computing);
    msim_json_number(j, "in_stage", s->in_stage);
    put_figure(j, "queue_ms", &s->queue);
    put_figure(j, "self_ms", &s->self);
    msim_json_number(j, "critical_share", s->critical_share);
    msim_json_number(j, "capacity_rps", s->capacity_rps);
    msim_json_number(j, "gpu_hours", s->gpu_hours);
    msim_json_number(j, "cost", s->cost);
    msim_json_number(j, "energy_kwh", s->energy_kwh);
    if (llm->is_llm)
        put_llm(j, s, llm);
    msim_json_close(j);
}

static void put_counterfactual(struct msim_json *j,
                               const struct msim_serving_outcome *o)
{
    msim_json_text(j, "counterfactual_class", o->classes[o->worst_class].name);
    msim_json_open(j, "counterfactual", '{', true);
    for (uint32_t i = 0; i < o->app->n_stages; i++) {
        const struct msim_stage_outcome *s = &o->stages[i];

        msim_json_open(j, s->name, '{', false);
        msim_json_number(j, "p99_ms", s->counterfactual_p99);
        msim_json_number(j, "mean_ms", s->counterfactual_mean);
        msim_json_close(j);
    }
    msim_json_close(j);
}

static void put_capacity(struct msim_json *j,
                         const struct msim_serving_outcome *o)
{
    msim_json_open(j, "capacity_rps", '{', false);
    msim_json_number(j, "value", o->capacity.mean);
    msim_json_number(j, "low", o->capacity.low);
    msim_json_number(j, "high", o->capacity.high);
    msim_json_text(j, "by",
                   o->capacity_by == MSIM_NONE
                       ? NULL
                       : o->app->stages[o->capacity_by].name);
    msim_json_close(j);
}

/* ", x 1.2 by 2 recorded prompts", or nothing. */
static const char *put_ratio(char text[64], const struct msim_recorded_ratio *r,
                             const char *one, const char *many)
{
    *text = '\0';
    if (r->n)
        snprintf(text, 64, ", x %.3g by %u recorded %s", r->factor, r->n,
                 r->n == 1 ? one : many);
    return text;
}

/* Where the times of a stage come from. */
static void put_provenance(struct msim_json *j, const struct msim_stage *def,
                           const struct msim_stage_outcome *s)
{
    char text[512], recorded[2][64];
    bool is_llm = def->kind == MSIM_STAGE_LLM;

    if (def->kind == MSIM_STAGE_MEASURED || def->kind == MSIM_STAGE_TOOL)
        snprintf(text, sizeof(text), "service as stated");
    else
        snprintf(text, sizeof(text),
                 "steps of %.200s on %.100s as %s prices them%s%s, 90 %% "
                 "within x %.3g",
                 def->model ? def->model : def->prefill.of[0].file,
                 def->platform,
                 def->model ? "data/laws/serving.json" : "predict",
                 put_ratio(recorded[0], &s->recorded.prefill,
                           is_llm ? "prompt" : "pass",
                           is_llm ? "prompts" : "passes"),
                 put_ratio(recorded[1], &s->recorded.decode, "step", "steps"),
                 exp(s->half));
    msim_json_text(j, def->name, text);
}

static void put_lists(struct msim_json *j, const struct msim_serving_outcome *o)
{
    msim_json_open(j, "saturated", '[', false);
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        if (o->stages[i].saturated)
            msim_json_text(j, NULL, o->stages[i].name);
    msim_json_close(j);
    put_capacity(j, o);
    msim_json_open(j, "provenance", '{', true);
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        put_provenance(j, &o->app->stages[i], &o->stages[i]);
    msim_json_close(j);
    msim_json_open(j, "defaults", '[', true);
    for (uint32_t i = 0; i < o->app->n_assumed; i++) {
        const struct msim_assumed *a = &o->app->assumed[i];

        msim_json_open(j, NULL, '{', false);
        msim_json_text(j, "member", a->path);
        msim_json_text(j, "value", a->value);
        msim_json_text(j, "why", a->why);
        msim_json_close(j);
    }
    msim_json_close(j);
    msim_json_open(j, "warnings", '[', true);
    for (uint32_t i = 0; i < o->n_warnings; i++)
        msim_json_text(j, NULL, o->warnings[i]);
    msim_json_close(j);
}

enum msim_status msim_serving_json(const struct msim_serving_outcome *o,
                                   FILE *out)
{
    struct msim_json j;

    msim_json_document(&j, msim_sink_file, out, "mystique-sim/serving/1");
    msim_json_text(&j, "app", o->app->name);
    msim_json_open(&j, "classes", '{', true);
    for (uint32_t i = 0; i < o->app->n_classes; i++)
        put_class(&j, &o->classes[i]);
    msim_json_close(&j);
    msim_json_open(&j, "stages", '{', true);
    for (uint32_t i = 0; i < o->app->n_stages; i++)
        put_stage(&j, &o->stages[i], &o->run.stages[i].llm);
    msim_json_close(&j);
    put_counterfactual(&j, o);
    put_lists(&j, o);
    msim_json_unsigned(&j, "events", o->events);
    msim_json_text(&j, "events_per_s", NULL);
    msim_json_text(&j, "wall_s", NULL);
    return msim_json_end(&j);
}
