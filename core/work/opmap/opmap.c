/*
 * core/work/opmap/opmap.c - which rule maps an operator, and whether the
 * operator launches kernels.
 *
 * Where a trace has kernels, it is known what an operator launched, and only
 * the works have to be found. Where it has none (an ET alone, a capture on a
 * CPU), the table says which operators launch, their tensors say on which
 * device, and the operators below say whether one of them launches instead.
 */
#include "core/work/opmap/opmap.h"

#include "core/trace/trace_columns.h"
#include "core/work/data_sheet.h"
#include "core/work/opmap/opmap_internal.h"
#include "core/work/opmap/ops_file.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* How many operators below one are searched for one that launches. */
#define BELOW_MAX 4096
/* How many levels of enclosing operators are searched for one that includes
 * it. */
#define ABOVE_MAX 4

const struct msim_opmap_row *msim_opmap_row_of(const struct msim_trace *t,
                                               const struct msim_ops *user,
                                               uint32_t op)
{
    const struct msim_ops_entry *e = msim_ops_find(user, t->ops[op].name);

    if (e)
        return e->row.like ? e->row.like : &e->row;
    return msim_opmap_find(msim_trace_text(t, t->ops[op].name));
}

/* Kernels of its own, which no other operator stands for. */
static bool has_own_kernel(const struct msim_opmap_row *row)
{
    return row && row->rule && !(row->flags & MSIM_OPMAP_COMPOSITE) &&
           row->group != MSIM_GROUP_COMM;
}

/* ---- where its tensors are --------------------------------------------- */

enum place { NO_TENSORS, ON_HOST, ON_CPU, ON_GPU };

static enum place place_of_block(const struct msim_trace *t, uint32_t block)
{
    enum place found = NO_TENSORS;
    const struct msim_arg_block *b;

    if (block == MSIM_NONE)
        return NO_TENSORS;
    b = &t->blocks[block];
    for (uint32_t k = 0; k < b->count; k++) {
        const struct msim_arg *a = &t->args[b->first + k];

        if (a->kind != MSIM_ARG_TENSOR)
            continue;
        if (a->device == MSIM_DEV_HOST) {
            found = found == NO_TENSORS ? ON_HOST : found;
            continue;
        }
        /* an unknown device: formats without it record GPU programs */
        if (a->device != MSIM_DEV_CPU)
            return ON_GPU;
        found = ON_CPU;
    }
    return found;
}

static enum place place_of(const struct msim_opmap_ctx *c,
                           const struct msim_op *op)
{
    enum place in = place_of_block(c->t, op->args), out;

    if (c->place != MSIM_OPMAP_AS_TRACED && in >= ON_CPU)
        return ON_GPU;
    if (in == ON_GPU)
        return in;
    out = place_of_block(c->t, op->outs);
    if (c->place != MSIM_OPMAP_AS_TRACED && out >= ON_CPU)
        return ON_GPU;
    return out > in ? out : in;
}

/* ---- who launches, where no kernels were seen -------------------------- */

/* Does an operator below launch? With `like`, only operators of its group
 * count. */
static bool launches_below(const struct msim_opmap_ctx *c,
                           const struct msim_ops *user,
                           const struct msim_opmap_row *like)
{
    uint32_t end = c->op->end;

    if (end - c->index > BELOW_MAX)
        end = c->index + BELOW_MAX;
    for (uint32_t j = c->index + 1; j < end; j++) {
        const char *name = msim_trace_text(c->t, c->t->ops[j].name);
        const struct msim_opmap_row *row = msim_opmap_row_of(c->t, user, j);
        enum place place = place_of(c, &c->t->ops[j]);

        if ((row && !row->rule) || place == ON_CPU || place == ON_HOST ||
            (!row && place == NO_TENSORS))
            continue;
        if (like && (!row || row->group != like->group))
            continue;
        /* reading a number back is no part of an operator's work */
        if (strcmp(name, "aten::_local_scalar_dense") != 0)
            return true;
    }
    return false;
}

static bool named(const struct msim_opmap_ctx *c, uint32_t op, const char *name)
{
    return strcmp(msim_trace_text(c->t, c->t->ops[op].name), name) == 0;
}

