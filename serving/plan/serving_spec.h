/*
 * serving/plan/serving_spec.h - the question of a plan of serving: a model, the
 * requests, what is promised, what it may run on.
 *
 *     {"workload": "serving", "model": "llama3-8b", "rate": 1000,
 *      "input_tokens": {"lognormal": {"mean": 1100, "cv": 1}},
 *      "output_tokens": {"lognormal": {"mean": 210, "cv": 0.8}},
 *      "slo": [{"metric": "ttft", "percentile": 90, "limit_ms": 500}],
 *      "platforms": [{"name": "h100", "price_per_gpu_hour": 2.5}],
 *      "tp": [1, 2], "precision": ["bf16", "fp8"]}
 *
 * Members that an application has (serving/app/app.h) mean the same here and
 * are read by the same code. A configuration is one GPU with one value of each
 * dimension, as an application of one stage.
 */
#ifndef MSIM_SERVING_PLAN_SERVING_SPEC_H
#define MSIM_SERVING_PLAN_SERVING_SPEC_H
#include "core/base/json.h"
#include "serving/app/app.h"

#define MSIM_SERVING_PLATFORMS 24
#define MSIM_SERVING_PROMISES  16

/* X(name, member of the spec, the stage's object that has it; "": itself) */
#define MSIM_SERVING_DIMENSION_MAP(X)                                          \
    X(TP, "tp", "parallel")                                                    \
    X(PP, "pp", "parallel")                                                    \
    X(DP, "dp", "parallel")                                                    \
    X(EP, "ep", "parallel")                                                    \
    X(PRECISION, "precision", "")                                              \
    X(KV, "kv_cache_dtype", "")                                                \
    X(ENGINE, "engine", "")                                                    \
    X(SEQS, "max_num_seqs", "batching")                                        \
    X(TOKENS, "max_num_batched_tokens", "batching")                            \
    X(CHUNKED, "enable_chunked_prefill", "batching")                           \
    X(PREFIX, "enable_prefix_caching", "batching")                             \
    X(BLOCK, "block_size", "batching")                                         \
    X(SHARE, "gpu_memory_utilization", "batching")                             \
    X(LENGTH, "max_model_len", "batching")

enum msim_serving_dimension {
#define X(name, member, object) MSIM_SERVING_##name,
    MSIM_SERVING_DIMENSION_MAP(X)
#undef X
        MSIM_SERVING_DIMENSIONS
};

/* The member of the spec. */
const char *msim_serving_dimension_text(enum msim_serving_dimension d);

struct msim_serving_platform {
    const char *name;
    double price;   /* of a GPU and hour; NAN: not known */
    double power_w; /* of a GPU with its share of the server; NAN */
};

struct msim_serving_spec {
    const char *file;
    cJSON *json; /* owned; texts and values below are its own */
    const char *model, *currency;
    double rate; /* requests a second */
    double cv;   /* of the times between them */
    struct msim_serving_platform platforms[MSIM_SERVING_PLATFORMS];
    uint32_t n_platforms;
    const cJSON *values[MSIM_SERVING_DIMENSIONS]; /* an array or one value;
                                                     NULL: not stated */
    uint32_t n[MSIM_SERVING_DIMENSIONS];          /* 1 where it is not */
    double most_gpus, most_cost; /* in all; an hour. INFINITY: not given */
    uint64_t requests;           /* of a simulation; 0: as many as it takes */
    uint64_t seed;
};

/*
 * Check the spec of the file `path`, which was read already; `json` is the
 * spec's from now on, on failure too. Models and platforms are read from
 * `data_dir`. On success `s` goes to msim_serving_spec_release(); on failure it
 * holds nothing: EIO, ESYNTAX, EFORMAT naming the member by its path, EUNKNOWN,
 * ELIMIT where there are more configurations than "most_points".
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_spec_of_json(struct msim_serving_spec *s,
                                           cJSON *json, const char *path,
                                           const char *data_dir,
                                           struct msim_error *err);
void msim_serving_spec_release(struct msim_serving_spec *s);

/* Is this a plan's spec with "workload": "serving"? */
bool msim_serving_spec_is(const cJSON *json);

/* How many configurations there are: GPUs x dimensions, the last fastest. */
uint32_t msim_serving_spec_configs(const struct msim_serving_spec *s);
uint32_t msim_serving_spec_platform(const struct msim_serving_spec *s,
                                    uint32_t config);
/* The value that it has of `d`; NULL: not stated. */
const cJSON *msim_serving_spec_value(const struct msim_serving_spec *s,
                                     uint32_t config,
                                     enum msim_serving_dimension d);

/* That configuration as an application of one stage with one replica; `app`
 * goes to msim_app_release(). Fails as msim_app_of_json(). */
MSIM_MUST_CHECK
enum msim_status msim_serving_spec_app(struct msim_app *app,
                                       const struct msim_serving_spec *s,
                                       uint32_t config, struct msim_error *err);

#endif
