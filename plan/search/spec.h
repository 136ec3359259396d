/*
 * plan/search/spec.h - the question of a plan: its dimensions, and the
 * platforms it names.
 */
#ifndef MSIM_PLAN_SEARCH_SPEC_H
#define MSIM_PLAN_SEARCH_SPEC_H
#include "core/json/fields.h"
#include "models/platform/platform.h"
#include "plan/describe/strategy.h"

/* ---- spec dimension ------------------------------------------------------ */
/*
 * A dimension of a spec: a member of a strategy, with one value or several that
 * are tried.
 *
 *     "tp": [1, 2, 4]           three values
 *     "compile": true           one
 *     "lora_rank": [null, 64]   without adapters, and with
 *
 * Thread-safe; nothing is allocated.
 */

#define MSIM_SPEC_DIMENSIONS (13 + MSIM_TECHNIQUE_COUNT) /* at most */
#define MSIM_SPEC_VALUES     24

/* Places beside those of a strategy (enum msim_given): what a traced step alone
 * may be changed by, as the index of a word, or a number; 0: as traced. */
enum msim_spec_place {
    MSIM_SPEC_SHARD = MSIM_GIVEN_COUNT, /* how data parallel ranks share it */
    MSIM_SPEC_DTYPE,                    /* "precision" */
    MSIM_SPEC_BITS,                     /* "optimizer_bits" */
    MSIM_SPEC_LAYERS,                   /* numbers, from here on */
    MSIM_SPEC_HIDDEN,
    MSIM_SPEC_PLACES
};

/* As msim_strategy_put() takes them. */
struct msim_spec_values {
    int64_t v[MSIM_SPEC_VALUES];
    uint32_t n;
};

struct msim_spec_dimension {
    const char *name;         /* of the member */
    int place;                /* enum msim_given or msim_spec_place */
    const char *const *words; /* of a traced step: what is accepted, the end is
                                 NULL; NULL: whole numbers */
    uint32_t n_usual;         /* 0: the file must say it */
    int64_t usual[8];         /* values where the file has none */
};

/* Dimension `d` of a described model, or a traced step; the GPUs are the last,
 * after that NULL. */
const struct msim_spec_dimension *msim_spec_dimension_at(bool traced,
                                                         uint32_t d);
uint32_t msim_spec_dimension_count(bool traced);

/* A value as the file may have it; "" for what is not stated. */
void msim_spec_value_text(const struct msim_spec_dimension *d, int64_t v,
                          char *text, size_t size);

/* Read the values of all dimensions from the spec's members; what is wrong is
 * refused by its path, "tp[2]". */
void msim_spec_dimensions_read(struct msim_spec_values *values, bool traced,
                               struct msim_fields *f);

/* ---- spec ---------------------------------------------------------------- */
/*
 * The question of a plan: a workload, what it may run on, how it may be split,
 * what it may cost.
 *
 *     {"model": "llama3-70b", "sequence": 8192, "global_batch": 1024,
 *      "tokens": 1e12, "precision": ["bf16", "fp8"],
 *      "platforms": [{"name": "h100", "price_per_gpu_hour": 2.5,
 *                     "power_w": 1000, "network": "infiniband-ndr400"}],
 *      "gpus": [256, 512],
 *      "tp": [1, 2, 4, 8], "pp": [1, 2, 4, 8], "zero": [1, 3],
 *      "micro_batch": [1, 2, 4], "recompute": ["none", "full"],
 *      "optimizer_bits": [8, 32],
 *      "limits": {"days": 30, "cost": 2e6, "gpus": 512, "memory_gib": 70,
 *                 "tokens_per_second": 1e6},
 *      "currency": "EUR",
 *      "most_points": 1000000}
 *
 * or of a traced step, whose work is counted in samples, or, where it answers
 * requests, in those:
 *
 *     {"trace": "et.json.gz", "samples": 1e9, "platforms": ["h100"],
 *      "gpus": [8, 16], "shard": ["ddp", "zero3"], "micro_batch": [32, 64]}
 *
 * "model" with "global_batch", or "trace"; "platforms" and "gpus" are wanted. A
 * member of a strategy that is not given takes its usual values.
 */

#define MSIM_SPEC_PLATFORMS 24
/* Every feasible point is kept, and a line of points.csv: some hundred bytes
 * each. */
