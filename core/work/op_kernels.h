/*
 * core/work/op_kernels.h - kernels (not copies, not collectives) by the
 * operator that launched them.
 */
#ifndef MSIM_CORE_WORK_OP_KERNELS_H
#define MSIM_CORE_WORK_OP_KERNELS_H
#include "core/trace/trace.h"

struct msim_op_kernels {
    uint32_t *begin; /* n_ops + 1, into gpu */
    uint32_t *gpu;   /* indices of GPU events, in their order */
};

/* Fill in `l`; ENOMEM is the only failure. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_op_kernels_init(struct msim_op_kernels *l,
                                      const struct msim_trace *t);
void msim_op_kernels_release(struct msim_op_kernels *l);

#endif
