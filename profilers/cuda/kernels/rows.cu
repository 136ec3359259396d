/*
 * profilers/cuda/kernels/rows.cu - operators over rows: softmax, norms, gathers, and
 * sums. Short rows are a warp's, which keeps them in registers; long ones a
 * block's, which reads them twice.
 */
#include "profilers/cuda/kernels/kernels.h"
#include "profilers/cuda/kernels/numbers.cuh"

#define ROWS_A_BLOCK 4    /* of those that are a warp's */
#define SHORT        1024 /* columns: 32 registers a lane */
#define BLOCK        512

static unsigned blocks_of(int64_t rows, int64_t a_block)
{
    return (unsigned)((rows + a_block - 1) / a_block);
}

/* ---- softmax ------------------------------------------------------------- */

template <bool LOG, class W>
static __device__ __forceinline__ W share_of(W x, W most, W sum)
{
    return LOG ? x - most - log(sum) : exp(x - most) / sum;
}

template <class T, bool LOG>
__global__ void msim_softmax_short(const T *a, T *out, int64_t rows, int cols)
{
    int64_t row = blockIdx.x * (int64_t)ROWS_A_BLOCK + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    wide<T> x[SHORT / WARP], most = larger::none<wide<T>>(), sum = 0;

    if (row >= rows)
        return;
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++) {
        int at = lane + i * WARP;

        x[i] = at < cols ? widen(a[row * cols + at])
                         : larger::none<wide<T>>();
        most = larger::of(most, x[i]);
    }
    most = warp_all<larger>(most);
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++)
        sum += exp(x[i] - most);
    sum = warp_all<plus>(sum);
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++)
        if (lane + i * WARP < cols)
            out[row * cols + lane + i * WARP] =
                narrow<T>(share_of<LOG>(x[i], most, sum));
}

template <class T, bool LOG>
__global__ void msim_softmax_long(const T *a, T *out, int64_t cols)
{
    const T *from = a + blockIdx.x * cols;
    T *to = out + blockIdx.x * cols;
    wide<T> most = larger::none<wide<T>>(), sum = 0;

    /* the largest so far, and the sum for that: one pass (Milakov and
     * Gimelshein, 2018) */
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
        wide<T> x = widen(from[i]), now = larger::of(most, x);

        sum = sum * exp(most - now) + exp(x - now);
        most = now;
    }
    wide<T> all = block_all<larger>(most);
    sum = block_all<plus>(sum * exp(most - all));
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = narrow<T>(share_of<LOG>(widen(from[i]), all, sum));
}

/* ---- norms --------------------------------------------------------------- */

/* RMS: no mean is taken away, and nothing added. */
template <class T, bool RMS>
static __device__ __forceinline__ T normed(wide<T> x, wide<T> mean,
                                           wide<T> scale, const T *weight,
                                           const T *offset, int64_t at)
{
    if (RMS)
        return narrow<T>(x * scale * widen(weight[at]));
    return narrow<T>((x - mean) * scale * widen(weight[at]) +
                     widen(offset[at]));
}

template <class W> static __device__ __forceinline__ W scale_of(W squares)
{
    return rsqrt(squares + (W)1e-5);
}

template <class T, bool RMS>
__global__ void msim_norm_short(const T *a, const T *weight, const T *offset,
                                T *out, int64_t rows, int cols)
{
    int64_t row = blockIdx.x * (int64_t)ROWS_A_BLOCK + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    wide<T> x[SHORT / WARP], mean = 0, squares = 0;

    if (row >= rows)
        return;
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++) {
        int at = lane + i * WARP;

        x[i] = at < cols ? widen(a[row * cols + at]) : 0;
        mean += x[i];
    }
    mean = RMS ? 0 : warp_all<plus>(mean) / cols;
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++)
        if (lane + i * WARP < cols)
            squares += (x[i] - mean) * (x[i] - mean);
    squares = scale_of(warp_all<plus>(squares) / cols);
#pragma unroll
    for (int i = 0; i < SHORT / WARP; i++)
        if (lane + i * WARP < cols)
            out[row * cols + lane + i * WARP] = normed<T, RMS>(
                x[i], mean, squares, weight, offset, lane + i * WARP);
}

