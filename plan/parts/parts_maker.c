/*
 * plan/parts/parts_maker.c - one operator of a part, with its sizes.
 */
#include "plan/parts/parts_maker.h"

#include "core/trace/trace_columns.h"
#include "core/work/work.h"

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
    w->u.vector.elems = msim_whole(fmax(elems, 1));
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
    w->variant = k->linear_variant;
    if (k->narrow)
        w->dtype = k->s->precision == MSIM_PRECISION_NVFP4
                       ? msim_dtype_parse("nvfp4", &w->variant)
                       : MSIM_DT_F8;
    w->u.gemm.m = msim_whole(fmax(m, 1));
    w->u.gemm.n = msim_whole(fmax(n, 1));
    w->u.gemm.k = msim_whole(fmax(kk, 1));
    w->u.gemm.batch = 1;
    msim_work_count(w);
}

bool msim_parts_is_narrow(const struct msim_parts_maker *k, const char *name,
                          double rows, double in, double out)
{
    enum msim_part_kind at = k->part->kind;

    return msim_precision_is_narrow(k->s->precision) &&
           (at == MSIM_PART_DENSE || at == MSIM_PART_EXPERTS) &&
           strcmp(name, "router") != 0 && fmod(in, MSIM_NARROW_MULTIPLE) == 0 &&
           fmod(out, MSIM_NARROW_MULTIPLE) == 0 &&
           fmod(rows, MSIM_NARROW_MULTIPLE) == 0;
}

/* ---- 8 and 4 bits --------------------------------------------------------
 */

/* Bytes of an element in a narrow product: 1, or 0.5 in 4 bits. */
static double narrow_bytes(const struct msim_parts_maker *k)
{
    return k->s->precision == MSIM_PRECISION_NVFP4 ? 0.5 : 1;
}

static void cast_work(struct msim_parts_maker *k, const char *name,
                      enum msim_pass pass, double elems, double read,
                      double written)
{
    msim_parts_vector(k, MSIM_PART_OP_QUANTISE, name, pass,
                      MSIM_FAMILY_POINTWISE, "mul", elems, elems * read,
                      elems * written);
}

/* The cast finds the greatest element on its way, for scales of later steps. */
static void cast(struct msim_parts_maker *k, const char *name,
                 enum msim_pass pass, double elems)
{
    cast_work(k, name, pass, elems, k->each, narrow_bytes(k));
}

/* The same numbers in the other order: kernels want both matrices along k. */
static void turn(struct msim_parts_maker *k, const char *name, double elems)
{
    cast_work(k, name, MSIM_PASS_BACKWARD, elems, narrow_bytes(k),
              narrow_bytes(k));
}

void msim_parts_casts(struct msim_parts_maker *k, const char *name,
                      double input, double weight, double gradient)
{
    /* Weights stay in 8 bits for all micro batches of a step, unless they are
     * gathered for each. */
    double share = weight / (k->s->zero == 3 ? 1 : (double)k->s->grad_accum);

    if (!k->narrow)
        return;
    cast(k, name, MSIM_PASS_FORWARD, input);
    cast(k, name, MSIM_PASS_FORWARD, share);
    cast(k, name, MSIM_PASS_BACKWARD, gradient);
    if (k->s->zero == 3)
        cast(k, name, MSIM_PASS_BACKWARD, weight);
    turn(k, name, share);
    turn(k, name, gradient);
    turn(k, name, input);
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
