/*
 * profilers/cuda/cuda_conv.c - convolutions by cuDNN's older interface, with
 * the algorithm that its heuristics put first and that the memory is there for.
 * PyTorch asks the graph interface (profilers/README.md).
 */
#include "profilers/cuda/cuda.h"

#include <cudnn.h>
#include <stdlib.h>
#include <string.h>

/* Scratch memory an algorithm may have. */
#define WORKSPACE_MAX ((size_t)1 << 30)
#define ALGORITHMS    16

struct msim_cudnn {
    cudnnHandle_t handle;
};

struct conv {
    const struct msim_cudnn *lib;
    enum msim_conv_pass pass;
    cudnnTensorDescriptor_t x, y;
    cudnnFilterDescriptor_t w;
    cudnnConvolutionDescriptor_t desc;
    union {
        cudnnConvolutionFwdAlgo_t forward;
        cudnnConvolutionBwdDataAlgo_t data;
        cudnnConvolutionBwdFilterAlgo_t weight;
    } algo;
    void *in, *weights, *out, *workspace;
    size_t workspace_bytes;
    double one64, zero64;
    float one32, zero32;
    bool wide; /* factors are doubles */
};

static enum msim_status check(cudnnStatus_t s, const char *call,
                              struct msim_error *err)
{
    if (s == CUDNN_STATUS_SUCCESS)
        return MSIM_OK;
    /* thousands are classes, from version 9 on */
    if (s == CUDNN_STATUS_NOT_SUPPORTED ||
        (s >= 1000 && s / 1000 == CUDNN_STATUS_NOT_SUPPORTED / 1000))
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "cuDNN has no such convolution here");
    return msim_cuda_failed(call, cudnnGetErrorString(s), err);
}

#define DNN(call) check((call), #call, err)

/* ---- the library --------------------------------------------------------- */

void msim_cudnn_version(struct msim_json *out)
{
    size_t v = cudnnGetVersion(), major = v < 10000 ? 1000 : 10000;
    char text[32];

    snprintf(text, sizeof(text), "%zu.%zu.%zu", v / major, v % major / 100,
             v % 100);
    msim_json_text(out, "cuDNN", text);
}

void msim_cudnn_free(struct msim_cudnn *d)
{
    if (!d)
        return;
    (void)cudnnDestroy(d->handle);
    free(d);
}

static enum msim_status get_library(struct msim_cuda *c, struct msim_error *err)
{
    enum msim_status status;

    if (c->cudnn)
        return MSIM_OK;
    c->cudnn = calloc(1, sizeof(*c->cudnn));
    if (!c->cudnn)
        return MSIM_ENOMEM;
    status = DNN(cudnnCreate(&c->cudnn->handle));
    if (status != MSIM_OK) {
        free(c->cudnn);
        c->cudnn = NULL;
    }
    return status;
}

/* ---- one convolution ----------------------------------------------------- */

static enum msim_status launch(void *state, cudaStream_t stream,
                               struct msim_error *err)
{
    struct conv *v = state;
    cudnnHandle_t h = v->lib->handle;
    const void *one = v->wide ? (const void *)&v->one64 : &v->one32;
    const void *zero = v->wide ? (const void *)&v->zero64 : &v->zero32;

    MSIM_TRY(DNN(cudnnSetStream(h, stream)));
    switch (v->pass) {
    case MSIM_CONV_FORWARD:
        return DNN(cudnnConvolutionForward(
            h, one, v->x, v->in, v->w, v->weights, v->desc, v->algo.forward,
            v->workspace, v->workspace_bytes, zero, v->y, v->out));
    case MSIM_CONV_BACKWARD_DATA:
        return DNN(cudnnConvolutionBackwardData(
            h, one, v->w, v->weights, v->y, v->out, v->desc, v->algo.data,
            v->workspace, v->workspace_bytes, zero, v->x, v->in));
    default:
        return DNN(cudnnConvolutionBackwardFilter(
            h, one, v->x, v->in, v->y, v->out, v->desc, v->algo.weight,
            v->workspace, v->workspace_bytes, zero, v->w, v->weights));
    }
}

