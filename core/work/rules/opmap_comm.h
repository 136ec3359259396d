/*
 * core/work/rules/opmap_comm.h - the works of collectives and point-to-point
 * transfers.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_COMM_H
#define MSIM_CORE_WORK_RULES_OPMAP_COMM_H
#include "core/trace/trace.h"
#include "core/work/work.h"

/* The work of a collective, in the size convention of nccl-tests. */
struct msim_work msim_comm_work(const struct msim_trace *t, uint32_t comm);

/*
 * The work of a kernel that only its name shows to be communication: over all
 * ranks of the job, MSIM_GPUS_A_NODE where their number is not known, and of no
 * known size.
 */
struct msim_work msim_comm_work_by_name(const struct msim_trace *t,
                                        const char *name);

/*
 * Set the nodes of its ranks, with `gpus` GPUs each (0: MSIM_GPUS_A_NODE): by
 * the members of the group where the trace lists them, else as if ranks were
 * numbered one after the other. `comm` MSIM_NONE: nothing is known of it.
 */
void msim_comm_place(struct msim_work *w, const struct msim_trace *t,
                     uint32_t comm, uint32_t gpus);

/*
 * The same work in a job of `ranks` ranks of which `traced` were traced. A
 * group of all ranks grows, and so does one of every n-th of all ranks, where
 * ranks are no stages: what is data parallel beside a split of tensors. Other
 * groups stay. All-gather and reduce-scatter
 * are the two halves of a sharded parameter, of which the whole stays and the
 * shard shrinks. A gather is of as many parts as there are ranks, and all else
 * keeps what goes into it. `comm` MSIM_NONE: of all ranks.
 */
struct msim_work msim_comm_grow(struct msim_work w, const struct msim_trace *t,
                                uint32_t comm, uint32_t traced, uint32_t ranks);

#endif
