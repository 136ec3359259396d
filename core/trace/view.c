/*
 * core/trace/view.c - another trace of the same operators.
 */
#include "core/trace/trace_steps.h"

#include <stdlib.h>
#include <string.h>

/* X(field): the columns of a view that are its own. */
#define OWN_COLUMNS(X) X(ops) X(comms) X(blocks) X(args) X(dims) X(tensor_ids)

static void *copy_of(const void *column, size_t n, size_t size)
{
    void *copy = malloc(n * size + size);

    if (copy && n)
        memcpy(copy, column, n * size);
    return copy;
}

enum msim_status msim_trace_view_new(struct msim_trace **out,
                                     const struct msim_trace *t)
{
    struct msim_trace *v = calloc(1, sizeof(*v));
    bool whole = true;

    *out = v;
    if (!v)
        return MSIM_ENOMEM;
    *v = *t;
#define X(field)                                                               \
    v->field = copy_of(t->field, t->n_##field, sizeof(*t->field));             \
    v->cap_##field = t->n_##field;                                             \
    whole = whole && v->field;
    OWN_COLUMNS(X)
#undef X
    v->n_tensor_strides = 0;
    if (whole)
        return MSIM_OK;
    msim_trace_view_free(v);
    *out = NULL;
    return MSIM_ENOMEM;
}

void msim_trace_view_free(struct msim_trace *view)
{
    if (!view)
        return;
#define X(field) free(view->field);
    OWN_COLUMNS(X)
#undef X
    free(view);
}

double msim_args_bytes(const struct msim_trace *t, uint32_t block)
{
    double sum = 0;

    if (block == MSIM_NONE)
        return 0;
    for (uint32_t i = 0; i < t->blocks[block].count; i++) {
        const struct msim_arg *a = &t->args[t->blocks[block].first + i];

        if (a->kind == MSIM_ARG_TENSOR)
            sum += (double)msim_arg_elems(t, a) *
                   msim_dtype_bytes((enum msim_dtype)a->dtype);
    }
    return sum;
}
