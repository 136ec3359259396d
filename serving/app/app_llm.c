/*
 * serving/app/app_llm.c - stages that run a model: which, on what, and how the
 * engine batches, by the names of each program.
 */
#include "serving/app/app_internal.h"

#include "plan/describe/describe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- settings of engines ------------------------------------------------- */

enum target {
    SEQS,
    TOKENS,
    CHUNKED,
    MIXED,
    PREFIX,
    BLOCK,
    LENGTH,
    SHARE,
    ORDER,
    EVICT,
    WAIT_STEPS,
    WAIT_TOKENS,
    TARGETS
};
#define ANY 7u /* every program */
#define V   (1u << MSIM_LLM_VLLM)
#define S   (1u << MSIM_LLM_SGLANG)
#define T   (1u << MSIM_LLM_TRTLLM)

/* Names of arguments. The first of each target, vLLM's, is the name under
 * which a default is told. */
static const struct argument {
    const char *name;
    enum target target;
    unsigned engines;
    bool inverted;
} ARGUMENTS[] = {
    {"max_num_seqs", SEQS, ANY, false},
    {"max_running_requests", SEQS, S, false},
    {"max_batch_size", SEQS, T, false},
    {"max_num_batched_tokens", TOKENS, ANY, false},
    {"chunked_prefill_size", TOKENS, S, false},
    {"max_num_tokens", TOKENS, T, false},
    {"enable_chunked_prefill", CHUNKED, ANY, false},
    {"enable_chunked_context", CHUNKED, T, false},
    {"enable_mixed_chunk", MIXED, S, false},
    {"enable_prefix_caching", PREFIX, ANY, false},
    {"disable_radix_cache", PREFIX, S, true},
    {"enable_block_reuse", PREFIX, T, false},
    {"block_size", BLOCK, ANY, false},
    {"page_size", BLOCK, S, false},
    {"tokens_per_block", BLOCK, T, false},
    {"max_model_len", LENGTH, ANY, false},
    {"context_length", LENGTH, S, false},
    {"max_seq_len", LENGTH, T, false},
    {"gpu_memory_utilization", SHARE, ANY, false},
    {"mem_fraction_static", SHARE, S, false},
    {"free_gpu_memory_fraction", SHARE, T, false},
    {"scheduling_policy", ORDER, ANY, false},
    {"schedule_policy", ORDER, S, false},
    {"capacity_scheduler_policy", EVICT, T, false},
    {"batch_wait_timeout_iters", WAIT_STEPS, T, false},
    {"batch_wait_max_tokens_ratio", WAIT_TOKENS, T, false},
};
#define N_ARGUMENTS (sizeof(ARGUMENTS) / sizeof(*ARGUMENTS))

/* By threes: ours, vLLM's, SGLang's. */
static const char *const DEGREES[] = {"tp", "tensor_parallel_size",   "tp_size",
                                      "pp", "pipeline_parallel_size", "pp_size",
                                      "dp", "data_parallel_size",     "dp_size",
                                      "ep", "expert_parallel_size",   "ep_size",
                                      NULL};

const char *msim_app_engine_member(const char *name)
{
    for (size_t i = 0; DEGREES[i]; i++)
        if (strcmp(DEGREES[i], name) == 0)
            return "parallel";
    for (size_t i = 0; i < N_ARGUMENTS; i++)
        if (strcmp(ARGUMENTS[i].name, name) == 0)
            return "batching";
    return NULL;
}

static void read_order(struct msim_engine_settings *s, struct msim_fields *f,
                       const char *name)
{
    static const char *const VLLM[] = {"fcfs", "priority", NULL};
    /* Its orders of waiting prompts differ by what is cached; here they are
     * served as they came. */
    static const char *const SGLANG[] = {"fcfs",       "priority", "lpm",
                                         "dfs-weight", "lof",      NULL};
    bool own = strcmp(name, "schedule_policy") == 0;

    s->by_priority = msim_field_word(f, name, own ? SGLANG : VLLM, 0) == 1;
}

