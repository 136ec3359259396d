/*
 * core/work/opmap/opmap.h - from an operator of a trace to the work it asks of
 * a GPU.
 *
 * Every operator is either known to launch kernels of its own (aten::mm), known
 * to launch none (aten::view, aten::linear, which calls aten::addmm), or
 * unknown. Works describe an operator's own kernels, never its children's, so
 * that the works of a whole tree sum to its kernels.
 */
#ifndef MSIM_CORE_WORK_OPMAP_OPMAP_H
#define MSIM_CORE_WORK_OPMAP_OPMAP_H
#include "core/work/work.h"

#define MSIM_OPMAP_MAX                                                         \
    4 /* works of one operator, e.g. both passes of a                          \
         convolution's backward */

enum msim_opmap_result {
    MSIM_OPMAP_NO_KERNEL, /* launches no kernel of its own */
    MSIM_OPMAP_WORKS,     /* `n` works */
    MSIM_OPMAP_UNKNOWN,   /* not known; works[0] is a BOUND from its tensors,
                             n = 0 where not even those are known */
    MSIM_OPMAP_COMPILED_REGION, /* generated code runs in it, whose kernels are
                                   no operators: each tells its own work
                                   (core/work/kernel/infer.h); n = 0 */
};

/*
 * Where a trace that was captured on a CPU is to run. A GPU does in one kernel
 * what a CPU does in several operators (the chain inside a dropout), and its
 * works are those kernels; on a CPU each operator's work is what the operator
 * does, with what it calls to do it.
 */
enum msim_opmap_place {
    MSIM_OPMAP_AS_TRACED, /* tensors are where the trace says */
    MSIM_OPMAP_ON_GPU,
    MSIM_OPMAP_ON_CPU,
};

/* The place for a trace on a platform that is a CPU or not. */
enum msim_opmap_place msim_opmap_place_of(const struct msim_trace *t,
                                          bool on_cpu);

/*
 * The works of op `i`. `launched` says how many kernels the trace saw the
 * operator itself launch, or -1 where the trace has no GPU events: then an
 * unknown operator that touches GPU tensors and whose children launch nothing
 * counts as one kernel. `place` says where tensors are taken to be.
 */
enum msim_opmap_result msim_opmap(const struct msim_trace *t, uint32_t i,
                                  int launched, enum msim_opmap_place place,
                                  struct msim_work works[MSIM_OPMAP_MAX],
                                  uint32_t *n);

/* The work of a copy or memset of a trace. */
struct msim_work msim_copy_work(const struct msim_gpu *e);

/* GPUs of one host, where nobody says: as many as servers of the platforms
 * known have. */
#define MSIM_GPUS_A_NODE 8

/* The work of a collective, in the size convention of nccl-tests. */
struct msim_work msim_comm_work(const struct msim_trace *t, uint32_t comm);

/*
 * On how many nodes of `gpus` GPUs (0: as above) its ranks are, rank by rank:
 * by the members of the group where the trace lists them, else as if they were
 * one after the other.
 */
void msim_comm_place(struct msim_work *w, const struct msim_trace *t,
                     uint32_t comm, uint32_t gpus);

/*
 * The same in a job of `ranks` ranks where `traced` were traced: a group of
 * all of them grows, what each rank puts in stays; others stay as they are.
 */
struct msim_work msim_comm_grow(struct msim_work w, const struct msim_trace *t,
                                uint32_t comm, uint32_t traced, uint32_t ranks);

#endif
