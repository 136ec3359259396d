/*
 * core/work/rules/opmap_reduction.c - reductions, softmax, scans, sorts and
 * searches: rows are independent, the columns of a row are reduced together.
 */
#include "core/work/kernel_fact.h"
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <math.h>
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
bool msim_rule_reduction(struct msim_opmap_ctx *c,
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
    w->flops = x.elems * (row->flops_each ? row->flops_each : 1);
    w->bytes_read = x.bytes;
    w->bytes_written = (double)w->u.vector.rows * type_bytes;
    /* with the position of the result (max, median, kthvalue) */
    if (row->inputs == 2 && n)
        w->bytes_written += (double)w->u.vector.rows * 8;
    return true;
}

/* ---- softmax ---------------------------------------------------------- */

/* Forward: input, dimension. Backward: gradient, output, dimension. */
bool msim_rule_softmax(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
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
    w->flops = x.elems * row->flops_each;
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
bool msim_rule_fused_softmax(struct msim_opmap_ctx *c,
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
    w->flops = x.elems * row->flops_each;
    w->bytes_read = (back ? 2 : 1) * x.bytes / (row->arg ? 2 : 1);
    if (!back && row->inputs > 1 && msim_opmap_nth_tensor(c, 1, &mask))
        w->bytes_read += mask.bytes;
    w->bytes_written = x.bytes;
    return true;
}

/* ---- scans and sorts -------------------------------------------------- */

/*
 * A running sum or product along argument 1: everything in, everything out.
 * Along another than the last dimension a thread takes a column, value by value
 * (tensor_kernel_scan_outer_dim in aten/src/ATen/native/cuda/ScanUtils.cuh).
 */
bool msim_rule_scan(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
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
    if (fold_of(&x, &dim, x.rank ? 1 : 0) == MSIM_FOLD_ACROSS) {
        w->u.vector.fold = MSIM_FOLD_ACROSS;
        w->u.vector.turns = cols;
        w->u.vector.threads = (double)w->u.vector.rows;
    }
    /* one row is scanned by two kernels (set-up, scan) */
    w->kernels = w->u.vector.rows == 1 ? 2 : 1;
    return true;
}

/* Rows up to here are sorted by a block in shared memory (Sort.h:
 * should_use_small_sort()), beside their places; a warp or a block takes powers
 * of two of at least 32. */

/* The keys and places are copied first, and sorted in place. */
static void sort_in_blocks(const struct msim_opmap_ctx *c,
                           const struct msim_operand *x, struct msim_work *w)
{
    double both = x->bytes + x->elems * MSIM_FACT(NULL, SORT_PLACE_BYTES);

    w->variant = "sort_in_block";
    w->bytes_read = w->bytes_written = both;
    w->kernels = 1;
    if (c->launched > 0)
        return;
    w->bytes_read += x->bytes;
    w->bytes_written += both;
    w->kernels += 2;
}

/* sort(self, dim, ...), sort(self, stable, dim, ...). */
static int64_t sorted_dim(const struct msim_opmap_ctx *c, uint32_t rank)
{
    bool stable = msim_args_count(c->t, c->op->args) > 3;
    int64_t dim = -1;

    msim_opmap_int(c, stable ? 2 : 1, &dim);
    return dim >= -(int64_t)rank && dim < (int64_t)rank ? dim : -1;
}

/*
 * Radix sort of keys with their places: a pass for every 8 bits of the key
 * reads and writes both (Merrill and Grimshaw, "High performance and scalable
 * radix sorting", 2011). A selection (topk) reads the keys as often.
 */
bool msim_rule_sort(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    bool select = row->arg != 0;
    struct msim_operand x;
    struct msim_work *w;
    double passes, cols;
    int64_t dim;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    passes = msim_dtype_bytes(x.dtype);
    dim = row->inputs == 2 ? sorted_dim(c, x.rank) : -1;
    cols = (double)msim_operand_dim(&x, (int)dim);
    msim_opmap_set_rows(w, cols > 0 ? x.elems / cols : 0, cols);
    w->flops = x.elems * passes;
    w->bytes_read =
        passes *
        (x.bytes + (select ? 0 : x.elems * MSIM_FACT(NULL, SORT_PLACE_BYTES)));
    w->bytes_written = select ? 0 : w->bytes_read;
    w->kernels = select ? 2 : 1 + (uint32_t)passes;
    if (row->inputs == 2 && cols <= MSIM_FACT(NULL, BLOCK_SORT_MOST) &&
        c->place != MSIM_OPMAP_ON_CPU)
        sort_in_blocks(c, &x, w);
    return true;
}

/* A place among sorted numbers, for each element: as many loads as halvings
 * (Bucketization.cu). row->arg: which tensor is searched for. */
bool msim_rule_search(struct msim_opmap_ctx *c,
                      const struct msim_opmap_row *row)
{
    struct msim_operand x, sorted, out;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, row->arg, &x) ||
        !msim_opmap_tensor(c, !row->arg, &sorted))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, x.elems);
    w->u.vector.taps =
        x.elems * ceil(log2((double)msim_operand_dim(&sorted, -1) + 1));
    w->flops = w->u.vector.taps;
    w->bytes_read = x.bytes + sorted.bytes;
    w->bytes_written = msim_opmap_output(c, 0, &out)
                           ? out.bytes
                           : x.elems * MSIM_FACT(NULL, SORT_PLACE_BYTES);
    return true;
}

