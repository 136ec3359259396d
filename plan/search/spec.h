/*
 * plan/search/spec.h - the question of a plan: a workload, what it may run on,
 * how it may be split, what it may cost.
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
 * "model", "global_batch", "platforms" and "gpus" are wanted. A member of a
 * strategy that is not given takes its usual values.
 */
#ifndef MSIM_PLAN_SEARCH_SPEC_H
#define MSIM_PLAN_SEARCH_SPEC_H
#include "plan/search/spec_dimension.h"

#define MSIM_SPEC_PLATFORMS 24
/* Every feasible point is kept, and a line of points.csv: some hundred bytes
 * each. */
#define MSIM_SPEC_MOST_POINTS 1e8

struct msim_spec_platform {
    char name[256];
    char network[256]; /* "": the platform's own */
    double price;      /* of a GPU and hour; 0: not known */
    double power_w;    /* of a GPU with its share of the server; 0: not known */
};

struct msim_spec {
    char model_name[256];
    struct msim_described model;
    int64_t sequence, global_batch;
    double tokens; /* of the whole training; 0: not given */
    struct msim_spec_platform platforms[MSIM_SPEC_PLATFORMS];
    uint32_t n_platforms;
    struct msim_spec_values values[MSIM_SPEC_DIMENSIONS];
    /* What is not given is INFINITY. */
    double most_days, most_cost, most_memory_gib, most_gpus;
    double least_tokens_per_second; /* 0: not given */
    char currency[16];              /* of prices; "": not given */
    double most_points;
};

/*
 * Read the spec at `path`; models by name from `data_dir`. EFORMAT names the
 * member by its path, what was found and what was wanted. ELIMIT where there
 * are more points than "most_points", with their number; that bound is itself
 * at most MSIM_SPEC_MOST_POINTS.
 */
MSIM_MUST_CHECK
enum msim_status msim_spec_read(struct msim_spec *spec, const char *path,
                                const char *data_dir, struct msim_error *err);

/* Whether it limits time, cost, throughput or GPUs. */
bool msim_spec_is_limited(const struct msim_spec *spec);

/* How many points the spec has. */
double msim_spec_points(const struct msim_spec *spec);

#endif
