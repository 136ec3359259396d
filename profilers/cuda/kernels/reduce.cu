/*
 * profilers/cuda/kernels/reduce.cu - one figure a row: a warp a row, of longer ones a
 * block, or several where there are fewer rows than would fill the device, and
 * then a second kernel.
 */
#include "profilers/cuda/kernels/kernels.h"
#include "profilers/cuda/kernels/numbers.cuh"

#define BLOCK 256
#define SHORT 1024 /* columns that are a warp's */
#define COLS_MIN 4096 /* columns that are worth a block */

/* Blocks of one row: enough of them for two a multiprocessor. */
static int64_t blocks_a_row(const struct msim_vector_operands *v)
{
    int64_t wanted = (2 * (int64_t)v->sms + v->rows - 1) / v->rows;
    int64_t most = (v->cols + COLS_MIN - 1) / COLS_MIN;

    return wanted < most ? wanted : most;
}

/* Part blockIdx.x % parts of row blockIdx.x / parts. */
template <class How, class T, class To>
__global__ void msim_reduce(const T *a, To *out, int64_t cols, int64_t parts,
                            wide<T> scale)
{
    int64_t row = blockIdx.x / parts, part = blockIdx.x % parts;
    int64_t each = (cols + parts - 1) / parts;
    int64_t from = part * each, to = from + each < cols ? from + each : cols;
    wide<T> x = How::template none<wide<T>>();

    for (int64_t i = from + threadIdx.x; i < to; i += blockDim.x)
        x = How::of(x, widen(a[row * cols + i]));
    x = block_all<How>(x);
    if (threadIdx.x == 0)
        out[blockIdx.x] = narrow<To>(x * scale);
}

/* A row that is a warp's. */
template <class How, class T>
__global__ void msim_reduce_short(const T *a, T *out, int64_t rows, int cols,
                                  wide<T> scale)
{
    int64_t row = blockIdx.x * (int64_t)(BLOCK / WARP) + threadIdx.x / WARP;
    wide<T> x = How::template none<wide<T>>();

    if (row >= rows)
        return;
    for (int i = threadIdx.x % WARP; i < cols; i += WARP)
        x = How::of(x, widen(a[row * cols + i]));
    x = warp_all<How>(x);
    if (threadIdx.x % WARP == 0)
        out[row] = narrow<T>(x * scale);
}

template <class How, class T>
static cudaError_t reduce_as(const struct msim_vector_operands *v,
                             cudaStream_t s)
{
    int64_t parts = blocks_a_row(v);
    wide<T> scale = 1;
    wide<T> *part = (wide<T> *)v->part;

    if (v->op == MSIM_VOP_MEAN)
        scale /= (wide<T>)v->cols;
    if (v->cols <= SHORT) {
        int64_t blocks = (v->rows + BLOCK / WARP - 1) / (BLOCK / WARP);

        msim_reduce_short<How, T><<<(unsigned)blocks, BLOCK, 0, s>>>(
            (const T *)v->a, (T *)v->out, v->rows, (int)v->cols, scale);
    } else if (parts <= 1) {
        msim_reduce<How, T, T><<<(unsigned)v->rows, BLOCK, 0, s>>>(
            (const T *)v->a, (T *)v->out, v->cols, 1, scale);
    } else {
        msim_reduce<How, T, wide<T>>
            <<<(unsigned)(v->rows * parts), BLOCK, 0, s>>>(
                (const T *)v->a, part, v->cols, parts, scale);
        msim_reduce<How, wide<T>, T><<<(unsigned)v->rows, BLOCK, 0, s>>>(
            part, (T *)v->out, parts, 1, 1);
    }
    return cudaGetLastError();
}

template <class T>
static cudaError_t reduce(const struct msim_vector_operands *v, cudaStream_t s)
{
    return v->op == MSIM_VOP_AMAX ? reduce_as<larger, T>(v, s)
                                  : reduce_as<plus, T>(v, s);
}

cudaError_t msim_kernel_reduce(const struct msim_vector_operands *v,
                               cudaStream_t s)
{
    switch (v->dtype) {
    case MSIM_DT_F64:
        return reduce<double>(v, s);
    case MSIM_DT_F16:
        return reduce<__half>(v, s);
    case MSIM_DT_BF16:
        return reduce<__nv_bfloat16>(v, s);
    default:
        return reduce<float>(v, s);
    }
}

size_t msim_kernel_part_bytes(const struct msim_vector_operands *v)
{
    return (size_t)(blocks_a_row(v) * v->rows) * sizeof(double);
}
