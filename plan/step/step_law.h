/*
 * plan/step/step_law.h - the step law: from priced terms to the time of one
 * optimizer step.
 *
 * The physics is in the terms; what is left are constants that all jobs share:
 * how much longer kernels of a kind take in training than tables of single
 * kernels say, what the host needs for a layer, how much of the gradients'
 * exchange is hidden, what a step takes beside its micro batches. They are
 * fitted to measured jobs by msim-fit-steps, which minimises the sum of
 * absolute logarithms; data/laws/steps.json has them, and says on which
 * sources.
 */
#ifndef MSIM_PLAN_STEP_STEP_LAW_H
#define MSIM_PLAN_STEP_STEP_LAW_H
#include "plan/step/terms.h"

/* X(name, where a fit begins, what it is) */
#define MSIM_STEP_CONSTANT_MAP(X)                                              \
    X(linear, 1, "products of linear layers, over their estimate")             \
    X(linear_late, 1, "the same on Blackwell")                                 \
    X(attention_usual, 1, "FlashAttention 1 before Hopper")                    \
    X(attention_late, 1.5, "FlashAttention 1 and 2 on Hopper")                 \
    X(expert, 1, "products of experts")                                        \
    X(vector, 1, "norms and pointwise operators")                              \
    X(loss, 1, "the loss on logits in 32 bits")                                \
    X(tp_near, 1, "tensor parallel collectives in a node")                     \
    X(tp_far, 1, "tensor parallel collectives across nodes")                   \
    X(cp, 1, "context parallel collectives")                                   \
    X(ep, 1, "exchanges of tokens with experts")                               \
    X(p2p, 1, "activations to the next stage")                                 \
    X(dp_near, 1, "gradients inside a node")                                   \
    X(dp_far, 1, "gradients across nodes")                                     \
    X(dp_far_waits, 1, "the same where the next step waits for weights")       \
    X(hidden, 1, "share of a pass that hides gradients, or weights")           \
    X(hidden_waits, 0.3, "the same where the next step waits for weights")     \
    X(hidden_shard, 0.5, "share of a micro batch that hides shards")           \
    X(add, 1, "adding up gradients of micro batches")                          \
    X(optimizer, 1.5, "the optimizer's step")                                  \
    X(host_layer_us, 3000, "host time of a layer, forward and backward")       \
    X(host_expert_us, 3000, "host time of a layer's experts beside that")      \
    X(host_comm_us, 60, "host time of a collective in a layer")                \
    X(host_wait, 0.05, "more host time a doubling of tensor parallel ranks")   \
    X(gap_us, 20, "an operator of unfused programs that takes no time")        \
    X(fixed_us, 5000, "what a step takes beside all that")

struct msim_step_constants {
#define X(name, start, text) double name;
    MSIM_STEP_CONSTANT_MAP(X)
#undef X
};

/* Where a fit begins. */
struct msim_step_constants msim_step_constants_start(void);
#define MSIM_STEP_CONSTANTS                                                    \
    (sizeof(struct msim_step_constants) / sizeof(double))
/* The name of the i-th constant, in the order of the members. */
const char *msim_step_constant_text(uint32_t i);

/* Where the time of a step goes, us; the parts sum to the whole. */
struct msim_step_parts {
    double compute, host, tp, cp, ep; /* of the busiest stage's micro batches */
    double copies;    /* over the host link, that no compute hides */
    double bubble;    /* stages that wait for one another */
    double gradients; /* exchange of gradients and weights that nothing hides */
    double optimizer; /* and what is fixed */
};

/* The time of one step in us; `parts` may be NULL. */
double msim_step_us(const struct msim_terms *t,
                    const struct msim_step_constants *c,
                    struct msim_step_parts *parts);

/* The exchange of gradients and weights of a step, us. */
struct msim_step_exchange {
    double in_flight; /* in all, whether compute hides it or not */
    /* What the step waits of it, where exchanges are so much faster, or
     * slower, than estimated beside the same compute. */
    double waits_low, waits_high;
};

/* `spread` >= 1: of the exchange's time, over that of compute. */
struct msim_step_exchange
msim_step_exchange_of(const struct msim_terms *t,
                      const struct msim_step_constants *c, double spread);

#endif
