/*
 * core/work/rules/opmap_memory.c - copies, fills, concatenations.
 *
 * A copy to or from the host runs over the bus. The kind and the size of a
 * recorded transfer take precedence over the tensors.
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"

#include <string.h>

/* How many operators before a copy may hold its view, and after a concatenation
 * its user. */
#define LOOK_BACK 8

/* ---- copies ----------------------------------------------------------- */

/* Of the copies that the op launched itself: kind, bytes, pageable. */
static bool traced_copy(const struct msim_opmap_ctx *c, struct msim_work *w,
                        double *bytes)
{
    const struct msim_gpu *g;
    struct msim_opmap_launches launches = {.copies = true};
    bool found = false;

    *bytes = 0;
    while ((g = msim_opmap_kernel(c, &launches))) {
        if (g->kind != MSIM_GPU_MEMCPY)
            continue;
        w->u.vector.copy = (enum msim_copy_kind)g->copy_kind;
        w->u.vector.pageable |= g->pageable;
        *bytes += (double)g->bytes;
        found = true;
    }
    return found;
}

static enum msim_copy_kind direction(const struct msim_opmap_ctx *c, uint8_t to,
                                     uint8_t from)
{
    if (to == from)
        return MSIM_COPY_D2D;
    if (to == MSIM_DEV_HOST || from == MSIM_DEV_HOST)
        return to == MSIM_DEV_HOST ? MSIM_COPY_D2H : MSIM_COPY_H2D;
    if (c->place != MSIM_OPMAP_AS_TRACED)
        return MSIM_COPY_D2D;
    if (to == MSIM_DEV_CPU)
        return MSIM_COPY_D2H;
    return from == MSIM_DEV_CPU ? MSIM_COPY_H2D : MSIM_COPY_D2D;
}

enum turn { NO_TURN, KEEPS_LAST, MOVES_LAST, UNKNOWN_TURN };

/* Whether a view operator brings another dimension to the last place. */
static enum turn turn_of(const struct msim_opmap_ctx *view, uint32_t rank)
{
    const char *name = msim_trace_text(view->t, view->op->name);
    int64_t dims[16], last = (int64_t)rank - 1;
    uint32_t n;

    if (strcmp(name, "aten::t") == 0)
        return MOVES_LAST;
    if (strcmp(name, "aten::permute") == 0) {
        n = msim_opmap_ints(view, 1, dims, 16);
        if (n == 0 || n != rank)
            return UNKNOWN_TURN;
        return dims[n - 1] != last && dims[n - 1] != -1 ? MOVES_LAST
                                                        : KEEPS_LAST;
    }
    if (strcmp(name, "aten::transpose") != 0)
        return NO_TURN;
    for (uint32_t k = 1; k <= 2; k++) {
        if (!msim_opmap_int(view, k, &dims[0]))
            return UNKNOWN_TURN;
        if (dims[0] == last || dims[0] == -1)
            return MOVES_LAST;
    }
    return KEEPS_LAST;
}

/* Is the copy made because a tensor is not contiguous? These operators exist
 * for that, and copy nothing where it is. */
static bool puts_in_order(const struct msim_opmap_ctx *c)
{
    for (uint32_t i = c->op->parent; i != MSIM_NONE; i = c->t->ops[i].parent) {
        const char *name = msim_trace_text(c->t, c->t->ops[i].name);

        if (strcmp(name, "aten::contiguous") == 0 ||
            strcmp(name, "aten::reshape") == 0)
            return true;
        if (strcmp(name, "aten::clone") != 0)
            return false;
    }
    return false;
}

/* How the tensor was turned shortly before. MOVES_LAST: neighbours in the copy
 * are not neighbours in memory; where no transpose is recorded, the copies that
 * make tensors contiguous show it. */
