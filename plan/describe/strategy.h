/*
 * plan/describe/strategy.h - how a described model is trained: strategies,
 * techniques, and the habits of training programs.
 */
#ifndef MSIM_PLAN_DESCRIBE_STRATEGY_H
#define MSIM_PLAN_DESCRIBE_STRATEGY_H
#include "core/guard/guard.h"
#include "plan/describe/describe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- technique ----------------------------------------------------------- */
/*
 * What a training program does beside splitting the model: adapters, fused
 * kernels, chunked losses, narrow optimizer states, narrow messages.
 *
 *     {"lora_rank": 64, "base_bits": 4, "compile": true, "loss_chunks": 8}
 *
 * What is 0 is not stated: constants of fits stand for it then, since the
 * tables that they come from do not state it either. So a strategy without
 * techniques is predicted as before, bit for bit.
 */

/* Whether a program does something. */
enum msim_stated { MSIM_UNSTATED, MSIM_STATED_NO, MSIM_STATED_YES };

enum msim_lora_targets {
    MSIM_LORA_UNSTATED, /* all */
    MSIM_LORA_ATTENTION,
    MSIM_LORA_MLP,
    MSIM_LORA_ALL
};

enum msim_schedule {
    MSIM_SCHEDULE_UNSTATED,
    MSIM_SCHEDULE_1F1B,
    MSIM_SCHEDULE_INTERLEAVED,
    MSIM_SCHEDULE_ZERO_BUBBLE
};

/*
 * X(member and column, what is accepted), in words; a number where it is a
 * range:
 *     lora_rank  adapters of that rank are trained, all else is frozen
 *     lora_targets  the linear layers that have adapters
 *     base_bits  of the frozen weights of layers: 4 is QLoRA
 *     loss_chunks  the loss is computed on so many pieces of the logits
 *     optimizer_bits  of each of Adam's two states
 *     master_weights  no: weights, gradients and states have the weights' type,
 *                and one fused kernel updates them
 *     optimizer_in_backward  a weight is updated as soon as its gradient is
 *                there, which then is freed
 *     compile    yes: pointwise chains are fused; no: operator by operator
 *     document   mean tokens of a document in packed sequences: attention stays
 *                inside
 *     gradient_bits, weight_bits, dispatch_bits  of what collectives send
 *     dispatch_overlap  yes: tokens go to experts and back beside computing of
 *                another micro batch
 *     schedule   of pipeline stages
 *     framework  the training program, by whose habits it is
 *                ("framework" has a row for each)
 */
#define MSIM_TECHNIQUE_MAP(X)                                                  \
    X(lora_rank, "1..65536")                                                   \
    X(lora_targets, "attention mlp all")                                       \
    X(base_bits, "4 8 16")                                                     \
    X(loss_chunks, "1..65536")                                                 \
    X(optimizer_bits, "8 16 32")                                               \
    X(master_weights, "no yes")                                                \
    X(optimizer_in_backward, "no yes")                                         \
    X(compile, "no yes")                                                       \
    X(document, "1..1000000000")                                               \
    X(gradient_bits, "4 8 16 32")                                              \
    X(weight_bits, "4 8 16")                                                   \
    X(dispatch_bits, "8 16")                                                   \
    X(dispatch_overlap, "no yes")                                              \
    X(schedule, "1f1b interleaved zero-bubble")                                \
    X(framework, "common deepspeed megatron nanotron pytorch")

/* Members are numbers; those with words are the place of the word, from 1. */
struct msim_techniques {
#define X(name, accepted) int64_t name;
    MSIM_TECHNIQUE_MAP(X)
#undef X
};

enum msim_technique {
#define X(name, accepted) MSIM_TECHNIQUE_##name,
    MSIM_TECHNIQUE_MAP(X)
#undef X
        MSIM_TECHNIQUE_COUNT
};

/* Set one member from a text. Returns NULL, or in `reason` why it cannot be:
 * "compile is 'maybe', want one of no yes". */
