/*
 * models/host/host_gpu.h - what a GPU's host calls where a trace without GPU
 * events has something else.
 *
 * Captures of a CPU call its kernels, and what is inside those; captures of the
 * meta device have nothing inside an operator with a kernel:
 *
 *     trace                           on a GPU
 *     native_batch_norm (empty, ...)  cudnn_batch_norm (empty, ...)
 *     relu_                           relu_ (clamp_min_)
 *     _foreach_add_ (add_, ...)       _foreach_add_
 *
 * Nothing is allocated, nothing changed: safe from any thread.
 */
#ifndef MSIM_MODELS_HOST_HOST_GPU_H
#define MSIM_MODELS_HOST_HOST_GPU_H
#include "core/trace/trace.h"

/* Is `op` called at all? False inside what a GPU does at once. */
bool msim_host_gpu_calls(const struct msim_trace *t, uint32_t op);

/* The name of `op` on a GPU. */
const char *msim_host_gpu_name(const struct msim_trace *t, uint32_t op);

/* What `op` calls there that the trace does not have; ends with NULL. */
const char *const *msim_host_gpu_inside(const struct msim_trace *t,
                                        uint32_t op);

/* The bytes that an operator of an optimizer's step reads and writes in the
 * host's memory: of a step that was offloaded (MSIM_DEV_HOST). 0: none. */
double msim_host_step_bytes(const struct msim_trace *t, uint32_t op);

/* Does it read a number that the CPU has, such as the count of steps of an
 * optimizer? That is no call, and nothing waits. */
bool msim_host_is_number(const struct msim_trace *t, uint32_t op);

/* Is it part of backward, which runs in threads of autograd's own? */
bool msim_host_is_in_backward(const struct msim_trace *t, uint32_t op);

#endif
