/*
 * core/work/rules/opmap_reduction.c - reductions, softmax, scans and sorts:
 * rows are independent, the columns of a row are reduced together.
 */
#include "core/work/rules/opmap_vector.h"

#include <string.h>

#define MAX_DIMS 16

/* Elements of the dimensions in a list (negative: from the end); all of them
 * for an empty list. */
static double reduced(const struct msim_operand *x, const int64_t *dims,
                      uint32_t n)
{
    double cols = 1;

    for (uint32_t j = 0; j < n; j++) {
        int64_t d = dims[j] < 0 ? dims[j] + x->rank : dims[j];

        if (d >= 0 && d < x->rank)
            cols *= (double)msim_operand_dim(x, (int)d);
    }
    return n ? cols : x->elems;
}

/* Of a tensor in its memory order: is its last dimension among those that are
 * reduced (all of them for an empty list)? */
static enum msim_fold fold_of(const struct msim_operand *x, const int64_t *dims,
                              uint32_t n)
{
    int64_t last = (int64_t)x->rank - 1;

    while (last > 0 && msim_operand_dim(x, (int)last) == 1)
        last--;
    for (uint32_t j = 0; j < n; j++)
        if ((dims[j] < 0 ? dims[j] + x->rank : dims[j]) == last)
            return MSIM_FOLD_ALONG;
    return n ? MSIM_FOLD_ACROSS : MSIM_FOLD_ALONG;
}

/* The dimensions that argument `k` names: a list, an integer, or none. */
static uint32_t dims_of(const struct msim_opmap_ctx *c, uint32_t k,
                        int64_t dims[MAX_DIMS])
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);

    if (!a || a->kind != MSIM_ARG_INT)
        return msim_opmap_ints(c, k, dims, MAX_DIMS);
    dims[0] = a->v.i;
    return 1;
}

/*
 * row->arg is the argument that names the dimensions. Without it the output has
 * the number of results; without that, all dimensions are reduced.
 */
static bool reduction(struct msim_opmap_ctx *c,
                      const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    struct msim_work *w;
    int64_t dims[MAX_DIMS];
    uint32_t n, type_bytes;
    double cols;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    n = dims_of(c, row->arg, dims);
    cols = reduced(&x, dims, n);
    type_bytes =
        row->flags & MSIM_OPMAP_BOOL_RESULT ? 1 : msim_dtype_bytes(x.dtype);
    if (msim_opmap_output(c, 0, &out)) {
        type_bytes = msim_dtype_bytes(out.dtype);
        cols = out.elems > 0 ? x.elems / out.elems : x.elems;
    }
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->u.vector.fold = fold_of(&x, dims, n);
    w->flops = x.elems * (row->flops ? row->flops : 1);
    w->bytes_read = x.bytes;
    w->bytes_written = (double)w->u.vector.rows * type_bytes;
    /* with the position of the result (max, median, kthvalue) */
    if (row->inputs == 2 && n)
        w->bytes_written += (double)w->u.vector.rows * 8;
    return true;
}

/* ---- softmax ---------------------------------------------------------- */

/* Forward: input, dimension. Backward: gradient, output, dimension. */
static bool softmax(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    struct msim_operand x, y, out;
    int64_t dim = -1;
    double cols, out_bytes;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x))
        return false;
    msim_opmap_int(c, back ? 2 : 1, &dim);
    cols = reduced(&x, &dim, x.rank ? 1 : 0);
    out_bytes = msim_opmap_output(c, 0, &out) ? out.bytes : x.bytes;
    w = msim_opmap_work(c, MSIM_FAMILY_SOFTMAX, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->u.vector.fold = fold_of(&x, &dim, x.rank ? 1 : 0);
    w->flops = x.elems * row->flops;
    w->bytes_read = x.bytes;
    if (back)
        w->bytes_read += msim_opmap_tensor(c, 1, &y) ? y.bytes : x.bytes;
    w->bytes_written = out_bytes;
    return true;
}

/*
 * Scale, mask and softmax in one kernel (apex, Megatron): argument 0 is
 * (.. x rows x columns). Under the triangular mask a row reads up to the
 * diagonal and writes all of it.
 */