#define MSIM_SPEC_MOST_POINTS 1e8
/* Each is a simulation of its own. */
#define MSIM_SPEC_MOST_TRACED 1e6

struct msim_spec_platform {
    char name[256];
    char network[256]; /* "": the platform's own */
    double price;      /* of a GPU and hour; 0: not known */
    double power_w;    /* of a GPU with its share of the server; 0: not known */
};

#define MSIM_SPEC_TRACES 16

/* What work is counted in. X(name, the word) */
#define MSIM_SPEC_UNIT_MAP(X)                                                  \
    X(TOKENS, "tokens")                                                        \
    X(SAMPLES, "samples")                                                      \
    X(REQUESTS, "requests")

enum msim_spec_unit {
#define X(name, text) MSIM_SPEC_UNIT_##name,
    MSIM_SPEC_UNIT_MAP(X)
#undef X
};
const char *msim_spec_unit_text(enum msim_spec_unit u);

struct msim_spec {
    const char *file; /* the spec's own, as msim_spec_of_json() got it */
    char name[256];   /* of the model, or the trace */
    struct msim_described model;
    bool traced;
    char trace[MSIM_SPEC_TRACES][512]; /* paths; relative ones of the file are
                                          those in the spec's folder */
    uint32_t n_traces;
    char host[256]; /* of a traced step; "": the trace's own, or generic */
    int64_t traced_batch;     /* of the traced step; 0: the trace says it */
    int64_t sequence;         /* 1 of a traced step */
    int64_t global_batch;     /* 0: what a point makes it, of a traced step */
    enum msim_spec_unit unit; /* of a traced step: what the file counts in, or
                            samples */
    bool unit_given;
    char unit_member[64]; /* that says so: "limits.latency_ms" */
    double total;         /* units of all the work; 0: not given */
    struct msim_spec_platform platforms[MSIM_SPEC_PLATFORMS];
    uint32_t n_platforms;
    struct msim_spec_values values[MSIM_SPEC_DIMENSIONS];
    /* What is not given is INFINITY. */
    double most_days, most_cost, most_memory_gib, most_gpus;
    double most_latency_us;
    double least_rate; /* units a second; 0: not given */
    char currency[16]; /* of prices; "": not given */
    double most_points;
};

/*
 * Read the spec `json` of the file at `path`, both of which stay the caller's;
 * models by name from `data_dir`. EFORMAT names the member by its path, what
 * was found and what was wanted. ELIMIT where there are more points than
 * "most_points", with their number; that bound is itself at most
 * MSIM_SPEC_MOST_POINTS, or MSIM_SPEC_MOST_TRACED.
 */
MSIM_MUST_CHECK
enum msim_status msim_spec_of_json(struct msim_spec *spec, const cJSON *json,
                                   const char *path, const char *data_dir,
                                   struct msim_error *err);

/* Does the batch of a step differ from point to point? */
bool msim_spec_batch_varies(const struct msim_spec *spec);

/* The traced step answers requests: cost is that of MSIM_SPEC_REQUESTS, or,
 * where so many a second are wanted, of an hour. */
#define MSIM_SPEC_REQUESTS 1e6
void msim_spec_serve(struct msim_spec *spec);

/* Is cost that of an hour, since a service has no end? */
bool msim_spec_is_hourly(const struct msim_spec *spec);

/* The numbers of GPUs that are tried. */
const struct msim_spec_values *msim_spec_gpus(const struct msim_spec *spec);

/* Whether it limits time, cost, throughput or GPUs. */
bool msim_spec_is_limited(const struct msim_spec *spec);

/* How many points the spec has. */
double msim_spec_points(const struct msim_spec *spec);

/* ---- plan platforms ------------------------------------------------------ */
/* The platforms of a spec, with their networks. */

struct msim_plan_platforms {
    struct msim_platform *of[MSIM_SPEC_PLATFORMS];
    struct msim_network networks[MSIM_SPEC_PLATFORMS];
};

/* EUNKNOWN names the member of the spec, and what is known. Release in any
 * case. */
MSIM_MUST_CHECK
enum msim_status msim_plan_platforms_load(struct msim_plan_platforms *out,
                                          const struct msim_spec *spec,
                                          const char *data_dir,
                                          struct msim_error *err);
void msim_plan_platforms_release(struct msim_plan_platforms *p);

#endif
