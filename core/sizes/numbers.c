/*
 * core/sizes/numbers.c - sizes among the numbers that operators are given.
 */
#include "core/sizes/sizes_internal.h"

#include <string.h>

/* A tensor as it was and as it is to be. */
struct pair {
    const int64_t *was, *is;
    uint32_t n;
};

/* Argument `top` of a list in preorder; NULL: there is none. */
static const struct msim_arg *top_of(const struct msim_arg *args, uint32_t n,
                                     uint32_t top)
{
    const struct msim_arg *a = args, *end = args + n;

    while (a < end && top--)
        a = msim_arg_next(a);
    return a < end ? a : NULL;
}

static bool pair_at(const struct msim_number_call *c, bool out, uint32_t i,
                    struct pair *p)
{
    const struct msim_arg *was = out ? c->outs_were : c->was;
    const struct msim_arg *is = out ? c->outs : c->args;

    if (i >= (out ? c->m : c->n) || was[i].kind != MSIM_ARG_TENSOR)
        return false;
    *p = (struct pair){msim_arg_dims(c->t, &was[i]),
                       msim_arg_dims(c->view, &is[i]), was[i].n};
    return true;
}

/* Tensor `which` of the arguments, or of the results. */
static bool pair_of(const struct msim_number_call *c, bool out, uint32_t which,
                    struct pair *p)
{
    for (uint32_t i = 0; i < (out ? c->m : c->n); i++)
        if (pair_at(c, out, i, p) && !which--)
            return true;
    return false;
}

/* The numbers of argument `top`, and how many they are. */
static struct msim_arg *numbers_of(const struct msim_number_call *c,
                                   uint32_t top, uint32_t *n)
{
    const struct msim_arg *a = top_of(c->args, c->n, top);

    *n = 0;
    if (!a)
        return NULL;
    if (a->kind == MSIM_ARG_INT)
        *n = 1;
    else if (a->kind == MSIM_ARG_LIST && a->v.i == a->n)
        *n = a++->n;
    return c->args + (a - c->args);
}

static void put(struct msim_arg *a, int64_t was, int64_t is)
{
    if (a->kind == MSIM_ARG_INT && a->v.i == was)
        a->v.i = is;
}

/* ---- rules ------------------------------------------------------------------
 */

/* Sizes of a tensor, its last ones where they are fewer. */
static void sizes(const struct msim_number_call *c, uint32_t top, bool out)
{
    struct pair p;
    uint32_t n;
    struct msim_arg *a = numbers_of(c, top, &n);

    if (!pair_of(c, out, 0, &p))
        return;
    for (uint32_t i = 0; i < n && n <= p.n; i++)
        put(&a[i], p.was[p.n - n + i], p.is[p.n - n + i]);
}

static void sizes_made(const struct msim_number_call *c, uint32_t top)
{
    sizes(c, top, true);
}

static void sizes_given(const struct msim_number_call *c, uint32_t top)
{
    sizes(c, top, false);
}

static int64_t int_at(const struct msim_number_call *c, uint32_t top,
                      int64_t otherwise)
{
    const struct msim_arg *a = top_of(c->args, c->n, top);

    return a && a->kind == MSIM_ARG_INT ? a->v.i : otherwise;
}

static uint32_t dim_at(const struct msim_number_call *c, uint32_t top,
                       uint32_t n)
{
    int64_t dim = int_at(c, top, 0);

    dim += dim < 0 ? n : 0;
    return dim >= 0 && dim < (int64_t)n ? (uint32_t)dim : MSIM_NONE;
}

/* The first number is of the first result, and so on; the dimension comes
 * next. */
static void parts(const struct msim_number_call *c, uint32_t top)
{
    uint32_t n, dim;
    struct msim_arg *a = numbers_of(c, top, &n);
    struct pair p;

    for (uint32_t i = 0; i < n && pair_of(c, true, i, &p); i++) {
        dim = dim_at(c, top + 1, p.n);
        if (dim != MSIM_NONE)
            put(&a[i], p.was[dim], p.is[dim]);
    }
}

/* Sizes that stand for the one along the dimension before them. */
static void divided(const struct msim_number_call *c, uint32_t top)
{
    struct pair x, y;
    uint32_t n, dim;
    struct msim_arg *a = numbers_of(c, top, &n);

    if (!pair_of(c, false, 0, &x) || !pair_of(c, true, 0, &y) ||
        (dim = dim_at(c, top - 1, x.n)) == MSIM_NONE)
        return;
    for (uint32_t i = 0; i < n && dim + i < y.n; i++)
        put(&a[i], y.was[dim + i], y.is[dim + i]);
}

/* From the first number to the second, along the dimension before them: where
 * it ends with the whole, with the part, or begins where another one ends. */
