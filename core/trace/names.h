/*
 * core/trace/names.h - what the names in traces say: kinds of calls, element
 * types, collectives, copies.
 *
 * Writers spell the same thing in many ways ("float", "Tensor(float)",
 * "Float"; "allreduce", "all_reduce", "_allgather_base"); everything that
 * depends on a spelling is here. Names are recognised by their parts, never
 * by a list of known functions.
 */
#ifndef MSIM_CORE_TRACE_NAMES_H
#define MSIM_CORE_TRACE_NAMES_H
#include "core/trace/trace.h"

/* "cudaLaunchKernelExC" is a launch, "hipMemcpyWithStream" a copy, ... */
enum msim_call_kind msim_name_call(const char *name);

/* 1 where a call begins to capture a stream as a graph, -1 where it ends. */
int msim_name_capture(const char *name);

/* "c10::Half", "float", "Long", "__nv_bfloat16": UNKNOWN where it is none. */
enum msim_dtype msim_name_dtype(const char *s, size_t len);

/* "allreduce", "nccl:_reduce_scatter_base", "all_to_allv", "wait". */
enum msim_collective msim_name_collective(const char *s, size_t len);

/* What a kernel's name says of communication: the last resort, where neither
 * metadata nor an operator says it. */
enum msim_comm_kernel {
    MSIM_COMM_KERNEL_NONE,
    MSIM_COMM_KERNEL_MEETS, /* NCCL and its kin, whose ranks meet in order */
    MSIM_COMM_KERNEL_WHOLE, /* another library's: its waiting for peers cannot
                               be told from its transfer */
};
enum msim_comm_kernel msim_name_comm_kernel(const char *name);

/* What such a kernel does: "internode::dispatch" sends to all. ALL_REDUCE where
 * the name does not say. */
enum msim_collective msim_name_kernel_collective(const char *name);

/* "Memcpy HtoD (Pageable -> Device)" */
enum msim_copy_kind msim_name_copy(const char *name, bool *pageable);

/* Whether an operator takes lists of tensors, all at once on a GPU
 * ("aten::_foreach_add_"). A CPU takes them one by one, by operators below it.
 */
bool msim_name_is_list(const char *name);

/* The n of "ProfilerStep#n". */
bool msim_name_step(const char *name, int64_t *number);

/* "Stream Wait Event" -> MSIM_CALL_STREAM_WAIT; OTHER where unknown. */
enum msim_call_kind msim_name_sync(const char *s, size_t len);

/* "[pytorch|profiler|execution_trace|thread]" and the like. */
bool msim_name_is_root(const char *name);

#endif
