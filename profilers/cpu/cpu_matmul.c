/*
 * profilers/cpu/cpu_matmul.c - matrix products by oneDNN, of the numbers that
 * OpenBLAS has no products of: bfloat16, accumulated in fp32.
 */
#include "profilers/cpu/cpu_dnnl.h"

/* A batch of matrices of bfloat16, by rows; `transposed`: by columns. */
static void describe(struct msim_dnnl *d, dnnl_memory_desc_t *out,
                     int64_t batch, int64_t rows, int64_t cols, bool transposed)
{
    const dnnl_dims_t dims = {batch, rows, cols};
    const dnnl_dims_t strides = {rows * cols, transposed ? 1 : cols,
                                 transposed ? rows : 1};

    (void)msim_dnnl_ok(
        d, dnnl_memory_desc_init_by_strides(out, 3, dims, dnnl_bf16, strides));
}

enum msim_status msim_cpu_matmul(struct msim_cpu *cpu,
                                 const struct msim_experiment *e,
                                 struct msim_case *out, struct msim_error *err)
{
    int64_t m = e->work.u.gemm.m, n = e->work.u.gemm.n, k = e->work.u.gemm.k;
    struct msim_dnnl *d = msim_dnnl_begin(cpu, e, out);
    dnnl_primitive_desc_t p = NULL;
    dnnl_memory_desc_t a, b, c;
    dnnl_matmul_desc_t product;

    if (!d)
        return MSIM_ENOMEM;
    describe(d, &a, e->work.u.gemm.batch, m, k, e->work.u.gemm.a_transposed);
    describe(d, &b, e->work.u.gemm.batch, k, n, e->work.u.gemm.b_transposed);
    describe(d, &c, e->work.u.gemm.batch, m, n, false);
    msim_dnnl_tensor(d, DNNL_ARG_SRC, MSIM_OPERAND_BF16, &a);
    msim_dnnl_tensor(d, DNNL_ARG_WEIGHTS, MSIM_OPERAND_BF16, &b);
    msim_dnnl_tensor(d, DNNL_ARG_DST, MSIM_OPERAND_OUT, &c);
    if (msim_dnnl_ok(d, dnnl_matmul_desc_init(&product, &a, &b, NULL, &c)))
        (void)msim_dnnl_ok(
            d, dnnl_primitive_desc_create(&p, &product, NULL, d->engine, NULL));
    return msim_dnnl_end(d, p, err);
}

/* Asked of the library: it depends on the processor. */
bool msim_cpu_has_bfloat16(struct msim_cpu *cpu)
{
    const struct msim_experiment e = {
        .work.u.gemm = {.m = 16, .n = 16, .k = 16, .batch = 1}};
    struct msim_case c = {0};
    bool yes = msim_cpu_matmul(cpu, &e, &c, NULL) == MSIM_OK;

    if (c.release)
        c.release(c.state);
    return yes;
}
