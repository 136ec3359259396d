/*
 * core/lives/weights.h - which tensors of a trace are weights, or their
 * gradients, states and copies: they keep their sizes whatever the batch.
 *
 * Where a trace has ids of tensors, a weight is known by its memory: what an
 * operator takes as one, what an optimizer names, what gradients are kept for,
 * and what is cast or copied from those. With 4 samples of 512 tokens in a
 * layer of 2048 x 512
 *
 *     [2048, 512]   is the weight where it is that memory, and data elsewhere
 *
 * Without ids the shape must do: what is shaped as a weight somewhere, or as
 * its transpose, is one everywhere.
 */
#ifndef MSIM_CORE_LIVES_WEIGHTS_H
#define MSIM_CORE_LIVES_WEIGHTS_H
#include "core/lives/lives.h"

struct msim_weights {
    const struct msim_trace *t;
    uint8_t *shape; /* by index of trace->dims: of a weight, or its transpose */
    uint8_t *of_id; /* by row of trace->tensor_ids; NULL: no ids */
};

/* Release in any case; `t` must live as long. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_weights_find(struct msim_weights *out,
                                   const struct msim_trace *t);
void msim_weights_release(struct msim_weights *w);

/* By life of `t`: is it a weight? `*out` is the caller's to free. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_weights_by_life(uint8_t **out, const struct msim_lives *l,
                                      const struct msim_trace *t);

/* Is tensor `a`, with row `id` of trace->tensor_ids (NONE: none), a weight? */
bool msim_weights_have(const struct msim_weights *w, const struct msim_arg *a,
                       uint32_t id);

/*
 * The first tensor from operator `*op` on that is data, by its place among the
 * arguments of an operator with weights, and has the shape of a weight: without
 * ids it counts as one. False, and never with ids: there is none.
 */
bool msim_weights_doubtful(const struct msim_weights *w, uint32_t *op,
                           const struct msim_arg **data);

#endif
