/*
 * core/sizes/shapes.c - operators that give a tensor another shape: which size
 * of what goes in is which of what comes out.
 */
#include "core/sizes/sizes_internal.h"

#include <string.h>

#define RANK_MOST  64
#define PARTS_MOST 1024 /* of one tensor */

typedef enum msim_status shape_fn(struct msim_size_learning *l,
                                  const struct msim_size_call *c);

/* ---- numbers among arguments ----------------------------------------------
 */

static bool int_of(const struct msim_size_call *c, uint32_t i, int64_t *to)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, i);

    if (!a || a->kind != MSIM_ARG_INT)
        return false;
    *to = a->v.i;
    return true;
}

/* Argument `i` as a dimension of `n`: `otherwise` where it is not told. */
static uint32_t dim_of(const struct msim_size_call *c, uint32_t i, uint32_t n,
                       int64_t otherwise)
{
    int64_t dim = otherwise;

    (void)int_of(c, i, &dim);
    if (dim < 0)
        dim += n;
    return dim >= 0 && dim < (int64_t)n ? (uint32_t)dim : MSIM_NONE;
}

static bool has_both(const struct msim_size_call *c)
{
    return c->n_in && c->n_out && c->in[0].at != MSIM_NONE &&
           c->out[0].at != MSIM_NONE && c->in[0].n <= RANK_MOST &&
           c->out[0].n <= RANK_MOST;
}

static void unite_run(struct msim_size_learning *l, uint32_t a, uint32_t b,
                      uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        msim_size_unite(l, a + i, b + i);
}

/* ---- other groups of the same elements ------------------------------------
 */

static uint64_t elems(const struct msim_size_tensor *x)
{
    uint64_t n = 1;

    for (uint32_t i = 0; i < x->n; i++)
        if (__builtin_mul_overflow(n, (uint64_t)x->dims[i], &n))
            return 0;
    return n;
}

/* The least neighbours from `*i` and `*j` on that have one product. */
static enum msim_status tie_group(struct msim_size_learning *l,
                                  const struct msim_size_tensor *a,
                                  const struct msim_size_tensor *b, uint32_t *i,
                                  uint32_t *j)
{
    uint32_t left[RANK_MOST], right[RANK_MOST], n = 0, m = 0;
    int64_t x = 1, y = 1;

    do {
        if (x <= y && *i < a->n) {
            left[n++] = a->at + *i;
            x *= a->dims[(*i)++];
        } else if (*j < b->n) {
            right[m++] = b->at + *j;
            y *= b->dims[(*j)++];
        } else {
            break;
        }
    } while (x != y || !n || !m);
    return n && m ? msim_size_tie_product(l, left, n, right, m) : MSIM_OK;
}

static enum msim_status regroup(struct msim_size_learning *l,
                                const struct msim_size_tensor *a,
                                const struct msim_size_tensor *b)
{
    uint64_t n = elems(a);
    uint32_t i = 0, j = 0;

    if (!n || n != elems(b))
        return MSIM_OK;
    for (;;) {
        while (i < a->n && a->dims[i] == 1)
            i++;
        while (j < b->n && b->dims[j] == 1)
            j++;
        if (i == a->n || j == b->n)
            return MSIM_OK;
        MSIM_TRY(tie_group(l, a, b, &i, &j));
    }
}

static enum msim_status view(struct msim_size_learning *l,
                             const struct msim_size_call *c)
{
    return has_both(c) ? regroup(l, &c->in[0], &c->out[0]) : MSIM_OK;
}

/* Where an operator makes its result so, that operator says what it is. One of
 * its own is of a tensor in the order of its sizes: sizes that are equally far
 * apart in both are one. */
static enum msim_status strided(struct msim_size_learning *l,
                                const struct msim_size_call *c)
{
    const struct msim_arg *apart = msim_args_get(c->t, c->op->args, 2);
    uint32_t parent = c->op->parent;
    int64_t stride = 1;

    if (!has_both(c) || !apart || apart->kind != MSIM_ARG_LIST ||
        apart->n != c->out[0].n ||
        (parent != MSIM_NONE && c->t->ops[parent].kind == MSIM_OP_OPERATOR))
        return MSIM_OK;
    for (uint32_t i = c->in[0].n; i--; stride *= c->in[0].dims[i])
        for (uint32_t k = 0; k < apart->n; k++)
            if (apart[1 + k].v.i == stride)
                msim_size_unite(l, c->in[0].at + i, c->out[0].at + k);
    return MSIM_OK;
}

