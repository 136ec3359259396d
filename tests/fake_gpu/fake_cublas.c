/*
 * tests/fake_gpu/fake_cublas.c - cuBLASLt of the made-up GPU.
 *
 * Matrices are by columns: C (rows x cols) = op(A) op(B). What does not fit is
 * refused, as the library does.
 */
#include "tests/fake_gpu/fake.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_NS   400
#define LAUNCH_NS 3500

/* What stands in the opaque structures. */
struct desc {
    cublasComputeType_t compute;
    cudaDataType_t scale;
    cublasOperation_t a, b;
    const void *scales[2];
};
struct layout {
    cudaDataType type;
    uint64_t rows, cols;
    int64_t apart, between;
    int32_t batch;
};

#define CALL(error)                                                            \
    do {                                                                       \
        if (!fake_call(__func__, CALL_NS))                                     \
            return (error);                                                    \
    } while (0)

size_t cublasLtGetVersion(void)
{
    return 130100;
}

const char *cublasLtGetStatusString(cublasStatus_t status)
{
    static char text[48];

    snprintf(text, sizeof(text), "made-up cuBLAS error %d", (int)status);
    return text;
}

/* ---- handles and descriptions -------------------------------------------- */

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    *handle = malloc(8);
    return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                        cublasComputeType_t compute,
                                        cudaDataType_t scale)
{
    struct desc d = {compute, scale, CUBLAS_OP_N, CUBLAS_OP_N, {NULL, NULL}};

    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    *desc = calloc(1, sizeof(**desc));
    if (!*desc)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    memcpy(*desc, &d, sizeof(d));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t desc)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    free(desc);
    return CUBLAS_STATUS_SUCCESS;
}

/* Copy a value of `size` bytes into a member of that size. */
#define TAKE(member, value, size)                                              \
    ((size) == sizeof(member) && (memcpy(&(member), value, size), true))

cublasStatus_t
cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t desc,
                               cublasLtMatmulDescAttributes_t what,
                               const void *value, size_t size)
{
    struct desc *d = (struct desc *)(void *)desc;
    bool taken = false;

    CALL(CUBLAS_STATUS_INVALID_VALUE);
    if (what == CUBLASLT_MATMUL_DESC_TRANSA)
        taken = TAKE(d->a, value, size);
    else if (what == CUBLASLT_MATMUL_DESC_TRANSB)
        taken = TAKE(d->b, value, size);
    else if (what == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER)
        taken = TAKE(d->scales[0], value, size);
    else if (what == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER)
        taken = TAKE(d->scales[1], value, size);
    return taken ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                          cudaDataType type, uint64_t rows,
                                          uint64_t cols, int64_t apart)
{
    struct layout l = {type, rows, cols, apart, 0, 1};

    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    if (apart < (int64_t)rows)
        return CUBLAS_STATUS_INVALID_VALUE;
    *layout = calloc(1, sizeof(**layout));
    if (!*layout)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    memcpy(*layout, &l, sizeof(l));
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    free(layout);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                 cublasLtMatrixLayoutAttribute_t what,
                                 const void *value, size_t size)
{
    struct layout *l = (struct layout *)(void *)layout;
    bool taken = what == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
                     ? TAKE(l->batch, value, size)
                     : TAKE(l->between, value, size);

    CALL(CUBLAS_STATUS_INVALID_VALUE);
    return taken ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *p)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    *p = calloc(1, sizeof(**p));
    return *p ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p)
{
    CALL(CUBLAS_STATUS_NOT_INITIALIZED);
    free(p);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t
cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                     cublasLtMatmulPreferenceAttributes_t what,
                                     const void *value, size_t size)
{
    (void)p;
    (void)what;
    (void)value;
    CALL(CUBLAS_STATUS_INVALID_VALUE);
    return size == sizeof(size_t) ? CUBLAS_STATUS_SUCCESS
                                  : CUBLAS_STATUS_INVALID_VALUE;
}

/* ---- products ------------------------------------------------------------ */

