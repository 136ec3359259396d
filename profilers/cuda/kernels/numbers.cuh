/*
 * profilers/cuda/kernels/numbers.cuh - kinds of numbers as C++ types: what they are
 * computed in, and vectors of 16 bytes of them.
 */
#ifndef MSIM_PROFILERS_CUDA_KERNELS_NUMBERS_CUH
#define MSIM_PROFILERS_CUDA_KERNELS_NUMBERS_CUH
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

/* Half the width is computed in single precision, as PyTorch does. */
template <class T> struct computed {
    typedef float type;
};
template <> struct computed<double> {
    typedef double type;
};

template <class T> using wide = typename computed<T>::type;

template <class T> __device__ __forceinline__ wide<T> widen(T x)
{
    return (wide<T>)x;
}
template <> __device__ __forceinline__ float widen(__half x)
{
    return __half2float(x);
}
template <> __device__ __forceinline__ float widen(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <class T> __device__ __forceinline__ T narrow(wide<T> x)
{
    return (T)x;
}
template <> __device__ __forceinline__ __half narrow<__half>(float x)
{
    return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 narrow<__nv_bfloat16>(float x)
{
    return __float2bfloat16_rn(x);
}

/* What one load or store of a thread moves. */
template <class T> struct alignas(16) pack {
    static const int n = 16 / sizeof(T);
    T v[n];
};

#define WARP 32
#define ALL  0xffffffffu

struct plus {
    template <class W> static __device__ __forceinline__ W of(W a, W b)
    {
        return a + b;
    }
    template <class W> static __device__ __forceinline__ W none()
    {
        return 0;
    }
};

struct larger {
    template <class W> static __device__ __forceinline__ W of(W a, W b)
    {
        return a > b ? a : b;
    }
    template <class W> static __device__ __forceinline__ W none()
    {
        return (W)-INFINITY;
    }
};

/* Of all lanes of a warp, to all. */
template <class How, class W> __device__ __forceinline__ W warp_all(W x)
{
    for (int step = WARP / 2; step > 0; step /= 2)
        x = How::of(x, __shfl_xor_sync(ALL, x, step));
    return x;
}

/* Of all threads of a block (a multiple of a warp), to all. */
template <class How, class W> __device__ W block_all(W x)
{
    __shared__ W of_warp[WARP];
    int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    int warps = blockDim.x / WARP;

    x = warp_all<How>(x);
    __syncthreads(); /* whoever still reads the last result */
    if (lane == 0)
        of_warp[warp] = x;
    __syncthreads();
    x = lane < warps ? of_warp[lane] : How::template none<W>();
    return warp_all<How>(x);
}

#endif
