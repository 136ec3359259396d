/*
 * profilers/cuda/cuda_gemm.c - matrix products by cuBLASLt.
 *
 * cuBLAS knows matrices by columns. (m x k)(k x n) by rows is, by columns, the
 * product (n x k)(k x m): its first operand is ours second, and what is stored
 * by rows as it is counts as not transposed.
 */
#include "profilers/cuda/cuda.h"

#include <cublasLt.h>
#include <stdlib.h>
#include <string.h>

/* What PyTorch gives cuBLAS on large GPUs; "cuBLAS", "cublasSetWorkspace()",
 * recommends the same for Hopper. */
#define WORKSPACE ((size_t)32 << 20)

struct msim_cublas {
    cublasLtHandle_t handle;
    void *workspace;
};

/* How a dtype is multiplied. */
struct product {
    enum msim_dtype dtype;
    bool tf32;
    cublasComputeType_t compute;
    cudaDataType_t scale, in, out;
};

static const struct product PRODUCTS[] = {
    {MSIM_DT_F64, false, CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F,
     CUDA_R_64F},
    {MSIM_DT_F32, false, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F,
     CUDA_R_32F},
    {MSIM_DT_F32, true, CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F,
     CUDA_R_32F},
    {MSIM_DT_F16, false, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F,
     CUDA_R_16F},
    {MSIM_DT_BF16, false, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF,
     CUDA_R_16BF},
    {MSIM_DT_I8, false, CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I},
    {MSIM_DT_F8, false, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3,
     CUDA_R_16BF},
};

struct gemm {
    const struct msim_cublas *lib;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t first, second, result;
    cublasLtMatmulAlgo_t algo;
    void *a, *b, *c;
    float *scales; /* of fp8: 1 for each operand */
    union {
        double f64;
        float f32;
        int i32;
    } one, zero;
};

static enum msim_status check(cublasStatus_t s, const char *call,
                              struct msim_error *err)
{
    if (s == CUBLAS_STATUS_SUCCESS)
        return MSIM_OK;
    if (s == CUBLAS_STATUS_NOT_SUPPORTED)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "cuBLAS has no such product here");
    return msim_cuda_failed(call, cublasLtGetStatusString(s), err);
}

#define LT(call) check((call), #call, err)

/* ---- the library --------------------------------------------------------- */

void msim_cublas_version(struct msim_json *out)
{
    size_t v = cublasLtGetVersion();
    char text[32];

    snprintf(text, sizeof(text), "%zu.%zu.%zu", v / 10000, v / 100 % 100,
             v % 100);
    msim_json_text(out, "cuBLAS", text);
}

void msim_cublas_free(struct msim_cublas *b)
{
    if (!b)
        return;
    if (b->handle)
        (void)cublasLtDestroy(b->handle);
    (void)cudaFree(b->workspace);
    free(b);
}

static enum msim_status get_library(struct msim_cuda *c, struct msim_error *err)
{
    enum msim_status status;

    if (c->cublas)
        return MSIM_OK;
    c->cublas = calloc(1, sizeof(*c->cublas));
    if (!c->cublas)
        return MSIM_ENOMEM;
    status = LT(cublasLtCreate(&c->cublas->handle));
    if (status == MSIM_OK)
        status = msim_cuda_alloc(&c->cublas->workspace, WORKSPACE, err);
    if (status != MSIM_OK) {
        msim_cublas_free(c->cublas);
        c->cublas = NULL;
    }
    return status;
}

/* ---- one product --------------------------------------------------------- */

static enum msim_status launch(void *state, cudaStream_t stream,
                               struct msim_error *err)
{
    struct gemm *g = state;

    return LT(cublasLtMatmul(g->lib->handle, g->desc, &g->one, g->b, g->first,
                             g->a, g->second, &g->zero, g->c, g->result, g->c,
                             g->result, &g->algo, g->lib->workspace, WORKSPACE,
                             stream));
}

static void release(void *state)
{
    struct gemm *g = state;

    if (g->desc)
        (void)cublasLtMatmulDescDestroy(g->desc);
    if (g->first)
        (void)cublasLtMatrixLayoutDestroy(g->first);
    if (g->second)
        (void)cublasLtMatrixLayoutDestroy(g->second);
    if (g->result)
        (void)cublasLtMatrixLayoutDestroy(g->result);
    (void)cudaFree(g->a);
    (void)cudaFree(g->b);
    (void)cudaFree(g->c);
    (void)cudaFree(g->scales);
    free(g);
}

/* `rows` x `cols` by columns, `batch` of them one after the other. */
static enum msim_status make_layout(cublasLtMatrixLayout_t *out,
                                    cudaDataType_t type, int64_t rows,
                                    int64_t cols, int64_t batch,
                                    struct msim_error *err)
{
    int32_t count = (int32_t)batch;
    int64_t apart = rows * cols;

    MSIM_TRY(LT(cublasLtMatrixLayoutCreate(out, type, (uint64_t)rows,
                                           (uint64_t)cols, rows)));
    MSIM_TRY(LT(cublasLtMatrixLayoutSetAttribute(
        *out, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count))));
    return LT(cublasLtMatrixLayoutSetAttribute(
        *out, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &apart,
        sizeof(apart)));
}

static enum msim_status set(struct gemm *g,
                            cublasLtMatmulDescAttributes_t which,
                            const void *value, size_t size,
                            struct msim_error *err)
{
    return LT(cublasLtMatmulDescSetAttribute(g->desc, which, value, size));
}

