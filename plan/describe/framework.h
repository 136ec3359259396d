/*
 * plan/describe/framework.h - the habits of training programs in which a step
 * of one differs from a step of another: what a parameter takes beside its
 * weight, when gradients are exchanged, how layers go to pipeline stages. A
 * program is a row of the table below; where none is named it is the first.
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
#ifndef MSIM_PLAN_DESCRIBE_FRAMEWORK_H
#define MSIM_PLAN_DESCRIBE_FRAMEWORK_H
#include "plan/describe/strategy.h"

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
