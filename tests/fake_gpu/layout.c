/*
 * tests/fake_gpu/layout.c - the headers of the fake GPU against CUDA's own.
 *
 * Compiled twice where CUDA's headers are: with the fake's, and with those
 * (MSIM_REAL); both print the numbers of what the project uses, and where each
 * member lies that it reads. Calls are declared once more after CUDA's own, so
 * that other parameters do not compile.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <library_types.h>
#if MSIM_HAVE_CUBLAS
#include <cublasLt.h>
#endif
#if MSIM_HAVE_CUDNN
#include <cudnn.h>
#endif
#if MSIM_HAVE_NCCL
#include <nccl.h>
#endif
#include <stddef.h>
#include <stdio.h>

#ifdef MSIM_REAL
#define MSIM_FAKE_CALLS
#include "tests/fake_gpu/include/cuda.h"
#include "tests/fake_gpu/include/cuda_runtime_api.h"
#include "tests/fake_gpu/include/cupti.h"
#if MSIM_HAVE_CUBLAS
#include "tests/fake_gpu/include/cublasLt.h"
#endif
#if MSIM_HAVE_CUDNN
#include "tests/fake_gpu/include/cudnn.h"
#endif
#if MSIM_HAVE_NCCL
#include "tests/fake_gpu/include/nccl.h"
#endif
#endif

#define VALUE(name) printf(#name " %lld\n", (long long)(name));
#define AT(type, member)                                                       \
    printf(#type "." #member " at %zu of %zu\n", offsetof(type, member),       \
           sizeof(((type *)0)->member));
/* Of structures that differ from version to version. */
#define HAS(type, member)                                                      \
    printf(#type "." #member " of %zu\n", sizeof(((type *)0)->member));
#define SIZE(type) printf(#type " %zu\n", sizeof(type));

static void show_runtime(void)
{
    VALUE(cudaSuccess)
    VALUE(cudaErrorInvalidValue)
    VALUE(cudaErrorMemoryAllocation)
    VALUE(cudaErrorNoDevice)
    VALUE(cudaErrorInvalidDevice)
    VALUE(cudaErrorNoKernelImageForDevice)
    VALUE(cudaErrorInvalidResourceHandle)
    VALUE(cudaErrorNotReady)
    VALUE(cudaErrorIllegalAddress)
    VALUE(cudaErrorPeerAccessAlreadyEnabled)
    VALUE(cudaErrorLaunchFailure)
    VALUE(cudaErrorNotSupported)
    VALUE(cudaMemcpyHostToDevice)
    VALUE(cudaMemcpyDeviceToHost)
    VALUE(cudaMemcpyDeviceToDevice)
    VALUE(CUDA_R_32F)
    VALUE(CUDA_R_64F)
    VALUE(CUDA_R_16F)
    VALUE(CUDA_R_8I)
    VALUE(CUDA_R_32I)
    VALUE(CUDA_R_16BF)
    VALUE(CUDA_R_8F_E4M3)
    VALUE(cudaStreamNonBlocking)
    HAS(struct cudaDeviceProp, name)
    HAS(struct cudaDeviceProp, totalGlobalMem)
    HAS(struct cudaDeviceProp, major)
    HAS(struct cudaDeviceProp, minor)
    HAS(struct cudaDeviceProp, multiProcessorCount)
    HAS(struct cudaDeviceProp, memoryBusWidth)
    HAS(struct cudaDeviceProp, l2CacheSize)
}

static void show_driver(void)
{
    VALUE(CUDA_SUCCESS)
    VALUE(CUDA_ERROR_INVALID_VALUE)
    VALUE(CUDA_ERROR_INVALID_DEVICE)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
    VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)
    VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)
    VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
    VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
    VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
    SIZE(CUdevice)
}