static bool fused_softmax(struct msim_opmap_ctx *c,
                          const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    struct msim_operand x, mask;
    double cols;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    cols = (double)msim_operand_dim(&x, -1);
    w = msim_opmap_work(c, MSIM_FAMILY_SOFTMAX, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->flops = x.elems * row->flops;
    w->bytes_read = (back ? 2 : 1) * x.bytes / (row->arg ? 2 : 1);
    if (!back && row->inputs > 1 && msim_opmap_nth_tensor(c, 1, &mask))
        w->bytes_read += mask.bytes;
    w->bytes_written = x.bytes;
    return true;
}

/* ---- scans and sorts -------------------------------------------------- */

/* A running sum or product along argument 1: everything in, everything out. */
static bool scan(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    int64_t dim = -1;
    double cols;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    msim_opmap_int(c, 1, &dim);
    cols = reduced(&x, &dim, x.rank ? 1 : 0);
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->flops = x.elems;
    w->bytes_read = x.bytes;
    w->bytes_written = msim_opmap_output(c, 0, &out) ? out.bytes : x.bytes;
    /* one row is scanned by two kernels (set-up, scan) */
    w->kernels = w->u.vector.rows == 1 ? 2 : 1;
    return true;
}

/*
 * Radix sort of keys with their places: a pass for every 8 bits of the key
 * reads and writes both (Merrill and Grimshaw, "High performance and scalable
 * radix sorting", 2011). A selection (topk) reads the keys as often.
 */
static bool sort(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool select = row->arg != 0;
    struct msim_operand x;
    struct msim_work *w;
    double passes, cols;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    passes = msim_dtype_bytes(x.dtype);
    cols = (double)msim_operand_dim(&x, -1);
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->flops = x.elems * passes;
    w->bytes_read = passes * (x.bytes + (select ? 0 : x.elems * 8));
    w->bytes_written = select ? 0 : w->bytes_read;
    w->kernels = select ? 2 : 1 + (uint32_t)passes;
    return true;
}

/* Does an operator below this one clear the result? */
static bool clears_below(const struct msim_opmap_ctx *c)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index + 1; j < c->op->end; j = ops[j].end)
        if (strcmp(msim_trace_text(c->t, ops[j].name), "aten::zero_") == 0)
            return true;
    return false;
}

/* A loss that picks one element a row: self, target; backward the gradient
 * before them. What is not picked is not read, and 0 in the gradient. */
static bool nll_loss(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    struct msim_operand self, target;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, back ? 1 : 0, &self) ||
        !msim_opmap_tensor(c, back ? 2 : 1, &target))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, self.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, target.elems);
    w->flops = target.elems;
    w->bytes_read = target.bytes;
    if (back)
        w->bytes_written = clears_below(c)
                               ? target.elems * msim_dtype_bytes(self.dtype)
                               : self.bytes;
    else
        w->bytes_read += target.elems * msim_dtype_bytes(self.dtype);
    return true;
}

#define BACK MSIM_OPMAP_BACKWARD
#define BOOL MSIM_OPMAP_BOOL_RESULT
#define COMP MSIM_OPMAP_COMPOSITE
#define NEAR MSIM_OPMAP_NEAREST
/* R: dimensions in argument 1; P: their places are returned too */
#define R(name, flops)                                                         \
    {                                                                          \
        name, reduction, NULL, 1, flops, 0, 1                                  \
    }
#define P(name)                                                                \
    {                                                                          \
        name, reduction, NULL, 2, 1, COMP, 1                                   \
    }
#define S(name)                                                                \
    {                                                                          \
        name, scan, NULL, 1, 1, 0, 1                                           \
    }
#define SM(name, flops)                                                        \
    {                                                                          \
        name, softmax, "softmax", 1, flops, 0, 0                               \
    }
#define SB(name)                                                               \
    {                                                                          \
        name, softmax, "softmax_backward", 2, 4, BACK, 0                       \
    }
/* FM: fused with a mask argument; FT: with the triangular mask */
#define FM(name)                                                               \
    {                                                                          \
        name, fused_softmax, "softmax", 2, 6, 0, 0                             \
    }