static void read_eviction(struct msim_engine_settings *s, struct msim_fields *f,
                          const char *name)
{
    static const char *const WORDS[] = {
        "GUARANTEED_NO_EVICT", "MAX_UTILIZATION", "STATIC_BATCH", NULL};
    int word = msim_field_word(f, name, WORDS, 0);

    s->no_evict = word != 1;
    s->is_static = s->is_static || word == 2;
}

/* SGLang's -1: prompts are never split. */
static void read_tokens(struct msim_engine_settings *s, struct msim_fields *f,
                        const struct argument *a)
{
    const cJSON *item = msim_field_json(f, a->name);

    if (a->engines == S && cJSON_IsNumber(item) && item->valuedouble == -1)
        s->chunked_prefill = false;
    else
        s->max_num_batched_tokens = msim_field_int(f, a->name, 1, 1);
}

static void read_argument(struct msim_engine_settings *s, struct msim_fields *f,
                          const struct argument *a)
{
    switch (a->target) {
    case SEQS:
        s->max_num_seqs = msim_field_int(f, a->name, 1, 1);
        break;
    case TOKENS:
        read_tokens(s, f, a);
        break;
    case CHUNKED:
        s->chunked_prefill = msim_field_bool(f, a->name, false);
        break;
    case MIXED:
        s->mixed = msim_field_bool(f, a->name, false);
        break;
    case PREFIX:
        s->prefix_caching = msim_field_bool(f, a->name, false) != a->inverted;
        break;
    case BLOCK:
        s->block_size = msim_field_int(f, a->name, 1, 1);
        break;
    case LENGTH:
        s->max_model_len = msim_field_int(f, a->name, 1, 1);
        break;
    case SHARE:
        s->gpu_memory_utilization =
            msim_field_between(f, a->name, 0.01, 1, 0.9);
        s->share_is_of_rest = a->engines == T;
        break;
    case ORDER:
        read_order(s, f, a->name);
        break;
    case EVICT:
        read_eviction(s, f, a->name);
        break;
    case WAIT_STEPS:
        s->wait_steps = msim_field_int(f, a->name, 0, 0);
        break;
    case WAIT_TOKENS:
        s->wait_tokens = msim_field_between(f, a->name, 0, 1, 0);
        break;
    case TARGETS:
        break;
    }
}

/* What is taken where the file does not say it, as JSON would have it. */
static const char *default_text(const struct msim_engine_settings *s,
                                enum target target, char text[64])
{
    int64_t n[TARGETS] = {[SEQS] = s->max_num_seqs,
                          [TOKENS] = s->max_num_batched_tokens,
                          [BLOCK] = s->block_size};

    switch (target) {
    case CHUNKED:
        return s->chunked_prefill ? "true" : "false";
    case PREFIX:
        return s->prefix_caching ? "true" : "false";
    case SHARE:
        snprintf(text, 64, "%.6g", s->gpu_memory_utilization);
        return text;
    case LENGTH:
        return "max_position_embeddings of config.json, else what the KV "
               "cache holds";
    case ORDER:
        return "fcfs";
    default:
        break;
    }
    if (n[target] == 0)
        return target == SEQS ? "by the memory for KV caches"
                              : "8192 from GPUs of 80 GB on, else 2048";
    snprintf(text, 64, "%lld", (long long)n[target]);
    return text;
}

static void assume(struct msim_app *app, const struct msim_engine_settings *s,
                   const struct msim_fields *f, const bool *given)
{
    char text[64];

    for (size_t i = 0; i < N_ARGUMENTS; i++) {
        const struct argument *a = &ARGUMENTS[i];

        if (a->engines == ANY && !given[a->target])
            msim_app_assume(app, f, a->name, default_text(s, a->target, text),
                            msim_llm_engine_text(s->engine));
    }
}

static void read_engine(struct msim_app *app, struct msim_engine_settings *s,
                        struct msim_fields *f, enum msim_llm_engine engine)
{
    static const char *const POLICIES[] = {"continuous", "static", NULL};
    const char *keys[N_ARGUMENTS + 2] = {"policy"};
    struct msim_fields in = msim_fields_open(f, "batching");
    bool given[TARGETS] = {false};
    size_t n = 1;