const char *msim_technique_set(struct msim_techniques *t, enum msim_technique k,
                               const char *text, char *reason, size_t size);

/* One member by its place: a number, or the place of a word from 1; 0: it is
 * not stated. */
int64_t msim_technique_value(const struct msim_techniques *t,
                             enum msim_technique k);
void msim_technique_put(struct msim_techniques *t, enum msim_technique k,
                        int64_t value);
/* Such a value as it is accepted, "yes"; "" for 0. */
void msim_technique_value_text(enum msim_technique k, int64_t value, char *text,
                               size_t size);

/* The name of the first technique that is stated; NULL: none is. */
const char *msim_techniques_first(const struct msim_techniques *t);

/* ---- strategy ------------------------------------------------------------ */
/*
 * How a described model is trained: on how many GPUs, split in which way, in
 * which precision.
 *
 * GPUs are dp x tp x pp x cp. Of the tp x cp x dp ranks of a stage ep x etp
 * have all experts: ep ranks have different ones, and etp share each of these,
 * the tensor parallel ranks (as Megatron-Core's expert-tensor-parallel-size,
 * which is tp where nobody says otherwise) or 1, a rank by itself. A step is
 * grad_accum micro batches of micro_batch sequences on every one of dp groups:
 * global_batch = dp x grad_accum x micro_batch.
 */

/* Numbers. X(member and column, what it is where nothing says it; 0: it follows
 * from others) */
#define MSIM_STRATEGY_MAP(X)                                                   \
    X(gpus, 0)                                                                 \
    X(nodes, 0)                                                                \
    X(tp, 1)                                                                   \
    X(pp, 1)                                                                   \
    X(vp, 1)                                                                   \
    X(cp, 1)                                                                   \
    X(ep, 1)                                                                   \
    X(etp, 0)                                                                  \
    X(dp, 0)                                                                   \
    X(zero, 0)                                                                 \
    X(micro_batch, 1)                                                          \
    X(grad_accum, 0)                                                           \
    X(global_batch, 0)                                                         \
    X(sequence, 2048)

/* Words. X(member, column and enum, its values) */
#define MSIM_STRATEGY_WORD_MAP(X)                                              \
    X(precision, PRECISION)                                                    \
    X(recompute, RECOMPUTE)                                                    \
    X(offload, OFFLOAD)

/* X(name, the word): fp32 alone, with products in TF32, 16 bits, autocast from
 * fp32, and from AMP_FP8 on layers whose linear products are in 8 or 4 bits. */
#define MSIM_PRECISION_MAP(X)                                                  \
    X(FP32, "fp32")                                                            \
    X(TF32, "tf32")                                                            \
    X(FP16, "fp16")                                                            \
    X(BF16, "bf16")                                                            \
    X(AMP_FP16, "amp_fp16")                                                    \
    X(AMP_BF16, "amp_bf16")                                                    \
    X(AMP_FP8, "amp_fp8")                                                      \
    X(FP8, "fp8")                                                              \
    X(MXFP8, "mxfp8")                                                          \
    X(NVFP4, "nvfp4")

enum msim_precision {
#define X(name, text) MSIM_PRECISION_##name,
    MSIM_PRECISION_MAP(X)
#undef X
        MSIM_PRECISION_COUNT
};

/* X(name, the word, enum msim_again) */
#define MSIM_RECOMPUTE_MAP(X)                                                  \
    X(NONE, "none", NOTHING)                                                   \
    X(FULL, "full", LAYERS)                                                    \
    X(SELECTIVE, "selective", OPERATORS)                                       \
    X(SELECTIVE_OP, "selective-op", OPERATORS)

enum msim_recompute {
#define X(name, text, again) MSIM_RECOMPUTE_##name,
    MSIM_RECOMPUTE_MAP(X)
#undef X
        MSIM_RECOMPUTE_COUNT
};