/* What a subclass of tensors makes of an operator stands below such a label,
 * and the operator around it runs nothing: of a DTensor it has the sizes of all
 * ranks, what is below those of this one. */
static bool is_subclass(const struct msim_opmap_ctx *c, uint32_t op)
{
    return named(c, op, "PythonSubclass");
}

/* An operator that calls its other form (out=, in place, a scalar as tensor)
 * has a child of the same row. */
static bool calls_itself(const struct msim_opmap_ctx *c,
                         const struct msim_ops *user,
                         const struct msim_opmap_row *row)
{
    const struct msim_op *ops = c->t->ops;

    for (uint32_t j = c->index + 1; j < c->op->end; j = ops[j].end)
        if (ops[j].name == c->op->name || is_subclass(c, j) ||
            (row && msim_opmap_row_of(c->t, user, j) == row))
            return true;
    return false;
}

/* Operators that call others on a CPU, and are one operator of a library or one
 * kernel on a GPU: oneDNN's and PyTorch's own convolutions, recurrent layers,
 * lists of tensors one by one, a sort that copies first. */
static bool fused_on_gpu(const char *name)
{
    static const char *const names[] = {"aten::dropout",  "aten::convolution",
                                        "aten::sort",     "aten::max_pool1d",
                                        "aten::lstm",     "aten::gru",
                                        "aten::rnn_tanh", "aten::rnn_relu"};

    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        if (strcmp(name, names[k]) == 0)
            return true;
    return msim_name_is_list(name);
}

/* Does `p`, an operator around one called `name`, run as one kernel on a GPU,
 * whatever a CPU calls below it? */
static bool holds(const struct msim_trace *t, const struct msim_ops *user,
                  uint32_t p, const char *name)
{
    if (strcmp(msim_trace_text(t, t->ops[p].name),
               "aten::_embedding_bag_backward") == 0)
        return strcmp(name, "aten::_embedding_bag_dense_backward") != 0;
    return has_own_kernel(msim_opmap_row_of(t, user, p));
}

bool msim_opmap_is_in_kernel(const struct msim_trace *t, uint32_t op)
{
    const char *name = msim_trace_text(t, t->ops[op].name);
    uint32_t p = t->ops[op].parent, below = op;

    for (; p != MSIM_NONE; below = p, p = t->ops[p].parent) {
        const struct msim_opmap_row *row = msim_opmap_row_of(t, NULL, p);

        /* its other form, or the library's, is called on a GPU, too */
        if (t->ops[p].name != t->ops[below].name &&
            !(row && row->flags & MSIM_OPMAP_OUTER) && holds(t, NULL, p, name))
            return true;
    }
    return false;
}

/* The same of this operator. Clearing a result first is an operator on a GPU,
 * too. */
static bool one_kernel(const struct msim_opmap_ctx *c,
                       const struct msim_ops *user, uint32_t p)
{
    const struct msim_opmap_row *row = msim_opmap_row_of(c->t, user, p);
    bool clears =
        strcmp(c->name, "fill_") == 0 || strcmp(c->name, "zero_") == 0;

    if (fused_on_gpu(msim_trace_text(c->t, c->t->ops[p].name)))
        return true;
    if (clears && row &&
        (row->group == MSIM_GROUP_RESAMPLE ||
         row->group == MSIM_GROUP_EMBEDDING ||
         row->group == MSIM_GROUP_REDUCTION))
        return false;
    return holds(c->t, user, p,
                 msim_trace_text(c->t, c->t->ops[c->index].name));
}

/* A tensor without dimensions, or a list of such. */
static bool is_number(const struct msim_opmap_ctx *c)
{
    struct msim_tensor_list l;
    struct msim_operand x;

    if (msim_opmap_nth_tensor(c, 0, &x))
        return x.rank == 0;
    return msim_opmap_list(c, 0, &l) && l.n > 0 && l.elems <= (double)l.n;
}

/*
 * Does only a CPU run this operator? What a CPU does in several operators is
 * one kernel on a GPU: the copies around a oneDNN product, the sum and division
 * of a mean, the chain inside a dropout. Plain numbers are not on the GPU
 * either: the step counters of an optimizer, scalars that are converted for an
 * operation.
 */
