/*
 * serving/rows/point_answer.c - answering one served point.
 *
 * An engine has its defaults; but places, tokens of a step and of a sequence
 * are what the point needs, as a benchmark sets them. Prompts of benchmarks
 * differ, so prefixes are not cached.
 */
#include "models/platform/platform.h"
#include "serving/engine/replica.h"
#include "serving/rows/serve_rows.h"

#include <math.h>
#include <string.h>

/* Replicas of one kind. */
struct side {
    struct msim_llm *llm;
    struct msim_engine_settings settings;
    struct msim_replica_rules rules;
    struct msim_llm_times times[MSIM_POINT_WORKERS_MOST];
};

static double gpu_gib(const struct msim_platform *p)
{
    return msim_platform_memory_bytes(p) / 0x1p30;
}

static struct msim_engine_settings
settings_of(const struct msim_served_point *p,
            const struct msim_point_side *side,
            const struct msim_platform *platform, int64_t kv_tokens)
{
    struct msim_engine_settings s = msim_engine_settings_of(p->engine);
    int64_t seqs = (side->batch + side->dp - 1) / side->dp;

    s.prefix_caching = false;
    if (p->max_num_batched_tokens > 0)
        s.max_num_batched_tokens = p->max_num_batched_tokens;
    if (p->gpu_memory_utilization > 0)
        s.gpu_memory_utilization = p->gpu_memory_utilization;
    s.wait_steps = p->wait_steps;
    s.wait_tokens = p->wait_tokens;
    s.max_model_len = p->isl + 1 + (int64_t)ceil(p->outputs.most);
    msim_engine_settings_settle(&s, gpu_gib(platform), kv_tokens,
                                s.max_model_len);
    if (s.max_num_seqs < seqs)
        s.max_num_seqs = seqs;
    return s;
}

/* The served model of shelf->llm[i], made anew where the last point's was
 * another. */
static enum msim_status take(struct msim_point_shelf *shelf, int i,
                             const struct msim_llm_setup *setup,
                             struct msim_llm **out, struct msim_error *err)
{
    if (!shelf->llm[i] ||
        memcmp(&shelf->setup[i], setup, sizeof(*setup)) != 0) {
        msim_llm_free(shelf->llm[i]);
        shelf->llm[i] = NULL;
        MSIM_TRY(msim_llm_new(&shelf->llm[i], setup, err));
        memcpy(&shelf->setup[i], setup, sizeof(*setup));
    }
    *out = shelf->llm[i];
    return MSIM_OK;
}

void msim_point_setup(struct msim_llm_setup *out,
                      const struct msim_served_point *p,
                      const struct msim_point_side *side,
                      const struct msim_point_world *world)
{
    struct msim_engine_settings s = settings_of(p, side, world->platform, 0);

    memset(out, 0, sizeof(*out));
    out->model = world->model;
    out->platform = world->platform;
    out->law = world->law;
    out->engine = p->engine;
    out->products = p->products;
    out->experts = p->experts;
    out->kv = p->kv;
    out->tp = side->tp;
    out->pp = side->pp;
    out->dp = side->dp;
    out->ep = side->ep;
    out->moe_tp = side->moe_tp;
    out->gpu_memory_utilization = s.gpu_memory_utilization;
    out->share_is_of_rest = s.share_is_of_rest;
    out->context_gib = s.context_gib;
    out->profiled_seqs = s.profiled_seqs;
    out->block_size = s.block_size;
    out->max_num_batched_tokens = s.max_num_batched_tokens;
}

static enum msim_status make_side(struct side *out,
                                  const struct msim_served_point *p,
                                  const struct msim_point_side *side,
                                  const struct msim_point_world *world,
                                  struct msim_point_shelf *shelf, int i,
                                  struct msim_error *err)
{
    struct msim_llm_setup setup;

