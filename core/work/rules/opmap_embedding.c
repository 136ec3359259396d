/*
 * core/work/rules/opmap_embedding.c - gathers and scatters: embeddings,
 * indexing.
 *
 * Rows are the vectors that are fetched (or added to), columns their length.
 * The least traffic is every fetched row once, its index, and the result. A
 * table is never read as a whole.
 */
#include "core/work/kernel_fact.h"
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <math.h>
#include <string.h>

/* A gather or scatter of `rows` x `cols` elements of `dtype`. */
static struct msim_work *add_rows(struct msim_opmap_ctx *c,
                                  const struct msim_opmap_row *row,
                                  enum msim_dtype dtype, double rows,
                                  double cols, double index_bytes)
{
    double bytes = rows * cols * msim_dtype_bytes(dtype);
    double block = MSIM_FACT(NULL, EMBEDDING_BLOCK_VALUES);
    struct msim_work *w = msim_opmap_work(c, MSIM_FAMILY_EMBEDDING, dtype,
                                          msim_opmap_variant(row));

    if (!w)
        return NULL;
    if (cols < block)
        msim_opmap_set_rows(w, ceil(rows * cols / block),
                            fmin(rows * cols, block));
    else
        msim_opmap_set_rows(w, rows, cols);
    w->u.vector.elems = msim_opmap_count(rows * cols);
    w->flops = rows * cols * row->flops_each;
    w->bytes_read = bytes + index_bytes;
    w->bytes_written = bytes;
    return w;
}

/* Rows are fetched from a table of `elems` elements, some of them
 * repeatedly. */
static void from_table(struct msim_work *w, double lookups, double cols,
                       double elems, enum msim_dtype dtype)
{
    w->u.vector.lookups = lookups;
    w->u.vector.table_rows = cols > 0 ? floor(elems / cols) : 0;
    w->u.vector.row_bytes = cols * msim_dtype_bytes(dtype);
}

/* Elements of one slice at dimension `dim`: what an index fetches. */
static double slice(const struct msim_operand *x, int64_t dim)
{
    int64_t d = dim < 0 ? dim + x->rank : dim;
    double size =
        d >= 0 && d < x->rank ? (double)msim_operand_dim(x, (int)d) : 1;

    return size > 0 ? x->elems / size : 0;
}

/* (table, dim, index): index_select; (self, dim, index, source): index_add. */
bool msim_rule_along_dim(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand x, index;
    struct msim_work *w;
    int64_t dim = 0;

    if (!msim_opmap_nth_tensor(c, 0, &x) ||
        !msim_opmap_nth_tensor(c, 1, &index))
        return false;
    msim_opmap_int(c, 1, &dim);
    w = add_rows(c, row, x.dtype, index.elems, slice(&x, dim), index.bytes);
    if (w)
        from_table(w, index.elems, slice(&x, dim), x.elems, x.dtype);
    return w != NULL;
}

/* (self, dim, index[, source]): an index for every element. row->arg: each
 * fetches a sector of self, which is read once at most. */
bool msim_rule_each_element(struct msim_opmap_ctx *c,
                            const struct msim_opmap_row *row)
{
    struct msim_operand x, index;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, 0, &x) ||
        !msim_opmap_nth_tensor(c, 1, &index))
        return false;
    w = add_rows(c, row, x.dtype, index.elems, 1, index.bytes);
    if (w && row->arg)
        w->bytes_read =
            index.bytes +
            fmin(x.bytes, index.elems * MSIM_FACT(NULL, MEMORY_SECTOR_BYTES));
    return w != NULL;
}

/* (table, indices): a row of the table for every index. */
bool msim_rule_embedding(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand table, index;
    struct msim_work *w;
    double cols;

    if (!msim_opmap_tensor(c, 0, &table) || !msim_opmap_tensor(c, 1, &index))
        return false;
    cols = slice(&table, 0);
    w = add_rows(c, row, table.dtype, index.elems, cols, index.bytes);
    if (w)
        from_table(w, index.elems, cols, table.elems, table.dtype);
    return w != NULL;
}

static bool has_child(const struct msim_opmap_ctx *c, const char *name)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index + 1; j < c->op->end; j = ops[j].end)
        if (strcmp(msim_trace_text(c->t, ops[j].name), name) == 0)
            return true;
    return false;
}

