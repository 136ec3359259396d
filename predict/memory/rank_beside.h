/*
 * predict/memory/rank_beside.h - what a rank of a traced job holds beside its
 * tensors: CUDA's context, and NCCL's buffers for every group that its trace
 * communicates in.
 *
 * A trace that counts no groups has one: all ranks. Groups that only send and
 * receive have buffers for as many peers as the trace names, two where it names
 * none.
 */
#ifndef MSIM_PREDICT_MEMORY_RANK_BESIDE_H
#define MSIM_PREDICT_MEMORY_RANK_BESIDE_H
#include "core/memory/life_memory.h"
#include "core/trace/trace.h"
#include "models/platform/platform.h"

/* Of a rank on `platform`; a CPU, or NULL: nothing. */
struct msim_beside msim_rank_beside(const struct msim_trace *t,
                                    const struct msim_platform *platform);

#endif
