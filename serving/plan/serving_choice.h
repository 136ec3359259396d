/*
 * serving/plan/serving_choice.h - a plan of serving: its question, its
 * configurations, the choice among them, and the report.
 */
#ifndef MSIM_SERVING_PLAN_SERVING_CHOICE_H
#define MSIM_SERVING_PLAN_SERVING_CHOICE_H
#include "core/base/json.h"
#include "serving/app/app.h"
#include "serving/llm/llm.h"

#include <stdio.h>

/* ---- serving spec -------------------------------------------------------- */
/*
 * The question of a plan of serving: a model, the requests, what is promised,
 * what it may run on.
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

/* ---- serving fleet ------------------------------------------------------- */
/*
 * One configuration of a plan of serving: how many replicas of it keep the
 * promises, and how late requests are then.
 *
 * Replicas share nothing, and a router that knows no loads (at random) gives
 * each its share of the requests: one replica under the N-th part of the rate
 * stands for all N. Of a Poisson stream that part is one again; of another it
 * has the squared coefficient of variation 1 + (cv^2 - 1) / N between requests
 * (a thinned renewal process: its first two moments). A router that knows loads
 * does no worse.
 *
 * Step times have an interval. A replica whose steps all take f times as long,
 * under the rate r, is the same run on a clock f times as slow: what a run
 * under r f takes, times f. So a promise at the end of the interval needs no
 * other engine.
 */

struct msim_fleet_figure {
    double middle, low, high; /* 90 % */
};

/* So many replicas of one configuration. */
struct msim_fleet_point {
    uint32_t config;
    int64_t replicas; /* 0: none keeps the promises */
    double gpus;
    double load; /* share of what the replicas bear */
    /* What is promised at that percentile, one a promise, ms. */
    struct msim_fleet_figure promised[MSIM_SERVING_PROMISES];
    /* The largest of them over its limit: up to 1 all promises are kept. */
    struct msim_fleet_figure of_limit;
    double cost_per_hour, cost_per_1000, cost_per_million_tokens; /* NAN */
    double power_kw;                                              /* NAN */
    bool within_limits; /* of the spec: GPUs, cost */
    bool frontier;      /* none is cheaper and nearer to no time at all */
};

enum msim_fleet_kind {
    MSIM_FLEET_MIDDLE, /* the fewest that keep the promises as predicted */
    MSIM_FLEET_SURE,   /* ... where steps take as long as their interval says */
    MSIM_FLEET_ROOMY,  /* half as many again */
    MSIM_FLEET_KINDS
};

struct msim_served_fleet {
    char why[512]; /* no number of replicas keeps the promises; "": some does */
    bool fits;     /* the model its GPUs, and can be split so */
    double gpus;   /* of one replica */
    struct msim_llm_memory memory;     /* where it fits */
    double half;                       /* of the logarithm of step times */
    struct msim_fleet_figure capacity; /* of one replica, requests a second */
    struct msim_fleet_figure tokens;   /* ... output tokens a second */
    double alone_ms[MSIM_SERVING_PROMISES]; /* promised, of a lone request */
    double alone; /* the largest over its limit; NAN: does not fit */
    struct msim_fleet_point points[MSIM_FLEET_KINDS];
};

/* Simulate. What stands in the way of this configuration alone is `why`;
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_served_fleet_find(struct msim_served_fleet *f,
                                        const struct msim_serving_spec *s,
                                        uint32_t config, const char *data_dir);

/* ---- serving choice ------------------------------------------------------ */
/*
 * All configurations of a plan of serving, and which of them to take.
 *
 * Recommended is the cheapest that keeps the promises also where steps take as
 * long as the end of their interval says; without prices the one with the
 * fewest GPUs. What may be cheaper stands beside it.
 */

struct msim_serving_choice {
    const struct msim_serving_spec *spec;
    struct msim_app app; /* configuration 0: classes and promises */
    struct msim_served_fleet *fleets; /* one a configuration */
    uint32_t n;
    bool priced; /* cost is compared, of what has a price; else GPUs */
    const struct msim_fleet_point *best;     /* NULL: none */
    bool sure;                               /* best is a MSIM_FLEET_SURE */
    const struct msim_fleet_point *cheaper;  /* as predicted; NULL: none */
    const struct msim_served_fleet *nearest; /* none keeps the promises: whose
                                         lone request comes nearest; NULL: none
                                         fits, or there is a best */
};

/* `done` of `total` configurations are through; one thread at a time. */
typedef void msim_serving_progress(void *ctx, uint32_t done, uint32_t total);

/* `spec` outlives it. On success `c` goes to msim_serving_choice_release(); on
 * failure it holds nothing: ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_serving_choose(struct msim_serving_choice *c,
                                     const struct msim_serving_spec *spec,
                                     const char *data_dir, uint32_t threads,
                                     msim_serving_progress *progress, void *ctx,
                                     struct msim_error *err);
void msim_serving_choice_release(struct msim_serving_choice *c);

/* Points of all configurations that keep the promises, in order: call with
 * `*at` 0, until NULL. */
const struct msim_fleet_point *
msim_serving_choice_next(const struct msim_serving_choice *c, uint32_t *at);

/* What is compared: cost an hour, or GPUs; NAN: it has no price. */
double msim_serving_choice_price(const struct msim_serving_choice *c,
                                 const struct msim_fleet_point *p);

/* Is `a` cheaper than `b` (NULL: nothing), or costs as much with more to spare?
 * What has no price is the dearest. */
bool msim_serving_choice_is_better(const struct msim_serving_choice *c,
                                   const struct msim_fleet_point *a,
                                   const struct msim_fleet_point *b);

/* ---- serving plan report ------------------------------------------------- */
/* A plan of serving as text, CSV, JSON and one HTML page. */

/* A configuration: "h100, tp 2, precision fp8". */
void msim_serving_config_text(const struct msim_serving_spec *s,
                              uint32_t config, char *text, size_t size);
/* A promise: "TTFT p90", with the class where there are several. */
void msim_serving_promise_text(const struct msim_serving_choice *c,
                               uint32_t promise, char *text, size_t size);
/* Why nothing keeps the promises, in a sentence without a full stop. */
void msim_serving_none_text(const struct msim_serving_choice *c, char *text,
                            size_t size);
/* The question in a sentence. */
void msim_serving_question_text(const struct msim_serving_choice *c, char *text,
                                size_t size);

void msim_serving_plan_text(const struct msim_serving_choice *c, FILE *out);
/* All points, or those of the frontier. */
void msim_serving_plan_csv(const struct msim_serving_choice *c, bool frontier,
                           FILE *out);
/* Schema mystique-sim/plan/serving/1. */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_json(const struct msim_serving_choice *c,
                                        FILE *out);
/* Without links to other files; `chart`: SVG, or NULL. */
void msim_serving_plan_html(const struct msim_serving_choice *c,
                            const char *chart, FILE *out);
/* Cost beside what is left of the promises, by gnuplot; `*svg` is the
 * caller's. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_chart(const struct msim_serving_choice *c,
                                         char **svg, struct msim_error *err);

#endif
