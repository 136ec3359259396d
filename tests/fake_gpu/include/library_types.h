/*
 * tests/fake_gpu/include/library_types.h - kinds of numbers of CUDA's
 * libraries, for builds without CUDA: see cuda_runtime_api.h beside it.
 */
#ifndef MSIM_FAKE_LIBRARY_TYPES_H
#define MSIM_FAKE_LIBRARY_TYPES_H

typedef enum cudaDataType_t {
    CUDA_R_32F = 0,
    CUDA_R_64F = 1,
    CUDA_R_16F = 2,
    CUDA_R_8I = 3,
    CUDA_R_32I = 10,
    CUDA_R_16BF = 14,
    CUDA_R_8F_E4M3 = 28
} cudaDataType;
typedef enum cudaDataType_t cudaDataType_t;

#endif
