/*
 * serving/app/app.h - an application as APP.json describes it, the settings of
 * its engines, and plans of its replicas.
 */
#ifndef MSIM_SERVING_APP_APP_H
#define MSIM_SERVING_APP_APP_H
#include "core/base/containers.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "serving/draw/random.h"
#include "serving/llm/llm.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- engine settings ----------------------------------------------------- */
/*
 * How an LLM engine was told to batch, under one set of names for vLLM V1,
 * SGLang and TensorRT-LLM.
 *
 * Each program's own argument names are read as well. What a file does not say
 * is that program's default. Two defaults go with the machine; they are 0 here
 * until msim_engine_settings_settle() has seen it.
 */

struct msim_engine_settings {
    enum msim_llm_engine engine;
    bool is_static;       /* a batch is served to its end before the next */
    bool chunked_prefill; /* a prompt may be computed in parts */
    bool mixed;           /* prompts and single tokens in one step; else steps
                             of prompts come first */
    bool prefix_caching;
    bool by_priority; /* of classes; else in order of arrival */
    bool no_evict;    /* room for the whole answer is kept from the start, so
                         that nothing is preempted */
    int64_t max_num_seqs;           /* 0: by memory, until settled */
    int64_t max_num_batched_tokens; /* of a step; 0: likewise */
    int64_t block_size;             /* tokens of a block of KV cache */
    int64_t max_model_len;          /* 0: the model's, until settled */
    int64_t wait_steps; /* of TensorRT-LLM: steps that prompts wait for more, */
    double wait_tokens; /* until there are tokens for that share of a step */
    double gpu_memory_utilization; /* share of the memory for weights,
                                      workspace and KV cache */
    bool share_is_of_rest; /* ... for the KV cache, of what weights leave */
    double context_gib;    /* of CUDA's context, NCCL and its own buffers */
    int64_t profiled_seqs; /* whose logits its step of profiling has */
};

/* What a program does untold: a row of data/engines/defaults.csv. */
struct msim_engine_defaults {
    struct msim_engine_settings settings;
    /* max_num_batched_tokens, where it is 0: of GPUs from that memory on, of
     * smaller ones */
    double large_gpu_gib;
    int64_t large_gpu_tokens, small_gpu_tokens;
    /* max_num_seqs, where it is 0: for each longest sequence that the KV cache
     * holds, and within which limits */
    int64_t seqs_a_full_cache, seqs_least, seqs_most;
    /* Of closed loops whose table says one length: outputs are even from that
     * part below to that part above, as sequences get out of step. */
    double output_spread;
};

/* By engine; cmake/engine_rows.py makes C of the rows. */
extern const struct msim_engine_defaults msim_engine_table[MSIM_LLM_ENGINES];

/* Defaults of that program; settle them. */
struct msim_engine_settings msim_engine_settings_of(enum msim_llm_engine e);

/*
 * Put the defaults that go with the machine in place of 0: `gpu_gib` is the
 * memory of one GPU, `kv_tokens` what the KV cache of a replica holds,
 * `longest` the model's longest sequence (0: not stated). What is set stays.
 */
void msim_engine_settings_settle(struct msim_engine_settings *s, double gpu_gib,
                                 int64_t kv_tokens, int64_t longest);

/* ---- app ----------------------------------------------------------------- */
/*
 * An application as APP.json describes it (docs/serving.md): classes of
 * requests, how they arrive, stages that serve them, the flow between stages,
 * and what was promised.
 *
 * Times are ms and rates a second, as in the file. Names are texts of
 * strangers: they leave through the printers alone. Everything lies in the
 * application's arena; what is not stated has its default here already, and
 * `assumed` says which members had none.
 *
 * What is read is consistent: shares add up to 1, edges lead to stages and go
 * in no circle, every promise is for a class that is there.
 */

/* X(name, word of the file) */
#define MSIM_STAGE_KIND_MAP(X)                                                 \
    X(MEASURED, "measured")                                                    \
    X(TOOL, "tool")                                                            \
    X(MODEL, "model")                                                          \
    X(LLM, "llm")
#define MSIM_STAGE_CALL_MAP(X)                                                 \
    X(RPC, "rpc")     /* the worker is held until all calls have answered */   \
    X(QUEUE, "queue") /* it is free after the service */
#define MSIM_ROUTING_MAP(X)                                                    \
    X(SHARED, "shared") /* one queue for all replicas, else one each */        \
    X(LEAST, "least")                                                          \
    X(ROUND, "round")                                                          \
    X(ANY, "random") /* MSIM_ROUTING_RANDOM is of tokens to experts */
#define MSIM_PROMISE_METRIC_MAP(X)                                             \
    X(E2E, "e2e")                                                              \
    X(TTFT, "ttft")                                                            \
    X(TPOT, "tpot")