/* fp8 is scaled: by 1, from device memory. */
static enum msim_status set_scales(struct gemm *g, struct msim_error *err)
{
    const float ones[2] = {1, 1};
    const float *at;
    void *scales;

    MSIM_TRY(msim_cuda_alloc(&scales, sizeof(ones), err));
    g->scales = scales;
    MSIM_TRY(MSIM_CUDA(
        cudaMemcpy(scales, ones, sizeof(ones), cudaMemcpyHostToDevice)));
    at = g->scales;
    MSIM_TRY(
        set(g, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &at, sizeof(at), err));
    at = g->scales + 1;
    return set(g, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &at, sizeof(at), err);
}

static enum msim_status describe(struct gemm *g, const struct product *p,
                                 const struct msim_experiment *e,
                                 struct msim_error *err)
{
    int64_t m = e->work.u.gemm.m, n = e->work.u.gemm.n, k = e->work.u.gemm.k;
    int64_t batch = e->work.u.gemm.batch;
    bool a_t = e->work.u.gemm.a_transposed, b_t = e->work.u.gemm.b_transposed;
    cublasOperation_t first = b_t ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = a_t ? CUBLAS_OP_T : CUBLAS_OP_N;

    MSIM_TRY(LT(cublasLtMatmulDescCreate(&g->desc, p->compute, p->scale)));
    MSIM_TRY(set(g, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof(first), err));
    MSIM_TRY(set(g, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof(second), err));
    if (p->dtype == MSIM_DT_F8)
        MSIM_TRY(set_scales(g, err));
    MSIM_TRY(
        make_layout(&g->first, p->in, b_t ? k : n, b_t ? n : k, batch, err));
    MSIM_TRY(
        make_layout(&g->second, p->in, a_t ? m : k, a_t ? k : m, batch, err));
    return make_layout(&g->result, p->out, n, m, batch, err);
}

/* The library's first choice, as everyone gets it. */
static enum msim_status choose(struct gemm *g, struct msim_error *err)
{
    cublasLtMatmulPreference_t wanted = NULL;
    cublasLtMatmulHeuristicResult_t found;
    size_t workspace = WORKSPACE;
    enum msim_status status;
    int n = 0;

    MSIM_TRY(LT(cublasLtMatmulPreferenceCreate(&wanted)));
    status = LT(cublasLtMatmulPreferenceSetAttribute(
        wanted, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
        sizeof(workspace)));
    if (status == MSIM_OK)
        status = LT(cublasLtMatmulAlgoGetHeuristic(
            g->lib->handle, g->desc, g->first, g->second, g->result, g->result,
            wanted, 1, &found, &n));
    (void)cublasLtMatmulPreferenceDestroy(wanted);
    MSIM_TRY(status);
    if (n < 1 || found.state != CUBLAS_STATUS_SUCCESS)
        return check(CUBLAS_STATUS_NOT_SUPPORTED, "", err);
    g->algo = found.algo;
    return MSIM_OK;
}

static enum msim_status make_operands(struct gemm *g, const struct product *p,
                                      const struct msim_experiment *e,
                                      struct msim_error *err)
{
    size_t batch = (size_t)e->work.u.gemm.batch, m = (size_t)e->work.u.gemm.m;
    size_t n = (size_t)e->work.u.gemm.n, k = (size_t)e->work.u.gemm.k;
    size_t each = msim_dtype_bytes(e->dtype);
    double reach = p->dtype == MSIM_DT_I8 ? 100 : 1;

    if (p->out != p->in)
        each = p->out == CUDA_R_32I ? 4 : 2;
    MSIM_TRY(
        msim_cuda_random(&g->a, batch * m * k, e->dtype, -reach, reach, err));
    MSIM_TRY(
        msim_cuda_random(&g->b, batch * k * n, e->dtype, -reach, reach, err));
    return msim_cuda_alloc(&g->c, batch * m * n * each, err);
}

static const struct product *find(const struct msim_experiment *e)
{
    for (size_t i = 0; i < sizeof(PRODUCTS) / sizeof(*PRODUCTS); i++)
        if (PRODUCTS[i].dtype == e->dtype && PRODUCTS[i].tf32 == e->tf32)
            return &PRODUCTS[i];
    return NULL;
}

static void set_factors(struct gemm *g, const struct product *p)
{
    memset(&g->zero, 0, sizeof(g->zero));
    if (p->scale == CUDA_R_64F)
        g->one.f64 = 1;
    else if (p->scale == CUDA_R_32I)
        g->one.i32 = 1;
    else
        g->one.f32 = 1;
}

enum msim_status msim_cuda_gemm(struct msim_cuda *c,
                                const struct msim_experiment *e,
                                struct msim_cuda_op *out,
                                struct msim_error *err)
{
    const struct product *p = find(e);
    enum msim_status status;
    struct gemm *g;

    if (!p || e->work.u.gemm.batch > INT32_MAX)
        return check(CUBLAS_STATUS_NOT_SUPPORTED, "", err);
    MSIM_TRY(get_library(c, err));
    g = calloc(1, sizeof(*g));
    if (!g)
        return MSIM_ENOMEM;
    g->lib = c->cublas;
    set_factors(g, p);
    status = describe(g, p, e, err);
    if (status == MSIM_OK)
        status = choose(g, err);
    if (status == MSIM_OK)
        status = make_operands(g, p, e, err);
    if (status == MSIM_OK)
        *out = (struct msim_cuda_op){g, launch, release, false};
    else
        release(g);
    return status;
}