    *s = msim_engine_settings_of(engine);
    s->is_static = msim_field_word(&in, "policy", POLICIES, 0) == 1;
    for (size_t i = 0; i < N_ARGUMENTS; i++) {
        const struct argument *a = &ARGUMENTS[i];

        if (!(a->engines >> engine & 1))
            continue;
        keys[n++] = a->name;
        if (!msim_field_json(&in, a->name))
            continue;
        if (given[a->target])
            msim_field_refuse(&in, a->name,
                              "it once: another member says the same");
        given[a->target] = true;
        read_argument(s, &in, a);
    }
    if (in.object)
        msim_fields_only(&in, keys);
    if (in.status == MSIM_OK)
        assume(app, s, &in, given);
    msim_fields_close(f, &in);
}

/* ---- parallelism --------------------------------------------------------- */

static int64_t read_degree(struct msim_fields *f, const char *const *names)
{
    int64_t n = 1;
    bool given = false;

    for (; *names; names++) {
        if (!msim_field_json(f, *names))
            continue;
        if (given)
            msim_field_refuse(f, *names,
                              "it once: another member says the same");
        given = true;
        n = msim_field_int(f, *names, 1, 1);
        if (n > 4096)
            msim_field_refuse(f, *names, "at most 4096");
    }
    return n;
}

static void read_parallel(struct msim_parallel *p, struct msim_fields *f)
{
    struct msim_fields in = msim_fields_open(f, "parallel");
    int64_t n[4];

    if (in.object)
        msim_fields_only(&in, DEGREES);
    for (int i = 0; i < 4; i++) {
        const char *names[] = {DEGREES[3 * i], DEGREES[3 * i + 1],
                               DEGREES[3 * i + 2], NULL};

        n[i] = read_degree(&in, names);
    }
    *p = (struct msim_parallel){n[0], n[1], n[2], n[3]};
    msim_fields_close(f, &in);
}

/* ---- the model ----------------------------------------------------------- */

/* Passes of a model that nothing describes say all that is known of it; what an
 * engine keeps of its requests they do not say. */
static void read_model(struct msim_app *app, struct msim_stage *s,
                       struct msim_fields *f)
{
    const char *model = msim_field_text(f, "model");

    if (!model && s->kind == MSIM_STAGE_MODEL && s->prefill.n) {
        if (msim_field_json(f, "precision"))
            msim_field_refuse(f, "precision",
                              "none without \"model\": passes run as they "
                              "were recorded");
        return;
    }
    s->model = msim_app_copy(app, f, model);
    if (model && msim_described_is_path(model)) {
        const char *beside = msim_app_join(app, f, model);

        if (!msim_described_may_be_name(model) ||
            (beside && access(beside, F_OK) == 0))
            s->model = beside;
    }
    if (!model || !*model)
        msim_field_refuse(f, "model",
                          "a config.json, or a name of data/models");
}

static const char *read_platform(struct msim_app *app, struct msim_fields *f,
                                 const char *missing)
{
    const char *platform = msim_field_text(f, "platform");

    if (!platform && missing)
        return missing;
    if (!platform || !*platform)
        msim_field_refuse(f, "platform", "a GPU that 'platforms' lists");
    return msim_app_copy(app, f, platform ? platform : "");
}

/* Weights, and what they are multiplied with. */
static enum msim_quant read_precision(struct msim_fields *f)
{
    enum msim_quant q = msim_quant_parse(msim_field_text(f, "precision"));

    if (q != MSIM_QUANTS)
        return q;
    msim_field_refuse(f, "precision",
                      "bf16, fp8, fp8_block, nvfp4, mxfp4, int8 or int4");
    return MSIM_QUANT_OWN;
}

/* ---- two pools ----------------------------------------------------------- */

