/*
 * plan/parts/parts_maker.c - one operator of a part, with its sizes.
 */
#include "plan/parts/parts_maker.h"

#include "core/work/words.h"

#include <math.h>
#include <string.h>

struct msim_work *msim_parts_add(struct msim_parts_maker *k,
                                 enum msim_part_op_kind kind, const char *name,
                                 enum msim_pass pass)
{
    struct msim_part *p = k->part;
    struct msim_part_op *op =
        &p->ops[p->n_ops < MSIM_PART_OPS ? p->n_ops++ : p->n_ops - 1];

    memset(op, 0, sizeof(*op)); /* works are compared by their bytes */
    op->kind = kind;
    op->name = name;
    op->pass = pass;
    op->work.dtype = k->dtype;
    op->work.kernels = 1;
    return &op->work;
}

void msim_parts_vector(struct msim_parts_maker *k, enum msim_part_op_kind kind,
                       const char *name, enum msim_pass pass,
                       enum msim_family family, const char *variant,
                       double elems, double read, double written)
{
    struct msim_work *w = msim_parts_add(k, kind, name, pass);

    w->family = family;
    w->variant = variant;
    w->u.vector.elems = (int64_t)fmax(elems, 1);
    w->u.vector.rows = 1;
    w->u.vector.cols = w->u.vector.elems;
    w->bytes_read = read;
    w->bytes_written = written;
}

/* Reads `inputs` tensors of `elems` elements and writes `outputs`. */
void msim_parts_pointwise(struct msim_parts_maker *k, const char *name,
                          enum msim_pass pass, const char *variant,
                          double elems, double inputs, double outputs)
{
    msim_parts_vector(k, MSIM_PART_OP_POINTWISE, name, pass,
                      MSIM_FAMILY_POINTWISE, variant, elems,
                      inputs * elems * k->each, outputs * elems * k->each);
}

void msim_parts_product(struct msim_parts_maker *k, const char *name,
                        enum msim_pass pass, double m, double n, double kk)
{
    struct msim_work *w = msim_parts_add(k, MSIM_PART_OP_LINEAR, name, pass);

    w->family = MSIM_FAMILY_GEMM;
    w->dtype = k->linear_dtype;
    w->variant = k->linear_variant;
    w->u.gemm.m = (int64_t)fmax(m, 1);
    w->u.gemm.n = (int64_t)fmax(n, 1);
    w->u.gemm.k = (int64_t)fmax(kk, 1);
    w->u.gemm.batch = 1;
    msim_work_count(w);
}

bool msim_parts_is_narrow(const struct msim_parts_maker *k)
{
    return k->linear_dtype != k->dtype;
}

/* An operand in 8 or 4 bits: read once, written in both orders. */
void msim_parts_quantise(struct msim_parts_maker *k, const char *name,
                         enum msim_pass pass, double elems)
{
    if (msim_parts_is_narrow(k))
        msim_parts_vector(k, MSIM_PART_OP_QUANTISE, name, pass,
                          MSIM_FAMILY_POINTWISE, "mul", elems, elems * k->each,
                          2 * elems);
}

void msim_parts_comm(struct msim_parts_maker *k, enum msim_collective c,
                     enum msim_part_group g, enum msim_pass pass, double bytes,
                     double count)
{
    struct msim_part *p = k->part;

    if (count > 0 && p->n_comms < MSIM_PART_COMMS)
        p->comms[p->n_comms++] =
            (struct msim_part_comm){c, g, pass, bytes, count};
}

/* A pair of gather and scatter around what tensor parallel ranks share, forward
 * and backward; or a sum each way, where sequences are whole. Backward gathers
 * the input once more, since it was not kept whole. */
void msim_parts_tensor_parallel(struct msim_parts_maker *k)
{
    double bytes = k->tokens * (double)k->m->hidden * k->each;

    if (k->s->tp == 1)
        return;
    if (k->s->unfused) {
        for (int pass = 0; pass < 2; pass++)
            msim_parts_comm(k, MSIM_COLL_ALL_REDUCE, MSIM_PART_GROUP_TP,
                            (enum msim_pass)pass, bytes, 1);
        return;
    }
    msim_parts_comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_TP,
                    MSIM_PASS_FORWARD, bytes, 1);
    msim_parts_comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_TP,
                    MSIM_PASS_FORWARD, bytes, 1);
    msim_parts_comm(k, MSIM_COLL_ALL_GATHER, MSIM_PART_GROUP_TP,
                    MSIM_PASS_BACKWARD, bytes, 2);
    msim_parts_comm(k, MSIM_COLL_REDUCE_SCATTER, MSIM_PART_GROUP_TP,
                    MSIM_PASS_BACKWARD, bytes, 1);
}

void msim_parts_dropout(struct msim_parts_maker *k)
{
    double elems = k->seq_tokens * (double)k->m->hidden;

    for (int pass = 0; pass < 2; pass++)
        msim_parts_pointwise(k, "dropout", (enum msim_pass)pass, "mul", elems,
                             2, 1);
    k->part->saved += elems; /* a mask of bytes */
}
