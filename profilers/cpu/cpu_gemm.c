/*
 * profilers/cpu/cpu_gemm.c - matrix products by OpenBLAS, which knows fp32 and
 * fp64.
 */
#include "profilers/cpu/cpu.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct gemm {
    struct msim_cpu *cpu;
    int64_t m, n, k, batch;
    unsigned width; /* bytes of a number */
    CBLAS_TRANSPOSE a_order, b_order;
    bool warm;
};

static void multiply(const struct gemm *g, const char *a, const char *b,
                     char *c)
{
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = g->a_order == CblasTrans ? m : k;
    int ldb = g->b_order == CblasTrans ? k : n;

    if (g->width == 8)
        cblas_dgemm(CblasRowMajor, g->a_order, g->b_order, m, n, k, 1,
                    (const double *)(const void *)a, lda,
                    (const double *)(const void *)b, ldb, 0,
                    (double *)(void *)c, n);
    else
        cblas_sgemm(CblasRowMajor, g->a_order, g->b_order, m, n, k, 1,
                    (const float *)(const void *)a, lda,
                    (const float *)(const void *)b, ldb, 0, (float *)(void *)c,
                    n);
}

static enum msim_operand_kind operand_of(const struct gemm *g)
{
    return g->width == 8 ? MSIM_OPERAND_F64 : MSIM_OPERAND_F32;
}

static enum msim_status time_gemm(void *state, double *us,
                                  struct msim_error *err)
{
    const struct gemm *g = state;
    struct msim_operands *o = &g->cpu->operands;
    enum msim_operand_kind in = operand_of(g);
    size_t a_size = (size_t)(g->m * g->k) * g->width;
    size_t b_size = (size_t)(g->k * g->n) * g->width;
    size_t c_size = (size_t)(g->m * g->n) * g->width;
    const char *a, *b;
    double begin;
    char *c;

    (void)err;
    msim_operands_begin(o, g->warm);
    a = msim_operands_take(o, in, a_size * (size_t)g->batch);
    b = msim_operands_take(o, in, b_size * (size_t)g->batch);
    c = msim_operands_take(o, MSIM_OPERAND_OUT, c_size * (size_t)g->batch);
    begin = msim_cpu_now_us();
    for (size_t i = 0; i < (size_t)g->batch; i++)
        multiply(g, a + i * a_size, b + i * b_size, c + i * c_size);
    *us = msim_cpu_now_us() - begin;
    return MSIM_OK;
}

enum msim_status msim_cpu_gemm(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    struct gemm *g;
    size_t batch;

    if (e->dtype == MSIM_DT_BF16)
        return msim_cpu_matmul(cpu, e, out, err);
    if (e->dtype != MSIM_DT_F32 && e->dtype != MSIM_DT_F64)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "no products of '%s' here, want fp32, fp64 or "
                         "bfloat16",
                         msim_experiment_dtype(e));
    g = malloc(sizeof(*g));
    if (!g)
        return MSIM_ENOMEM;
    *g = (struct gemm){cpu,
                       e->work.u.gemm.m,
                       e->work.u.gemm.n,
                       e->work.u.gemm.k,
                       e->work.u.gemm.batch,
                       e->dtype == MSIM_DT_F64 ? 8 : 4,
                       e->work.u.gemm.a_transposed ? CblasTrans : CblasNoTrans,
                       e->work.u.gemm.b_transposed ? CblasTrans : CblasNoTrans,
                       e->warm};
    *out = (struct msim_case){.state = g, .time = time_gemm, .release = free};
    batch = (size_t)g->batch * g->width;
    MSIM_TRY(
        msim_operands_reserve(&cpu->operands, operand_of(g),
                              (size_t)(g->m * g->k + g->k * g->n) * batch));
    return msim_operands_reserve(&cpu->operands, MSIM_OPERAND_OUT,
                                 (size_t)(g->m * g->n) * batch);
}