static void read_pool(struct msim_app *app, const struct msim_stage *s,
                      struct msim_llm_pool *p, struct msim_fields *f,
                      const char *key)
{
    static const char *const KEYS[] = {"replicas", "platform", "parallel",
                                       "batching", NULL};
    struct msim_fields in = msim_fields_open(f, key);

    if (in.object)
        msim_fields_only(&in, KEYS);
    else
        msim_field_refuse(f, key,
                          "an object: replicas, platform, parallel, "
                          "batching of that pool");
    in.status = f->status;
    p->replicas = msim_field_int(&in, "replicas", 1, 1);
    if (p->replicas > 1e6)
        msim_field_refuse(&in, "replicas", "at most 1000000");
    p->platform = read_platform(app, &in, s->platform);
    p->parallel = s->parallel;
    if (msim_field_json(&in, "parallel"))
        read_parallel(&p->parallel, &in);
    if (msim_field_json(&in, "batching"))
        read_engine(app, &p->engine, &in, s->engine.engine);
    else
        p->engine = s->engine;
    msim_fields_close(f, &in);
}

static void read_disaggregated(struct msim_app *app, struct msim_stage *s,
                               struct msim_fields *f)
{
    static const char *const KEYS[] = {"prefill", "decode", "kv_transfer_gbps",
                                       NULL};
    struct msim_fields in = msim_fields_open(f, "disaggregated");
    struct msim_disaggregated *d =
        in.object ? msim_app_room(app, &in, 1, sizeof(*d)) : NULL;

    if (d && s->n_absences > 0)
        msim_field_refuse(f, "absent", "none where two pools serve");
    if (d) {
        msim_fields_only(&in, KEYS);
        read_pool(app, s, &d->prefill, &in, "prefill");
        read_pool(app, s, &d->decode, &in, "decode");
        d->kv_transfer_gbps = msim_field_real(&in, "kv_transfer_gbps", 50);
        if (!msim_field_json(&in, "kv_transfer_gbps"))
            msim_app_assume(app, &in, "kv_transfer_gbps", "50",
                            "a network of 400 Gbit/s");
        s->disaggregated = d;
    }
    msim_fields_close(f, &in);
}

/* ---- all of it ----------------------------------------------------------- */

static void read_trace(struct msim_app *app, struct msim_stage *s,
                       struct msim_fields *f)
{
    static const char *const KEYS[] = {"prefill", "decode", NULL};
    struct msim_fields in;

    if (s->kind == MSIM_STAGE_MODEL) {
        msim_app_read_recorded(app, &s->prefill, f, "trace");
        return;
    }
    if (msim_field_json(f, "trace") &&
        !cJSON_IsObject(msim_field_json(f, "trace")))
        msim_field_refuse(f, "trace",
                          "{\"prefill\": [...], \"decode\": [...]}: files of "
                          "recorded passes");
    in = msim_fields_open(f, "trace");
    if (in.object)
        msim_fields_only(&in, KEYS);
    msim_app_read_recorded(app, &s->prefill, &in, "prefill");
    msim_app_read_recorded(app, &s->decode, &in, "decode");
    msim_fields_close(f, &in);
}

void msim_app_read_llm(struct msim_app *app, struct msim_stage *s,
                       struct msim_fields *f)
{
#define X(name, text) text,
    static const char *const ENGINES[] = {MSIM_LLM_ENGINE_MAP(X) NULL};
#undef X
    static const char *const CACHES[] = {"auto", "fp8", NULL};
    int engine;

    read_trace(app, s, f);
    read_model(app, s, f);
    s->platform = read_platform(app, f, NULL);
    s->precision = read_precision(f);
    read_parallel(&s->parallel, f);
    if (s->kind == MSIM_STAGE_MODEL)
        return;
    engine = msim_field_word(f, "engine", ENGINES, -1);
    if (engine < 0 && f->status == MSIM_OK)
        msim_app_assume(app, f, "engine", "vllm", "not stated");
    s->kv_cache = msim_field_word(f, "kv_cache_dtype", CACHES, 0) == 1
                      ? MSIM_QUANT_FP8
                      : MSIM_QUANT_OWN;
    read_engine(app, &s->engine, f,
                engine < 0 ? MSIM_LLM_VLLM : (enum msim_llm_engine)engine);
    read_disaggregated(app, s, f);
}