/* Rows are added to the gradient of a table, whose number of rows argument
 * row->arg holds. The operator itself clears it, which may be larger than all
 * that is added to it, but where it calls zeros. */
static void to_table(const struct msim_opmap_ctx *c,
                     const struct msim_opmap_row *row, double lookups,
                     double cols, struct msim_work *w)
{
    int64_t table = 0;

    (void)msim_opmap_int(c, row->arg, &table);
    from_table(w, lookups, cols, fmax((double)table, 1) * cols, w->dtype);
    if (!has_child(c, "aten::zeros"))
        w->bytes_written += w->u.vector.table_rows * w->u.vector.row_bytes;
}

/* (gradient, indices): indices are sorted, and the gradient's rows of each are
 * summed. */
bool msim_rule_embedding_backward(struct msim_opmap_ctx *c,
                                  const struct msim_opmap_row *row)
{
    struct msim_operand grad, index;
    struct msim_work *w;
    double cols;

    if (!msim_opmap_tensor(c, 0, &grad) || !msim_opmap_tensor(c, 1, &index))
        return false;
    cols = (double)msim_operand_dim(&grad, -1);
    w = add_rows(c, row, grad.dtype, index.elems, cols, index.bytes);
    if (!w)
        return false;
    /* arange, five of a sort, seven of segments, two sums; few need no sort */
    w->kernels = index.elems > MSIM_FACT(NULL, ADDED_ROWS_FEW) ? 15 : 1;
    to_table(c, row, index.elems, cols, w);
    return true;
}

/* (table, indices, offsets): rows are added up a bag. */
bool msim_rule_embedding_bag(struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row)
{
    struct msim_operand table, index, offsets;
    struct msim_work *w;
    double cols;

    if (!msim_opmap_tensor(c, 0, &table) || !msim_opmap_tensor(c, 1, &index))
        return false;
    cols = slice(&table, 0);
    w = add_rows(c, row, table.dtype, index.elems, cols, index.bytes);
    if (!w)
        return false;
    from_table(w, index.elems, cols, table.elems, table.dtype);
    if (msim_opmap_tensor(c, 2, &offsets)) {
        w->bytes_read += offsets.bytes;
        w->bytes_written = offsets.elems * cols * msim_dtype_bytes(table.dtype);
    }
    return true;
}

/* ---- index and index_put ---------------------------------------------- */

/* Elements of what the tensors of a list are broadcast to. */
static double broadcast_elems(const struct msim_trace *t,
                              const struct msim_arg *list)
{
    double elems = 1, n = 0;

    for (uint32_t k = 0; n >= 0; k++) { /* from the last dimension on */
        n = -1;
        for (int64_t j = 1; j <= list->v.i; j++) {
            const struct msim_arg *a = &list[j];

            if (a->kind == MSIM_ARG_TENSOR && a->dtype != MSIM_DT_UNKNOWN &&
                k < a->n && (n < 0 || n == 1))
                n = (double)msim_arg_dims(t, a)[a->n - 1 - k];
        }
        elems *= n < 0 ? 1 : n;
    }
    return elems;
}

/* Elements that an index list selects: those of the indices (broadcast) times
 * those of the dimensions without an index. False where the list was not
 * recorded, or where it is a mask, whose count is not recorded. */
static bool picked(const struct msim_opmap_ctx *c, const struct msim_operand *x,
                   double *elems, double *index_bytes)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, 1);
    double rest = x->elems;
    uint32_t dim = 0;
    bool any = false;

    *index_bytes = 0;
    if (!a || a->kind != MSIM_ARG_LIST || a->v.i == 0)
        return false;
    for (int64_t j = 1; j <= a->v.i; j++, dim++) {
        if (a[j].kind != MSIM_ARG_TENSOR || a[j].dtype == MSIM_DT_UNKNOWN)
            continue;
        if (a[j].dtype == MSIM_DT_BOOL || a[j].dtype == MSIM_DT_U8)
            return false;
        any = true;
        *index_bytes += (double)msim_arg_elems(c->t, &a[j]) *
                        msim_dtype_bytes((enum msim_dtype)a[j].dtype);
        if (dim < x->rank && msim_operand_dim(x, (int)dim) > 0)
            rest /= (double)msim_operand_dim(x, (int)dim);
    }
    *elems = rest * broadcast_elems(c->t, a);
    return any && *elems > 0;
}