static void show_cupti(void)
{
    VALUE(CUPTI_SUCCESS)
    VALUE(CUPTI_ERROR_INVALID_PARAMETER)
    VALUE(CUPTI_ERROR_INVALID_OPERATION)
    VALUE(CUPTI_ERROR_MAX_LIMIT_REACHED)
    VALUE(CUPTI_ERROR_INVALID_KIND)
    VALUE(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)
    VALUE(CUPTI_ERROR_UNKNOWN)
    VALUE(CUPTI_ACTIVITY_KIND_MEMCPY)
    VALUE(CUPTI_ACTIVITY_KIND_MEMSET)
    VALUE(CUPTI_ACTIVITY_KIND_KERNEL)
    VALUE(CUPTI_ACTIVITY_KIND_DRIVER)
    VALUE(CUPTI_ACTIVITY_KIND_RUNTIME)
    VALUE(CUPTI_ACTIVITY_KIND_DEVICE)
    VALUE(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
    VALUE(CUPTI_ACTIVITY_KIND_MEMCPY2)
    VALUE(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_HTOA)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_ATOH)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH)
    VALUE(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_ARRAY)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC)
    VALUE(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC)
    VALUE(CUPTI_CB_DOMAIN_DRIVER_API)
    VALUE(CUPTI_CB_DOMAIN_RUNTIME_API)
    VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
    VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel)
    VALUE(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch)
    VALUE(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx)
}

/* Records of CUDA 13.0; those of older toolkits are other versions. */
static void show_records(void)
{
#if CUPTI_API_VERSION >= 130000
    SIZE(CUpti_Activity)
    SIZE(CUpti_ActivityAPI)
    AT(CUpti_ActivityAPI, cbid)
    AT(CUpti_ActivityAPI, start)
    AT(CUpti_ActivityAPI, correlationId)
    SIZE(CUpti_ActivityKernel10)
    AT(CUpti_ActivityKernel10, registersPerThread)
    AT(CUpti_ActivityKernel10, start)
    AT(CUpti_ActivityKernel10, end)
    AT(CUpti_ActivityKernel10, deviceId)
    AT(CUpti_ActivityKernel10, streamId)
    AT(CUpti_ActivityKernel10, gridX)
    AT(CUpti_ActivityKernel10, blockZ)
    AT(CUpti_ActivityKernel10, dynamicSharedMemory)
    AT(CUpti_ActivityKernel10, correlationId)
    AT(CUpti_ActivityKernel10, name)
    AT(CUpti_ActivityKernel10, graphNodeId)
    AT(CUpti_ActivityKernel10, graphId)
    SIZE(CUpti_ActivityMemcpy6)
    AT(CUpti_ActivityMemcpy6, copyKind)
    AT(CUpti_ActivityMemcpy6, dstKind)
    AT(CUpti_ActivityMemcpy6, bytes)
    AT(CUpti_ActivityMemcpy6, streamId)
    AT(CUpti_ActivityMemcpy6, correlationId)
    AT(CUpti_ActivityMemcpy6, graphId)
    SIZE(CUpti_ActivityMemcpyPtoP4)
    AT(CUpti_ActivityMemcpyPtoP4, bytes)
    AT(CUpti_ActivityMemcpyPtoP4, correlationId)
    AT(CUpti_ActivityMemcpyPtoP4, graphId)
    SIZE(CUpti_ActivityMemset4)
    AT(CUpti_ActivityMemset4, bytes)
    AT(CUpti_ActivityMemset4, correlationId)
    AT(CUpti_ActivityMemset4, memoryKind)
    AT(CUpti_ActivityMemset4, graphId)
    SIZE(CUpti_ActivityDevice5)
    AT(CUpti_ActivityDevice5, globalMemorySize)
    AT(CUpti_ActivityDevice5, numMultiprocessors)
    AT(CUpti_ActivityDevice5, maxThreadsPerBlock)
    AT(CUpti_ActivityDevice5, computeCapabilityMinor)
    AT(CUpti_ActivityDevice5, id)
    AT(CUpti_ActivityDevice5, name)
#endif
}