static bool only_on_cpu(const struct msim_opmap_ctx *c,
                        const struct msim_ops *user)
{
    const struct msim_op *ops = c->t->ops;
    uint32_t p = c->op->parent, below = c->index;
    bool number = is_number(c);

    if (number && p != MSIM_NONE && named(c, p, "aten::_to_copy"))
        return true;
    for (int up = 0; up < ABOVE_MAX && p != MSIM_NONE && !is_subclass(c, p);
         up++, below = p, p = ops[p].parent) {
        /* its own other form inside it does the work */
        if (ops[p].name != ops[below].name && one_kernel(c, user, p))
            return true;
        /* its strides are worked out on the host, where the tensor is not */
        if (named(c, p, "aten::repeat") && strcmp(c->name, "copy_") != 0)
            return true;
        if (number && strncmp(msim_trace_text(c->t, ops[p].name),
                              "Optimizer.step", 14) == 0)
            return true;
    }
    return false;
}

/* Does an operator around this one have a work, which then includes this one's?
 * The time of a CPU operator includes all that it calls. */
static bool inside_another(const struct msim_opmap_ctx *c,
                           const struct msim_ops *user)
{
    const struct msim_op *ops = c->t->ops;
    uint32_t p = c->op->parent, below = c->index;

    for (int up = 0; up < ABOVE_MAX && p != MSIM_NONE && !is_subclass(c, p);
         up++, below = p, p = ops[p].parent) {
        const struct msim_opmap_row *row = msim_opmap_row_of(c->t, user, p);

        /* its own other form inside it does the work */
        if (has_own_kernel(row) && ops[p].name != ops[below].name &&
            row != msim_opmap_row_of(c->t, user, below))
            return true;
    }
    return false;
}

/* A kernel over no elements is not launched. */
static bool is_empty(const struct msim_opmap_ctx *c)
{
    struct msim_operand in, out;

    if (!msim_opmap_nth_tensor(c, 0, &in) || in.elems > 0)
        return false;
    return !msim_opmap_output(c, 0, &out) || out.elems == 0;
}

/* Does a GPU run at once what a CPU capture shows in several operators? */
static bool is_fused(const struct msim_opmap_ctx *c)
{
    return c->place == MSIM_OPMAP_ON_GPU &&
           fused_on_gpu(msim_trace_text(c->t, c->op->name));
}

static bool nothing_launched(const struct msim_opmap_ctx *c,
                             const struct msim_ops *user,
                             const struct msim_opmap_row *row)
{
    enum place place = place_of(c, c->op);

    if (place == ON_CPU || place == ON_HOST || (!row && place == NO_TENSORS))
        return true;
    if (row && !row->rule)
        return true;
    if (is_empty(c) || calls_itself(c, user, row))
        return true;
    if (!row || row->flags & MSIM_OPMAP_COMPOSITE) {
        if (!(row && is_fused(c)) && launches_below(c, user, NULL))
            return true;
    } else if (row->flags & MSIM_OPMAP_OUTER) {
        if (launches_below(c, user, row))
            return true;
    }
    return (c->place == MSIM_OPMAP_ON_GPU && only_on_cpu(c, user)) ||
           (c->place == MSIM_OPMAP_ON_CPU && inside_another(c, user));
}

/* ---- the answer -------------------------------------------------------- */

/* Every launch of the trace belongs to one of the operator's works. */
static void share_launches(struct msim_opmap_ctx *c)
{
    uint32_t each;

    if (c->launched <= 0 || c->n == 0)
        return;
    each = (uint32_t)c->launched / c->n;
    for (uint32_t k = 0; k < c->n; k++)
        c->works[k].kernels = each ? each : 1;
    if (each)
        c->works[0].kernels += (uint32_t)c->launched - each * c->n;
}

static bool is_float(enum msim_dtype t)
{
    return t == MSIM_DT_F64 || t == MSIM_DT_F32 || t == MSIM_DT_F16 ||
           t == MSIM_DT_BF16 || t == MSIM_DT_F8;
}

