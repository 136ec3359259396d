/*
 * core/work/rules/opmap_pointwise.c - operators on each element by itself.
 *
 * Each operand is read once in its own size (a broadcast one is small), and the
 * result is written once.
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <string.h>

#define MAX_INPUTS 8
#define MAX_RANK   16

void msim_opmap_set_rows(struct msim_work *w, double rows, double cols)
{
    w->u.vector.rows = msim_opmap_count(rows);
    w->u.vector.cols = msim_opmap_count(cols);
    w->u.vector.elems = msim_opmap_count(rows * cols);
}

/* Elements of the result of broadcasting `n` operands. */
static double broadcast_elems(const struct msim_operand *o, uint32_t n)
{
    double elems = 1;

    for (int k = 1; k <= MAX_RANK; k++) {
        double size = 1;

        for (uint32_t j = 0; j < n; j++) {
            double s = (double)msim_operand_dim(&o[j], -k);

            /* a size of 1 stretches, also to 0 */
            if (s != 1)
                size = s;
        }
        elems *= size;
    }
    return elems;
}

/* The type that the result of these operands has: the widest float of those
 * that are not scalars (PyTorch's type promotion, for what matters here). */
static enum msim_dtype promoted(const struct msim_operand *o, uint32_t n)
{
    enum msim_dtype best = o[0].dtype;
    bool have = false;

    for (uint32_t j = 0; j < n; j++) {
        bool is_float = o[j].dtype <= MSIM_DT_F8;

        if (o[j].rank == 0 && n > 1)
            continue;
        if (!have ||
            (is_float && (best > MSIM_DT_F8 || msim_dtype_bytes(o[j].dtype) >
                                                   msim_dtype_bytes(best))))
            best = o[j].dtype;
        have = true;
    }
    return best;
}

static void set_result(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row,
                       const struct msim_operand *o, uint32_t n,
                       struct msim_work *w)
{
    struct msim_operand out;
    double elems = broadcast_elems(o, n);
    enum msim_dtype type = promoted(o, n);

    if (row->flags & MSIM_OPMAP_BOOL_RESULT)
        type = MSIM_DT_BOOL;
    if (msim_work_is_in_place(c->name) || row->flags & MSIM_OPMAP_WRITES_ONLY) {
        elems = o[0].elems;
        type = o[0].dtype;
    } else if (msim_opmap_output(c, 0, &out)) {
        elems = out.elems;
        type = out.dtype;
    }
    w->bytes_written = elems * msim_dtype_bytes(type);
    if (elems > (double)w->u.vector.elems)
        msim_opmap_set_rows(w, 1, elems);
    w->flops = elems * (row->flops_each ? row->flops_each : 1);
}

/* The names of these in measured tables, where the second operand is a
 * number. */
static const char *with_number(const char *variant,
                               const struct msim_operand *o, uint32_t n)
{
    static const char *const forms[][2] = {
        {"add", "addu"}, {"div", "divu"}, {"mul", "mulu"}, {"pow", "powu"}};
    uint32_t tensors = 0;

    for (uint32_t j = 0; j < n; j++)
        tensors += o[j].elems > 1;
    for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]) && tensors == 1;
         k++)
        if (strcmp(variant, forms[k][0]) == 0)
            return forms[k][1];
    return variant;
}

/*
 * Whether the kernel computes the address of each element (elementwise_kernel
 * with an offset calculator, aten/src/ATen/native/cuda/CUDALoops.cuh): operands
 * of the result's size lie with gaps or in different orders, or one is smaller
 * and stretches. The iterator sorts sizes by stride first, so that operands
 * that are all turned alike count as plain.
 */
static bool addressed(const struct msim_operand *o, uint32_t n, double elems)
{
    uint32_t turned = 0, whole = 0;

    for (uint32_t j = 0; j < n; j++) {
        if (o[j].elems <= 1)
            continue;
        if (o[j].elems < elems || o[j].layout == MSIM_LAYOUT_GAPS)
            return true;
        whole++;
        turned += o[j].layout == MSIM_LAYOUT_TURNED;
    }
    return turned > 0 && turned < whole;
}

/*
 * A pointwise work of `n` operands: all are read unless the row says that
 * the first is only written; the result is the first output where there is
 * one, else what broadcasting gives.
 */
static struct msim_work *pointwise_work(struct msim_opmap_ctx *c,
                                        const struct msim_opmap_row *row,
                                        const struct msim_operand *o,
                                        uint32_t n)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_POINTWISE, promoted(o, n),
                        with_number(msim_opmap_variant(row), o, n));
    uint32_t first = row->flags & MSIM_OPMAP_WRITES_ONLY ? 1 : 0;
    double most = 0;

    if (!w)
        return NULL;
    for (uint32_t j = 0; j < n; j++) {
        if (j >= first)
            w->bytes_read += o[j].bytes;
        if (o[j].elems > most)
            most = o[j].elems;
    }
    msim_opmap_set_rows(w, 1, most);
    set_result(c, row, o, n, w);
    w->u.vector.addressed =
        addressed(o + first, n - first, (double)w->u.vector.elems);
    return w;
}

