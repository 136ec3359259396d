/*
 * predict/edit/fuse.h - what kinds of fusion share. Private to the room.
 */
#ifndef MSIM_PREDICT_EDIT_FUSE_H
#define MSIM_PREDICT_EDIT_FUSE_H
#include "predict/edit/remake.h"

/* The first of `n` kernels becomes one that does the work of all and takes
 * `cost`; the others are gone, and their launches. */
void msim_fuse_tasks(struct msim_remake *d, const uint32_t *tasks, uint32_t n,
                     const struct msim_cost_added *cost);

/* fuse_attention.c: products, softmax and what is between as one kernel. */
MSIM_MUST_CHECK
enum msim_status msim_fuse_attention(struct msim_remake *d);
/* fuse_optimizer.c: the many kernels of a step as PyTorch's fused ones. */
MSIM_MUST_CHECK
enum msim_status msim_fuse_optimizer(struct msim_remake *d);

#endif
