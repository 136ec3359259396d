/*
 * profilers/cuda/cupti/cupti_trace.h - CUPTI's activity records as a trace.
 *
 * CUPTI hands its buffers to two functions that get no pointer of the caller's,
 * so there is one collection a process. Records may come in on CUPTI's own
 * threads; what is collected is only looked at between msim_cupti_lock() and
 * msim_cupti_unlock().
 */
#ifndef MSIM_PROFILERS_CUDA_CUPTI_CUPTI_TRACE_H
#define MSIM_PROFILERS_CUDA_CUPTI_CUPTI_TRACE_H
#include "profilers/gpu_trace.h"

#include <stdbool.h>

/*
 * Begin to collect kernels, copies and memsets and, with `calls`, calls of the
 * runtime and launches of the driver, too. Once a process. EINTERNAL, naming
 * the call, where CUPTI refuses.
 */
MSIM_MUST_CHECK
enum msim_status msim_cupti_begin(bool calls, struct msim_error *err);

/*
 * Have what was recorded handed over: buffers all of whose records are complete
 * or, with `incomplete`, all there are. A record that is not complete is lost
 * then: it has no times, and is not handed over again.
 */
MSIM_MUST_CHECK
enum msim_status msim_cupti_flush(bool incomplete, struct msim_error *err);

/*
 * Collect nothing for a while, what is complete being handed over first: while
 * hardware counters are read nothing may be recorded. And go on: of kernels,
 * copies and memsets. EINTERNAL as above.
 */
MSIM_MUST_CHECK
enum msim_status msim_cupti_pause(struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_cupti_resume(struct msim_error *err);

/*
 * What was collected so far; ENOMEM where something was lost for want of
 * memory. NULL before msim_cupti_begin().
 */
struct msim_gpu_trace *msim_cupti_lock(enum msim_status *status);
void msim_cupti_unlock(void);

#endif
