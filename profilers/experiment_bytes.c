/*
 * profilers/experiment_bytes.c - the memory that an experiment's operands take.
 */
#include "profilers/experiment.h"

#define TABLE_ROWS 65536 /* of a gather that says none */

void msim_collective_elems(enum msim_collective c, uint64_t bytes,
                           int64_t ranks, uint32_t elem_bytes, uint64_t *in,
                           uint64_t *out)
{
    uint64_t whole = bytes / elem_bytes, share;

    share = whole / (uint64_t)ranks ? whole / (uint64_t)ranks : 1;
    *in = *out = whole ? whole : 1;
    if (c == MSIM_COLL_ALL_GATHER) {
        *in = share;
        *out = share * (uint64_t)ranks;
    } else if (c == MSIM_COLL_REDUCE_SCATTER) {
        *in = share * (uint64_t)ranks;
        *out = share;
    } else if (c == MSIM_COLL_ALL_TO_ALL) {
        *in = *out = share * (uint64_t)ranks;
    }
}

static double vector_bytes(const struct msim_experiment *e)
{
    double each = msim_dtype_bytes(e->dtype);
    double elems = (double)e->work.u.vector.elems;

    if (e->u.vector.op == MSIM_VOP_COUNT)
        return 0;
    switch (msim_vector_op_kind(e->u.vector.op)) {
    case MSIM_VECTOR_MADE:
    case MSIM_VECTOR_CHANGED:
        return elems * each;
    case MSIM_VECTOR_BINARY:
        return 3 * elems * each;
    case MSIM_VECTOR_DROPOUT:
        return 2 * elems * each + elems;
    case MSIM_VECTOR_REDUCE:
        return (elems + (double)e->work.u.vector.rows) * each;
    case MSIM_VECTOR_NORM:
        return 2 * (elems + (double)e->work.u.vector.cols) * each;
    case MSIM_VECTOR_NORM_BACKWARD:
        return (3 * elems + 4 * (double)e->work.u.vector.cols) * each;
    case MSIM_VECTOR_BATCH_NORM:
        return 2 * elems * each + 4 * (double)e->work.u.vector.rows * 4;
    case MSIM_VECTOR_BATCH_NORM_BACKWARD:
        return 3 * elems * each + 7 * (double)e->work.u.vector.rows * 4;
    case MSIM_VECTOR_GATHER:
    case MSIM_VECTOR_SCATTER:
        return (elems + (double)msim_experiment_table_rows(e) *
                            (double)e->work.u.vector.cols) *
                   each +
               8 * (double)e->work.u.vector.rows;
    default:
        return 2 * elems * each;
    }
}

static double conv_bytes(const struct msim_experiment *e)
{
    double n = (double)e->work.u.conv.n, c = (double)e->work.u.conv.c;
    double k = (double)e->work.u.conv.k;

    return msim_dtype_bytes(e->dtype) *
           (n * c * (double)e->work.u.conv.h * (double)e->work.u.conv.w +
            n * k * (double)e->u.conv.out_h * (double)e->u.conv.out_w +
            k * c / (double)e->work.u.conv.groups * (double)e->work.u.conv.r *
                (double)e->work.u.conv.s);
}

static double gemm_bytes(const struct msim_experiment *e)
{
    double m = (double)e->work.u.gemm.m, n = (double)e->work.u.gemm.n;
    double k = (double)e->work.u.gemm.k, each = msim_dtype_bytes(e->dtype);
    double result = each;

    if (e->dtype == MSIM_DT_I8)
        result = 4;
    else if (e->dtype == MSIM_DT_F8)
        result = 2;
    return (double)e->work.u.gemm.batch *
           ((m * k + k * n) * each + m * n * result);
}

static double attention_bytes(const struct msim_experiment *e)
{
    double queries =
        (double)e->work.u.attention.heads * (double)e->work.u.attention.q_len;
    double keys = (double)e->work.u.attention.kv_heads *
                  (double)e->work.u.attention.kv_len;

    return 2 * (queries + keys) * (double)e->work.u.attention.batch *
           (double)e->work.u.attention.head_dim * msim_dtype_bytes(e->dtype);
}

static double collective_bytes(const struct msim_experiment *e)
{
    uint32_t each = msim_dtype_bytes(e->dtype);
    uint64_t in, out;

    msim_collective_elems(e->work.u.coll.collective, e->work.u.coll.bytes,
                          e->work.u.coll.ranks, each, &in, &out);
    return ((double)in + (double)out) * each;
}

int64_t msim_experiment_table_rows(const struct msim_experiment *e)
{
    return e->u.vector.table_rows ? e->u.vector.table_rows : TABLE_ROWS;
}

double msim_experiment_bytes(const struct msim_experiment *e)
{
    switch (e->table) {
    case MSIM_TABLE_GEMM:
        return gemm_bytes(e);
    case MSIM_TABLE_ATTENTION:
        return attention_bytes(e);
    case MSIM_TABLE_VECTOR:
        return vector_bytes(e);
    case MSIM_TABLE_CONV:
        return conv_bytes(e);
    case MSIM_TABLE_COLLECTIVE:
        return collective_bytes(e);
    case MSIM_TABLE_COPY:
        return (e->u.copy.op == MSIM_COPY_WAY_D2D ? 2 : 1) *
               (double)e->u.copy.bytes;
    default:
        return 0;
    }
}
