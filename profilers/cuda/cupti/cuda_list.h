/*
 * profilers/cuda/cupti/cuda_list.h - the GPUs of a process, asked of the driver
 * that it has loaded already.
 */
#ifndef MSIM_PROFILERS_CUDA_CUPTI_CUDA_LIST_H
#define MSIM_PROFILERS_CUDA_CUPTI_CUDA_LIST_H
#include "profilers/gpu_trace.h"

/*
 * Add all GPUs to `t`; those that it has already stay as they are. Without a
 * driver, or where it does not answer any more, none are added. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_cuda_list(struct msim_gpu_trace *t);

#endif
