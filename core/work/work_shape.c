/*
 * core/work/work_shape.c - the sizes of a work as whole numbers.
 */
#include "core/work/work.h"

bool msim_work_has_table(const struct msim_work *w)
{
    return w->u.vector.table_rows >= 1 && w->u.vector.row_bytes > 0;
}

void msim_work_rows(const struct msim_work *w, int64_t *rows, int64_t *cols)
{
    *rows = w->u.vector.rows;
    *cols = w->u.vector.cols;
    if (msim_work_has_table(w)) {
        *rows = (int64_t)w->u.vector.lookups;
        *cols = (int64_t)(w->u.vector.row_bytes / msim_dtype_bytes(w->dtype));
    }
    if (*cols < 1 || *rows < 1) {
        *rows = 1;
        *cols = w->u.vector.elems;
    }
}

static void of_product(const struct msim_work *w, int64_t *v)
{
    v[0] = w->u.gemm.m;
    v[1] = w->u.gemm.n;
    v[2] = w->u.gemm.k;
    v[3] = w->u.gemm.batch;
    v[4] = w->u.gemm.a_transposed;
    v[5] = w->u.gemm.b_transposed;
}

static void of_attention(const struct msim_work *w, int64_t *v)
{
    v[0] = w->u.attention.phase;
    v[1] = w->u.attention.backward;
    v[2] = w->u.attention.batch;
    v[3] = w->u.attention.heads;
    v[4] = w->u.attention.kv_heads;
    v[5] = w->u.attention.q_len;
    v[6] = w->u.attention.kv_len;
    v[7] = w->u.attention.head_dim;
    v[8] = w->u.attention.window;
    v[9] =
        w->u.attention.v_dim ? w->u.attention.v_dim : w->u.attention.head_dim;
    v[10] = w->u.attention.kv_dtype;
}

static void of_convolution(const struct msim_work *w, int64_t *v)
{
    v[0] = w->u.conv.pass;
    v[1] = w->u.conv.n;
    v[2] = w->u.conv.c;
    v[3] = w->u.conv.h;
    v[4] = w->u.conv.w;
    v[5] = w->u.conv.k;
    v[6] = w->u.conv.r;
    v[7] = w->u.conv.s;
    v[8] = w->u.conv.stride_h;
    v[9] = w->u.conv.stride_w;
    v[10] = w->u.conv.pad_h;
    v[11] = w->u.conv.pad_w;
    v[12] = w->u.conv.dilation_h;
    v[13] = w->u.conv.dilation_w;
    v[14] = w->u.conv.groups > 1 ? w->u.conv.groups : 1;
    v[15] = w->u.conv.transposed;
    v[16] = w->u.conv.channels_last;
    v[17] = w->u.conv.deep;
    v[18] = w->u.conv.depth > 1 ? w->u.conv.depth : 1;
}

static bool is_by_rows(enum msim_family f)
{
    return f == MSIM_FAMILY_REDUCTION || f == MSIM_FAMILY_SOFTMAX ||
           f == MSIM_FAMILY_NORM || f == MSIM_FAMILY_EMBEDDING;
}

static void of_vector(const struct msim_work *w, int64_t *v)
{
    v[0] = 1;
    v[1] = w->u.vector.elems;
    if (is_by_rows(w->family))
        msim_work_rows(w, &v[0], &v[1]);
    v[2] = msim_work_has_table(w) ? (int64_t)w->u.vector.table_rows : 0;
}

bool msim_work_shape_of(const struct msim_work *w, struct msim_work_shape *out)
{
    *out = (struct msim_work_shape){{0}};
    switch (w->family) {
    case MSIM_FAMILY_GEMM:
        of_product(w, out->sizes);
        return true;
    case MSIM_FAMILY_ATTENTION:
        of_attention(w, out->sizes);
        return true;
    case MSIM_FAMILY_CONV:
        of_convolution(w, out->sizes);
        return true;
    case MSIM_FAMILY_POINTWISE:
    case MSIM_FAMILY_REDUCTION:
    case MSIM_FAMILY_SOFTMAX:
    case MSIM_FAMILY_NORM:
    case MSIM_FAMILY_COPY:
        of_vector(w, out->sizes);
        return true;
    case MSIM_FAMILY_EMBEDDING:
        of_vector(w, out->sizes);
        return msim_work_has_table(w);
    default:
        return false;
    }
}
