/*
 * core/work/kernel/infer.h - works of kernels without shapes: no operator
 * launched them, or one whose shapes are not recorded.
 *
 * Only the name, the launch configuration and the neighbours of such a kernel
 * are known. Sizes follow from them; times are not read.
 *
 *   elements  blocks x threads x elements a thread, which the name states
 *
 *   products  rows and columns of the output: grid x tile
 *
 * A grid may be as large as the GPU, whatever the work: then the elements are
 * those of the kernels launched next to it. The size that a product sums over
 * follows from related products: the forward pass of a layer and its two
 * gradients multiply the same three sizes a, b and c pairwise. The areas of
 * their outputs are ab, bc and ac, and each takes 2 abc = 2 sqrt(ab * bc * ac)
 * operations.
 *
 * Example: outputs of 1024 x 4096, 2048 x 4096 and 1024 x 2048 belong to a
 * layer from 2048 to 1024 features for 4096 rows.
 *
 * The laws of their families estimate these works like any other. The interval
 * gets wider by the standard deviation of the logarithm that the sizes have.
 *
 * Not thread-safe; the context owns all memory.
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
 * The work of GPU event `i`, a kernel. `*log_sd` is the standard deviation of
 * the logarithm of its time that its sizes cause. False for a collective, whose
 * launch configuration says nothing of its size.
 */
bool msim_infer_work(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd);

/* Does nothing in the name of kernel `i` say what it does? */
bool msim_infer_blind(const struct msim_infer *l, uint32_t i);

/*
 * Is the work of op `op` to be inferred from its kernels, rather than to be its
 * `n` works, as msim_opmap() has them? It is where no operator of the trace has
 * a shape, unless a user's table names the operator; for a compiled region; and
 * for an unknown operator, whose tensors give a lower bound only.
 */
bool msim_infer_decides(const struct msim_infer *l,
                        const struct msim_op_kernels *kernels, uint32_t op,
                        enum msim_opmap_result r, const struct msim_work *works,
                        uint32_t n);

/* Mark an estimate as one of an inferred work and widen its interval: `log_sd`
 * is added in quadrature to each side. */
void msim_infer_widen(struct msim_estimate *e, double log_sd);

/*
 * Infer the size of `w`, the transfer of GPU event `i`, where it is not
 * recorded: that of what the kernel before it wrote. `*log_sd` is as above.
 * Where nothing is known of the kernel before, `w` stays; where the size is
 * recorded or there is none (a barrier), `*log_sd` is 0, too.
 */
void msim_infer_comm(const struct msim_infer *l, uint32_t i,
                     struct msim_work *w, double *log_sd);

#endif
