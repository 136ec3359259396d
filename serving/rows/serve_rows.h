/*
 * serving/rows/serve_rows.h - tables of served models, each row a simulated
 * closed loop.
 */
#ifndef MSIM_SERVING_ROWS_SERVE_ROWS_H
#define MSIM_SERVING_ROWS_SERVE_ROWS_H
#include "core/base/containers.h"
#include "core/base/csv.h"
#include "core/base/status.h"
#include "plan/describe/describe.h"
#include "serving/engine/replica.h"
#include "serving/llm/llm.h"
#include "serving/llm/llm_law.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- closed run ---------------------------------------------------------- */
/*
 * A simulated closed loop, as benchmarks of engines run it: so many clients
 * that ask at once, each again when it has been answered, MSIM_CLOSED_WAVES
 * times in all. MSIM_CLOSED_RUN of these are simulated; the second and later
 * ones are alike, and stand for the rest.
 *
 * A request reaches the engine a while after it was asked (HTTP, tokens of its
 * text, scheduling), exponentially distributed; its prompt and its output have
 * any length of their ranges, all alike. Where lengths differ, clients soon are
 * out of step, and a request waits for few others' prompts. Where they do not,
 * an engine that prefills first keeps all in step, as nothing decodes before
 * the last of a burst has its first token.
 */

/* The usual number of requests is ten a client (AIPerf's and vLLM's guides,
 * InferenceMAX: num-prompts = 10 x concurrency). */
#define MSIM_CLOSED_WAVES 10
#define MSIM_CLOSED_RUN   4

struct msim_tokens {
    double least, most; /* 1 or more when rounded */
};

static inline double msim_tokens_mean(struct msim_tokens t)
{
    return (t.least + t.most) / 2;
}

struct msim_closed_loop_setup {
    struct msim_deployment_setup served;
    uint32_t clients;
    struct msim_tokens prompts, outputs;
    double arrival_us; /* until a request is at the engine, mean */
};

struct msim_closed_figures { /* means over requests */
    double ttft_ms;
    double tpot_ms; /* 0 where there is one token */
};

/* ELIMIT where a prompt does not fit; else as msim_deployment_new(). The same
 * arguments give the same figures. */
MSIM_MUST_CHECK
enum msim_status msim_closed_run(struct msim_closed_figures *out,
                                 const struct msim_closed_loop_setup *setup);

/* ---- served point -------------------------------------------------------- */
/*
 * A row of a table of served models: what was served, on what, how it was
 * split, and how many asked.
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

/* ---- point answer -------------------------------------------------------- */
/*
 * What a served point takes: a simulated closed loop on its engine, with the
 * law's times of steps.
 *
 * Requests take the law's `arrival_us` until they are at the engine.
 */

struct msim_point_time { /* ms; 90 % interval */
    double ms, low, high;
};

struct msim_point_answer {
    bool answered;
    struct msim_point_time ttft, tpot; /* tpot 0: one token */
    bool uses_rows;
    char defaults[MSIM_POINT_TEXT]; /* what was assumed */
    char reason[MSIM_POINT_TEXT];   /* why it is not answered */
};

/* What all points share; read only. */
struct msim_point_world {
    const struct msim_llm_law *law;
    const struct msim_described *model;
    const struct msim_platform *platform;
};

/* Served models that were made for the points before, for those that are split
 * alike; zeroed at the start. */
struct msim_point_shelf {
    struct msim_llm *llm[2];
    struct msim_llm_setup setup[2];
};

/* How the replicas of `side` are set up, with what the engine takes where the
 * point does not say it. The setup has no padding that is not zero: setups that
 * are alike are equal as bytes. */
void msim_point_setup(struct msim_llm_setup *out,
                      const struct msim_served_point *p,
                      const struct msim_point_side *side,
                      const struct msim_point_world *world);

/* `a` has the defaults of reading the row already. A point that cannot be
 * answered has a reason; ENOMEM alone is a failure. */
MSIM_MUST_CHECK
enum msim_status msim_point_answer_make(struct msim_point_answer *a,
                                        const struct msim_served_point *p,
                                        const struct msim_point_world *world,
                                        struct msim_point_shelf *shelf);
void msim_point_shelf_release(struct msim_point_shelf *shelf);

/* ---- point benchmark ----------------------------------------------------- */
/*
 * How well-known benchmarks set up what they measure, where a row of a table
 * does not say it.
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

/* ---- point table --------------------------------------------------------- */
/*
 * A table of served points in memory, with the models and platforms that its
 * rows name, and their answers.
 */

/* What a name in the table stands for; a name that stands for nothing has a
 * reason, which all its rows get. */
struct msim_point_model {
    const char *name;
    char reason[MSIM_POINT_TEXT];
    struct msim_described described;
};

struct msim_point_platform {
    const char *name;
    char reason[MSIM_POINT_TEXT];
    struct msim_platform *platform; /* owned */
};

struct msim_point_row {
    char *const *fields; /* as many as the table has columns */
    struct msim_served_point point;
    const struct msim_point_model *model;
    const struct msim_point_platform *platform;
    struct msim_point_answer answer;
};

struct msim_point_table {
    struct msim_arena arena;
    char *const *header;
    uint32_t columns;
    struct msim_point_row *rows;
    uint32_t n, cap;
    uint32_t *order; /* of rows, those that are served alike together */
    struct msim_point_model **models;
    uint32_t n_models, cap_models;
    struct msim_point_platform **platforms;
    uint32_t n_platforms, cap_platforms;
    struct msim_llm_law *law;
    struct msim_point_benchmarks benchmarks;
};

/* Release in any case. Statuses of msim_serve_rows(). */
MSIM_MUST_CHECK
enum msim_status msim_point_table_read(struct msim_point_table *t,
                                       const char *path, const char *models,
                                       const char *data_dir,
                                       struct msim_error *err);
void msim_point_table_release(struct msim_point_table *t);

/* 0: one served model serves both. */
int msim_point_row_compare(const struct msim_point_row *a,
                           const struct msim_point_row *b);

void msim_point_table_csv(const struct msim_point_table *t, FILE *out);
void msim_point_table_text(const struct msim_point_table *t, FILE *out);

/* ---- serve rows ---------------------------------------------------------- */
/*
 * A table of served models, answered row by row.
 *
 * Rows are copied with ttft_ms, ttft_low_ms, ttft_high_ms, tpot_ms,
 * tpot_low_ms, tpot_high_ms, uses_rows (1: constants were fitted on rows of
 * that model or GPU), defaults (what was assumed) and reason (why there is no
 * answer). Where the table has measured ttft_ms and tpot_ms, they are named
 * measured_ttft_ms and measured_tpot_ms in the copy; no prediction reads them.
 */

struct msim_serve_rows_wish {
    const char *path;     /* of the table; "-": standard input */
    const char *models;   /* folder of config.json files; NULL: data_dir's */
    const char *data_dir; /* of platforms and laws */
    bool csv;             /* else lines for people */
    uint32_t threads;     /* 1 or more; the answers do not depend on it */
};

/* EFORMAT, EIO as msim_csv_open(), msim_point_columns_find() and
 * msim_llm_law_load(); ENOMEM. A row that cannot be answered is no failure;
 * where none can it is ECHECK, once all is written. */
MSIM_MUST_CHECK
enum msim_status msim_serve_rows(const struct msim_serve_rows_wish *wish,
                                 FILE *out, struct msim_error *err);

#endif
