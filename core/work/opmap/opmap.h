/*
 * core/work/opmap/opmap.h - from an operator of a trace to the works that it
 * asks of a device.
 *
 * An operator is known to launch kernels of its own (aten::mm), known to launch
 * none (aten::view; aten::linear, which calls aten::addmm), or unknown. Works
 * describe an operator's own kernels, never its children's, so that the works
 * of a whole tree sum to its kernels.
 *
 * To map all operators of a trace use core/work/opmap/works.h.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_H
#include "core/work/rules/opmap_comm.h"
#include "core/work/rules/opmap_rule.h"

struct msim_ops; /* core/work/opmap/ops_file.h */

enum msim_opmap_result {
    MSIM_OPMAP_NO_KERNEL, /* launches no kernel of its own */
    MSIM_OPMAP_WORKS,     /* `n` works */
    MSIM_OPMAP_UNKNOWN,   /* not known; works[0] is a BOUND from its tensors,
                             n = 0 where not even those are known */
    MSIM_OPMAP_COMPILED_REGION, /* generated code runs in it, whose kernels are
                                   no operators: each tells its own work
                                   (core/work/kernel/infer.h); n = 0 */
};

/* Where the tensors of trace `t` are on a platform that is a CPU (`on_cpu`) or
 * a GPU. */
enum msim_opmap_place msim_opmap_place_of(const struct msim_trace *t,
                                          bool on_cpu);

/*
 * The works of op `i`. `user` is the user's table, which comes before the
 * built-in one, or NULL. `launched` is the number of kernels that the operator
 * itself launched in the trace, or -1 where the trace has no GPU events: then
 * an unknown operator that touches GPU tensors and whose children launch
 * nothing counts as one kernel. `place` says where tensors are. Works are
 * zeroed before they are filled in, so that equal ones have equal bytes.
 */
enum msim_opmap_result msim_opmap(const struct msim_trace *t,
                                  const struct msim_ops *user, uint32_t i,
                                  int launched, enum msim_opmap_place place,
                                  struct msim_work works[MSIM_OPMAP_MAX],
                                  uint32_t *n);

/* The row for op `op`, that of the user's table first; NULL where neither has
 * one. */
const struct msim_opmap_row *msim_opmap_row_of(const struct msim_trace *t,
                                               const struct msim_ops *user,
                                               uint32_t op);

/* What copy or memset `e` of `t` moves: as recorded, else as the tensors of its
 * operator say; 0 where nothing tells. */
uint64_t msim_copied_bytes(const struct msim_trace *t,
                           const struct msim_gpu *e);

/* The work of a copy or memset that moves so much. */
struct msim_work msim_copy_work(const struct msim_gpu *e, uint64_t bytes);

#endif