enum msim_offload {
    MSIM_OFFLOAD_NONE,
    MSIM_OFFLOAD_ACTIVATIONS,
    MSIM_OFFLOAD_OPTIMIZER,
    MSIM_OFFLOAD_WEIGHTS, /* gradients and optimizer state with them */
    MSIM_OFFLOAD_COUNT
};

/* X(name, the word). Of SGD with momentum. */
#define MSIM_OPTIMIZER_MAP(X)                                                  \
    X(ADAMW, "adamw")                                                          \
    X(SGD, "sgd")                                                              \
    X(ADAGRAD, "adagrad")

enum msim_optimizer {
#define X(name, text) MSIM_OPTIMIZER_##name,
    MSIM_OPTIMIZER_MAP(X)
#undef X
        MSIM_OPTIMIZER_COUNT
};

/* Of a DLRM's tables, within their backward pass: Adagrad with one number a
 * row, or SGD. X(name, the word) */
#define MSIM_TABLE_OPTIMIZER_MAP(X)                                            \
    X(ROWWISE_ADAGRAD, "rowwise_adagrad")                                      \
    X(SGD, "sgd")

enum msim_table_optimizer {
#define X(name, text) MSIM_TABLE_OPTIMIZER_##name,
    MSIM_TABLE_OPTIMIZER_MAP(X)
#undef X
        MSIM_TABLE_OPTIMIZER_COUNT
};

struct msim_strategy {
#define X(name, missing) int64_t name;
    MSIM_STRATEGY_MAP(X)
#undef X
#define X(name, values) enum msim_##name name;
    MSIM_STRATEGY_WORD_MAP(X)
#undef X
    struct msim_techniques technique;
    /* Members of a file alone: no columns of tables. */
    enum msim_optimizer optimizer;
    enum msim_table_optimizer table_optimizer;
    /* As Megatron-LM trained before 2023: attention in parts (scores, softmax
     * and dropout in memory), whole sequences beside tensor parallelism. */
    bool unfused;
    int64_t gpus_a_node; /* that are linked without a network: of the nodes that
                            were given, else of the platform's usual server */
};

/* What was given, as bits: `1ULL << MSIM_GIVEN_name`. */
enum msim_given {
#define X(name, missing) MSIM_GIVEN_##name,
    MSIM_STRATEGY_MAP(X)
#undef X
#define X(name, values) MSIM_GIVEN_##name,
        MSIM_STRATEGY_WORD_MAP(X)
#undef X
#define X(name, accepted) MSIM_GIVEN_##name,
            MSIM_TECHNIQUE_MAP(X)
#undef X
                MSIM_GIVEN_COUNT
};

/* Members before this one are stated of every strategy; it and those that
 * follow, where they are other than usual. */
#define MSIM_GIVEN_ALWAYS MSIM_GIVEN_offload

_Static_assert(MSIM_GIVEN_COUNT <= 63, "they are bits of 64");

/* Ranks that share each expert. A strategy that is not complete has 0 there: as
 * tp. */
static inline int64_t msim_expert_shares(const struct msim_strategy *s)
{
    return s->etp > 0 ? s->etp : s->tp;
}

/* How many GPUs those are apart that have the same experts, or the same share
 * of each. */
static inline int64_t msim_expert_copies_apart(const struct msim_strategy *s)
{
    return s->ep * msim_expert_shares(s);
}

/* Such ranks of a stage: of experts the data parallel ones. */
static inline int64_t msim_expert_copies(const struct msim_strategy *s)
{
    int64_t n = s->tp * s->cp * s->dp / msim_expert_copies_apart(s);

    return n > 0 ? n : 1;
}

/* Are those the same that share all other parameters? */
static inline bool msim_expert_copies_are_usual(const struct msim_strategy *s)
{
    return s->ep == 1 && msim_expert_shares(s) == s->tp;
}

/* The column's name. */
const char *msim_given_text(enum msim_given g);