template <class T, bool RMS>
__global__ void msim_norm_long(const T *a, const T *weight, const T *offset,
                               T *out, int64_t cols)
{
    const T *from = a + blockIdx.x * cols;
    T *to = out + blockIdx.x * cols;
    wide<T> sum = 0, squares = 0, mean, scale;

    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x) {
        wide<T> x = widen(from[i]);

        sum += x;
        squares += x * x;
    }
    mean = RMS ? 0 : block_all<plus>(sum) / cols;
    scale = scale_of(block_all<plus>(squares) / cols - mean * mean);
    for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
        to[i] = normed<T, RMS>(widen(from[i]), mean, scale, weight, offset, i);
}

/* ---- gathers ------------------------------------------------------------- */

template <class T>
__global__ void msim_gather(const T *table, const long long *index, T *out,
                            int64_t cols)
{
    const T *from = table + index[blockIdx.x] * cols;
    T *to = out + blockIdx.x * cols;

    if (cols % pack<T>::n == 0) {
        const pack<T> *in = (const pack<T> *)from;

        for (int64_t i = threadIdx.x; i < cols / pack<T>::n; i += blockDim.x)
            ((pack<T> *)to)[i] = in[i];
    } else {
        for (int64_t i = threadIdx.x; i < cols; i += blockDim.x)
            to[i] = from[i];
    }
}

/* ---- which of them ------------------------------------------------------- */

static unsigned threads_for(int64_t items)
{
    unsigned n = WARP;

    while (n < BLOCK && n < items)
        n *= 2;
    return n;
}

template <class T, bool LOG>
static void softmax(const struct msim_vector_operands *v, cudaStream_t s)
{
    const T *a = (const T *)v->a;
    T *out = (T *)v->out;

    if (v->cols <= SHORT)
        msim_softmax_short<T, LOG>
            <<<blocks_of(v->rows, ROWS_A_BLOCK), ROWS_A_BLOCK * WARP, 0, s>>>(
                a, out, v->rows, (int)v->cols);
    else
        msim_softmax_long<T, LOG>
            <<<(unsigned)v->rows, BLOCK, 0, s>>>(a, out, v->cols);
}

template <class T, bool RMS>
static void norm(const struct msim_vector_operands *v, cudaStream_t s)
{
    const T *a = (const T *)v->a, *weight = (const T *)v->weight;
    const T *offset = (const T *)v->offset;
    T *out = (T *)v->out;

    if (v->cols <= SHORT)
        msim_norm_short<T, RMS>
            <<<blocks_of(v->rows, ROWS_A_BLOCK), ROWS_A_BLOCK * WARP, 0, s>>>(
                a, weight, offset, out, v->rows, (int)v->cols);
    else
        msim_norm_long<T, RMS><<<(unsigned)v->rows, BLOCK, 0, s>>>(
            a, weight, offset, out, v->cols);
}

template <class T>
static cudaError_t rows_as(const struct msim_vector_operands *v, cudaStream_t s)
{
    switch (v->op) {
    case MSIM_VOP_SOFTMAX:
        softmax<T, false>(v, s);
        break;
    case MSIM_VOP_LOG_SOFTMAX:
        softmax<T, true>(v, s);
        break;
    case MSIM_VOP_LAYER_NORM:
        norm<T, false>(v, s);
        break;
    case MSIM_VOP_RMS_NORM:
        norm<T, true>(v, s);
        break;
    case MSIM_VOP_INDEX_SELECT:
        msim_gather<T><<<(unsigned)v->rows, threads_for(v->cols), 0, s>>>(
            (const T *)v->a, (const long long *)v->b, (T *)v->out, v->cols);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

cudaError_t msim_kernel_rows(const struct msim_vector_operands *v,
                             cudaStream_t s)
{
    switch (v->dtype) {
    case MSIM_DT_F64:
        return rows_as<double>(v, s);
    case MSIM_DT_F16:
        return rows_as<__half>(v, s);
    case MSIM_DT_BF16:
        return rows_as<__nv_bfloat16>(v, s);
    default:
        return rows_as<float>(v, s);
    }
}
