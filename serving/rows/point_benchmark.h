/*
 * serving/rows/point_benchmark.h - how well-known benchmarks set up what they
 * measure, where a row of a table does not say it.
 *
 * A table of CSV has a fact a row: whose rows it is about, and a setting. Empty
 * columns are of any.
 *
 *     shapes     "1024x1024 1024x8192": prompt and output tokens, as stated
 *     engine, model (the name that its file begins with), platform
 *     types      of weights of linear layers (gemm_quant)
 *     tp_below   more ranks, or as many, are others
 *     setting, value     see below
 *     source     where it stands
 *
 * Of two that say the same setting the later one counts.
 */
#ifndef MSIM_SERVING_ROWS_POINT_BENCHMARK_H
#define MSIM_SERVING_ROWS_POINT_BENCHMARK_H
#include "serving/rows/served_point.h"

/* X(name, the word): of struct msim_served_point. Words of engines are those
 * of vLLM where all have such a setting, else TensorRT-LLM's. */
#define MSIM_POINT_SETTING_MAP(X)                                              \
    X(RANGE, "random_range_ratio")                                             \
    X(KV, "kv_cache_dtype")                                                    \
    X(TOKENS, "max_num_batched_tokens")                                        \
    X(MEMORY, "gpu_memory_utilization")                                        \
    X(WAIT_STEPS, "batch_wait_timeout_iters")                                  \
    X(WAIT_TOKENS, "batch_wait_max_tokens_ratio")

enum msim_point_setting {
#define X(name, text) MSIM_POINT_SETTING_##name,
    MSIM_POINT_SETTING_MAP(X)
#undef X
        MSIM_POINT_SETTINGS
};

struct msim_point_benchmarks {
    struct msim_point_benchmark *of; /* owned */
    uint32_t n, cap;
};

/* EFORMAT names the line of `path`, what stands there and what was wanted.
 * Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_point_benchmarks_read(struct msim_point_benchmarks *b,
                                            const char *path,
                                            struct msim_error *err);
void msim_point_benchmarks_release(struct msim_point_benchmarks *b);

/* Settings of `p` that are not stated, of a model and a GPU by these names;
 * `defaults` of MSIM_POINT_TEXT bytes gets them. */
void msim_point_benchmarks_apply(const struct msim_point_benchmarks *b,
                                 struct msim_served_point *p, const char *model,
                                 const char *platform, char *defaults);

#endif