/* Whether weights and activations are in 32 bits. */
bool msim_precision_is_full(enum msim_precision p);
/* Whether linear layers of a block multiply in 8 or 4 bits. */
bool msim_precision_is_narrow(enum msim_precision p);
const char *msim_optimizer_text(enum msim_optimizer o);

/*
 * Set one member from text; an empty text leaves it as it is. Returns NULL, or
 * why it cannot be, in `reason` ("tp is 'x', want a whole number from 1").
 * `*given` gets the bit.
 */
const char *msim_strategy_set(struct msim_strategy *s, enum msim_given g,
                              const char *text, uint64_t *given, char *reason,
                              size_t size);

/* One member by its place, as a number: of words, their index. */
int64_t msim_strategy_value(const struct msim_strategy *s, enum msim_given g);
void msim_strategy_put(struct msim_strategy *s, enum msim_given g, int64_t v);
/* Such a number as a column has it. */
void msim_strategy_value_text(enum msim_given g, int64_t v, char *text,
                              size_t size);
/* Both: a member as a column has it. */
void msim_strategy_text(const struct msim_strategy *s, enum msim_given g,
                        char *text, size_t size);

struct msim_json; /* core/base/json.h */
/* Members before MSIM_GIVEN_ALWAYS, into an object that is open. */
void msim_strategy_json(struct msim_json *j, const struct msim_strategy *s);

/*
 * Read a JSON object whose members are those above: {"gpus": 8, "tp": 2,
 * "precision": "bf16"}. EFORMAT names the member, what was found and what is
 * accepted.
 */
MSIM_MUST_CHECK
enum msim_status msim_strategy_read(struct msim_strategy *s, uint64_t *given,
                                    const char *path, struct msim_error *err);

struct msim_fields; /* core/json/fields.h */
struct cJSON;
/* The same of an object that stands in `file`, which errors name. */
MSIM_MUST_CHECK
enum msim_status msim_strategy_parse(struct msim_strategy *s, uint64_t *given,
                                     const struct cJSON *object,
                                     const char *file, struct msim_error *err);
/* Set one member from an item of JSON: a number, a text, true or false.
 * Returns NULL, or what is wanted, in `reason`. */
const char *msim_strategy_read_item(struct msim_strategy *s, uint64_t *given,
                                    enum msim_given g, const struct cJSON *item,
                                    char *reason, size_t size);
/* Likewise from the member `key` of an open object. What is wrong with it is
 * refused there, by its path. */
void msim_strategy_read_member(struct msim_strategy *s, uint64_t *given,
                               enum msim_given g, struct msim_fields *f,
                               const char *key);

/*
 * Fill in what was not given: what follows from the other members, then
 * defaults. `defaults` gets the members that were assumed ("recompute=none
 * zero=0"). An etp of 0 is not given. Returns NULL, or why model and strategy
 * do not fit together. `gpus_a_node`: of the platform's usual server.
 */
const char *msim_strategy_complete(struct msim_strategy *s, uint64_t given,
                                   const struct msim_described *m,
                                   int64_t gpus_a_node, char *defaults,
                                   size_t defaults_size, char *reason,
                                   size_t size);

/* ---- strategy again ------------------------------------------------------ */
/*
 * What backward computes again instead of keeping it, of described jobs.
 * Memory, time and written traces ask that; which word of a strategy stands for
 * it is known here alone.
 */

/* From what takes the least time to what holds the least. */
enum msim_again {
    MSIM_AGAIN_NOTHING,
    MSIM_AGAIN_OPERATORS, /* of a layer, which keep much and take little */
    MSIM_AGAIN_LAYERS     /* all of a layer: its input alone is kept */
};

enum msim_again msim_again_of(const struct msim_strategy *s);

/* All that holds less: layers are computed again. `text`, if not NULL, says it
 * ("recompute full"); false: they are already. */
bool msim_again_most(struct msim_strategy *s, char *text, size_t size);

/* Nothing; and what jobs that do not say so compute again. */
void msim_again_set_nothing(struct msim_strategy *s);
void msim_again_set_usual(struct msim_strategy *s);