/* How fast a kind of product is, and how large its numbers are. */
static const struct kind {
    cublasComputeType_t compute;
    cudaDataType_t scale, in, out;
    double rate;
    int flops;
    double bytes_in, bytes_out;
} KINDS[] = {
    {CUBLAS_COMPUTE_64F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 60e12,
     FAKE_FLOPS_TENSOR, 8, 8},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 52e12,
     FAKE_FLOPS_FP32, 4, 4},
    {CUBLAS_COMPUTE_32F_FAST_TF32, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, 400e12,
     FAKE_FLOPS_TENSOR, 4, 4},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16F, CUDA_R_16F, 800e12,
     FAKE_FLOPS_TENSOR, 2, 2},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_16BF, CUDA_R_16BF, 800e12,
     FAKE_FLOPS_TENSOR, 2, 2},
    {CUBLAS_COMPUTE_32I, CUDA_R_32I, CUDA_R_8I, CUDA_R_32I, 1500e12,
     FAKE_FLOPS_TENSOR, 1, 4},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_8F_E4M3, CUDA_R_16BF, 1600e12,
     FAKE_FLOPS_TENSOR, 1, 2},
};

static const struct kind *find(const struct desc *d, const struct layout *a,
                               const struct layout *c)
{
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
        if (KINDS[i].compute == d->compute && KINDS[i].scale == d->scale &&
            KINDS[i].in == a->type && KINDS[i].out == c->type)
            return &KINDS[i];
    return NULL;
}

/* The inner size of op(A) op(B) = C; 0 where they do not fit. */
static uint64_t inner(const struct desc *d, const struct layout *a,
                      const struct layout *b, const struct layout *c)
{
    bool at = d->a == CUBLAS_OP_T, bt = d->b == CUBLAS_OP_T;
    uint64_t k = at ? a->rows : a->cols;

    return (at ? a->cols : a->rows) == c->rows &&
                   (bt ? b->rows : b->cols) == c->cols &&
                   (bt ? b->cols : b->rows) == k && a->type == b->type &&
                   a->batch == c->batch && b->batch == c->batch
               ? k
               : 0;
}

static double bytes_of(const struct layout *l, double each)
{
    return (double)l->rows * (double)l->cols * l->batch * each;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
    cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int wanted,
    cublasLtMatmulHeuristicResult_t results[], int *found)
{
    const struct desc *e = (const struct desc *)(void *)desc;
    const struct layout *la = (const struct layout *)(void *)a;
    const struct layout *lb = (const struct layout *)(void *)b;
    const struct layout *lc = (const struct layout *)(void *)c;
    const struct kind *k = find(e, la, lc);

    (void)handle;
    (void)d;
    (void)preference;
    (void)wanted;
    CALL(CUBLAS_STATUS_NOT_SUPPORTED);
    if (!inner(e, la, lb, lc))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!k || (k == &KINDS[1] && fake_setting("no_fp32", 0)))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    memset(results, 0, sizeof(*results));
    results->state = CUBLAS_STATUS_SUCCESS;
    *found = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle,
                              cublasLtMatmulDesc_t desc, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t a_layout,
                              const void *b, cublasLtMatrixLayout_t b_layout,
                              const void *beta, const void *c,
                              cublasLtMatrixLayout_t c_layout, void *d,
                              cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t *algo, void *workspace,
                              size_t workspace_size, cudaStream_t stream)
{
    const struct desc *e = (const struct desc *)(void *)desc;
    const struct layout *la = (const struct layout *)(void *)a_layout;
    const struct layout *lb = (const struct layout *)(void *)b_layout;
    const struct layout *lc = (const struct layout *)(void *)c_layout;
    const struct kind *k = find(e, la, lc);
    double in = k ? bytes_of(la, k->bytes_in) + bytes_of(lb, k->bytes_in) : 0;
    double out = k ? bytes_of(lc, k->bytes_out) : 0;
    struct fake_work w = {.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                          .name = "sm90_fake_gemm_128x256",
                          .operand = a,
                          .read = in,
                          .written = out,
                          .grid = FAKE_SMS,
                          .block = 384,
                          .load = 1};

    (void)handle;
    (void)alpha;
    (void)beta;
    (void)algo;
    (void)d_layout;
    if (!fake_call(__func__, CALL_NS) || !k)
        return CUBLAS_STATUS_EXECUTION_FAILED;
    w.flop_kind = k->flops;
    w.flops = 2 * (double)lc->rows * (double)lc->cols * lc->batch *
              (double)inner(e, la, lb, lc);
    w.rate = k->rate;
    if (c != d || !fake_owns(a, bytes_of(la, k->bytes_in)) ||
        !fake_owns(b, bytes_of(lb, k->bytes_in)) || !fake_owns(d, out) ||
        !fake_owns(workspace, (double)workspace_size) ||
        !fake_call("cuLaunchKernelEx", LAUNCH_NS))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    fake_submit(stream, &w);
    return CUBLAS_STATUS_SUCCESS;
}
