/*
 * plan/synth/synth_layer.h - one layer of a described model as PyTorch's
 * operators, forward and backward.
 *
 * The operators are those of plan/parts, one for one: a linear layer is
 * aten::linear around aten::t and aten::mm, attention is
 * aten::scaled_dot_product_attention around the flash kernel, a gated
 * activation is aten::glu. What forward keeps, backward names, so that tensors
 * live as long as they would. Where sizes of neighbours do not meet (a rank of
 * a context group has a part of the pairs), aten::empty makes what the next
 * operator is given.
 */
#ifndef MSIM_PLAN_SYNTH_SYNTH_LAYER_H
#define MSIM_PLAN_SYNTH_SYNTH_LAYER_H
#include "plan/synth/synth_state.h"

/* The parameters of `l`, there before the trace. */
void msim_synth_parameters(struct msim_synth *y, struct msim_synth_layer *l);

/* The head's logits have the table of `input` for their weight. */
void msim_synth_tie(struct msim_synth_layer *head,
                    struct msim_synth_layer *input);

/* Micro batch `b` through the layer: from its input to its output. */
struct msim_etw_tensor msim_synth_forward(struct msim_synth *y,
                                          struct msim_synth_layer *l,
                                          uint32_t b, struct msim_etw_tensor x);
/* Back: from the gradient of its output to that of its input. Computes forward
 * again first, as the strategy says. Gradients of weights need no `grad`: what
 * INPUTS went through is kept for them. */
struct msim_etw_tensor msim_synth_backward(struct msim_synth *y,
                                           struct msim_synth_layer *l,
                                           uint32_t b,
                                           enum msim_synth_half half,
                                           struct msim_etw_tensor grad);

#endif