/*
 * An operator that nobody knows may be a product. Of a factor of m x k and a
 * smaller one of k x n numbers, with k about n, that is 2 mkn FLOPs: two for
 * each number of the larger one and each column of the smaller.
 */
static double product_flops(const struct msim_opmap_ctx *c,
                            enum msim_dtype *dtype)
{
    struct msim_operand o;
    double large = 0, small = 0;
    bool typed = false;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++) {
        small = fmax(small, fmin(large, o.elems));
        large = fmax(large, o.elems);
        if (!typed && o.rank > 1 && is_float(o.dtype)) {
            *dtype = o.dtype;
            typed = true;
        }
    }
    return 2 * large * sqrt(small);
}

/* A bound: all tensors are read once, the first output (else the largest input)
 * is written. Without tensors, the launch configurations give the size. */
static void bound(struct msim_opmap_ctx *c)
{
    struct msim_operand o;
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_BOUND, MSIM_DT_F32, "");
    double most = 0, largest = 0;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++) {
        w->bytes_read += o.bytes;
        if (k == 0)
            w->dtype = o.dtype;
        if (o.elems > most)
            most = o.elems;
        if (o.bytes > largest)
            largest = o.bytes;
    }
    if (most == 0) {
        most = msim_opmap_grid_elems(c);
        w->bytes_read = largest = most * msim_dtype_bytes(MSIM_DT_F32);
    }
    w->u.vector.most_flops = product_flops(c, &w->dtype);
    w->bytes_written = msim_opmap_output(c, 0, &o) ? o.bytes : largest;
    w->u.vector.elems = w->u.vector.cols = msim_opmap_count(most);
    w->u.vector.rows = 1;
    if (most == 0 && w->bytes_written == 0)
        c->n = 0;
}

/* Mark the works as those of a row of the user's table. */
static void set_origin(struct msim_opmap_ctx *c, const struct msim_ops_entry *e)
{
    for (uint32_t k = 0; e && k < c->n; k++) {
        c->works[k].user.origin = e->origin;
        c->works[k].user.interval_factor = e->interval_factor;
    }
}

static void set_nearest(struct msim_opmap_ctx *c,
                        const struct msim_opmap_row *row)
{
    for (uint32_t k = 0; row->flags & MSIM_OPMAP_NEAREST && k < c->n; k++)
        c->works[k].nearest = true;
}

/* ---- types of elements -------------------------------------------------- */

/* Has a tensor among the arguments, in lists too, that type? A plain number may
 * have any. */
static bool has_dtype(const struct msim_opmap_ctx *c, enum msim_dtype dtype)
{
    const struct msim_arg_block *b;

    if (c->op->args == MSIM_NONE)
        return false;
    b = &c->t->blocks[c->op->args];
    for (uint32_t j = 0; j < b->count; j++) {
        const struct msim_arg *a = &c->t->args[b->first + j];

        if (a->kind == MSIM_ARG_TENSOR && a->n && a->dtype == dtype)
            return true;
    }
    return false;
}

/* Of tensors at hand whose type the file does not name: what the kernels' names
 * state, else a type that nobody knows. */
static enum msim_dtype missing_dtype(const struct msim_opmap_ctx *c)
{
    struct msim_opmap_launches launches = {0};
    const struct msim_gpu *g;
    enum msim_dtype type = MSIM_DT_UNKNOWN;

    while (!type && (g = msim_opmap_kernel(c, &launches)))
        if (g->kind == MSIM_GPU_KERNEL)
            type = msim_kernel_stated_dtype(msim_trace_text(c->t, g->name));
    return type ? type : MSIM_DT_ODD;
}

static bool is_untyped(const struct msim_opmap_ctx *c)
{
    struct msim_operand o;

    for (uint32_t k = 0; msim_opmap_nth_tensor(c, k, &o); k++)
        if (o.rank && o.dtype == MSIM_DT_UNKNOWN)
            return true;
    return false;
}

