/*
 * plan/describe/technique.h - what a training program does beside splitting
 * the model: adapters, fused kernels, chunked losses, narrow optimizer states,
 * narrow messages.
 *
 *     {"lora_rank": 64, "base_bits": 4, "compile": true, "loss_chunks": 8}
 *
 * What is 0 is not stated: constants of fits stand for it then, since the
 * tables that they come from do not state it either. So a strategy without
 * techniques is predicted as before, bit for bit.
 */
#ifndef MSIM_PLAN_DESCRIBE_TECHNIQUE_H
#define MSIM_PLAN_DESCRIBE_TECHNIQUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
 *     schedule   of pipeline stages
 *     framework  the training program, by whose habits it is
 *                (plan/describe/framework.h has a row for each)
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

#endif