static void release(void *state)
{
    struct conv *v = state;

    if (v->x)
        (void)cudnnDestroyTensorDescriptor(v->x);
    if (v->y)
        (void)cudnnDestroyTensorDescriptor(v->y);
    if (v->w)
        (void)cudnnDestroyFilterDescriptor(v->w);
    if (v->desc)
        (void)cudnnDestroyConvolutionDescriptor(v->desc);
    (void)cudaFree(v->in);
    (void)cudaFree(v->weights);
    (void)cudaFree(v->out);
    (void)cudaFree(v->workspace);
    free(v);
}

static cudnnDataType_t data_type(enum msim_dtype t)
{
    switch (t) {
    case MSIM_DT_F64:
        return CUDNN_DATA_DOUBLE;
    case MSIM_DT_F16:
        return CUDNN_DATA_HALF;
    case MSIM_DT_BF16:
        return CUDNN_DATA_BFLOAT16;
    default:
        return CUDNN_DATA_FLOAT;
    }
}

/* Plain fp32 must not be rounded to tf32; half the width runs on tensor cores;
 * the default allows tf32. */
static cudnnMathType_t math_type(const struct msim_experiment *e)
{
    if (e->dtype == MSIM_DT_F32)
        return e->tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
    return CUDNN_TENSOR_OP_MATH;
}

static enum msim_status make_descriptors(struct conv *v, struct msim_error *err)
{
    MSIM_TRY(DNN(cudnnCreateTensorDescriptor(&v->x)));
    MSIM_TRY(DNN(cudnnCreateTensorDescriptor(&v->y)));
    MSIM_TRY(DNN(cudnnCreateFilterDescriptor(&v->w)));
    return DNN(cudnnCreateConvolutionDescriptor(&v->desc));
}

static enum msim_status describe(struct conv *v,
                                 const struct msim_experiment *e,
                                 struct msim_error *err)
{
    cudnnDataType_t type = data_type(e->dtype);
    int n = (int)e->work.u.conv.n, c = (int)e->work.u.conv.c,
        k = (int)e->work.u.conv.k;
    int groups = (int)e->work.u.conv.groups, pad = (int)e->work.u.conv.pad_h;
    int stride = (int)e->work.u.conv.stride_h;

    MSIM_TRY(make_descriptors(v, err));
    MSIM_TRY(DNN(cudnnSetTensor4dDescriptor(v->x, CUDNN_TENSOR_NCHW, type, n, c,
                                            (int)e->work.u.conv.h,
                                            (int)e->work.u.conv.w)));
    MSIM_TRY(DNN(cudnnSetTensor4dDescriptor(v->y, CUDNN_TENSOR_NCHW, type, n, k,
                                            (int)e->u.conv.out_h,
                                            (int)e->u.conv.out_w)));
    MSIM_TRY(DNN(cudnnSetFilter4dDescriptor(v->w, type, CUDNN_TENSOR_NCHW, k,
                                            c / groups, (int)e->work.u.conv.r,
                                            (int)e->work.u.conv.s)));
    MSIM_TRY(DNN(cudnnSetConvolution2dDescriptor(
        v->desc, pad, pad, stride, stride, 1, 1, CUDNN_CROSS_CORRELATION,
        v->wide ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT)));
    MSIM_TRY(DNN(cudnnSetConvolutionMathType(v->desc, math_type(e))));
    return DNN(cudnnSetConvolutionGroupCount(v->desc, groups));
}

/* ---- which algorithm ----------------------------------------------------- */

/* The first that works and whose memory is there; `found` is the answer of
 * cudnnGetConvolution...Algorithm_v7(), three structures alike. */
#define CHOOSE(v, found, n, to)                                                \
    do {                                                                       \
        for (int i_ = 0; i_ < (n); i_++) {                                     \
            if ((found)[i_].status != CUDNN_STATUS_SUCCESS ||                  \
                (found)[i_].memory > WORKSPACE_MAX)                            \
                continue;                                                      \
            (to) = (found)[i_].algo;                                           \
            (v)->workspace_bytes = (found)[i_].memory;                         \
            return cudnnSetConvolutionMathType((v)->desc,                      \
                                               (found)[i_].mathType);          \
        }                                                                      \
        return CUDNN_STATUS_NOT_SUPPORTED;                                     \
    } while (0)

