/*
 * core/read/nsys/nsys.h - SQLite exports of Nsight Systems as traces.
 *
 *     nsys export --type sqlite --output run.sqlite run.nsys-rep
 *
 * A database becomes the events of a Kineto trace, and those go the way of all
 * others. What is read of it, where it is there:
 *
 *     CUPTI_ACTIVITY_KIND_KERNEL   kernels: name, stream, correlation, launch
 *     CUPTI_ACTIVITY_KIND_MEMCPY, _MEMSET
 *     CUPTI_ACTIVITY_KIND_RUNTIME  calls, without the "_v3020" of their names
 *     NVTX_EVENTS                  ranges: of emit_nvtx operators with sizes,
 *                                  of a step ("step 3", "iteration_3") a
 *                                  step, others labels
 *     TARGET_INFO_GPU              name, memory and SMs of GPUs
 *
 * Such a file has no element types, no process groups and no tensors: types
 * are those of the kernels' names, and memory is not known.
 *
 * The file is foreign: it is opened as one that does not change, nothing in its
 * schema runs (no views, no triggers), and the work is bounded by its size.
 */
#ifndef MSIM_CORE_READ_NSYS_NSYS_H
#define MSIM_CORE_READ_NSYS_NSYS_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Is the file at `path` an SQLite database? */
bool msim_nsys_is(const char *path);

/*
 * Its events as JSON, which the caller frees. EFORMAT where it is none of
 * Nsight Systems, or broken; ELIMIT where it becomes longer than `most` bytes,
 * or takes more work than a file of its size should.
 */
MSIM_MUST_CHECK
enum msim_status msim_nsys_read(char **text, size_t *size, const char *path,
                                size_t most, struct msim_error *err);

#endif