/* Does a product multiply in a type that no data sheet has? */
static bool multiplies_odd(const struct msim_work *w)
{
    bool product =
        w->family == MSIM_FAMILY_GEMM || w->family == MSIM_FAMILY_CONV ||
        w->family == MSIM_FAMILY_ATTENTION || w->family == MSIM_FAMILY_MOE;

    return product && w->dtype >= MSIM_DT_C64;
}

/* What elements of a type that nobody knows ask for: FLOPs and bytes by their
 * sizes, of no kernel that a law knows. */
static void bound_odd(struct msim_opmap_ctx *c)
{
    bool all = c->missing == MSIM_DT_ODD || has_dtype(c, MSIM_DT_ODD);

    for (uint32_t k = 0; k < c->n; k++) {
        struct msim_work was = c->works[k], *w = &c->works[k];

        if (!all && !multiplies_odd(w))
            continue;
        memset(w, 0, sizeof(*w)); /* works are compared by their bytes */
        w->family = MSIM_FAMILY_BOUND;
        w->dtype = MSIM_DT_ODD;
        w->variant = "";
        w->flops = w->u.vector.most_flops = was.flops;
        w->bytes_read = was.bytes_read;
        w->bytes_written = was.bytes_written;
        w->kernels = was.kernels;
        w->repeats = was.repeats;
        w->u.vector.rows = 1;
    }
}

/* Of c10d::X > record_param_comms > nccl:X the middle one has the transfer,
 * also where the innermost one launched it. */
static bool carries_transfer(const struct msim_opmap_ctx *c)
{
    const struct msim_op *ops = c->t->ops;

    if (c->op->comm == MSIM_NONE || strcmp(c->name, "record_param_comms") != 0)
        return false;
    return c->op->end > c->index + 1 &&
           strncmp(msim_trace_text(c->t, ops[c->index + 1].name), "nccl:", 5) ==
               0;
}

enum msim_opmap_place msim_opmap_place_of(const struct msim_trace *t,
                                          bool on_cpu)
{
    if (!t->cpu_only)
        return MSIM_OPMAP_AS_TRACED;
    return on_cpu ? MSIM_OPMAP_ON_CPU : MSIM_OPMAP_ON_GPU;
}

enum msim_opmap_result msim_opmap(const struct msim_trace *t,
                                  const struct msim_ops *user, uint32_t i,
                                  int launched, enum msim_opmap_place place,
                                  struct msim_work works[MSIM_OPMAP_MAX],
                                  uint32_t *n)
{
    struct msim_opmap_ctx c = {.t = t,
                               .op = &t->ops[i],
                               .index = i,
                               .launched = launched,
                               .place = place,
                               .works = works};
    const struct msim_ops_entry *e = msim_ops_find(user, t->ops[i].name);
    const struct msim_opmap_row *row;
    bool known;

    *n = 0;
    c.name = msim_opmap_bare_name(
        e && e->row.like ? e->like_name : msim_trace_text(t, c.op->name));
    if (launched == 0 && !carries_transfer(&c))
        return MSIM_OPMAP_NO_KERNEL;
    if (launched < 0 && c.op->kind != MSIM_OP_OPERATOR)
        return MSIM_OPMAP_NO_KERNEL;
    row = msim_opmap_row_of(t, user, i);
    if (launched < 0 && nothing_launched(&c, user, row))
        return MSIM_OPMAP_NO_KERNEL;
    if (row && row->flags & MSIM_OPMAP_COMPILED)
        return MSIM_OPMAP_COMPILED_REGION;
    c.missing = is_untyped(&c) ? missing_dtype(&c) : MSIM_DT_F32;
    known = row && row->rule && row->rule(&c, row);
    if (known && c.n == 0 && launched <= 0)
        return MSIM_OPMAP_NO_KERNEL;
    if (!known || c.n == 0) {
        known = false;
        c.n = 0;
        /* Of an operator that launches nothing: the kernel is another
         * operator's, and rounded times put it here. */
        if (!row || row->rule)
            bound(&c);
    }
    share_launches(&c);
    if (known) {
        set_nearest(&c, row);
        set_origin(&c, e);
    }
    bound_odd(&c);
    *n = c.n;
    return known ? MSIM_OPMAP_WORKS : MSIM_OPMAP_UNKNOWN;
}