/* ---- another order --------------------------------------------------------
 */

static enum msim_status transpose(struct msim_size_learning *l,
                                  const struct msim_size_call *c)
{
    uint32_t n, a, b;

    if (!has_both(c) || c->in[0].n != c->out[0].n)
        return MSIM_OK;
    n = c->in[0].n;
    /* t() has no numbers, and turns the last two */
    a = dim_of(c, 1, n, n < 2 ? 0 : -2);
    b = dim_of(c, 2, n, -1);
    if (a == MSIM_NONE || b == MSIM_NONE)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++)
        msim_size_unite(l, c->in[0].at + i,
                        c->out[0].at + (i == a   ? b
                                        : i == b ? a
                                                 : i));
    return MSIM_OK;
}

static enum msim_status permute(struct msim_size_learning *l,
                                const struct msim_size_call *c)
{
    const struct msim_arg *order = msim_args_get(c->t, c->op->args, 1);
    uint32_t n = has_both(c) ? c->in[0].n : 0;

    if (!order || order->kind != MSIM_ARG_LIST || order->n != n ||
        c->out[0].n != n)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++) {
        int64_t from = order[1 + i].v.i;

        if (order[1 + i].kind == MSIM_ARG_INT && from >= -(int64_t)n &&
            from < (int64_t)n)
            msim_size_unite(
                l, c->in[0].at + (uint32_t)(from < 0 ? from + n : from),
                c->out[0].at + i);
    }
    return MSIM_OK;
}

/* ---- several as one, one as several ---------------------------------------
 */

/* Size `dim` of `whole` is the sum of those of `parts`, and the others one. */
static enum msim_status tie_parts(struct msim_size_learning *l,
                                  const struct msim_size_tensor *whole,
                                  const struct msim_size_tensor *parts,
                                  uint32_t n, uint32_t dim)
{
    uint32_t first[PARTS_MOST], used = 0;
    int64_t sum = 0;

    if (whole->at == MSIM_NONE || dim == MSIM_NONE || n > PARTS_MOST)
        return MSIM_OK;
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i].n != whole->n || parts[i].at == MSIM_NONE)
            continue;
        first[used++] = parts[i].at + dim;
        sum += parts[i].dims[dim];
        for (uint32_t k = 0; k < whole->n; k++)
            if (k != dim)
                msim_size_unite(l, whole->at + k, parts[i].at + k);
    }
    /* Parts that are not among the tensors would be taken for a number. */
    return used && sum == whole->dims[dim]
               ? msim_size_tie_sum(l, whole->at + dim, first, used)
               : MSIM_OK;
}

static enum msim_status cat(struct msim_size_learning *l,
                            const struct msim_size_call *c)
{
    if (!c->n_out)
        return MSIM_OK;
    return tie_parts(l, &c->out[0], c->in, c->n_in,
                     dim_of(c, 1, c->out[0].n, 0));
}

static enum msim_status split(struct msim_size_learning *l,
                              const struct msim_size_call *c)
{
    uint32_t dim = c->n_in ? dim_of(c, 2, c->in[0].n, 0) : MSIM_NONE;

    return dim == MSIM_NONE ? MSIM_OK
                            : tie_parts(l, &c->in[0], c->out, c->n_out, dim);
}

/* Parts of one size by what the operator does, not by chance. */
static enum msim_status split_evenly(struct msim_size_learning *l,
                                     const struct msim_size_call *c)
{
    uint32_t dim = c->n_in ? dim_of(c, 2, c->in[0].n, 0) : MSIM_NONE;

    for (uint32_t i = 1; i < c->n_out && dim != MSIM_NONE; i++)
        if (c->out[i].at != MSIM_NONE && c->out[0].at != MSIM_NONE &&
            c->out[i].n == c->in[0].n && c->out[0].n == c->in[0].n)
            msim_size_unite(l, c->out[0].at + dim, c->out[i].at + dim);
    return split(l, c);
}

