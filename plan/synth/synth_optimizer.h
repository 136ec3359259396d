/*
 * plan/synth/synth_optimizer.h - the optimizer's states and its step. Private
 * to plan/synth.
 *
 * In 16 bits it updates fp32 copies of the weights from fp32 gradients, and
 * copies them back. In fp32 it updates the weights themselves, from what
 * backward made.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_OPTIMIZER_H
#define MSIM_PLAN_SYNTH_SYNTH_OPTIMIZER_H
#include "plan/synth/synth_state.h"

struct msim_synth_optimizer {
    struct msim_synth *y;
    const struct msim_synth_parameter **of;
    /* One a parameter. */
    struct msim_etw_tensor *steps, *master, *first, *second, *grads, *weights;
    uint32_t n;
};

/* For at most `most` parameters; release it, also where that fails. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_synth_optimizer_init(struct msim_synth_optimizer *o,
                                           struct msim_synth *y, size_t most);
/* `share`: elements of the parameter that this rank updates. */
void msim_synth_optimizer_add(struct msim_synth_optimizer *o,
                              const struct msim_synth_parameter *p,
                              int64_t share);
void msim_synth_optimizer_step(struct msim_synth_optimizer *o);
void msim_synth_optimizer_release(struct msim_synth_optimizer *o);

#endif
