/* core/work/rules/opmap_args.c - reading an operator's arguments and
 * kernels. */
#include "core/work/kernel_fact.h"
#include "core/work/rules/opmap_rule.h"

#include "core/work/work.h"

#include <string.h>

int64_t msim_opmap_count(double x)
{
    if (!(x > 0))
        return 0;
    return x < 9e18 ? (int64_t)x : (int64_t)9e18;
}

/* ---- tensors ---------------------------------------------------------- */

static bool is_tensor(const struct msim_arg *a)
{
    return a && a->kind == MSIM_ARG_TENSOR;
}

static void read_tensor(const struct msim_trace *t, const struct msim_arg *a,
                        enum msim_dtype missing, struct msim_operand *o)
{
    double elems = 1;
    const int64_t *dims = msim_arg_dims(t, a);

    for (uint32_t k = 0; k < a->n; k++)
        elems *= dims[k] > 0 ? (double)dims[k] : 0;
    o->dims = dims;
    o->rank = a->n;
    o->dtype = a->dtype ? (enum msim_dtype)a->dtype : missing;
    o->device = a->device;
    o->layout = a->layout;
    o->elems = elems;
    o->bytes = elems * msim_dtype_bytes(o->dtype);
}

static bool tensor_of(const struct msim_trace *t, uint32_t op, uint32_t k,
                      enum msim_dtype missing, struct msim_operand *o)
{
    const struct msim_arg *a = msim_args_get(t, t->ops[op].args, k);

    if (!is_tensor(a))
        return false;
    read_tensor(t, a, missing, o);
    return true;
}

bool msim_opmap_tensor_of(const struct msim_trace *t, uint32_t op, uint32_t k,
                          struct msim_operand *o)
{
    return tensor_of(t, op, k, MSIM_DT_F32, o);
}

bool msim_opmap_tensor(const struct msim_opmap_ctx *c, uint32_t k,
                       struct msim_operand *o)
{
    return tensor_of(c->t, c->index, k, c->missing, o);
}

bool msim_opmap_nth_tensor(const struct msim_opmap_ctx *c, uint32_t k,
                           struct msim_operand *o)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, 0);
    uint32_t n = msim_args_count(c->t, c->op->args);

    for (; n; n--, a = msim_arg_next(a)) {
        if (!is_tensor(a) || k--)
            continue;
        read_tensor(c->t, a, c->missing, o);
        return true;
    }
    return false;
}

bool msim_opmap_output(const struct msim_opmap_ctx *c, uint32_t k,
                       struct msim_operand *o)
{
    const struct msim_arg_block *b;

    if (c->op->outs == MSIM_NONE)
        return false;
    b = &c->t->blocks[c->op->outs];
    for (uint32_t j = 0; j < b->count; j++) {
        const struct msim_arg *a = &c->t->args[b->first + j];

        if (!is_tensor(a) || k--)
            continue;
        read_tensor(c->t, a, c->missing, o);
        return true;
    }
    return false;
}

int64_t msim_operand_dim(const struct msim_operand *o, int k)
{
    int at = k < 0 ? (int)o->rank + k : k;

    if (at < 0 || at >= (int)o->rank || o->dims[at] < 0)
        return 1;
    return o->dims[at];
}

bool msim_opmap_list(const struct msim_opmap_ctx *c, uint32_t k,
                     struct msim_tensor_list *l)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);

    memset(l, 0, sizeof(*l));
    if (!a || a->kind != MSIM_ARG_LIST)
        return false;
    for (int64_t j = 1; j <= a->v.i; j++) {
        struct msim_operand o;

        if (a[j].kind != MSIM_ARG_TENSOR)
            continue;
        read_tensor(c->t, &a[j], MSIM_DT_F32, &o);
        if (!l->n++) {
            l->dtype = o.dtype;
            l->device = o.device;
            l->plain = true;
        }
        l->plain &= o.layout == MSIM_LAYOUT_PLAIN;
        l->elems += o.elems;
        l->bytes += o.bytes;
        l->chunks += (double)msim_opmap_count(
            o.elems / MSIM_FACT(NULL, FOREACH_CHUNK) + 1);
    }
    return l->n > 0;
}

/* ---- scalars ---------------------------------------------------------- */

