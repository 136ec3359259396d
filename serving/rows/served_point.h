/*
 * serving/rows/served_point.h - a row of a table of served models: what was
 * served, on what, how it was split, and how many asked.
 *
 * Columns, by the first of their names that the table has:
 *
 *     model            platform, gpu      backend, engine (vllm)
 *     isl, input_tokens (128)             osl, output_tokens (128)
 *     batch_size, concurrency, batch (1): clients of one replica
 *     tp_size, tp, gpus; pp_size; attention_dp_size; moe_tp_size; moe_ep_size
 *     gemm_quant, precision; moe_quant; kv_cache_dtype; weight_bits: 16, 8, 4
 *     prefill_SIZE, decode_SIZE with batch_size, num_workers, tp_size, pp_size,
 *     attention_dp_size, moe_tp_size, moe_ep_size where mode is "disagg"
 *     kv_transfer_gbps (50)
 *     random_range_ratio: prompts and outputs are even from that part of what
 *     is stated on, which is the longest (as InferenceMAX states its lengths);
 *     1: all are equal
 *
 * Empty sizes, and 0, are not stated. All other columns are the user's.
 */
#ifndef MSIM_SERVING_ROWS_SERVED_POINT_H
#define MSIM_SERVING_ROWS_SERVED_POINT_H
#include "core/base/csv.h"
#include "serving/llm/llm_words.h"
#include "serving/rows/closed_run.h"

#include <stdbool.h>

/* X(name, the columns that it stands in) */
#define MSIM_POINT_COLUMN_MAP(X)                                               \
    X(MODEL, "model")                                                          \
    X(PLATFORM, "platform", "gpu")                                             \
    X(BACKEND, "backend", "engine")                                            \
    X(MODE, "mode")                                                            \
    X(ISL, "isl", "input_tokens")                                              \
    X(OSL, "osl", "output_tokens")                                             \
    X(BATCH, "batch_size", "concurrency", "batch")                             \
    X(TP, "tp_size", "tp", "gpus")                                             \
    X(PP, "pp_size", "pp")                                                     \
    X(DP, "attention_dp_size", "dp")                                           \
    X(MOE_TP, "moe_tp_size")                                                   \
    X(EP, "moe_ep_size", "ep")                                                 \
    X(GEMM, "gemm_quant", "precision")                                         \
    X(MOE, "moe_quant")                                                        \
    X(KV, "kv_cache_dtype")                                                    \
    X(BITS, "weight_bits")                                                     \
    X(PREFILL_BATCH, "prefill_batch_size")                                     \
    X(PREFILL_WORKERS, "prefill_num_workers")                                  \
    X(PREFILL_TP, "prefill_tp_size")                                           \
    X(PREFILL_PP, "prefill_pp_size")                                           \
    X(PREFILL_DP, "prefill_attention_dp_size")                                 \
    X(PREFILL_MOE_TP, "prefill_moe_tp_size")                                   \
    X(PREFILL_EP, "prefill_moe_ep_size")                                       \
    X(DECODE_BATCH, "decode_batch_size")                                       \
    X(DECODE_WORKERS, "decode_num_workers")                                    \
    X(DECODE_TP, "decode_tp_size")                                             \
    X(DECODE_PP, "decode_pp_size")                                             \
    X(DECODE_DP, "decode_attention_dp_size")                                   \
    X(DECODE_MOE_TP, "decode_moe_tp_size")                                     \
    X(DECODE_EP, "decode_moe_ep_size")                                         \
    X(TRANSFER, "kv_transfer_gbps")                                            \
    X(RANGE, "random_range_ratio")

enum msim_point_column {
#define X(name, ...) MSIM_POINT_##name,
    MSIM_POINT_COLUMN_MAP(X)
#undef X
        MSIM_POINT_COLUMNS
};

struct msim_point_columns {
    uint32_t of[MSIM_POINT_COLUMNS]; /* UINT32_MAX: the table has none */
};

/* EFORMAT where there is no model or no platform; names `path`. */
MSIM_MUST_CHECK
enum msim_status msim_point_columns_find(struct msim_point_columns *columns,
                                         struct msim_csv *csv, const char *path,
                                         struct msim_error *err);

/* Replicas of one kind. */
struct msim_point_side {
    int64_t workers, batch; /* replicas; sequences of one of them */
    int64_t tp, pp, dp, moe_tp, ep;
};

struct msim_served_point {
    const char *model, *platform; /* fields of the row */
    enum msim_llm_engine engine;
    enum msim_quant products, experts, kv;
    int64_t isl, osl;
    int64_t clients;
    double range;                        /* random_range_ratio; 0: not stated */
    struct msim_tokens prompts, outputs; /* when it is settled */
    /* Of the engine; 0: its defaults. */
    int64_t max_num_batched_tokens, wait_steps;
    double gpu_memory_utilization, wait_tokens;
    struct msim_point_side serve;  /* all, or prefill alone */
    struct msim_point_side decode; /* 0 workers: not disaggregated */
    double kv_transfer_gbps;       /* GB/s */
};

#define MSIM_POINT_TEXT         640
#define MSIM_POINT_WORKERS_MOST 256 /* replicas of one kind */

/* Read a row; false where it cannot be: `reason` says the column, what stands
 * there and what was wanted. `defaults`, both of MSIM_POINT_TEXT bytes, gets
 * what was assumed, separated by "; ". */
bool msim_served_point_read(struct msim_served_point *p,
                            const struct msim_point_columns *columns,
                            char *const *fields, char *defaults, char *reason);

/* Lengths, where all is stated that will be. */
void msim_served_point_settle(struct msim_served_point *p, char *defaults);

/* More text behind what `text` of MSIM_POINT_TEXT bytes has, after "; ". */
void msim_point_note(char *text, const char *fmt, ...) MSIM_PRINTF(2, 3);

#endif