/* ---- distances, sequences ------------------------------------------------ */

/* |x|^2 - 2 x y + |y|^2, clamped and rooted: a product with two columns more,
 * and two operators on each distance. */
static bool by_product(struct msim_opmap_ctx *c, const struct msim_operand *x,
                       const struct msim_operand *y, double distances)
{
    double bytes = distances * msim_dtype_bytes(x->dtype);
    struct msim_work *w = msim_opmap_work(c, MSIM_FAMILY_GEMM, x->dtype, "");

    if (!w)
        return false;
    w->u.gemm.m = msim_operand_dim(x, -2);
    w->u.gemm.n = msim_operand_dim(y, -2);
    w->u.gemm.k = msim_operand_dim(x, -1) + 2;
    w->u.gemm.batch = msim_opmap_count(
        distances / ((double)w->u.gemm.m * (double)w->u.gemm.n));
    w->u.gemm.b_transposed = true;
    w->flops = 2 * distances * (double)w->u.gemm.k;
    w->bytes_read = x->bytes + y->bytes;
    w->bytes_written = bytes;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, x->dtype, "sqrt");
    if (!w)
        return true;
    msim_opmap_set_rows(w, 1, distances);
    w->flops = 2 * distances;
    w->bytes_read = w->bytes_written = 2 * bytes;
    w->kernels = 2;
    return true;
}

/* Distances of all pairs of rows, of two tensors or one: a block of 256 threads
 * for each pair (DistanceKernel.cu). */
bool msim_rule_distances(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    bool two = row->inputs == 2;
    struct msim_operand x, y, out;
    struct msim_work *w;
    double cols, p = 0;

    if (!msim_opmap_tensor(c, 0, &x) || !msim_opmap_output(c, 0, &out) ||
        x.rank < 2)
        return false;
    if (two && msim_opmap_tensor(c, 1, &y) && y.rank >= 2 &&
        msim_opmap_real(c, 2, &p) && !(fabs(p - 2) > 0) &&
        ((double)msim_operand_dim(&x, -2) >
             MSIM_FACT(NULL, DISTANCE_BY_PRODUCT) ||
         (double)msim_operand_dim(&y, -2) >
             MSIM_FACT(NULL, DISTANCE_BY_PRODUCT)))
        return by_product(c, &x, &y, out.elems);
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype, "distance");
    if (!w)
        return false;
    cols = (double)msim_operand_dim(&x, -1);
    msim_opmap_set_rows(w, out.elems, cols);
    w->flops = 3 * out.elems * cols;
    w->bytes_read = x.bytes * (two ? 2 : 1);
    w->bytes_written = out.bytes;
    return true;
}

/*
 * CTC: a thread for each state of a sequence goes through its steps, and waits
 * for what the states beside it wrote before and for the probability
 * (ctc_loss_log_alpha_gpu_kernel in LossCTC.cu). (probabilities of steps x
 * sequences x classes, targets, ...); backward the gradient before them.
 */

bool msim_rule_ctc_loss(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    bool back = row->flags & MSIM_OPMAP_BACKWARD;
    struct msim_operand x, states;
    struct msim_work *w;
    double steps;

    if (!msim_opmap_tensor(c, back ? 1 : 0, &x) ||
        !(back ? msim_opmap_tensor(c, 6, &states)
               : msim_opmap_output(c, 1, &states)))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, x.dtype, "ctc_loss");
    if (!w)
        return false;
    steps = fmax((double)msim_operand_dim(&x, 0), 1);
    msim_opmap_set_rows(w, 1, back ? x.elems : states.elems);
    w->u.vector.turns = MSIM_FACT(NULL, CTC_LOADS) * steps;
    w->u.vector.threads = states.elems / steps;
    w->flops = 10 * states.elems;
    w->bytes_read = 2 * states.bytes + (back ? x.bytes : 0);
    w->bytes_written = states.bytes + (back ? x.bytes : 0);
    w->kernels = back ? 2 : 1;
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
bool msim_rule_nll_loss(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
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