/* `less` is `more` without size `dim`. */
static void unite_without(struct msim_size_learning *l,
                          const struct msim_size_tensor *more,
                          const struct msim_size_tensor *less, uint32_t dim)
{
    if (more->at == MSIM_NONE || less->at == MSIM_NONE || dim == MSIM_NONE ||
        more->n != less->n + 1)
        return;
    unite_run(l, more->at, less->at, dim);
    unite_run(l, more->at + dim + 1, less->at + dim, less->n - dim);
}

static enum msim_status stack(struct msim_size_learning *l,
                              const struct msim_size_call *c)
{
    uint32_t dim = c->n_out ? dim_of(c, 1, c->out[0].n, 0) : MSIM_NONE;

    for (uint32_t i = 0; i < c->n_in; i++)
        unite_without(l, &c->out[0], &c->in[i], dim);
    return MSIM_OK;
}

static enum msim_status pick(struct msim_size_learning *l,
                             const struct msim_size_call *c)
{
    uint32_t dim = c->n_in ? dim_of(c, 1, c->in[0].n, 0) : MSIM_NONE;

    for (uint32_t i = 0; i < c->n_out; i++)
        unite_without(l, &c->in[0], &c->out[i], dim);
    return MSIM_OK;
}

/* ---- parts, and repetitions -----------------------------------------------
 */

/* As many sizes, one of them of another number: a part. */
static enum msim_status slice(struct msim_size_learning *l,
                              const struct msim_size_call *c)
{
    if (!has_both(c) || c->in[0].n != c->out[0].n)
        return MSIM_OK;
    for (uint32_t i = 0; i < c->in[0].n; i++) {
        if (c->in[0].dims[i] == c->out[0].dims[i])
            msim_size_unite(l, c->in[0].at + i, c->out[0].at + i);
        else
            MSIM_TRY(msim_size_tie_share(l, c->in[0].at + i, c->out[0].at + i));
    }
    return MSIM_OK;
}

static enum msim_status repeat(struct msim_size_learning *l,
                               const struct msim_size_call *c)
{
    uint32_t more;

    if (!has_both(c) || c->in[0].n > c->out[0].n)
        return MSIM_OK;
    more = c->out[0].n - c->in[0].n;
    for (uint32_t i = 0; i < c->in[0].n; i++) {
        uint32_t in = c->in[0].at + i, out = c->out[0].at + more + i;

        msim_size_unite(l, in, out);
        if (c->in[0].dims[i] != 1 &&
            c->in[0].dims[i] != c->out[0].dims[more + i])
            MSIM_TRY(msim_size_tie_times(l, out, in, false));
    }
    return MSIM_OK;
}

/* Two halves, of which one is the gate. */
static enum msim_status gate(struct msim_size_learning *l,
                             const struct msim_size_call *c)
{
    for (uint32_t i = 0; has_both(c) && i < c->in[0].n; i++) {
        msim_size_unite(l, c->in[0].at + i, c->out[0].at + i);
        if (c->in[0].n == c->out[0].n &&
            c->in[0].dims[i] == 2 * c->out[0].dims[i])
            MSIM_TRY(msim_size_tie_times(l, c->in[0].at + i, c->out[0].at + i,
                                         false));
    }
    return MSIM_OK;
}

/* ---- sums over dimensions -------------------------------------------------
 */

static uint64_t summed(const struct msim_size_call *c, uint32_t i, uint32_t n)
{
    const struct msim_arg *a = msim_args_get(c->t, c->op->args, i);
    uint32_t many = a && a->kind == MSIM_ARG_LIST ? a->n : 1;
    uint64_t dims = 0;

    if (!a)
        return 0;
    a += a->kind == MSIM_ARG_LIST;
    for (uint32_t k = 0; k < many; k++)
        if (a[k].kind == MSIM_ARG_INT && a[k].v.i >= -(int64_t)n &&
            a[k].v.i < (int64_t)n)
            dims |= UINT64_C(1)
                    << (a[k].v.i < 0 ? a[k].v.i + (int64_t)n : a[k].v.i);
    return dims;
}