bool msim_opmap_int(const struct msim_opmap_ctx *c, uint32_t k, int64_t *v)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);

    if (!a || (a->kind != MSIM_ARG_INT && a->kind != MSIM_ARG_BOOL))
        return false;
    *v = a->v.i;
    return true;
}

bool msim_opmap_real(const struct msim_opmap_ctx *c, uint32_t k, double *v)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);

    if (a && a->kind == MSIM_ARG_REAL)
        *v = a->v.f;
    else if (a && a->kind == MSIM_ARG_INT)
        *v = (double)a->v.i;
    else
        return false;
    return true;
}

uint32_t msim_opmap_ints(const struct msim_opmap_ctx *c, uint32_t k, int64_t *v,
                         uint32_t max)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);
    uint32_t n = 0;

    if (!a || a->kind != MSIM_ARG_LIST)
        return 0;
    for (int64_t j = 1; j <= a->v.i && n < max; j++)
        if (a[j].kind == MSIM_ARG_INT || a[j].kind == MSIM_ARG_BOOL)
            v[n++] = a[j].v.i;
    return n;
}

/* ---- works ------------------------------------------------------------ */

/* By its name, or since the operator that calls it is that name in place:
 * mul_() of a number calls mul() with its own first operand as the result. */
static bool is_in_place(const struct msim_opmap_ctx *c, uint32_t op)
{
    const char *name = msim_trace_text(c->t, c->t->ops[op].name), *caller;
    uint32_t parent = c->t->ops[op].parent;
    size_t n = strlen(name);

    if (msim_work_is_in_place(name))
        return true;
    caller = parent == MSIM_NONE
                 ? ""
                 : msim_trace_text(c->t, c->t->ops[parent].name);
    return strncmp(caller, name, n) == 0 && strcmp(caller + n, "_") == 0;
}

/* zeros() calls empty() and zero_(), which calls fill_(): the memory is new. */
static bool writes_in_place(const struct msim_opmap_ctx *c)
{
    const struct msim_op *ops = c->t->ops;
    uint32_t op = c->index;

    if (!is_in_place(c, op))
        return false;
    while (op > 0 && ops[op].parent == op - 1 && is_in_place(c, op - 1))
        op--;
    return op == 0 || ops[op].parent == MSIM_NONE || ops[op].parent == op - 1 ||
           strncmp(msim_trace_text(c->t, ops[op - 1].name), "aten::empty",
                   strlen("aten::empty")) != 0;
}

struct msim_work *msim_opmap_work(struct msim_opmap_ctx *c,
                                  enum msim_family family,
                                  enum msim_dtype dtype, const char *variant)
{
    struct msim_work *w;

    if (c->n == MSIM_OPMAP_MAX)
        return NULL;
    w = &c->works[c->n++];
    memset(w, 0, sizeof(*w));
    w->family = family;
    w->dtype = dtype;
    w->variant = variant;
    w->kernels = 1;
    w->in_place = writes_in_place(c);
    return w;
}

const char *msim_opmap_variant(const struct msim_opmap_row *row)
{
    return row->variant ? row->variant : row->name;
}

/* ---- kernels ---------------------------------------------------------- */

