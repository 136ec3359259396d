/*
 * tests/fake_gpu/fake_cudnn.c - cuDNN of the made-up GPU: its older interface,
 * for convolutions of two dimensions.
 */
#include "tests/fake_gpu/fake.h"

#include <cudnn.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL_NS   400
#define LAUNCH_NS 5000
#define WORKSPACE ((size_t)4 << 20)

struct cudnnContext {
    cudaStream_t stream;
};
struct cudnnTensorStruct {
    cudnnDataType_t type;
    int n, c, h, w;
};
struct cudnnFilterStruct {
    cudnnDataType_t type;
    int k, c, h, w;
};
struct cudnnConvolutionStruct {
    int pad, stride, groups;
    cudnnMathType_t math;
};

#define CALL(error)                                                            \
    do {                                                                       \
        if (!fake_call(__func__, CALL_NS))                                     \
            return (error);                                                    \
    } while (0)

size_t cudnnGetVersion(void)
{
    return 91900;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
    static char text[48];

    snprintf(text, sizeof(text), "made-up cuDNN error %d", (int)status);
    return text;
}

/* ---- handles and descriptions -------------------------------------------- */

#define MAKE(create, destroy, type)                                            \
    cudnnStatus_t create(type *made)                                           \
    {                                                                          \
        CALL(CUDNN_STATUS_NOT_INITIALIZED);                                    \
        *made = calloc(1, sizeof(**made));                                     \
        return *made ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_NOT_INITIALIZED;    \
    }                                                                          \
    cudnnStatus_t destroy(type made)                                           \
    {                                                                          \
        CALL(CUDNN_STATUS_BAD_PARAM);                                          \
        free(made);                                                            \
        return CUDNN_STATUS_SUCCESS;                                           \
    }

MAKE(cudnnCreate, cudnnDestroy, cudnnHandle_t)
MAKE(cudnnCreateTensorDescriptor, cudnnDestroyTensorDescriptor,
     cudnnTensorDescriptor_t)
MAKE(cudnnCreateFilterDescriptor, cudnnDestroyFilterDescriptor,
     cudnnFilterDescriptor_t)
MAKE(cudnnCreateConvolutionDescriptor, cudnnDestroyConvolutionDescriptor,
     cudnnConvolutionDescriptor_t)

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    handle->stream = stream;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t desc,
                                         cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c,
                                         int h, int w)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    (void)format;
    *desc = (struct cudnnTensorStruct){type, n, c, h, w};
    return n > 0 && c > 0 && h > 0 && w > 0 ? CUDNN_STATUS_SUCCESS
                                            : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t desc,
                                         cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k,
                                         int c, int h, int w)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    (void)format;
    *desc = (struct cudnnFilterStruct){type, k, c, h, w};
    return k > 0 && c > 0 && h > 0 && w > 0 ? CUDNN_STATUS_SUCCESS
                                            : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t desc,
                                              int pad_h, int pad_w,
                                              int stride_h, int stride_w,
                                              int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    (void)mode;
    (void)compute;
    desc->pad = pad_h;
    desc->stride = stride_h;
    desc->groups = 1;
    return pad_h == pad_w && stride_h == stride_w && dilation_h == 1 &&
                   dilation_w == 1
               ? CUDNN_STATUS_SUCCESS
               : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t desc,
                                          cudnnMathType_t type)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    desc->math = type;
    return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t desc,
                                            int groups)
{
    CALL(CUDNN_STATUS_BAD_PARAM);
    desc->groups = groups;
    return CUDNN_STATUS_SUCCESS;
}

/* ---- convolutions -------------------------------------------------------- */

static int out_size(int in, int filter, const struct cudnnConvolutionStruct *d)
{
    return (in + 2 * d->pad - filter) / d->stride + 1;
}

static bool fits(const struct cudnnTensorStruct *x,
                 const struct cudnnFilterStruct *w,
                 const struct cudnnConvolutionStruct *d,
                 const struct cudnnTensorStruct *y)
{
    return x->type == w->type && x->type == y->type && x->n == y->n &&
           w->c * d->groups == x->c && w->k == y->c &&
           out_size(x->h, w->h, d) == y->h && out_size(x->w, w->w, d) == y->w;
}

static double rate_of(cudnnDataType_t type, cudnnMathType_t math)
{
    switch (type) {
    case CUDNN_DATA_DOUBLE:
        return 30e12;
    case CUDNN_DATA_FLOAT:
        return math == CUDNN_FMA_MATH ? 40e12 : 250e12;
    default:
        return 500e12;
    }
}

static double bytes_a_number(cudnnDataType_t type)
{
    return type == CUDNN_DATA_DOUBLE ? 8 : type == CUDNN_DATA_FLOAT ? 4 : 2;
}