static enum turn turned(const struct msim_opmap_ctx *c,
                        const struct msim_operand *from)
{
    for (uint32_t steps = 1; steps <= LOOK_BACK && steps <= c->index; steps++) {
        struct msim_opmap_ctx view = *c;
        struct msim_operand x;
        enum turn turn = NO_TURN;

        view.index = c->index - steps;
        view.op = &c->t->ops[view.index];
        if (view.op->thread == c->op->thread &&
            msim_opmap_tensor(&view, 0, &x) && x.rank == from->rank &&
            x.elems == from->elems)
            turn = turn_of(&view, x.rank);
        if (turn == UNKNOWN_TURN)
            break;
        if (turn != NO_TURN)
            return turn;
    }
    return puts_in_order(c) ? MOVES_LAST : NO_TURN;
}

/* Sizes not recorded: what the copy or its kernel moved. */
static bool copy_after_launch(struct msim_opmap_ctx *c)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_COPY, MSIM_DT_F32, "copy");
    double bytes;

    if (!w)
        return false;
    w->u.vector.copy = MSIM_COPY_D2D;
    if (!traced_copy(c, w, &bytes))
        bytes = msim_opmap_grid_elems(c) * msim_dtype_bytes(MSIM_DT_F32);
    w->bytes_read = w->bytes_written = bytes;
    w->u.vector.elems = w->u.vector.cols = msim_opmap_count(bytes / 4);
    w->u.vector.rows = 1;
    return bytes > 0;
}

/* copy_(to, from); the types may differ. row->arg: (from, to). */
bool msim_rule_copy(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand to, from;
    struct msim_work *w;
    enum turn turn;
    double bytes;

    if (!msim_opmap_tensor(c, row->arg, &to) ||
        !msim_opmap_tensor(c, !row->arg, &from))
        return copy_after_launch(c);
    w = msim_opmap_work(c, MSIM_FAMILY_COPY, from.dtype, "copy");
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, to.elems);
    w->bytes_read = from.bytes;
    w->bytes_written = to.bytes;
    turn = turned(c, &from);
    w->u.vector.strided = turn == MOVES_LAST;
    w->u.vector.copy = direction(c, to.device, from.device);
    /* rows in another order: an address for each element */
    w->u.vector.addressed =
        turn == KEEPS_LAST && w->u.vector.copy == MSIM_COPY_D2D;
    if (!traced_copy(c, w, &bytes))
        bytes = 0;
    /* between devices the bus moves the narrower form: the cast is a kernel
     * on the GPU side */
    if (w->u.vector.copy == MSIM_COPY_H2D || w->u.vector.copy == MSIM_COPY_D2H)
        w->bytes_read = w->bytes_written =
            bytes > 0 ? bytes : (from.bytes < to.bytes ? from.bytes : to.bytes);
    return true;
}

/* Copies one number to the host: item(), and counts of non-zeros. */
bool msim_rule_to_host(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    struct msim_operand x;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        x.dtype = MSIM_DT_F32;
    w = msim_opmap_work(c, MSIM_FAMILY_COPY, x.dtype, msim_opmap_variant(row));
    if (!w)
        return false;
    w->bytes_read = w->bytes_written = msim_dtype_bytes(x.dtype);
    w->u.vector.copy = MSIM_COPY_D2H;
    w->u.vector.pageable = true;
    msim_opmap_set_rows(w, 1, 1);
    return true;
}

/* Counts, scans and writes positions; then copies the count to the host. */
bool msim_rule_nonzero(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    struct msim_operand x, out;
    struct msim_work *w;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_REDUCTION, x.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, x.elems);
    w->flops = 2 * x.elems;
    w->bytes_read = 2 * x.bytes;
    w->bytes_written = msim_opmap_output(c, 0, &out) ? out.bytes : 0;
    w->kernels = 4;
    /* where kernels were seen, the copy was seen as one of its own */
    return c->launched > 0 || msim_rule_to_host(c, row);
}

/* ---- fills ------------------------------------------------------------ */

bool msim_rule_fill(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, 0, &x)) {
        memset(&x, 0, sizeof(x));
        x.dtype = MSIM_DT_F32;
        x.elems = msim_opmap_grid_elems(c);
        x.bytes = x.elems * msim_dtype_bytes(x.dtype);
        if (x.elems == 0)
            return false;
    }
    w = msim_opmap_work(c, MSIM_FAMILY_COPY, x.dtype, msim_opmap_variant(row));
    if (!w)
        return false;
    msim_opmap_set_rows(w, 1, x.elems);
    w->bytes_written = x.bytes;
    w->u.vector.copy = MSIM_COPY_D2D;
    return true;
}