/* ---- strategy guard ------------------------------------------------------ */
/*
 * Strategies that differ in one respect alone, and what their steps must keep
 * (core/guard/guard.h).
 *
 *     recompute     more of it takes no less
 *     gpus          for the same batch: more of them do not gain more than
 *                   their number
 *     micro_batch   as many micro batches of more samples take no less
 *     grad_accum    more micro batches of as many samples take no less
 *     sequence      longer ones take no less
 */

/* The step of a complete strategy. */
struct msim_strategy_answer {
    const struct msim_strategy *strategy;
    uint64_t rest; /* a hash of all else that must be the same: the GPU, say */
    double us;
    bool measured; /* msim_guard_answer's */
};

/* Mark those that contradict others: `marks[i]` is that of `of[i]`. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_strategy_guard(const struct msim_strategy_answer *of,
                                     uint32_t n, msim_guard_marks *marks);

/* ---- framework ----------------------------------------------------------- */
/*
 * The habits of training programs in which a step of one differs from a step of
 * another: what a parameter takes beside its weight, when gradients are
 * exchanged, how layers go to pipeline stages. A program is a row of the table
 * below; where none is named it is the first.
 *
 * Bytes of the common program are those of training in mixed precision with
 * Adam: weights and gradients in 16 bits, a copy and two states in 32 (16 in
 * all; Rajbhandari et al., "ZeRO", 2020, section 3.1). PyTorch's autocast and
 * FSDP come to the same sum with weights and gradients in 32 bits and no copy.
 * PyTorch's optimizers go through lists by default, with a copy of the
 * parameters more (documentation of torch.optim, `foreach`).
 * Megatron-LM sums gradients in 32 bits (18; its documentation of the
 * distributed optimizer). Those of nanotron are fitted to measured peaks.
 */

enum msim_stage_split {
    /* Equally many layers; where they do not divide, the last stage has fewer,
     * since it has the head. */
    MSIM_SPLIT_EVEN,
    /* Stages alike in parameters, where the head counts as the layers that its
     * table is as large as; the last stage has what is left. */
    MSIM_SPLIT_PARAMETERS
};

struct msim_framework {
    const char *name;
    /* Bytes of a trained parameter beside its weight, in mixed precision; the
     * last while the optimizer works. */
    double gradient, states, temporary;
    /* Memory by the constants of a fit, not by the bytes above. */
    bool fitted;
    /* Without ZeRO, pipelines exchange gradients after every micro batch. */
    bool exchanges_each_micro_batch;
    /* Shards of weights come together behind the optimizer's step, and nothing
     * is computed meanwhile. */
    bool waits_for_weights;
    /* SiLU and its product with the other half are two kernels: what the first
     * made is kept. */
    bool keeps_silu;
    enum msim_stage_split split;
};

/* The program that the strategy names; never NULL. */
const struct msim_framework *msim_framework_of(const struct msim_strategy *s);
/* Whether `name` is one. */
bool msim_framework_is(const char *name);
/* Name one, of those that there are, where the strategy names none. */
void msim_framework_default(struct msim_strategy *s, const char *name);

/* Bytes of an element of weights, and of a gradient in a message. */
double msim_weight_bytes(const struct msim_strategy *s);
double msim_gradient_bytes(const struct msim_strategy *s);

/*
 * Whether every micro batch ends with an exchange of gradients. Otherwise they
 * are summed up, and exchanged once a step: so do pipelines with ZeRO 2, which
 * would exchange them again for each micro batch in flight.
 */
bool msim_exchanges_each_micro_batch(const struct msim_strategy *s);

/* Layers of a pipeline stage, and of one of its vp chunks. */
int64_t msim_stage_layers(const struct msim_described *m,
                          const struct msim_strategy *s, int64_t stage);
int64_t msim_chunk_layers(const struct msim_described *m,
                          const struct msim_strategy *s, int64_t stage,
                          int64_t chunk);

#endif