static void cut_of(const struct msim_number_call *c, uint32_t top, bool back)
{
    struct pair x, y;
    uint32_t dim, n;

    if (!pair_of(c, back, 0, &x) || !pair_of(c, !back, 0, &y) || x.n != y.n ||
        (dim = dim_at(c, top - 1, x.n)) == MSIM_NONE)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        struct msim_arg *a = numbers_of(c, top + i, &n);
        int64_t at = n == 1 && a->kind == MSIM_ARG_INT ? a->v.i : 0;

        if (at <= 0 || at > x.was[dim])
            continue;
        if (at == x.was[dim])
            a->v.i = x.is[dim];
        else if (y.was[dim] && at % y.was[dim] == 0)
            a->v.i = at / y.was[dim] * y.is[dim];
        else if (at * x.is[dim] % x.was[dim] == 0)
            a->v.i = at * x.is[dim] / x.was[dim];
    }
}

static void cut(const struct msim_number_call *c, uint32_t top)
{
    cut_of(c, top, false);
}

static void cut_back(const struct msim_number_call *c, uint32_t top)
{
    cut_of(c, top, true);
}

/* How far elements lie apart, where nothing is between them. */
static void strides(const struct msim_number_call *c, uint32_t top)
{
    uint32_t n;
    struct msim_arg *a = numbers_of(c, top, &n);
    int64_t was = 1, is = 1;
    uint64_t done = 0;
    struct pair p;

    if (!pair_of(c, true, 0, &p) || p.n != n || n > 64)
        return;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t next = 0;

        while (next < n && (done >> next & 1 || a[next].v.i != was ||
                            (p.was[next] == 1 && k + 1 < n && was != 1)))
            next++;
        if (next == n)
            return;
        done |= UINT64_C(1) << next;
        a[next].v.i = is;
        if (__builtin_mul_overflow(was, p.was[next], &was) ||
            __builtin_mul_overflow(is, p.is[next], &is))
            return;
    }
}

static const struct {
    const char *name;
    uint32_t top;
    void (*follow)(const struct msim_number_call *c, uint32_t top);
} ROWS[] = {
    {"aten::view", 1, sizes_made},
    {"aten::reshape", 1, sizes_made},
    {"aten::_unsafe_view", 1, sizes_made},
    {"aten::_reshape_alias", 1, sizes_made},
    {"aten::_reshape_alias", 2, strides},
    {"aten::unflatten", 2, divided},
    {"aten::as_strided", 1, sizes_made},
    {"aten::as_strided", 2, strides},
    {"aten::expand", 1, sizes_made},
    {"aten::empty", 0, sizes_made},
    {"aten::zeros", 0, sizes_made},
    {"aten::ones", 0, sizes_made},
    {"aten::full", 0, sizes_made},
    {"aten::rand", 0, sizes_made},
    {"aten::randn", 0, sizes_made},
    {"aten::arange", 0, sizes_made},
    {"aten::resize_", 1, sizes_made},
    {"aten::empty_strided", 0, sizes_made},
    {"aten::empty_strided", 1, strides},
    {"aten::new_empty", 1, sizes_made},
    {"aten::new_zeros", 1, sizes_made},
    {"aten::new_ones", 1, sizes_made},
    {"aten::new_full", 1, sizes_made},
    {"aten::new_empty_strided", 1, sizes_made},
    {"aten::new_empty_strided", 2, strides},
    {"aten::layer_norm", 1, sizes_given},
    {"aten::native_layer_norm", 1, sizes_given},
    {"aten::native_layer_norm_backward", 2, sizes_given},
    {"aten::rms_norm", 1, sizes_given},
    {"aten::_fused_rms_norm", 1, sizes_given},
    {"aten::_fused_rms_norm_backward", 2, sizes_given},
    {"aten::slice_backward", 1, sizes_made},
    {"aten::slice_backward", 3, cut_back},
    {"aten::select_backward", 1, sizes_made},
    {"aten::split", 1, parts},
    {"aten::unsafe_split", 1, parts},
    {"aten::split_with_sizes", 1, parts},
    {"aten::unsafe_split_with_sizes", 1, parts},
    {"aten::slice", 2, cut},
    {"aten::narrow", 2, cut},
};

/* Rows of the table that a gradient is of. */
static void table_rows(const struct msim_number_call *c)
{
    uint32_t n;
    struct msim_arg *a = numbers_of(c, 2, &n);
    struct pair p;

    if (n == 1 && pair_of(c, true, 0, &p) && p.n)
        put(a, p.was[0], p.is[0]);
}

/* Of a bias: the channels of the gradient. */
static void bias_of(const struct msim_number_call *c, uint32_t top)
{
    uint32_t n;
    struct msim_arg *a = numbers_of(c, top, &n);
    struct pair p;

    if (n == 1 && pair_of(c, false, 0, &p) && p.n > 1)
        put(a, p.was[1], p.is[1]);
}

void msim_numbers_follow(const struct msim_number_call *c)
{
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++)
        if (strcmp(ROWS[i].name, c->name) == 0)
            ROWS[i].follow(c, ROWS[i].top);
    if (strcmp(c->name, "aten::embedding_dense_backward") == 0 ||
        strcmp(c->name, "aten::embedding_backward") == 0)
        table_rows(c);
    if (strcmp(c->name, "aten::convolution_backward") == 0)
        bias_of(c, 3);
}