/* ---- several into one, one into several ------------------------------- */

static struct msim_work *add_moved(struct msim_opmap_ctx *c,
                                   const struct msim_opmap_row *row,
                                   enum msim_dtype dtype, double elems,
                                   double bytes)
{
    struct msim_work *w =
        msim_opmap_work(c, MSIM_FAMILY_COPY, dtype, msim_opmap_variant(row));

    if (!w)
        return NULL;
    msim_opmap_set_rows(w, 1, elems);
    w->bytes_read = w->bytes_written = bytes;
    w->u.vector.copy = MSIM_COPY_D2D;
    return w;
}

/*
 * Where the sizes of a list's tensors are not recorded, the gradient of the
 * joined tensor has them. Without one, the joined tensor is most likely the
 * first argument of the next operator.
 */
static bool joined_later(const struct msim_opmap_ctx *c, struct msim_operand *o)
{
    const struct msim_trace *t = c->t;
    uint32_t back = c->op->seq >= 0 ? msim_opmap_backward_of(c) : MSIM_NONE;
    uint32_t end = t->threads[c->op->thread].op_end;

    if (back != MSIM_NONE && msim_opmap_tensor_of(t, back, 0, o))
        return true;
    for (uint32_t j = c->op->end, steps = 0; j < end && steps < LOOK_BACK;
         j++, steps++)
        if (msim_opmap_tensor_of(t, j, 0, o) && o->elems > 1)
            return true;
    return false;
}

/* Backward of a split joins the gradients that its node took. */
static bool joined_gradients(const struct msim_opmap_ctx *c,
                             struct msim_operand *sum)
{
    const struct msim_trace *t = c->t;
    uint32_t p = c->op->parent;
    const char *name = p == MSIM_NONE ? "" : msim_trace_text(t, t->ops[p].name);
    struct msim_operand o;
    uint32_t n;

    if (strncmp(name, "Split", 5) != 0 && strncmp(name, "Unbind", 6) != 0)
        return false;
    memset(sum, 0, sizeof(*sum));
    n = msim_args_count(t, t->ops[p].args);
    for (uint32_t k = 0; k < n; k++) {
        if (!msim_opmap_tensor_of(t, p, k, &o))
            continue;
        sum->dtype = o.dtype;
        sum->elems += o.elems;
        sum->bytes += o.bytes;
    }
    return sum->elems > 0;
}

/* Tensors that do not all lie in the order of their sizes are taken element by
 * element (CatArrayBatchedCopy in aten/src/ATen/native/cuda/Shape.cu). */
static void cat_list(struct msim_opmap_ctx *c, const struct msim_opmap_row *row,
                     const struct msim_tensor_list *l)
{
    struct msim_work *w = add_moved(c, row, l->dtype, l->elems, l->bytes);

    if (w)
        w->u.vector.addressed = !l->plain;
}

bool msim_rule_cat(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_tensor_list l;
    struct msim_operand out;

    if (msim_opmap_list(c, 0, &l))
        cat_list(c, row, &l);
    else if (joined_gradients(c, &out))
        (void)add_moved(c, row, out.dtype, out.elems, out.bytes);
    else if (msim_opmap_output(c, 0, &out) || joined_later(c, &out) ||
             msim_opmap_tensor(c, 2, &out)) /* cat(list, dim, out) */
        (void)add_moved(c, row, out.dtype, out.elems, out.bytes);
    else
        return false;
    return true;
}

/* A tensor that is moved as a whole: roll, flip, repeat. */
bool msim_rule_move(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
{
    struct msim_operand x, out;

    if (!msim_opmap_nth_tensor(c, 0, &x))
        return false;
    if (msim_opmap_output(c, 0, &out) && out.elems > x.elems)
        x = out;
    (void)add_moved(c, row, x.dtype, x.elems, x.bytes);
    return true;
}
