/*
 * profilers/cuda/kernels/pointwise.cu - operators of one element each: 16 bytes a
 * thread and operand, a thread for every 16 bytes.
 */
#include "profilers/cuda/kernels/kernels.h"
#include "profilers/cuda/kernels/numbers.cuh"

#define BLOCK 128

/* What the second operand is where it is a number. */
#define NUMBER 1.7f

#define OPERATOR(name, expression)                                             \
    struct do_##name {                                                         \
        template <class W> static __device__ __forceinline__ W of(W a, W b)    \
        {                                                                      \
            return expression;                                                 \
        }                                                                      \
    };

OPERATOR(copy, (void(b), a))
OPERATOR(addu, (void(b), a + (W)NUMBER))
OPERATOR(mulu, (void(b), a *(W)NUMBER))
OPERATOR(divu, (void(b), a / (W)NUMBER))
OPERATOR(powu, (void(b), pow(a, (W)NUMBER)))
OPERATOR(relu, (void(b), a > 0 ? a : (W)0))
/* Hendrycks and Gimpel, 2016: x times the normal distribution's integral. */
OPERATOR(gelu, (void(b), a *(W)0.5 * (1 + erf(a * (W)0.7071067811865476))))
OPERATOR(tanh, (void(b), tanh(a)))
OPERATOR(sigmoid, (void(b), 1 / (1 + exp(-a))))
OPERATOR(silu, (void(b), a / (1 + exp(-a))))
OPERATOR(exp, (void(b), exp(a)))
OPERATOR(add, a + b)
OPERATOR(sub, a - b)
OPERATOR(mul, a *b)
OPERATOR(div, a / b)
OPERATOR(pow, pow(a, b))
OPERATOR(silu_mul, a / (1 + exp(-a)) * b)

template <class Do, bool TWO, class T>
__global__ void __launch_bounds__(BLOCK)
    msim_pointwise(const T *a, const T *b, T *out, size_t n)
{
    const int each = pack<T>::n;
    size_t first = (blockIdx.x * (size_t)BLOCK + threadIdx.x) * each;

    if (first + each <= n) {
        pack<T> x = *(const pack<T> *)(a + first), y = x;

        if (TWO)
            y = *(const pack<T> *)(b + first);
#pragma unroll
        for (int i = 0; i < each; i++)
            x.v[i] = narrow<T>(Do::of(widen(x.v[i]), widen(y.v[i])));
        *(pack<T> *)(out + first) = x;
    } else {
        for (size_t i = first; i < n; i++)
            out[i] = narrow<T>(Do::of(widen(a[i]), widen(TWO ? b[i] : a[i])));
    }
}

template <class Do, bool TWO, class T>
static cudaError_t run_as(const struct msim_vector_operands *v, cudaStream_t s)
{
    size_t n = (size_t)v->rows * (size_t)v->cols;
    size_t packs = (n + pack<T>::n - 1) / pack<T>::n;

    msim_pointwise<Do, TWO, T>
        <<<(unsigned)((packs + BLOCK - 1) / BLOCK), BLOCK, 0, s>>>(
            (const T *)v->a, (const T *)v->b, (T *)v->out, n);
    return cudaGetLastError();
}

template <class Do, bool TWO>
static cudaError_t run(const struct msim_vector_operands *v, cudaStream_t s)
{
    switch (v->dtype) {
    case MSIM_DT_F64:
        return run_as<Do, TWO, double>(v, s);
    case MSIM_DT_F16:
        return run_as<Do, TWO, __half>(v, s);
    case MSIM_DT_BF16:
        return run_as<Do, TWO, __nv_bfloat16>(v, s);
    default:
        return run_as<Do, TWO, float>(v, s);
    }
}

cudaError_t msim_kernel_pointwise(const struct msim_vector_operands *v,
                                  cudaStream_t s)
{
    switch (v->op) {
    case MSIM_VOP_COPY:
        return run<do_copy, false>(v, s);
    case MSIM_VOP_ADDU:
        return run<do_addu, false>(v, s);
    case MSIM_VOP_MULU:
        return run<do_mulu, false>(v, s);
    case MSIM_VOP_DIVU:
        return run<do_divu, false>(v, s);
    case MSIM_VOP_POWU:
        return run<do_powu, false>(v, s);
    case MSIM_VOP_RELU:
        return run<do_relu, false>(v, s);
    case MSIM_VOP_GELU:
        return run<do_gelu, false>(v, s);
    case MSIM_VOP_TANH:
        return run<do_tanh, false>(v, s);
    case MSIM_VOP_SIGMOID:
        return run<do_sigmoid, false>(v, s);
    case MSIM_VOP_SILU:
        return run<do_silu, false>(v, s);
    case MSIM_VOP_EXP:
        return run<do_exp, false>(v, s);
    case MSIM_VOP_ADD:
        return run<do_add, true>(v, s);
    case MSIM_VOP_SUB:
        return run<do_sub, true>(v, s);
    case MSIM_VOP_MUL:
        return run<do_mul, true>(v, s);
    case MSIM_VOP_DIV:
        return run<do_div, true>(v, s);
    case MSIM_VOP_POW:
        return run<do_pow, true>(v, s);
    case MSIM_VOP_SILU_MUL:
        return run<do_silu_mul, true>(v, s);
    default:
        return cudaErrorInvalidValue;
    }
}
