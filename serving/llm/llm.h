/*
 * serving/llm/llm.h - a served model: how it is served, what it holds on its
 * GPUs, and one step of it.
 */
#ifndef MSIM_SERVING_LLM_LLM_H
#define MSIM_SERVING_LLM_LLM_H
#include "core/base/status.h"
#include "plan/describe/describe.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- llm words ----------------------------------------------------------- */
/* The words for engines of LLMs and for the types of their weights. */

/* X(name, the word) */
#define MSIM_LLM_ENGINE_MAP(X)                                                 \
    X(VLLM, "vllm")                                                            \
    X(SGLANG, "sglang")                                                        \
    X(TRTLLM, "trtllm")

enum msim_llm_engine {
#define X(name, text) MSIM_LLM_##name,
    MSIM_LLM_ENGINE_MAP(X)
#undef X
        MSIM_LLM_ENGINES
};

/*
 * X(name, the word). Of weights and, but for the 4-bit ones with 16-bit
 * activations (W4A16), of the activations that they are multiplied with.
 */
#define MSIM_QUANT_MAP(X)                                                      \
    X(OWN, "")                /* as the model's files have them */             \
    X(BF16, "bf16")           /* 16 bits */                                    \
    X(FP8, "fp8")             /* one scale a tensor or a row */                \
    X(FP8_BLOCK, "fp8_block") /* one a block of 128 x 128 */                   \
    X(NVFP4, "nvfp4")         /* 4 bits, one scale a 16 */                     \
    X(MXFP4, "mxfp4")         /* 4 bits, 16-bit arithmetic; gpt-oss */         \
    X(INT8, "int8_wo")        /* 8 bits, 16-bit arithmetic */                  \
    X(INT4, "int4_wo")        /* 4 bits, 16-bit arithmetic */

enum msim_quant {
#define X(name, text) MSIM_QUANT_##name,
    MSIM_QUANT_MAP(X)
#undef X
        MSIM_QUANTS
};

/* The engine's word. */
const char *msim_llm_engine_text(enum msim_llm_engine e);
/* MSIM_LLM_ENGINES for no known word; NULL is none. */
enum msim_llm_engine msim_llm_engine_parse(const char *word);

const char *msim_quant_text(enum msim_quant q);
/* MSIM_QUANTS for no known word. NULL, "" and "auto" are OWN; "fp16", "int4",
 * "int8" and some more spellings are read, too. */
enum msim_quant msim_quant_parse(const char *word);

/* ---- llm setup ----------------------------------------------------------- */
/* How a model is served, and what it takes of its GPUs' memory. */

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
    bool share_is_of_rest;             /* ... is of what is left beside weights
                                          and workspace, for the cache */
    double context_gib;                /* beside tensors; 0: none */
    int64_t profiled_seqs;             /* whose logits the workspace has */
    int64_t block_size;                /* 16 */
    int64_t max_num_batched_tokens;    /* 8192: the workspace is of so many */
    double prompt_factor, decode_factor; /* of what prompts and decoding take:
                                            recorded passes over the law; 1 */
};

/* Bytes on one GPU, the one with most. */
struct msim_llm_memory {
    double has, usable;        /* of the GPU; what the share of it leaves */
    double weights, workspace; /* activations, graphs and the context, too */
    double kv_token;           /* one token of one sequence, in all layers */
    double kv_sequence;        /* of one, besides: states, full windows */
    int64_t kv_window;         /* tokens from which on those are full */
    int64_t kv_tokens;         /* of the replica, whole blocks */
};

/* What is predicted of it. */
enum msim_llm_figure { MSIM_LLM_TPOT, MSIM_LLM_TTFT, MSIM_LLM_FIGURES };

/* ---- llm rank ------------------------------------------------------------ */
/*
 * A served model as one GPU has it: a setup with all defaults, split and
 * checked.
 */