    msim_point_setup(&setup, p, side, world);
    MSIM_TRY(take(shelf, i, &setup, &out->llm, err));
    out->settings = settings_of(p, side, world->platform,
                                msim_llm_memory_of(out->llm)->kv_tokens);
    out->rules = msim_replica_rules_of(&out->settings, (uint32_t)side->dp);
    for (int64_t k = 0; k < side->workers; k++)
        out->times[k] = msim_llm_times_of(out->llm);
    return MSIM_OK;
}

static struct msim_point_time time_of(double ms, double half)
{
    return (struct msim_point_time){ms, ms * exp(-half), ms * exp(half)};
}

/* Of prefill replicas the time to the first token, of those that decode the
 * time of the others. */
static void fill(struct msim_point_answer *a,
                 const struct msim_closed_figures *f, const struct side *sides,
                 int n)
{
    const struct msim_llm *first = sides[0].llm, *last = sides[n - 1].llm;

    a->ttft = time_of(f->ttft_ms, msim_llm_half(first, MSIM_LLM_TTFT));
    a->tpot = time_of(f->tpot_ms, msim_llm_half(last, MSIM_LLM_TPOT));
    a->uses_rows = msim_llm_uses_rows(first) || msim_llm_uses_rows(last);
    a->answered = true;
}

static void note_settings(struct msim_point_answer *a,
                          const struct msim_engine_settings *s)
{
    msim_point_note(a->defaults,
                    "max_num_seqs %lld; max_num_batched_tokens %lld; "
                    "gpu_memory_utilization %g; distinct prompts",
                    (long long)s->max_num_seqs,
                    (long long)s->max_num_batched_tokens,
                    s->gpu_memory_utilization);
}

static enum msim_status simulate(struct msim_point_answer *a,
                                 const struct msim_served_point *p,
                                 const struct msim_point_world *world,
                                 const struct side *sides, int n)
{
    struct msim_closed_loop_setup setup = {
        .served = {.serve = {&sides[0].rules, sides[0].times,
                             (uint32_t)p->serve.workers},
                   .decode = {&sides[n - 1].rules, sides[n - 1].times,
                              (uint32_t)(n > 1 ? p->decode.workers : 0)},
                   .kv_token_bytes = msim_llm_memory_of(sides[0].llm)->kv_token,
                   .kv_transfer_gbps = p->kv_transfer_gbps},
        .clients = (uint32_t)p->clients,
        .prompts = p->prompts,
        .outputs = p->outputs,
        .arrival_us = world->law->arrival_us[p->engine]};
    struct msim_closed_figures figures;
    enum msim_status status = msim_closed_run(&figures, &setup);

    if (status == MSIM_ELIMIT || status == MSIM_EUSAGE) {
        msim_point_note(a->reason,
                        "a prompt of %lld tokens does not fit the KV cache, "
                        "which holds %lld",
                        (long long)p->isl,
                        (long long)sides[0].times[0].kv_tokens);
        return MSIM_OK;
    }
    if (status == MSIM_OK)
        fill(a, &figures, sides, n);
    return status;
}

enum msim_status msim_point_answer_make(struct msim_point_answer *a,
                                        const struct msim_served_point *p,
                                        const struct msim_point_world *world,
                                        struct msim_point_shelf *shelf)
{
    struct side sides[2];
    struct msim_error err = {0};
    int n = p->decode.workers > 0 ? 2 : 1;
    enum msim_status status =
        make_side(&sides[0], p, &p->serve, world, shelf, 0, &err);

    if (status == MSIM_OK && n == 2)
        status = make_side(&sides[1], p, &p->decode, world, shelf, 1, &err);
    if (status == MSIM_ENOMEM)
        return status;
    if (status != MSIM_OK) {
        msim_point_note(a->reason, "%s", err.text);
        return MSIM_OK;
    }
    note_settings(a, &sides[0].settings);
    return simulate(a, p, world, sides, n);
}

void msim_point_shelf_release(struct msim_point_shelf *shelf)
{
    for (int i = 0; i < 2; i++)
        msim_llm_free(shelf->llm[i]);
    *shelf = (struct msim_point_shelf){0};
}
