/*
 * plan/describe/strategy.h - how a described model is trained: on how many
 * GPUs, split in which way, in which precision.
 *
 * GPUs are dp x tp x pp x cp. Of the tp x cp x dp ranks of a stage ep x etp
 * have all experts: ep ranks have different ones, and etp share each of these,
 * the tensor parallel ranks (as Megatron-Core's expert-tensor-parallel-size,
 * which is tp where nobody says otherwise) or 1, a rank by itself. A step is
 * grad_accum micro batches of micro_batch sequences on every one of dp groups:
 * global_batch = dp x grad_accum x micro_batch.
 */
#ifndef MSIM_PLAN_DESCRIBE_STRATEGY_H
#define MSIM_PLAN_DESCRIBE_STRATEGY_H
#include "plan/describe/describe.h"
#include "plan/describe/technique.h"

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

/* What was given, as bits: `1u << MSIM_GIVEN_name`. */
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

_Static_assert(MSIM_GIVEN_COUNT <= 31, "they are bits of 32");

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
                              const char *text, uint32_t *given, char *reason,
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
enum msim_status msim_strategy_read(struct msim_strategy *s, uint32_t *given,
                                    const char *path, struct msim_error *err);

struct msim_fields; /* core/json/fields.h */
struct cJSON;
/* The same of an object that stands in `file`, which errors name. */
MSIM_MUST_CHECK
enum msim_status msim_strategy_parse(struct msim_strategy *s, uint32_t *given,
                                     const struct cJSON *object,
                                     const char *file, struct msim_error *err);
/* Set one member from an item of JSON: a number, a text, true or false.
 * Returns NULL, or what is wanted, in `reason`. */
const char *msim_strategy_read_item(struct msim_strategy *s, uint32_t *given,
                                    enum msim_given g, const struct cJSON *item,
                                    char *reason, size_t size);
/* Likewise from the member `key` of an open object. What is wrong with it is
 * refused there, by its path. */
void msim_strategy_read_member(struct msim_strategy *s, uint32_t *given,
                               enum msim_given g, struct msim_fields *f,
                               const char *key);

/*
 * Fill in what was not given: what follows from the other members, then
 * defaults. `defaults` gets the members that were assumed ("recompute=none
 * zero=0"). An etp of 0 is not given. Returns NULL, or why model and strategy
 * do not fit together. `gpus_a_node`: of the platform's usual server.
 */
const char *msim_strategy_complete(struct msim_strategy *s, uint32_t given,
                                   const struct msim_described *m,
                                   int64_t gpus_a_node, char *defaults,
                                   size_t defaults_size, char *reason,
                                   size_t size);

#endif
