/*
 * profilers/cpu/cpu_rows.c - softmax and layer norm by oneDNN.
 */
#include "profilers/cpu/cpu_dnnl.h"

bool msim_cpu_has_rows(enum msim_vector_op op)
{
    return op == MSIM_VOP_SOFTMAX || op == MSIM_VOP_LOG_SOFTMAX ||
           op == MSIM_VOP_LAYER_NORM;
}

static dnnl_primitive_desc_t make_softmax(struct msim_dnnl *d,
                                          const dnnl_memory_desc_t *rows,
                                          bool logarithm)
{
    dnnl_primitive_desc_t p = NULL;
    dnnl_softmax_v2_desc_t s;

    if (msim_dnnl_ok(d,
                     dnnl_softmax_v2_forward_desc_init(
                         &s, dnnl_forward_inference,
                         logarithm ? dnnl_softmax_log : dnnl_softmax_accurate,
                         rows, rows, 1)))
        (void)msim_dnnl_ok(
            d, dnnl_primitive_desc_create(&p, &s, NULL, d->engine, NULL));
    return p;
}

static dnnl_primitive_desc_t make_norm(struct msim_dnnl *d,
                                       const dnnl_memory_desc_t *rows)
{
    dnnl_primitive_desc_t p = NULL;
    dnnl_layer_normalization_desc_t s;

    if (msim_dnnl_ok(d,
                     dnnl_layer_normalization_forward_desc_init(
                         &s, dnnl_forward_inference, rows, NULL,
                         MSIM_NORM_EPSILON, dnnl_use_scale | dnnl_use_shift)))
        (void)msim_dnnl_ok(
            d, dnnl_primitive_desc_create(&p, &s, NULL, d->engine, NULL));
    return p;
}

static void describe(struct msim_dnnl *d, const struct msim_experiment *e,
                     dnnl_memory_desc_t *rows, dnnl_memory_desc_t *row)
{
    const dnnl_dims_t both = {e->work.u.vector.rows, e->work.u.vector.cols};
    const dnnl_dims_t columns = {e->work.u.vector.cols};

    (void)msim_dnnl_ok(
        d, dnnl_memory_desc_init_by_tag(rows, 2, both, dnnl_f32, dnnl_ab));
    (void)msim_dnnl_ok(
        d, dnnl_memory_desc_init_by_tag(row, 1, columns, dnnl_f32, dnnl_a));
}

enum msim_status msim_cpu_rows(struct msim_cpu *cpu,
                               const struct msim_experiment *e,
                               struct msim_case *out, struct msim_error *err)
{
    struct msim_dnnl *d = msim_dnnl_begin(cpu, e, out);
    dnnl_memory_desc_t rows, row;
    dnnl_primitive_desc_t p;

    if (!d)
        return MSIM_ENOMEM;
    describe(d, e, &rows, &row);
    msim_dnnl_tensor(d, DNNL_ARG_SRC, MSIM_OPERAND_F32, &rows);
    msim_dnnl_tensor(d, DNNL_ARG_DST, MSIM_OPERAND_OUT, &rows);
    if (e->u.vector.op == MSIM_VOP_LAYER_NORM) {
        msim_dnnl_tensor(d, DNNL_ARG_SCALE, MSIM_OPERAND_F32, &row);
        msim_dnnl_tensor(d, DNNL_ARG_SHIFT, MSIM_OPERAND_F32, &row);
        p = make_norm(d, &rows);
    } else {
        p = make_softmax(d, &rows, e->u.vector.op == MSIM_VOP_LOG_SOFTMAX);
    }
    return msim_dnnl_end(d, p, err);
}