static enum msim_status reduce(struct msim_size_learning *l,
                               const struct msim_size_call *c)
{
    uint32_t which = strcmp(c->name, "aten::linalg_vector_norm") == 0 ||
                             strcmp(c->name, "aten::norm") == 0
                         ? 2
                         : 1;

    if (!has_both(c))
        return MSIM_OK;
    for (uint32_t k = 0; k < c->n_out; k++) {
        const struct msim_size_tensor *x = &c->in[0], *y = &c->out[k];
        uint64_t gone = summed(c, which, x->n);
        uint32_t to = y->at;

        if (y->at == MSIM_NONE || !y->n)
            continue;
        for (uint32_t i = 0; i < x->n && to < y->at + y->n; i++)
            if (y->n == x->n || !(gone >> i & 1))
                msim_size_unite(l, x->at + i, to++);
    }
    return MSIM_OK;
}

/* ---- lists, indices, messages ---------------------------------------------
 */

/* Tensor i of each list: a parameter, its gradient, its states. */
static enum msim_status lists(struct msim_size_learning *l,
                              const struct msim_size_call *c)
{
    const struct msim_size_tensor *x = c->in;
    uint32_t n = 0;

    while (n < c->n_in && x[n].top == x[0].top && x[n].item != MSIM_NONE)
        n++;
    for (uint32_t i = n; i < c->n_in + c->n_out; i++) {
        const struct msim_size_tensor *y = &x[i];

        if (y->item < n && y->at != MSIM_NONE && x[y->item].at != MSIM_NONE &&
            y->n == x[y->item].n)
            unite_run(l, x[y->item].at, y->at, y->n);
    }
    return MSIM_OK;
}

/* x[i]: sizes of `i`, then those of x but the first. */
static enum msim_status indexed(struct msim_size_learning *l,
                                const struct msim_size_call *c)
{
    const struct msim_size_tensor *x = c->in, *i = x + 1, *y = c->out;
    const struct msim_arg *list = msim_args_get(c->t, c->op->args, 1);

    if (c->n_in != 2 || !has_both(c) || i->at == MSIM_NONE || !x->n || !list ||
        list->kind != MSIM_ARG_LIST || list->n != 1 || y->n != i->n + x->n - 1)
        return MSIM_OK;
    unite_run(l, i->at, y->at, i->n);
    unite_run(l, x->at + 1, y->at + i->n, x->n - 1);
    return MSIM_OK;
}

/* As many of dimension `dim` as the index has. */
static enum msim_status index_select(struct msim_size_learning *l,
                                     const struct msim_size_call *c)
{
    uint32_t dim = c->n_in ? dim_of(c, 1, c->in[0].n, 0) : MSIM_NONE;

    if (c->n_in != 2 || !has_both(c) || c->in[0].n != c->out[0].n)
        return MSIM_OK;
    unite_run(l, c->in[0].at, c->out[0].at, c->in[0].n);
    if (dim != MSIM_NONE && c->in[1].at != MSIM_NONE && c->in[1].n == 1)
        msim_size_unite(l, c->in[1].at, c->out[0].at + dim);
    return MSIM_OK;
}

/* What is gathered is a piece as often as there are ranks. */
static enum msim_status tie_message(struct msim_size_learning *l,
                                    const struct msim_size_tensor *a,
                                    const struct msim_size_tensor *b)
{
    bool more = a->n && a->dims[0] >= b->dims[0];

    if (a->at == MSIM_NONE || b->at == MSIM_NONE || !a->n || a->n != b->n)
        return MSIM_OK;
    unite_run(l, a->at, b->at, a->n);
    if (a->dims[0] == b->dims[0] || a->dims[0] == 1 || b->dims[0] == 1)
        return MSIM_OK;
    return msim_size_tie_times(l, more ? a->at : b->at, more ? b->at : a->at,
                               true);
}

/* Each rank's piece, in lists. */
static void unite_pieces(struct msim_size_learning *l,
                         const struct msim_size_call *c)
{
    for (uint32_t i = 1; i < c->n_in; i++)
        if (c->in[0].at != MSIM_NONE && c->in[i].at != MSIM_NONE &&
            c->in[i].n == c->in[0].n)
            unite_run(l, c->in[0].at, c->in[i].at, c->in[0].n);
}

