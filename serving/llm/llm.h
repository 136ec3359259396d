/*
 * serving/llm/llm.h - a served model: what it takes of its GPUs' memory, and
 * the times of its steps.
 *
 * A described model on a platform under an engine, split over tp x pp ranks
 * (attention over tp, or sequences over dp groups of tp ranks; experts over
 * ep x moe_tp of all tp x dp ranks). The works of a step (step_works.h) are
 * priced by the platform's models and summed by kind; the law (llm_law.h) has
 * a factor for each kind, and the host's time a step and a sequence.
 */
#ifndef MSIM_SERVING_LLM_LLM_H
#define MSIM_SERVING_LLM_LLM_H
#include "core/base/status.h"
#include "plan/describe/described.h"
#include "serving/llm/llm_words.h"
#include "serving/llm/llm_step.h"

struct msim_platform; /* models/platform/platform.h */
struct msim_llm_law;  /* serving/llm/llm_law.h */

/* What is 0 has its default. Pointers must live as long as what is made. */
struct msim_llm_setup {
    const struct msim_described *model;
    const struct msim_platform *platform;
    const struct msim_llm_law *law; /* NULL: of nothing fitted */
    enum msim_llm_engine engine;
    enum msim_quant products, experts; /* OWN: the model's */
    enum msim_quant kv;                /* OWN or BF16: 16 bits; FP8 */
    int64_t tp, pp, dp;                /* 1 */
    int64_t ep, moe_tp;                /* 1; tp x dp / ep */
    double gpu_memory_utilization;     /* 0.9 */
    int64_t block_size;                /* 16 */
    int64_t max_num_batched_tokens;    /* 8192: the workspace is of so many */
};

/* Bytes on one GPU, the one with most. */
struct msim_llm_memory {
    double has, usable;        /* of the GPU; what the share of it leaves */
    double weights, workspace; /* activations, graphs and the context, too */
    double kv_token;           /* one token of one sequence, in all layers */
    double kv_sequence;        /* whatever its length: of linear layers */
    int64_t kv_tokens;         /* of the replica, whole blocks */
};

struct msim_llm; /* opaque; not thread-safe: one a thread */

/*
 * ECHECK where the model does not fit its GPUs ("needs 131.4 GiB, has 72.0
 * GiB"); EUSAGE where it cannot be split so; ENOMODEL where the platform cannot
 * run its works; ENOMEM. On success `*out` is the caller's.
 */
MSIM_MUST_CHECK
enum msim_status msim_llm_new(struct msim_llm **out,
                              const struct msim_llm_setup *setup,
                              struct msim_error *err);
void msim_llm_free(struct msim_llm *m); /* accepts NULL */

/* For an engine; valid as long as `m`. */
struct msim_llm_times msim_llm_times_of(struct msim_llm *m);
const struct msim_llm_memory *msim_llm_memory_of(const struct msim_llm *m);

/* What is predicted of it. */
enum msim_llm_figure { MSIM_LLM_TPOT, MSIM_LLM_TTFT, MSIM_LLM_RATE };
/* Half of the 90 % interval of the logarithm of a figure. */
double msim_llm_half(const struct msim_llm *m, enum msim_llm_figure f);
/* Whether the law's constants saw rows of this model or this GPU. */
bool msim_llm_uses_rows(const struct msim_llm *m);

#endif
