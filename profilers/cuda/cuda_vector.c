/*
 * profilers/cuda/cuda_vector.c - vector operators by our own kernels.
 */
#include "profilers/cuda/cuda.h"
#include "profilers/cuda/kernels/kernels.h"

#include <stdlib.h>

struct vector {
    struct msim_vector_operands o;
    enum msim_vector_kind kind;
    void *a, *b, *weight, *offset, *out, *part; /* owned */
};

static enum msim_status launch(void *state, cudaStream_t stream,
                               struct msim_error *err)
{
    const struct vector *v = state;

    switch (v->kind) {
    case MSIM_VECTOR_UNARY:
    case MSIM_VECTOR_BINARY:
        return MSIM_CUDA(msim_kernel_pointwise(&v->o, stream));
    case MSIM_VECTOR_REDUCE:
        return MSIM_CUDA(msim_kernel_reduce(&v->o, stream));
    default:
        return MSIM_CUDA(msim_kernel_rows(&v->o, stream));
    }
}

static void release(void *state)
{
    struct vector *v = state;

    (void)cudaFree(v->a);
    (void)cudaFree(v->b);
    (void)cudaFree(v->weight);
    (void)cudaFree(v->offset);
    (void)cudaFree(v->out);
    (void)cudaFree(v->part);
    free(v);
}

/* Numbers that any operator can take: a quotient is never by 0, a power never
 * of less than 0. */
#define LOW  0.5
#define HIGH 1.5

static enum msim_status make_gather(struct vector *v,
                                    const struct msim_experiment *e,
                                    struct msim_error *err)
{
    int64_t table = msim_experiment_table_rows(e);

    MSIM_TRY(msim_cuda_random(&v->a, (size_t)(table * v->o.cols), e->dtype, LOW,
                              HIGH, err));
    return msim_cuda_random(&v->b, (size_t)v->o.rows, MSIM_DT_I64, 0,
                            (double)table, err);
}

static enum msim_status make_inputs(struct vector *v,
                                    const struct msim_experiment *e,
                                    struct msim_error *err)
{
    size_t elems = (size_t)e->work.u.vector.elems, cols = (size_t)v->o.cols;

    if (v->kind == MSIM_VECTOR_GATHER)
        return make_gather(v, e, err);
    MSIM_TRY(msim_cuda_random(&v->a, elems, e->dtype, LOW, HIGH, err));
    if (v->kind == MSIM_VECTOR_BINARY)
        MSIM_TRY(msim_cuda_random(&v->b, elems, e->dtype, LOW, HIGH, err));
    if (v->kind != MSIM_VECTOR_NORM)
        return MSIM_OK;
    MSIM_TRY(msim_cuda_random(&v->weight, cols, e->dtype, LOW, HIGH, err));
    return msim_cuda_random(&v->offset, cols, e->dtype, LOW, HIGH, err);
}

static enum msim_status make_operands(struct vector *v,
                                      const struct msim_experiment *e,
                                      struct msim_error *err)
{
    size_t results =
        (size_t)(v->kind == MSIM_VECTOR_REDUCE ? e->work.u.vector.rows
                                               : e->work.u.vector.elems);

    MSIM_TRY(make_inputs(v, e, err));
    MSIM_TRY(
        msim_cuda_alloc(&v->out, results * msim_dtype_bytes(e->dtype), err));
    if (v->kind == MSIM_VECTOR_REDUCE)
        MSIM_TRY(msim_cuda_alloc(&v->part, msim_kernel_part_bytes(&v->o), err));
    v->o.a = v->a;
    v->o.b = v->b;
    v->o.weight = v->weight;
    v->o.offset = v->offset;
    v->o.out = v->out;
    v->o.part = v->part;
    return MSIM_OK;
}

enum msim_status msim_cuda_vector(struct msim_cuda *c,
                                  const struct msim_experiment *e,
                                  struct msim_cuda_op *out,
                                  struct msim_error *err)
{
    enum msim_status status;
    struct vector *v;

    /* a row is a block's; a grid has at most 2^31 - 1 of them */
    if (e->work.u.vector.rows > INT32_MAX / 2)
        return msim_fail(err, MSIM_ENOMODEL, NULL, MSIM_OFFSET_NONE,
                         "%lld rows are too many, want at most %d",
                         (long long)e->work.u.vector.rows, INT32_MAX / 2);
    v = calloc(1, sizeof(*v));
    if (!v)
        return MSIM_ENOMEM;
    v->kind = msim_vector_op_kind(e->u.vector.op);
    v->o = (struct msim_vector_operands){
        .op = e->u.vector.op,
        .dtype = e->dtype,
        .rows = e->work.u.vector.rows,
        .cols = e->work.u.vector.cols,
        .sms = (unsigned)c->device.multiProcessorCount,
    };
    status = make_operands(v, e, err);
    if (status == MSIM_OK)
        *out = (struct msim_cuda_op){v, launch, release, false};
    else
        release(v);
    return status;
}