struct msim_llm_rank {
    struct msim_llm_setup s;
    const struct msim_described *m; /* s.model */
    const char *framework;          /* whose kernels run */
    /* Types of the linear layers of attention and dense layers, of shared
     * experts and of experts; never OWN. */
    enum msim_quant attention, dense, shared, experts;
    int64_t heads, kv_heads; /* of this rank */
    int64_t gpus_a_node;
    /* Layers by their attention: of all keys, of a window, with a state; and
     * by what follows. Of the whole model: tokens go through all stages. */
    double full_layers, window_layers, linear_layers;
    double dense_layers, moe_layers;
    double kv_bytes; /* of a number in the cache */
};

/* EUSAGE, saying what cannot be split by what. */
MSIM_MUST_CHECK
enum msim_status msim_llm_rank_init(struct msim_llm_rank *r,
                                    const struct msim_llm_setup *setup,
                                    struct msim_error *err);

/* Bytes of one weight of that type, its share of the scales included. */
double msim_quant_bytes(enum msim_quant q);

/* ---- llm memory ---------------------------------------------------------- */
/* What a served model holds on its GPUs. */

/*
 * Fill in `m`. ECHECK where weights and workspace leave no room for a block of
 * the cache: what one GPU needs and has, in GiB.
 */
MSIM_MUST_CHECK
enum msim_status msim_llm_memory_make(struct msim_llm_memory *m,
                                      const struct msim_llm_rank *r,
                                      struct msim_error *err);

/* What a sequence takes besides its tokens, as so many tokens of the cache; 0
 * where the cache has nothing else. */
int64_t msim_llm_memory_sequence_tokens(const struct msim_llm_memory *m);

/* ---- llm step ------------------------------------------------------------ */
/*
 * One step of an LLM engine: what it runs, and how long it takes.
 *
 * A step gives every sequence that decodes one token and computes chunks of
 * prompts. An engine (serving/engine) decides what is in a step and asks here
 * for its time; "llm" makes the answers. Sequences and tokens are
 * those of a whole replica: where attention is data parallel they are spread
 * over its ranks, and `kv_tokens` is the sum of what the ranks hold.
 */

/* New tokens of one prompt, on top of `context` tokens that were computed
 * before or came from a prefix cache. */
struct msim_llm_chunk {
    uint32_t tokens, context;
    bool last; /* the prompt ends with it: it yields a token */
};

struct msim_llm_step {
    uint32_t decode_seqs;    /* sequences that get one token each */
    uint64_t decode_context; /* tokens in their KV caches, summed */
    const struct msim_llm_chunk *chunks;
    uint32_t n_chunks;
    /* Data parallel attention: what one rank has of the step, whose time is
     * asked for (experts, which are spread over all ranks, have the whole
     * step). NULL: every rank has an even part. */
    const struct msim_llm_step *rank;
};

struct msim_llm_times {
    void *ctx;
    /* Microseconds; 0 for an empty step. Well below 1 us of the caller's time
     * once sizes of that kind were seen. Not thread-safe: one a thread. */
    double (*step_us)(void *ctx, const struct msim_llm_step *step);
    int64_t kv_tokens; /* that the replica's KV cache holds, whole blocks */
    /* What a sequence takes of it besides its tokens, as so many tokens: states
     * of linear layers, keys of windows. All of it from `kv_window` tokens on,
     * evenly before (0: from the start). */
    int64_t kv_sequence_tokens, kv_window;
};

/* ---- llm ----------------------------------------------------------------- */
/*
 * A served model: what it takes of its GPUs' memory, and the times of its
 * steps.
 *
 * A described model on a platform under an engine, split over tp x pp ranks
 * (attention over tp, or sequences over dp groups of tp ranks; experts over
 * ep x moe_tp of all tp x dp ranks). The works of a step (llm_law.h) are
 * priced by the platform's models and summed by kind; the law (llm_law.h) has
 * a factor for each kind, and the host's time a step and a sequence.
 */

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

/* Half of the 90 % interval of the logarithm of a figure. */
double msim_llm_half(const struct msim_llm *m, enum msim_llm_figure f);
/* Whether the law's constants saw rows of this model or this GPU. */
bool msim_llm_uses_rows(const struct msim_llm *m);

#endif