/* self[indices]: the output, the indices or the launch give the number of
 * elements; else it is at most all of them. */
bool msim_rule_index_get(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    double elems, index_bytes, cols = 1;
    bool known;

    if (!msim_opmap_tensor(c, 0, &x))
        return false;
    known = picked(c, &x, &elems, &index_bytes);
    if (msim_opmap_output(c, 0, &out)) {
        elems = out.elems;
    } else if (!known) {
        elems = msim_opmap_grid_elems(c);
        if (elems == 0 || elems > x.elems)
            elems = x.elems;
    }
    if (known && x.rank > 1)
        cols = (double)msim_operand_dim(&x, -1);
    if (cols > elems || cols < 1)
        cols = 1;
    return add_rows(c, row, x.dtype, elems / cols, cols,
                    known ? index_bytes : elems * 8) != NULL;
}

/* self[indices] = values; a mask and a number are a masked_fill_ instead. */
bool msim_rule_index_put(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand x, values;
    double elems, index_bytes;
    int64_t accumulate = 0;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x) || !msim_opmap_tensor(c, 2, &values))
        return false;
    if (c->launched < 0 && has_child(c, "aten::masked_fill_"))
        return true;
    if (!picked(c, &x, &elems, &index_bytes) || values.elems > elems) {
        elems = values.elems;
        index_bytes = elems * 8;
    }
    w = add_rows(c, row, x.dtype, elems, 1, index_bytes);
    if (!w)
        return false;
    msim_opmap_int(c, 3, &accumulate);
    if (accumulate) {
        w->bytes_read += w->bytes_written;
        w->kernels = 6; /* as an embedding's backward */
    }
    return true;
}

/* ---- fbgemm ----------------------------------------------------------- */

/*
 * Look-ups in many tables at once. Positions in fbgemm's schemas differ from
 * form to form, but all of them (lookups and kernels, split, dense, ssd and
 * quantised, forward and backward) have
 *
 *     ..., tables, int, [int,] indices, offsets, ...
 *
 * where `indices` and `offsets` are of one dtype and `tables`
 * (hash_size_cumsum, D_offsets) has an entry for each table and one more. There
 * is an offset for each bag of each table, and one more. Schemas: FBGEMM,
 * fbgemm_gpu/codegen/embedding_backward_split_host_template.cpp,
 * embedding_backward_dense_host.cpp and embedding_forward_quantized_host.cpp.
 */
struct lookup {
    double indices, index_bytes; /* rows fetched */
    double bags, offset_bytes;   /* of all tables */
    double tables;
    double width; /* of a row, mean */
    enum msim_dtype dtype;
};

/* A tensor of one dimension and of integers, as argument `k`. */
static bool integers(const struct msim_opmap_ctx *c, uint32_t k,
                     struct msim_operand *o)
{
    return msim_opmap_tensor(c, k, o) && o->rank == 1 &&
           (o->dtype == MSIM_DT_I64 || o->dtype == MSIM_DT_I32);
}

/* Tables by the last list of integers before argument `k`. */
static double count_tables(const struct msim_opmap_ctx *c, uint32_t k,
                           double bags)
{
    struct msim_operand o;

    while (k-- > 0)
        if (integers(c, k, &o))
            return o.elems > 1 && fmod(bags, o.elems - 1) == 0 ? o.elems - 1
                                                               : 1;
    return 1;
}

static bool find_indices(const struct msim_opmap_ctx *c, struct lookup *l)
{
    uint32_t n = msim_args_count(c->t, c->op->args);
    struct msim_operand before, index, offsets;

    for (uint32_t k = 1; k + 1 < n; k++) {
        if (msim_opmap_tensor(c, k - 1, &before) || !integers(c, k, &index) ||
            !integers(c, k + 1, &offsets) || index.dtype != offsets.dtype)
            continue;
        l->indices = index.elems;
        l->index_bytes = index.bytes;
        l->bags = fmax(offsets.elems - 1, 1);
        l->offset_bytes = offsets.bytes;
        l->tables = count_tables(c, k, l->bags);
        return true;
    }
    return false;
}

/* Widths add up to total_D over the tables, which is the last dimension of
 * the result (batch x total_D), and of its gradient. */
