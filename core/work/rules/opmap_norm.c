/*
 * core/work/rules/opmap_norm.c - normalisations: a row is what shares one mean.
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

/* Columns: the elements that share a mean. */
static double columns(const struct msim_opmap_ctx *c, uint8_t kind,
                      const struct msim_operand *x, bool back)
{
    uint32_t input = back ? 1 : 0;
    struct msim_operand weight;
    int64_t shape[8], n, groups;
    uint32_t dims;
    double cols = 1;

    switch (kind) {
    case MSIM_ARGS_NORM_LAYER:
        dims = msim_opmap_ints(c, input + 1, shape, 8);
        for (uint32_t j = 0; j < dims; j++)
            cols *= (double)msim_opmap_count((double)shape[j]);
        if (dims)
            return cols;
        if (msim_opmap_tensor(c, back ? 5 : 2, &weight))
            return weight.elems;
        return (double)msim_operand_dim(x, -1);
    case MSIM_ARGS_NORM_PLAIN:
        if (msim_opmap_nth_tensor(c, 1, &weight) && weight.rank == 1)
            return weight.elems;
        return (double)msim_operand_dim(x, -1);
    case MSIM_ARGS_NORM_GROUP:
        /* input, weight, bias, N, C, HxW, group; the gradient is summed for
         * each channel first */
        if (back) {
            double channels =
                (double)msim_operand_dim(x, 0) * (double)msim_operand_dim(x, 1);

            return channels > 0 ? x->elems / channels : x->elems;
        }
        if (msim_opmap_int(c, 6, &groups) && groups > 0) {
            n = msim_operand_dim(x, 0);
            return n > 0 ? x->elems / ((double)n * (double)groups) : x->elems;
        }
        return (double)msim_operand_dim(x, -1);
    case MSIM_ARGS_NORM_CHANNEL:
        n = msim_operand_dim(x, x->rank > 1 ? 1 : 0);
        return n > 0 ? x->elems / (double)n : x->elems;
    case MSIM_ARGS_NORM_FIRST:
        n = msim_operand_dim(x, 0);
        return n > 0 ? x->elems / (double)n : x->elems;
    default:
        return (double)msim_operand_dim(x, -1);
    }
}

/* input, weight, bias, running mean, running variance, training: in evaluation
 * the running moments replace those of the batch. */
static bool is_inference(const struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    int64_t training;

    return row->arg == MSIM_ARGS_NORM_CHANNEL && !back &&
           msim_opmap_int(c, 5, &training) && !training;
}

/*
 * Forward reads the input and writes the result; backward reads the gradient
 * and the input and writes a gradient. Weights and moments are small: a few
 * numbers a row or a column. row->inputs tensors of the input's size are
 * read, row->flops_each passes over it are made.
 */
bool msim_rule_norm(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    uint32_t first = row->flags & MSIM_OPMAP_OUT_FIRST ? 1 : 0;
    struct msim_operand x;
    double cols, rows;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, first, &x))
        return false;
    cols = columns(c, row->arg, &x, back);
    rows = cols > 0 ? x.elems / cols : 0;
    w = msim_opmap_work(c, MSIM_FAMILY_NORM, x.dtype,
                        is_inference(c, row) ? "batch_norm_elemt"
                                             : msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, rows, cols);
    if (row->arg == MSIM_ARGS_NORM_CHANNEL)
        w->u.vector.fold =
            x.layout == MSIM_LAYOUT_TURNED ? MSIM_FOLD_ACROSS : MSIM_FOLD_ALONG;
    w->flops = x.elems * row->flops_each;
    w->bytes_read = x.bytes * row->inputs;
    w->bytes_written = x.bytes;
    /* gradients of weight and bias are summed over rows by a second kernel,
     * but for batch norm, where they are the row's own sums */
    w->kernels = back && row->arg != MSIM_ARGS_NORM_CHANNEL ? 2 : 1;
    return true;
}

/* Moments alone: nothing of the input's size is written. */
bool msim_rule_moments(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    if (!msim_rule_norm(c, row))
        return false;
    c->works[0].bytes_written =
        2.0 * (double)c->works[0].u.vector.rows * msim_dtype_bytes(MSIM_DT_F32);
    return true;
}