static cudnnStatus_t choose_forward(struct conv *v)
{
    cudnnConvolutionFwdAlgoPerf_t found[ALGORITHMS];
    int n = 0;
    cudnnStatus_t s = cudnnGetConvolutionForwardAlgorithm_v7(
        v->lib->handle, v->x, v->w, v->desc, v->y, ALGORITHMS, &n, found);

    if (s != CUDNN_STATUS_SUCCESS)
        return s;
    CHOOSE(v, found, n, v->algo.forward);
}

static cudnnStatus_t choose_data(struct conv *v)
{
    cudnnConvolutionBwdDataAlgoPerf_t found[ALGORITHMS];
    int n = 0;
    cudnnStatus_t s = cudnnGetConvolutionBackwardDataAlgorithm_v7(
        v->lib->handle, v->w, v->y, v->desc, v->x, ALGORITHMS, &n, found);

    if (s != CUDNN_STATUS_SUCCESS)
        return s;
    CHOOSE(v, found, n, v->algo.data);
}

static cudnnStatus_t choose_weight(struct conv *v)
{
    cudnnConvolutionBwdFilterAlgoPerf_t found[ALGORITHMS];
    int n = 0;
    cudnnStatus_t s = cudnnGetConvolutionBackwardFilterAlgorithm_v7(
        v->lib->handle, v->x, v->y, v->desc, v->w, ALGORITHMS, &n, found);

    if (s != CUDNN_STATUS_SUCCESS)
        return s;
    CHOOSE(v, found, n, v->algo.weight);
}

static enum msim_status choose(struct conv *v, struct msim_error *err)
{
    static cudnnStatus_t (*const CHOICE[])(struct conv *) = {
        [MSIM_CONV_FORWARD] = choose_forward,
        [MSIM_CONV_BACKWARD_DATA] = choose_data,
        [MSIM_CONV_BACKWARD_WEIGHT] = choose_weight,
    };

    return check(CHOICE[v->pass](v), "cudnnGetConvolutionAlgorithm_v7", err);
}

static enum msim_status make_operands(struct conv *v,
                                      const struct msim_experiment *e,
                                      struct msim_error *err)
{
    size_t n = (size_t)e->work.u.conv.n, c = (size_t)e->work.u.conv.c;
    size_t k = (size_t)e->work.u.conv.k;
    size_t in = n * c * (size_t)(e->work.u.conv.h * e->work.u.conv.w);
    size_t out = n * k * (size_t)(e->u.conv.out_h * e->u.conv.out_w);
    size_t weights = k * c / (size_t)e->work.u.conv.groups *
                     (size_t)(e->work.u.conv.r * e->work.u.conv.s);

    MSIM_TRY(msim_cuda_random(&v->in, in, e->dtype, -1, 1, err));
    MSIM_TRY(msim_cuda_random(&v->out, out, e->dtype, -1, 1, err));
    MSIM_TRY(msim_cuda_random(&v->weights, weights, e->dtype, -1, 1, err));
    return msim_cuda_alloc(&v->workspace, v->workspace_bytes, err);
}

/* cuDNN counts in int. */
static bool fits(const struct msim_experiment *e)
{
    const int64_t sizes[] = {
        e->work.u.conv.n, e->work.u.conv.c,        e->work.u.conv.h,
        e->work.u.conv.w, e->work.u.conv.k,        e->work.u.conv.r,
        e->work.u.conv.s, e->work.u.conv.stride_h, e->work.u.conv.pad_h};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        if (sizes[i] > INT32_MAX)
            return false;
    return true;
}

enum msim_status msim_cuda_conv(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err)
{
    enum msim_status status;
    struct conv *v;

    if (!fits(e))
        return check(CUDNN_STATUS_NOT_SUPPORTED, "", err);
    MSIM_TRY(get_library(c, err));
    v = calloc(1, sizeof(*v));
    if (!v)
        return MSIM_ENOMEM;
    v->lib = c->cudnn;
    v->pass = e->work.u.conv.pass;
    v->one64 = v->one32 = 1;
    v->wide = e->dtype == MSIM_DT_F64;
    status = describe(v, e, err);
    if (status == MSIM_OK)
        status = choose(v, err);
    if (status == MSIM_OK)
        status = make_operands(v, e, err);
    if (status == MSIM_OK)
        *out = (struct msim_cuda_op){v, launch, release, false};
    else
        release(v);
    return status;
}