/* The three operands of one convolution, in device memory. */
static cudnnStatus_t run(cudnnHandle_t handle,
                         const struct cudnnTensorStruct *xd, const void *x,
                         const struct cudnnFilterStruct *wd, const void *w,
                         const struct cudnnConvolutionStruct *d,
                         const struct cudnnTensorStruct *yd, const void *y,
                         const void *result, const void *workspace,
                         size_t workspace_size)
{
    double each = bytes_a_number(xd->type);
    double in = each * xd->n * xd->c * xd->h * xd->w;
    double weights = each * wd->k * wd->c * wd->h * wd->w;
    double out = each * yd->n * yd->c * yd->h * yd->w;
    double written = result == x ? in : result == w ? weights : out;
    struct fake_work k = {
        .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
        .name = "fake_implicit_convolve_sgemm",
        .operand = result == x ? w : x,
        .read = in + weights + out - written,
        .written = written,
        .flops = 2.0 * yd->n * yd->c * yd->h * yd->w * wd->c * wd->h * wd->w,
        .rate = rate_of(xd->type, d->math),
        .flop_kind =
            d->math == CUDNN_FMA_MATH ? FAKE_FLOPS_FP32 : FAKE_FLOPS_TENSOR,
        .grid = FAKE_SMS,
        .block = 256,
        .load = 0.9};

    if (!fits(xd, wd, d, yd))
        return CUDNN_STATUS_BAD_PARAM;
    if (!fake_owns(x, in) || !fake_owns(w, weights) || !fake_owns(y, out) ||
        !fake_owns(workspace, (double)workspace_size) ||
        !fake_call("cuLaunchKernelEx", LAUNCH_NS))
        return CUDNN_STATUS_EXECUTION_FAILED;
    fake_submit(handle->stream, &k);
    return CUDNN_STATUS_SUCCESS;
}

/* One that is refused comes first, as some of the real list are. */
#define CHOOSE(results, wanted, found, chosen)                                 \
    do {                                                                       \
        *(found) = (wanted) < 2 ? (wanted) : 2;                                \
        for (int i_ = 0; i_ < *(found); i_++) {                                \
            (results)[i_].algo = (chosen);                                     \
            (results)[i_].status = i_ + 1 < *(found)                           \
                                       ? CUDNN_STATUS_NOT_SUPPORTED            \
                                       : CUDNN_STATUS_SUCCESS;                 \
            (results)[i_].memory = WORKSPACE;                                  \
            (results)[i_].mathType = desc->math;                               \
        }                                                                      \
    } while (0)

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t desc,
    const cudnnTensorDescriptor_t y, const int wanted, int *found,
    cudnnConvolutionFwdAlgoPerf_t *results)
{
    (void)handle;
    CALL(CUDNN_STATUS_NOT_SUPPORTED);
    CHOOSE(results, wanted, found,
           CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM);
    return fits(x, w, desc, y) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
    const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t desc,
    const cudnnTensorDescriptor_t dx, const int wanted, int *found,
    cudnnConvolutionBwdDataAlgoPerf_t *results)
{
    (void)handle;
    CALL(CUDNN_STATUS_NOT_SUPPORTED);
    CHOOSE(results, wanted, found, CUDNN_CONVOLUTION_BWD_DATA_ALGO_1);
    return fits(dx, w, desc, dy) ? CUDNN_STATUS_SUCCESS
                                 : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
    const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t desc,
    const cudnnFilterDescriptor_t dw, const int wanted, int *found,
    cudnnConvolutionBwdFilterAlgoPerf_t *results)
{
    (void)handle;
    CALL(CUDNN_STATUS_NOT_SUPPORTED);
    CHOOSE(results, wanted, found, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
    return fits(x, dw, desc, dy) ? CUDNN_STATUS_SUCCESS
                                 : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnConvolutionForward(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xd,
    const void *x, const cudnnFilterDescriptor_t wd, const void *w,
    const cudnnConvolutionDescriptor_t desc, cudnnConvolutionFwdAlgo_t algo,
    void *workspace, size_t workspace_size, const void *beta,
    const cudnnTensorDescriptor_t yd, void *y)
{
    (void)alpha;
    (void)beta;
    (void)algo;
    CALL(CUDNN_STATUS_EXECUTION_FAILED);
    return run(handle, xd, x, wd, w, desc, yd, y, y, workspace, workspace_size);
}

cudnnStatus_t cudnnConvolutionBackwardData(
    cudnnHandle_t handle, const void *alpha, const cudnnFilterDescriptor_t wd,
    const void *w, const cudnnTensorDescriptor_t dyd, const void *dy,
    const cudnnConvolutionDescriptor_t desc, cudnnConvolutionBwdDataAlgo_t algo,
    void *workspace, size_t workspace_size, const void *beta,
    const cudnnTensorDescriptor_t dxd, void *dx)
{
    (void)alpha;
    (void)beta;
    (void)algo;
    CALL(CUDNN_STATUS_EXECUTION_FAILED);
    return run(handle, dxd, dx, wd, w, desc, dyd, dy, dx, workspace,
               workspace_size);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(
    cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t xd,
    const void *x, const cudnnTensorDescriptor_t dyd, const void *dy,
    const cudnnConvolutionDescriptor_t desc,
    cudnnConvolutionBwdFilterAlgo_t algo, void *workspace,
    size_t workspace_size, const void *beta, const cudnnFilterDescriptor_t dwd,
    void *dw)
{
    (void)alpha;
    (void)beta;
    (void)algo;
    CALL(CUDNN_STATUS_EXECUTION_FAILED);
    return run(handle, xd, x, dwd, dw, desc, dyd, dy, dw, workspace,
               workspace_size);
}