static enum msim_status message(struct msim_size_learning *l,
                                const struct msim_size_call *c)
{
    const struct msim_size_tensor *x = c->in;

    if (c->n_in == 2)
        MSIM_TRY(tie_message(l, &x[0], &x[1]));
    if (c->n_in == 1 && c->n_out == 1)
        return tie_message(l, &c->in[0], &c->out[0]);
    if (c->n_in > 2 &&
        (strstr(c->name, "gather") || strstr(c->name, "scatter")))
        unite_pieces(l, c);
    for (uint32_t i = 0; i < c->n_in && c->n_in == c->n_out; i++)
        if (x[i].at != MSIM_NONE && c->out[i].at != MSIM_NONE &&
            x[i].n == c->out[i].n)
            unite_run(l, x[i].at, c->out[i].at, x[i].n);
    return MSIM_OK;
}

/* ---- by name --------------------------------------------------------------
 */

static const struct {
    const char *name;
    shape_fn *fn;
} SHAPES[] = {
    {"aten::view", view},
    {"aten::reshape", view},
    {"aten::_unsafe_view", view},
    {"aten::_reshape_alias", view},
    {"aten::flatten", view},
    {"aten::unflatten", view},
    {"aten::squeeze", view},
    {"aten::squeeze_", view},
    {"aten::unsqueeze", view},
    {"aten::unsqueeze_", view},
    {"aten::as_strided", strided},
    {"aten::t", transpose},
    {"aten::t_", transpose},
    {"aten::numpy_T", transpose},
    {"aten::mT", transpose},
    {"aten::adjoint", transpose},
    {"aten::transpose", transpose},
    {"aten::transpose_", transpose},
    {"aten::swapaxes", transpose},
    {"aten::permute", permute},
    {"aten::cat", cat},
    {"aten::concat", cat},
    {"aten::stack", stack},
    {"aten::split", split_evenly},
    {"aten::unsafe_split", split_evenly},
    {"aten::chunk", split_evenly},
    {"aten::unsafe_chunk", split_evenly},
    {"aten::split_with_sizes", split},
    {"aten::unsafe_split_with_sizes", split},
    {"aten::unbind", pick},
    {"aten::select", pick},
    {"aten::slice", slice},
    {"aten::narrow", slice},
    {"aten::constant_pad_nd", slice},
    {"aten::repeat", repeat},
    {"aten::tile", repeat},
    {"aten::glu", gate},
    {"aten::sum", reduce},
    {"aten::mean", reduce},
    {"aten::amax", reduce},
    {"aten::amin", reduce},
    {"aten::max", reduce},
    {"aten::min", reduce},
    {"aten::var", reduce},
    {"aten::std", reduce},
    {"aten::var_mean", reduce},
    {"aten::prod", reduce},
    {"aten::any", reduce},
    {"aten::all", reduce},
    {"aten::argmax", reduce},
    {"aten::logsumexp", reduce},
    {"aten::norm", reduce},
    {"aten::linalg_vector_norm", reduce},
    {"aten::index", indexed},
    {"aten::index_select", index_select},
    {"record_param_comms", message},
};

static const struct {
    const char *prefix;
    shape_fn *fn;
} KINDS[] = {{"aten::_foreach_", lists},  {"aten::_fused_adam", lists},
             {"aten::_fused_sgd", lists}, {"aten::_fused_adagrad", lists},
             {"c10d::", message},         {"_c10d_functional::", message},
             {"nccl:", message},          {"gloo:", message}};

enum msim_status msim_size_shape(struct msim_size_learning *l,
                                 const struct msim_size_call *c, bool *is)
{
    *is = true;
    for (size_t i = 0; i < sizeof(SHAPES) / sizeof(*SHAPES); i++)
        if (strcmp(SHAPES[i].name, c->name) == 0)
            return SHAPES[i].fn(l, c);
    for (size_t i = 0; i < sizeof(KINDS) / sizeof(*KINDS); i++)
        if (strncmp(KINDS[i].prefix, c->name, strlen(KINDS[i].prefix)) == 0)
            return KINDS[i].fn(l, c);
    *is = false;
    return MSIM_OK;
}
