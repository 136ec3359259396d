/*
 * core/work/kernel/infer.h - the work of kernels of which only the name, the
 * launch and the neighbours are known: no operator, or one without shapes.
 *
 * Sizes follow from what the trace has beside times:
 *
 *   elements  blocks x threads x elements a thread
 * (core/work/kernel/kernel_name.h); where a grid is as large as the GPU rather
 * than the work, those of the kernels launched next to it products  rows and
 * columns of the output from grid x tile; what is summed over from related
 * products: the forward pass of a layer and its two gradients multiply the same
 * three sizes a, b and c pairwise, so that the areas of their outputs are ab,
 * bc and ac, and each takes 2 abc = 2 sqrt(ab * bc * ac) operations. Example:
 * outputs of 1024 x 4096, 2048 x 4096 and 1024 x 2048 are of a layer from 2048
 * to 1024 for 4096 rows.
 *
 * The works go through the laws of their families like any other; what the
 * sizes are in doubt by is added to the interval. No time is read.
 *
 * Not thread-safe; all memory is the context's own.
 */
#ifndef MSIM_CORE_WORK_KERNEL_INFER_H
#define MSIM_CORE_WORK_KERNEL_INFER_H
#include "core/work/estimate.h"
#include "core/work/kernel/infer_state.h"
#include "core/work/op_kernels.h"
#include "core/work/opmap/opmap.h"

/* Fill in `l`; ENOMEM is the only failure. Release in any case. */
MSIM_MUST_CHECK
enum msim_status msim_infer_init(struct msim_infer *l,
                                 const struct msim_trace *t);
void msim_infer_release(struct msim_infer *l);

/*
 * The work of GPU event `i`, a kernel, and how far its sizes may be off: a
 * standard deviation of the logarithm of its time. False for a collective,
 * which is no matter of its launch.
 */
bool msim_infer_work(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *spread);

/*
 * Do the kernels of op `op` say more themselves than its `n` works, as
 * msim_opmap() has them? They do where no operator of the trace has a shape,
 * but of what a user's own table says; of a compiled region; and of an unknown
 * operator, whose tensors tell only what it cannot do without.
 */
bool msim_infer_decides(const struct msim_infer *l,
                        const struct msim_op_kernels *launched, uint32_t op,
                        enum msim_opmap_result r, const struct msim_work *works,
                        uint32_t n);

/* Make an estimate of that work one of a launch: `spread` wider. */
void msim_infer_widen(struct msim_estimate *e, double spread);

/*
 * A transfer `w` of GPU event `i` whose size is not recorded is taken for one
 * of what the kernel before it made, and `*spread` for how far that may be off;
 * 0, and `w` as it was, where its size is known or nothing is.
 */
void msim_infer_comm(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *spread);

#endif