#define MSIM_ARRIVAL_PROCESS_MAP(X)                                            \
    X(POISSON, "poisson")                                                      \
    X(GAMMA, "gamma")                                                          \
    X(CONSTANT, "constant")                                                    \
    X(CLOSED, "closed")                                                        \
    X(LOG, "log")                                                              \
    X(MMPP, "mmpp")

#define X(name, text) MSIM_STAGE_##name,
enum msim_stage_kind { MSIM_STAGE_KIND_MAP(X) };
#undef X
#define X(name, text) MSIM_CALL_##name,
enum msim_stage_call { MSIM_STAGE_CALL_MAP(X) };
#undef X
#define X(name, text) MSIM_ROUTING_##name,
enum msim_routing { MSIM_ROUTING_MAP(X) };
#undef X
#define X(name, text) MSIM_PROMISE_##name,
enum msim_promise_metric { MSIM_PROMISE_METRIC_MAP(X) };
#undef X
#define X(name, text) MSIM_ARRIVAL_##name,
enum msim_arrival_process { MSIM_ARRIVAL_PROCESS_MAP(X) };
#undef X

#define MSIM_CLASS_ALL MSIM_NONE /* of a promise: of every class */

struct msim_promise {
    uint32_t cls; /* index, or MSIM_CLASS_ALL */
    enum msim_promise_metric metric;
    double percentile; /* 50 to 99.999 */
    double limit_ms;
};

struct msim_app_class {
    const char *name;
    double share;                                 /* of all requests */
    int32_t priority;                             /* 0 is served first */
    struct msim_dist input_tokens, output_tokens; /* NONE: has no tokens */
    /* Mean 1, the same for all classes; NONE: its tokens over their mean, where
     * the classes have tokens, else 1. */
    struct msim_dist size;
    struct {
        int64_t shared_tokens;    /* that prompts of a group begin with */
        int64_t groups;           /* from 1 where shared_tokens is above 0 */
        int64_t distinct_prompts; /* sent again and again; 0: all differ */
    } prefix;
};

struct msim_profile_point {
    double t_s, factor; /* of the rate; linear between points, level beyond */
};

struct msim_arrivals {
    enum msim_arrival_process process;
    double rate;                /* a second; of a LOG 0: as it is */
    double cv;                  /* GAMMA: of the times between arrivals */
    int64_t concurrency;        /* CLOSED: clients */
    struct msim_dist think_ms;  /* CLOSED: from an answer to what is next */
    const char *log;            /* LOG: its path */
    double factor, on_s, off_s; /* MMPP: see serving/app/arrivals.h */
    const struct msim_profile_point *profile; /* times ascending */
    uint32_t n_profile;                       /* 0: a factor of 1 */
};

struct msim_law_point {
    double batch, factor; /* service of a batch over that of one request */
};

/* Of measured, tool and model stages: requests that are served together. */
struct msim_dyn_batching {
    bool on;
    int64_t max_batch;
    double max_wait_ms;
    const struct msim_law_point *law; /* batches ascending, from 1 */
    uint32_t n_law; /* 0: a batch takes as long as one request */
};

struct msim_parallel {
    int64_t tp, pp, dp, ep; /* from 1 */
};

/* One of the two pools of a disaggregated stage. */
struct msim_llm_pool {
    int64_t replicas;
    const char *platform;
    struct msim_parallel parallel;
    struct msim_engine_settings engine;
};

struct msim_disaggregated {
    struct msim_llm_pool prefill, decode;
    double kv_transfer_gbps; /* 10^9 bytes a second between the two */
};

/* Replicas that serve nothing for a time: they start late, fail, or are taken
 * away. */
struct msim_absence {
    double from_s, until_s; /* of the run; until INFINITY: to its end */
    int64_t replicas;
};

/* A pass of a stage's model that was recorded. */
struct msim_recorded_pass {
    const char *file; /* a trace, or a folder of those of one job */
    int64_t batch;    /* samples; 0: the trace tells */
    int64_t tokens;   /* of each; 0: likewise */
    int64_t context;  /* tokens before them; below 0: likewise */
};
struct msim_recorded {
    const struct msim_recorded_pass *of;
    uint32_t n; /* 0: none */
};

struct msim_stage {
    const char *name;
    enum msim_stage_kind kind;
    int64_t replicas, workers; /* workers of one replica */
    enum msim_stage_call call;
    enum msim_routing routing;
    struct msim_dist network_ms; /* one way to the stage; NONE: 0 */
    struct msim_dist service;    /* NONE: not known, or computed (model, llm) */
    const double *class_factor;  /* of the service, one a class */
    double size_power; /* the service goes with the size to that power */
    struct msim_dyn_batching batching;
    const struct msim_absence *absences;
    uint32_t n_absences;
    double price_per_hour, power_w; /* of a GPU (model, llm), else of a
                                       replica; NAN: not stated */

