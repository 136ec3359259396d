/*
 * core/work/rules/opmap_comm.h - the works of collectives and point-to-point
 * transfers.
 */
#ifndef MSIM_CORE_WORK_RULES_OPMAP_COMM_H
#define MSIM_CORE_WORK_RULES_OPMAP_COMM_H
#include "core/trace/trace.h"
#include "core/work/work.h"

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