#if MSIM_HAVE_CUBLAS
static void show_cublas(void)
{
    VALUE(CUBLAS_STATUS_SUCCESS)
    VALUE(CUBLAS_STATUS_NOT_INITIALIZED)
    VALUE(CUBLAS_STATUS_INVALID_VALUE)
    VALUE(CUBLAS_STATUS_EXECUTION_FAILED)
    VALUE(CUBLAS_STATUS_NOT_SUPPORTED)
    VALUE(CUBLAS_OP_N)
    VALUE(CUBLAS_OP_T)
    VALUE(CUBLAS_COMPUTE_32F)
    VALUE(CUBLAS_COMPUTE_64F)
    VALUE(CUBLAS_COMPUTE_32I)
    VALUE(CUBLAS_COMPUTE_32F_FAST_TF32)
    VALUE(CUBLASLT_MATMUL_DESC_TRANSA)
    VALUE(CUBLASLT_MATMUL_DESC_TRANSB)
    VALUE(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER)
    VALUE(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER)
    VALUE(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    VALUE(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    VALUE(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES)
    SIZE(cublasLtMatmulAlgo_t)
    SIZE(cublasLtMatmulHeuristicResult_t)
    AT(cublasLtMatmulHeuristicResult_t, algo)
    AT(cublasLtMatmulHeuristicResult_t, state)
}
#endif

#if MSIM_HAVE_CUDNN
static void show_cudnn(void)
{
    VALUE(CUDNN_STATUS_SUCCESS)
    VALUE(CUDNN_STATUS_NOT_INITIALIZED)
    VALUE(CUDNN_STATUS_BAD_PARAM)
    VALUE(CUDNN_STATUS_NOT_SUPPORTED)
    VALUE(CUDNN_STATUS_EXECUTION_FAILED)
    VALUE(CUDNN_DATA_FLOAT)
    VALUE(CUDNN_DATA_DOUBLE)
    VALUE(CUDNN_DATA_HALF)
    VALUE(CUDNN_DATA_BFLOAT16)
    VALUE(CUDNN_DEFAULT_MATH)
    VALUE(CUDNN_TENSOR_OP_MATH)
    VALUE(CUDNN_FMA_MATH)
    VALUE(CUDNN_TENSOR_NCHW)
    VALUE(CUDNN_CROSS_CORRELATION)
    SIZE(cudnnConvolutionFwdAlgoPerf_t)
    AT(cudnnConvolutionFwdAlgoPerf_t, status)
    AT(cudnnConvolutionFwdAlgoPerf_t, memory)
    AT(cudnnConvolutionFwdAlgoPerf_t, mathType)
    AT(cudnnConvolutionBwdDataAlgoPerf_t, memory)
    AT(cudnnConvolutionBwdFilterAlgoPerf_t, memory)
}
#endif

#if MSIM_HAVE_NCCL
static void show_nccl(void)
{
    VALUE(ncclSuccess)
    VALUE(ncclUnhandledCudaError)
    VALUE(ncclSystemError)
    VALUE(ncclInternalError)
    VALUE(ncclInvalidArgument)
    VALUE(ncclSum)
    VALUE(ncclInt8)
    VALUE(ncclUint8)
    VALUE(ncclInt32)
    VALUE(ncclInt64)
    VALUE(ncclFloat16)
    VALUE(ncclFloat32)
    VALUE(ncclFloat64)
    VALUE(ncclBfloat16)
}
#endif

int main(void)
{
    show_runtime();
    show_driver();
    show_cupti();
    show_records();
#if MSIM_HAVE_CUBLAS
    show_cublas();
#endif
#if MSIM_HAVE_CUDNN
    show_cudnn();
#endif
#if MSIM_HAVE_NCCL
    show_nccl();
#endif
    return 0;
}