    /* Of model and llm. */
    const char *model; /* a path where it has a '/' or ends in ".json",
                          joined to the file's folder already, else a
                          name of data/models; NULL: recorded passes
                          alone tell (of model) */
    struct msim_recorded prefill; /* of model: any pass */
    const char *platform;         /* as typed: "h100", "h100@stack" */
    enum msim_quant precision;    /* OWN: the model's */
    enum msim_quant kv_cache;     /* OWN or FP8 */
    struct msim_parallel parallel;

    /* Of llm. */
    struct msim_recorded decode;
    struct msim_engine_settings engine;
    const struct msim_disaggregated *disaggregated; /* NULL: not */
};

/* Calls that a visit of `from` makes. */
struct msim_flow_edge {
    uint32_t from, to; /* stages */
    int64_t step;      /* from 1; those of one step at once */
    double prob;
    double copies; /* calls at once: so many, or 1, 2, ... with that mean */
    bool copies_geometric;
    int64_t wait;            /* answers of the step that are enough; 0: all */
    double again;            /* after an answer it is made again; 0: no loop */
    int64_t most;            /* calls in all, of a loop */
    double timeout_ms;       /* until the call is made once more; 0: never */
    int64_t retries;         /* at most */
    const uint64_t *classes; /* bits; NULL: all. msim_flow_edge_takes() */
};

/* A member that the file does not have, by its path, and what was taken. */
struct msim_assumed {
    const char *path, *value, *why;
};

struct msim_app {
    const char *path, *name, *currency;
    const struct msim_promise *promises;
    uint32_t n_promises;
    const struct msim_app_class *classes;
    uint32_t n_classes;
    struct msim_arrivals arrivals;
    struct msim_stage *stages; /* `replicas` may be changed (a plan) */
    uint32_t n_stages;
    const struct msim_flow_edge *edges; /* by (from, step), then as written */
    uint32_t n_edges;
    uint32_t start; /* stage */
    const struct msim_assumed *assumed;
    uint32_t n_assumed;
    struct msim_arena arena;
};

/*
 * Read APP.json. On success `app` goes to msim_app_release(); on failure it
 * holds nothing: EIO, ESYNTAX, EFORMAT naming the member by its path, ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_app_read(struct msim_app *app, const char *path,
                               struct msim_error *err);
/* The same of a file that was read already, and may have been changed; `json`
 * stays the caller's. */
MSIM_MUST_CHECK
enum msim_status msim_app_of_json(struct msim_app *app, const cJSON *json,
                                  const char *path, struct msim_error *err);
void msim_app_release(struct msim_app *app);

/* The index, or MSIM_NONE. */
uint32_t msim_app_stage_find(const struct msim_app *app, const char *name);
uint32_t msim_app_class_find(const struct msim_app *app, const char *name);

/* Which member of a stage holds an engine's argument `name` ("tp", "tp_size":
 * "parallel"; "max_num_seqs": "batching"); NULL: none does. */
const char *msim_app_engine_member(const char *name);

/* Edges of stage `from`, in order: `*n` of them from the first one on. */
const struct msim_flow_edge *msim_app_edges_of(const struct msim_app *app,
                                               uint32_t from, uint32_t *n);

/* Does a request of that class go this way? */
static inline bool msim_flow_edge_takes(const struct msim_flow_edge *e,
                                        uint32_t cls)
{
    return !e->classes || (e->classes[cls / 64] >> (cls % 64) & 1);
}

/* The word of the file. */
const char *msim_stage_kind_text(enum msim_stage_kind k);
const char *msim_promise_metric_text(enum msim_promise_metric m);
const char *msim_arrival_process_text(enum msim_arrival_process p);

/* ---- serving plan -------------------------------------------------------- */
/*
 * How many replicas each stage of an application has, as PLAN.json says (schema
 * mystique-sim/serving-plan/1).
 *
 *     {"stages": {"front": {"replicas": 3}, "search": {"replicas": 8}}}
 *
 * or, in short, {"replicas": {"front": 3, "search": 8}}. A stage that a plan
 * does not name keeps what the application says. What else `size` writes into
 * a plan is known, and not looked at here.
 */

struct msim_serving_plans {
    uint32_t n, n_stages;
    int64_t *replicas;  /* n plans of n_stages numbers */
    const char **names; /* of each: its "name", else its line: "1" */
    struct msim_arena arena;
};

/*
 * The replicas of `app` under the plan of `path`, into `app->n_stages` numbers.
 * EFORMAT by the member's path: a stage that is not there, too; EIO, ESYNTAX,
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_read(int64_t *replicas,
                                        const struct msim_app *app,
                                        const char *path,
                                        struct msim_error *err);

/*
 * A plan a line. On success `plans` goes to msim_serving_plans_release(), on
 * failure it holds nothing; messages begin with the line.
 */
MSIM_MUST_CHECK
enum msim_status msim_serving_plans_read(struct msim_serving_plans *plans,
                                         const struct msim_app *app,
                                         const char *path,
                                         struct msim_error *err);
void msim_serving_plans_release(struct msim_serving_plans *plans);

#endif