/* Threads that were launched: what makes a tensor has one an element. */
static double threads(const struct msim_opmap_ctx *c)
{
    const struct msim_gpu *g;
    struct msim_opmap_launches launches = {0};
    double n = 0;

    while ((g = msim_opmap_kernel(c, &launches))) {
        const struct msim_launch_config *k;

        if (g->config == MSIM_NONE)
            continue;
        k = &c->t->configs[g->config];
        n += (double)k->grid[0] * k->block[0];
    }
    return n;
}

/*
 * Operators that make a tensor of nothing (arange, randn): the output has the
 * size; without an output the launch has it.
 */
bool msim_rule_generated(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand out;
    struct msim_work *w;

    memset(&out, 0, sizeof(out));
    if (!msim_opmap_output(c, 0, &out) && !msim_opmap_nth_tensor(c, 0, &out)) {
        out.dtype = MSIM_DT_F32;
        out.elems = 0;
    }
    if (out.elems == 0)
        out.elems = threads(c);
    if (out.elems == 0)
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_POINTWISE, out.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    w->bytes_written = out.elems * msim_dtype_bytes(out.dtype);
    w->flops = out.elems;
    msim_opmap_set_rows(w, 1, out.elems);
    return true;
}

/* Sizes not recorded: as many elements as the launches can have had. */
static bool after_launch(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    double elems = msim_opmap_grid_elems(c);
    struct msim_operand o[MAX_INPUTS];
    uint32_t n = row->inputs < MAX_INPUTS ? row->inputs : MAX_INPUTS;

    if (elems == 0 || n == 0)
        return false;
    memset(o, 0, sizeof(o));
    for (uint32_t j = 0; j < n; j++) {
        o[j].dtype = MSIM_DT_F32;
        o[j].elems = elems;
        o[j].bytes = elems * msim_dtype_bytes(MSIM_DT_F32);
    }
    struct msim_work *w = pointwise_work(c, row, o, n);

    if (w)
        w->bytes_written = o[0].bytes;
    return w != NULL;
}

/* Operands stand first; what follows is settings, and out= of the forms that
 * have it. row->arg: the operands are among that many arguments. */
bool msim_rule_pointwise(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    struct msim_operand o[MAX_INPUTS];
    uint32_t first = row->flags & MSIM_OPMAP_OUT_FIRST ? 1 : 0;
    uint32_t end = first + (row->arg ? row->arg : row->inputs), n = 0;

    for (uint32_t k = first; k < end && n < MAX_INPUTS; k++)
        if (msim_opmap_tensor(c, k, &o[n]))
            n++;
    if (n == 0)
        return after_launch(c, row);
    return pointwise_work(c, row, o, n) != NULL;
}

/* Writes the result and a mask of one byte an element. */
bool msim_rule_dropout(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    struct msim_operand x;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x))
        return after_launch(c, row);
    w = pointwise_work(c, row, &x, 1);
    if (w)
        w->bytes_written = x.bytes + x.elems;
    return w != NULL;
}

/*
 * aten::dropout calls native_dropout on a GPU, and nothing in evaluation or at
 * probability 0. On a CPU it calls a chain of operators that a GPU would not
 * run: then it stands for the fused kernel, and its children do not count.
 */
bool msim_rule_dropout_chain(struct msim_opmap_ctx *c,
                             const struct msim_opmap_row *row)
{
    if (c->place != MSIM_OPMAP_ON_GPU || c->op->end <= c->index + 1)
        return true;
    return msim_rule_dropout(c, row);
}

/* Does an operator below this one average or add up? */
static bool reduces_below(const struct msim_opmap_ctx *c)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index + 1; j < c->op->end; j++) {
        const char *name = msim_trace_text(c->t, ops[j].name);

        if (strcmp(name, "aten::mean") == 0 || strcmp(name, "aten::sum") == 0)
            return true;
    }
    return false;
}

/* A loss of each element; row->arg is the argument that says whether their mean
 * or sum is wanted, which a second kernel makes. */
bool msim_rule_loss(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    const struct msim_opmap_row plain = {.name = row->name,
                                         .variant = row->variant,
                                         .inputs = row->inputs,
                                         .flops_each = row->flops_each};
    struct msim_operand o[2];
    struct msim_work *w;
    double elems;
    int64_t how;

    if (!msim_opmap_tensor(c, 0, &o[0]) || !msim_opmap_tensor(c, 1, &o[1]))
        return after_launch(c, &plain);
    w = pointwise_work(c, &plain, o, 2);
    if (!w || !msim_opmap_int(c, row->arg, &how) || how == 0)
        return w != NULL;
    elems = broadcast_elems(o, 2);
    w->bytes_written = elems * msim_dtype_bytes(w->dtype);
    /* what a CPU calls below has no work of its own on a GPU */
    if (c->place != MSIM_OPMAP_ON_GPU && reduces_below(c))
        return true;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, w->dtype, "mean");
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, elems);
    w->u.vector.fold = MSIM_FOLD_ALONG;
    w->flops = elems;
    w->bytes_read = elems * msim_dtype_bytes(w->dtype);
    w->bytes_written = msim_dtype_bytes(w->dtype);
    return true;
}
