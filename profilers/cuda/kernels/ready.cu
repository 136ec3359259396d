/*
 * profilers/cuda/kernels/ready.cu - kernels that get things ready, and those that only
 * read, only write, or do nothing.
 */
#include "profilers/cuda/kernels/kernels.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define BLOCK 256

static unsigned blocks_for(size_t items, unsigned most)
{
    size_t n = (items + BLOCK - 1) / BLOCK;

    return n < most ? (n ? (unsigned)n : 1) : most;
}

/* ---- random numbers ------------------------------------------------------ */

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
 * 2014: the finaliser of SplitMix64, of a counter. */
__device__ static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

template <class T> __device__ static T made(double x)
{
    return (T)x;
}
template <> __device__ __half made<__half>(double x)
{
    return __float2half_rn((float)x);
}
template <> __device__ __nv_bfloat16 made<__nv_bfloat16>(double x)
{
    return __float2bfloat16_rn((float)x);
}
template <> __device__ __nv_fp8_e4m3 made<__nv_fp8_e4m3>(double x)
{
    return __nv_fp8_e4m3((float)x);
}

template <class T>
__global__ void msim_aux_fill(T *to, size_t n, double low, double high,
                              uint64_t seed)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step) {
        double part = (double)(mixed(seed + i) >> 11) * 0x1p-53;

        to[i] = made<T>(low + (high - low) * part);
    }
}

template <class T>
static cudaError_t fill(void *to, size_t n, double low, double high,
                        uint64_t seed, cudaStream_t s)
{
    msim_aux_fill<T><<<blocks_for(n, 65536), BLOCK, 0, s>>>((T *)to, n, low,
                                                            high, seed);
    return cudaGetLastError();
}

cudaError_t msim_kernel_fill(void *to, size_t n, enum msim_dtype dtype,
                             double low, double high, uint64_t seed,
                             cudaStream_t s)
{
    switch (dtype) {
    case MSIM_DT_F64:
        return fill<double>(to, n, low, high, seed, s);
    case MSIM_DT_F32:
        return fill<float>(to, n, low, high, seed, s);
    case MSIM_DT_F16:
        return fill<__half>(to, n, low, high, seed, s);
    case MSIM_DT_BF16:
        return fill<__nv_bfloat16>(to, n, low, high, seed, s);
    case MSIM_DT_F8:
        return fill<__nv_fp8_e4m3>(to, n, low, high, seed, s);
    case MSIM_DT_I64:
        return fill<long long>(to, n, low, high, seed, s);
    case MSIM_DT_I32:
        return fill<int>(to, n, low, high, seed, s);
    case MSIM_DT_I8:
        return fill<signed char>(to, n, low, high, seed, s);
    default:
        return fill<unsigned char>(to, n, low, high, seed, s);
    }
}

/* ---- waiting, and throwing things out of the caches ---------------------- */

__device__ static uint64_t now_ns()
{
    uint64_t ns;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ static void spin(uint64_t ns)
{
    uint64_t begin = now_ns();

    while (now_ns() - begin < ns) {
    }
}

__global__ void msim_aux_spin(uint64_t ns)
{
    spin(ns);
}

cudaError_t msim_kernel_spin(unsigned blocks, double us, cudaStream_t s)
{
    msim_aux_spin<<<blocks, 1, 0, s>>>((uint64_t)(us * 1000));
    return cudaGetLastError();
}

/* Sum up what is read, or the compiler reads nothing; no sum is ever that of
 * `sink`, so that nothing is written. */
__device__ static void read_all(const uint4 *from, size_t n, unsigned *sink)
{
    size_t step = (size_t)gridDim.x * blockDim.x;
    unsigned sum = 0;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step) {
        uint4 v = from[i];

        sum |= v.x | v.y | v.z | v.w;
    }
    if (sink && sum == 0x5eed)
        *sink = sum;
}

__global__ void msim_aux_flush(const uint4 *from, size_t n, unsigned *sink)
{
    read_all(from, n, sink);
}

cudaError_t msim_kernel_flush(const void *from, size_t bytes, unsigned sms,
                              cudaStream_t s)
{
    msim_aux_flush<<<8 * sms, BLOCK, 0, s>>>((const uint4 *)from, bytes / 16,
                                             (unsigned *)from);
    return cudaGetLastError();
}

/* ---- what is timed ------------------------------------------------------- */

__global__ void msim_empty()
{
}

cudaError_t msim_kernel_empty(cudaStream_t s)
{
    msim_empty<<<1, 1, 0, s>>>();
    return cudaGetLastError();
}

__global__ void msim_busy(uint64_t ns)
{
    spin(ns);
}

cudaError_t msim_kernel_busy(double us, cudaStream_t s)
{
    msim_busy<<<1, 1, 0, s>>>((uint64_t)(us * 1000));
    return cudaGetLastError();
}

__global__ void msim_read(const uint4 *from, size_t n, unsigned *sink)
{
    read_all(from, n, sink);
}

cudaError_t msim_kernel_read(const void *from, void *sink, size_t bytes,
                             unsigned sms, cudaStream_t s)
{
    size_t n = (bytes + 15) / 16;

    msim_read<<<blocks_for(n, 8 * sms), BLOCK, 0, s>>>((const uint4 *)from, n,
                                                       (unsigned *)sink);
    return cudaGetLastError();
}

__global__ void msim_write(uint4 *to, size_t n)
{
    size_t step = (size_t)gridDim.x * blockDim.x;

    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step)
        to[i] = make_uint4((unsigned)i, 1, 2, 3);
}

cudaError_t msim_kernel_write(void *to, size_t bytes, unsigned sms,
                              cudaStream_t s)
{
    size_t n = (bytes + 15) / 16;

    msim_write<<<blocks_for(n, 8 * sms), BLOCK, 0, s>>>((uint4 *)to, n);
    return cudaGetLastError();
}
