/*
 * tests/fake_gpu/fake_kernels.c - the project's own kernels on the made-up GPU:
 * what each reads and writes, and under which name CUPTI knows it.
 */
#include "profilers/cuda/kernels/kernels.h"

#include "tests/fake_gpu/fake.h"

#define BLOCK 256
#define RATE  60e12 /* FLOP/s outside tensor cores */

/* Parts of a reduction of few long rows, as in reduce.cu. */
#define COLS_MIN 4096

static struct fake_work kernel(const char *name, const void *operand,
                               double read, double written)
{
    return (struct fake_work){.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                              .name = name,
                              .operand = operand,
                              .read = read,
                              .written = written,
                              .grid = FAKE_SMS,
                              .block = BLOCK,
                              .load = 0.4,
                              .rate = RATE};
}

/* What a kernel may not have to itself breaks the context, as it does there. */
static void touch(const void *memory, double bytes)
{
    if (bytes > 0)
        (void)fake_owns(memory, bytes);
}

/* ---- getting ready ------------------------------------------------------- */

cudaError_t msim_kernel_fill(void *to, size_t elems, enum msim_dtype dtype,
                             double low, double high, uint64_t seed,
                             cudaStream_t s)
{
    static uint64_t last;
    double bytes = (double)(elems * msim_dtype_bytes(dtype));
    struct fake_work w = kernel("msim_aux_fill", to, 0, bytes);

    (void)low;
    (void)high;
    /* operands of the same numbers: counted, for whoever looks for it */
    if (seed == last)
        (void)fake_call("the_seed_before", 0);
    last = seed;
    touch(to, bytes);
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_spin(unsigned blocks, double us, cudaStream_t s)
{
    struct fake_work w = kernel("msim_aux_spin", NULL, 0, 0);

    w.grid = blocks;
    w.block = 1;
    w.least_us = us;
    w.load = 0.3 * (blocks < FAKE_SMS ? blocks : FAKE_SMS) / FAKE_SMS;
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_flush(const void *from, size_t bytes, unsigned sms,
                              cudaStream_t s)
{
    struct fake_work w = kernel("msim_aux_flush", from, (double)bytes, 0);

    w.grid = 8 * sms;
    touch(from, (double)bytes);
    return fake_launch(s, &w);
}

/* ---- what is timed ------------------------------------------------------- */

cudaError_t msim_kernel_empty(cudaStream_t s)
{
    struct fake_work w = kernel("msim_empty", NULL, 0, 0);

    w.load = 0;
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_busy(double us, cudaStream_t s)
{
    struct fake_work w = kernel("msim_busy", NULL, 0, 0);

    w.load = 0;
    w.least_us = us;
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_read(const void *from, void *sink, size_t bytes,
                             unsigned sms, cudaStream_t s)
{
    struct fake_work w = kernel("msim_read", from, (double)bytes, 0);

    w.grid = 8 * sms;
    touch(from, (double)bytes);
    touch(sink, 4);
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_write(void *to, size_t bytes, unsigned sms,
                              cudaStream_t s)
{
    struct fake_work w = kernel("msim_write", to, 0, (double)bytes);

    w.grid = 8 * sms;
    touch(to, (double)bytes);
    return fake_launch(s, &w);
}

/* ---- vector operators ---------------------------------------------------- */

static double bytes_of(const struct msim_vector_operands *v)
{
    return (double)v->rows * (double)v->cols * msim_dtype_bytes(v->dtype);
}

/* FLOPs an element are few; what counts is bytes. */
static cudaError_t launch(struct fake_work w,
                          const struct msim_vector_operands *v, cudaStream_t s)
{
    w.flops = (double)v->rows * (double)v->cols;
    w.flop_kind = FAKE_FLOPS_FP32;
    return fake_launch(s, &w);
}

cudaError_t msim_kernel_pointwise(const struct msim_vector_operands *v,
                                  cudaStream_t s)
{
    bool two = msim_vector_op_kind(v->op) == MSIM_VECTOR_BINARY;
    double bytes = bytes_of(v);

    touch(v->a, bytes);
    touch(two ? v->b : v->a, bytes);
    touch(v->out, bytes);
    return launch(kernel("msim_pointwise", v->a, (two ? 2 : 1) * bytes, bytes),
                  v, s);
}

cudaError_t msim_kernel_rows(const struct msim_vector_operands *v,
                             cudaStream_t s)
{
    double bytes = bytes_of(v), cols = bytes / (double)v->rows;
    bool gather = v->op == MSIM_VOP_INDEX_SELECT;

    touch(gather ? NULL : v->a, gather ? 0 : bytes);
    touch(v->b, gather ? 8 * (double)v->rows : 0);
    touch(v->weight, v->weight ? cols : 0);
    touch(v->offset, v->offset ? cols : 0);
    touch(v->out, bytes);
    return launch(
        kernel(gather ? "msim_gather" : "msim_rows", v->a, bytes, bytes), v, s);
}

static int64_t parts_a_row(const struct msim_vector_operands *v)
{
    int64_t wanted = (2 * (int64_t)v->sms + v->rows - 1) / v->rows;
    int64_t most = (v->cols + COLS_MIN - 1) / COLS_MIN;

    return wanted < most ? wanted : most;
}

/* Two kernels where rows are split: a run then has two records. */
cudaError_t msim_kernel_reduce(const struct msim_vector_operands *v,
                               cudaStream_t s)
{
    double bytes = bytes_of(v), out = bytes / (double)v->cols;
    double parts = (double)parts_a_row(v) * (double)v->rows * 4;
    cudaError_t e;

    touch(v->a, bytes);
    touch(v->out, out);
    if (parts_a_row(v) <= 1)
        return launch(kernel("msim_reduce", v->a, bytes, out), v, s);
    touch(v->part, parts);
    e = launch(kernel("msim_reduce", v->a, bytes, parts), v, s);
    return e == cudaSuccess
               ? launch(kernel("msim_reduce", v->part, parts, out), v, s)
               : e;
}

size_t msim_kernel_part_bytes(const struct msim_vector_operands *v)
{
    return (size_t)(parts_a_row(v) * v->rows) * sizeof(double);
}