static double total_width(const struct msim_opmap_ctx *c)
{
    struct msim_operand o;
    uint32_t back;

    if (msim_opmap_output(c, 0, &o))
        return (double)msim_operand_dim(&o, -1);
    back = msim_opmap_backward_of(c);
    if (back != MSIM_NONE && msim_opmap_tensor_of(c->t, back, 0, &o))
        return (double)msim_operand_dim(&o, -1);
    return 0;
}

/* Elements of all tables: the weights come first, one tensor for each kind of
 * memory (device, managed), most of them empty. */
static double weights(const struct msim_opmap_ctx *c)
{
    struct msim_operand o;
    double elems = 0;

    for (uint32_t k = 0; k < 3 && msim_opmap_nth_tensor(c, k, &o); k++)
        elems = fmax(elems, o.elems);
    return elems;
}

bool msim_rule_tables_lookup(struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row)
{
    struct lookup l = {.dtype = MSIM_DT_F32};
    struct msim_operand table;
    double total = total_width(c), out;
    struct msim_work *w;

    if (!find_indices(c, &l))
        return false;
    if (msim_opmap_nth_tensor(c, 0, &table))
        l.dtype = table.dtype;
    l.width = total > 0 ? total / l.tables : MSIM_FACT(NULL, EMBEDDING_WIDTH);
    out = l.bags * l.width;
    /* empty bags are written, too */
    w = add_rows(c, row, l.dtype, l.indices > 0 ? l.indices : l.bags, l.width,
                 l.index_bytes);
    if (!w)
        return false;
    if (l.indices > 0)
        from_table(w, l.indices, l.width, weights(c), l.dtype);
    else
        w->bytes_read = l.offset_bytes;
    w->bytes_written = out * msim_dtype_bytes(MSIM_DT_F32);
    return true;
}

/* Nothing was looked up, so that no row changes: the gradient is read for that
 * of the weights of the bags, no more. */
static bool empty_backward(struct msim_opmap_ctx *c,
                           const struct msim_opmap_row *row,
                           const struct lookup *l,
                           const struct msim_operand *grad)
{
    struct msim_work *w = add_rows(c, row, grad->dtype, l->bags,
                                   grad->elems / l->bags, l->offset_bytes);

    if (!w)
        return false;
    w->bytes_written = l->offset_bytes;
    return true;
}

/* A backward pass with the optimizer inside: an autograd node that has only the
 * gradient (batch x total_D). Its forward look-up has the indices. */
bool msim_rule_tables_backward(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    struct lookup l = {.dtype = MSIM_DT_F32};
    struct msim_operand grad;
    struct msim_opmap_ctx fw = *c;
    uint32_t j = msim_opmap_forward_of(c, "fbgemm::", "_lookup_");
    struct msim_work *w;

    if (j != MSIM_NONE) {
        fw.index = j;
        fw.op = &c->t->ops[j];
    }
    if (!find_indices(&fw, &l) || !msim_opmap_nth_tensor(c, 0, &grad) ||
        grad.rank < 1)
        return false;
    if (l.indices == 0)
        return empty_backward(c, row, &l, &grad);
    l.width = grad.elems / l.bags;
    w = add_rows(c, row, grad.dtype, l.indices, l.width, l.index_bytes);
    if (!w)
        return false;
    /* gradient in, rows read and written, indices sorted */
    w->bytes_read += grad.bytes + 8 * l.index_bytes;
    w->bytes_written += 8 * l.index_bytes;
    w->kernels = 16;
    return true;
}

/* Jagged data (lengths, offsets, values) is moved: all of it is read and
 * written. The values are the largest tensor, the lengths the next. */
bool msim_rule_jagged(struct msim_opmap_ctx *c,
                      const struct msim_opmap_row *row)
{
    struct msim_operand o;
    struct msim_work *w;
    double bytes = 0, elems = 0, segments = 0;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++) {
        bytes += o.bytes;
        if (o.elems > elems) {
            segments = elems;
            elems = o.elems;
        } else if (o.elems > segments) {
            segments = o.elems;
        }
    }
    if (bytes == 0)
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_COPY, MSIM_DT_I64,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    w->bytes_read = bytes;
    w->bytes_written = row->arg ? 0 : bytes;
    w->u.vector.copy = MSIM_COPY_D2D;
    msim_opmap_set_rows(w, 1, elems);
    w->u.vector.segments = segments;
    w->kernels = row->kernels ? row->kernels : 1;
    return true;
}