#define FT(name)                                                               \
    {                                                                          \
        name, fused_softmax, "softmax", 1, 6, 0, 1                             \
    }
#define FMB(name)                                                              \
    {                                                                          \
        name, fused_softmax, "softmax_backward", 2, 5, BACK, 0                 \
    }
#define FTB(name)                                                              \
    {                                                                          \
        name, fused_softmax, "softmax_backward", 1, 5, BACK, 1                 \
    }

static const struct msim_opmap_row rows[] = {
    FM("FusedScaleMaskSoftmax"),
    FM("GenericScaledMaskedSoftmax"),
    FMB("GenericScaledMaskedSoftmaxBackward"),
    FT("ScaledAlignedCausalMaskedSoftmax"),
    FTB("ScaledAlignedCausalMaskedSoftmaxBackward"),
    FM("ScaledMaskedSoftmax"),
    FMB("ScaledMaskedSoftmaxBackward"),
    FM("ScaledSoftmax"),
    FMB("ScaledSoftmaxBackward"),
    FT("ScaledUpperTriangMaskedSoftmax"),
    FTB("ScaledUpperTriangMaskedSoftmaxBackward"),
    {"_cdist_forward", reduction, NULL, 1, 3, NEAR, 1},
    S("_cummax_helper"),
    S("_cummin_helper"),
    SM("_log_softmax", 8),
    SB("_log_softmax_backward_data"),
    S("_logcumsumexp"),
    SM("_masked_softmax", 8),
    SB("_masked_softmax_backward"),
    SM("_softmax", 8),
    SB("_softmax_backward_data"),
    {"_unique", sort, "sort", 1, 1, COMP | NEAR, 0},
    {"_unique2", sort, "sort", 1, 1, COMP | NEAR, 0},
    {"all", reduction, NULL, 1, 1, BOOL, 1},
    R("amax", 1),
    R("amin", 1),
    P("aminmax"),
    {"any", reduction, NULL, 1, 1, BOOL, 1},
    R("argmax", 1),
    R("argmin", 1),
    {"argsort", sort, "sort", 1, 1, COMP, 0},
    {"bincount", reduction, NULL, 1, 1, NEAR, 1},
    R("count_nonzero", 1),
    S("cumprod"),
    S("cumsum"),
    {"equal", reduction, NULL, 2, 1, COMP | BOOL, 9},
    {"histc", reduction, NULL, 1, 4, NEAR, 1},
    {"kthvalue", sort, "topk", 1, 1, COMP, 1},
    {"linalg_vector_norm", reduction, "norm", 1, 2, 0, 2},
    P("max"),
    R("mean", 1),
    {"median", sort, "topk", 1, 1, COMP, 1},
    P("min"),
    {"mode", sort, "sort", 1, 1, NEAR, 0},
    {"multinomial", reduction, NULL, 1, 8, COMP | NEAR, 9},
    {"nansum", reduction, "sum", 1, 1, COMP, 1},
    {"nll_loss2d_backward", nll_loss, "nll_loss", 0, 0, BACK, 0},
    {"nll_loss2d_forward", nll_loss, "nll_loss", 0, 0, 0, 0},
    {"nll_loss_backward", nll_loss, "nll_loss", 0, 0, BACK, 0},
    {"nll_loss_forward", nll_loss, "nll_loss_mean", 0, 0, 0, 0},
    {"norm", reduction, NULL, 1, 2, COMP, 2},
    R("prod", 1),
    {"sort", sort, NULL, 1, 1, COMP, 0},
    R("std", 3),
    {"std_mean", reduction, "std", 1, 3, 0, 1},
    R("sum", 1),
    {"topk", sort, NULL, 1, 1, 0, 1},
    {"trace", reduction, "sum", 1, 1, COMP, 9},
    {"unique_consecutive", sort, "sort", 1, 1, COMP | NEAR, 0},
    {"unique_dim", sort, "sort", 1, 1, COMP | NEAR, 0},
    R("var", 3),
    {"var_mean", reduction, "var", 1, 3, 0, 1},
};

const struct msim_opmap_table msim_opmap_reduction = {
    rows, sizeof(rows) / sizeof(rows[0])};
