/*
 * profilers/cuda/kernels/kernels.h - our own kernels, for C. None waits for the
 * device.
 */
#ifndef MSIM_PROFILERS_CUDA_KERNELS_KERNELS_H
#define MSIM_PROFILERS_CUDA_KERNELS_KERNELS_H
#include "profilers/experiment.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernels with this prefix are never part of a measured time. */
#define MSIM_AUX_PREFIX "msim_aux_"

/* Random numbers, `low` to `high` (whole ones: below `high`). */
cudaError_t msim_kernel_fill(void *to, size_t elems, enum msim_dtype dtype,
                             double low, double high, uint64_t seed,
                             cudaStream_t s);
/* Keep `blocks` multiprocessors busy for so long. */
cudaError_t msim_kernel_spin(unsigned blocks, double us, cudaStream_t s);
/* Read `bytes`, so that nothing else is in the L2 cache, and nothing there has
 * to be written back. */
cudaError_t msim_kernel_flush(const void *from, size_t bytes, unsigned sms,
                              cudaStream_t s);

/* What is timed. */
cudaError_t msim_kernel_empty(cudaStream_t s);
/* Nothing for so long. */
cudaError_t msim_kernel_busy(double us, cudaStream_t s);
cudaError_t msim_kernel_read(const void *from, void *sink, size_t bytes,
                             unsigned sms, cudaStream_t s);
cudaError_t msim_kernel_write(void *to, size_t bytes, unsigned sms,
                              cudaStream_t s);

/* Operands of a vector operator; what an operator has not is NULL. */
struct msim_vector_operands {
    enum msim_vector_op op;
    enum msim_dtype dtype; /* F64, F32, F16 or BF16 */
    int64_t rows, cols;
    const void *a, *b;           /* of a gather: table, int64 row numbers */
    const void *weight, *offset; /* of norms */
    void *out;
    void *part; /* of reductions: msim_kernel_part_bytes() */
    unsigned sms;
};

cudaError_t msim_kernel_pointwise(const struct msim_vector_operands *v,
                                  cudaStream_t s);
cudaError_t msim_kernel_rows(const struct msim_vector_operands *v,
                             cudaStream_t s);
cudaError_t msim_kernel_reduce(const struct msim_vector_operands *v,
                               cudaStream_t s);
size_t msim_kernel_part_bytes(const struct msim_vector_operands *v);

#ifdef __cplusplus
}
#endif

#endif