/* First call of the op's thread that does not start before the op. */
static uint32_t first_call(const struct msim_opmap_ctx *c)
{
    const struct msim_thread *th = &c->t->threads[c->op->thread];
    uint32_t lo = th->call_begin, hi = th->call_end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (c->t->calls[mid].start < c->op->start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

const struct msim_gpu *msim_opmap_kernel(const struct msim_opmap_ctx *c,
                                         struct msim_opmap_launches *l)
{
    const struct msim_trace *t = c->t;
    uint32_t k, end;

    if (c->launched <= 0 || (l->kernels >= c->launched && !l->copies) ||
        c->op->thread >= t->n_threads)
        return NULL;
    k = l->next ? l->next : first_call(c);
    end = t->threads[c->op->thread].call_end;
    for (; k < end && t->calls[k].start <= c->op->start + c->op->dur; k++) {
        if (t->calls[k].op != c->index || t->calls[k].gpu == MSIM_NONE)
            continue;
        l->next = k + 1;
        l->kernels += t->gpu[t->calls[k].gpu].kind == MSIM_GPU_KERNEL;
        return &t->gpu[t->calls[k].gpu];
    }
    return NULL;
}

double msim_opmap_grid_elems(const struct msim_opmap_ctx *c)
{
    const struct msim_trace *t = c->t;
    const struct msim_gpu *g;
    struct msim_opmap_launches launches = {0};
    double elems = 0;

    while ((g = msim_opmap_kernel(c, &launches))) {
        const char *name = msim_trace_text(t, g->name);
        const struct msim_launch_config *k;

        if (g->kind != MSIM_GPU_KERNEL || g->config == MSIM_NONE)
            continue;
        k = &t->configs[g->config];
        if (strstr(name, "multi_tensor_apply"))
            elems += k->grid[0] * MSIM_FACT(NULL, FOREACH_CHUNK);
        else if (strstr(name, "elementwise_kernel"))
            elems += (double)k->grid[0] * k->block[0] *
                     MSIM_FACT(NULL, ELEMENTWISE_VALUES);
    }
    return elems;
}

bool msim_opmap_tf32(const struct msim_opmap_ctx *c)
{
    const struct msim_gpu *g;
    struct msim_opmap_launches launches = {0};

    if (c->t->tf32)
        return true;
    while ((g = msim_opmap_kernel(c, &launches))) {
        const char *name = msim_trace_text(c->t, g->name);

        if (strstr(name, "tf32") || strstr(name, "s1688"))
            return true;
    }
    return false;
}

/* ---- forward and backward ---------------------------------------------- */

/* How many operators of a thread are searched for the other pass. */
#define PARTNER_WITHIN 32768
/* How many before a forward op may show the number of the next node. */
#define NUMBER_WITHIN 16

/* The key by which operators are in order: the start, or the number in an
 * ET. */
static int64_t position(const struct msim_op *op)
{
    return op->start == MSIM_TIME_NONE ? (int64_t)op->et_id : op->start;
}

/* First op of a thread that does not start before `start`. */
static uint32_t first_op(const struct msim_trace *t, uint32_t thread,
                         int64_t start)
{
    uint32_t lo = t->threads[thread].op_begin, hi = t->threads[thread].op_end;

    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;

        if (position(&t->ops[mid]) < start)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/*
 * The sequence number of the autograd node that op `i` makes. Operators show
 * the number of the next node. Those of other libraries show none: then the
 * operator before them showed it.
 */
static int32_t number_of(const struct msim_trace *t, uint32_t i)
{
    uint32_t begin = t->threads[t->ops[i].thread].op_begin;

    for (uint32_t k = 0; k < NUMBER_WITHIN && begin + k <= i; k++)
        if (t->ops[i - k].seq >= 0)
            return t->ops[i - k].seq;
    return -1;
}

uint32_t msim_opmap_backward_of(const struct msim_opmap_ctx *c)
{
    const struct msim_trace *t = c->t;
    int32_t number = c->op->thread < t->n_threads ? number_of(t, c->index) : -1;

    if (number < 0)
        return MSIM_NONE;
    for (uint32_t th = 0; th < t->n_threads; th++) {
        uint32_t j = first_op(t, th, position(c->op));
        uint32_t end = t->threads[th].op_end;

        for (uint32_t k = 0; k < PARTNER_WITHIN && j < end; k++, j++)
            if (t->ops[j].seq == number && t->ops[j].fw_thread != MSIM_NONE &&
                msim_args_count(t, t->ops[j].args))
                return j;
    }
    return MSIM_NONE;
}

uint32_t msim_opmap_forward_of(const struct msim_opmap_ctx *c,
                               const char *prefix, const char *part)
{
    const struct msim_trace *t = c->t;
    size_t len = strlen(prefix);

    if (c->op->seq < 0)
        return MSIM_NONE;
    for (uint32_t th = 0; th < t->n_threads; th++) {
        uint32_t j = first_op(t, th, position(c->op));
        uint32_t begin = t->threads[th].op_begin;

        for (uint32_t k = 0; k < PARTNER_WITHIN && j > begin; k++) {
            const char *name = msim_trace_text(t, t->ops[--j].name);

            if (strncmp(name, prefix, len) == 0 && strstr(name, part) &&
                number_of(t, j) == c->op->seq)
                return j;
        }
    }
    return MSIM_NONE;
}
