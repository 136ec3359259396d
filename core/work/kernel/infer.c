/*
 * core/work/kernel/infer.c - the names and the order of a rank's kernels, from
 * which all else is inferred.
 */
#include "core/work/kernel/infer.h"

#include "core/base/containers.h"
#include "core/work/kernel_fact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ------------------------------------------------------------- */

static enum msim_status add_name(struct msim_infer *l, struct msim_idmap *seen,
                                 uint32_t i)
{
    uint32_t *index;

    MSIM_TRY(msim_idmap_put(seen, l->t->gpu[i].name, l->n_names, &index));
    l->name_of[i] = *index;
    if (*index < l->n_names)
        return MSIM_OK;
    MSIM_TRY(msim_grow((void **)&l->names, &l->cap_names, l->n_names,
                       sizeof(*l->names)));
    msim_kernel_name_read(&l->names[l->n_names++],
                          msim_trace_text(l->t, l->t->gpu[i].name));
    return MSIM_OK;
}

static enum msim_status read_names(struct msim_infer *l)
{
    struct msim_idmap seen = {0};
    enum msim_status status = MSIM_OK;

    for (uint32_t i = 0; i < l->t->n_gpu && status == MSIM_OK; i++)
        status = add_name(l, &seen, i);
    msim_idmap_release(&seen);
    return status;
}

/* The longest rows of norms: hidden states, not heads. */
static double read_width(const struct msim_infer *l)
{
    double width = 0;

    for (uint32_t i = 0; i < l->n_names; i++)
        if (l->names[i].kind == MSIM_KERNEL_NORM)
            width = fmax(width, l->names[i].cols);
    return width > 0 ? width : MSIM_FACT(NULL, USUAL_ROW_COLUMNS);
}

/* ---- order ------------------------------------------------------------- */

/* By the calls that launched them, which are in order on each thread. Kernels
 * that a graph launched, or whose call is not known, come as they ran on their
 * stream. */
static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct msim_trace *t = ctx;

    return t->gpu[a].call != t->gpu[b].call ? t->gpu[a].call < t->gpu[b].call
                                            : a < b;
}

static enum msim_status sort_launches(struct msim_infer *l)
{
    uint32_t n = l->t->n_gpu;
    uint32_t *tmp = malloc(((size_t)n + 1) * sizeof(*tmp));

    if (!tmp)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < n; i++)
        l->order[i] = i;
    msim_sort_index(l->order, tmp, n, before, l->t);
    for (uint32_t p = 0; p < n; p++)
        l->place[l->order[p]] = p;
    free(tmp);
    return MSIM_OK;
}

/* ---- all of it --------------------------------------------------------- */

static bool has_shapes(const struct msim_trace *t)
{
    for (uint32_t i = 0; i < t->n_args; i++)
        if (t->args[i].kind == MSIM_ARG_TENSOR)
            return true;
    return false;
}

enum msim_status msim_infer_init(struct msim_infer *l,
                                 const struct msim_trace *t)
{
    size_t n = (size_t)t->n_gpu + 1;

    *l = (struct msim_infer){.t = t, .shapeless = !has_shapes(t)};
    l->name_of = calloc(n, sizeof(*l->name_of));
    l->order = calloc(n, sizeof(*l->order));
    l->place = calloc(n, sizeof(*l->place));
    l->elems = calloc(n, sizeof(*l->elems));
    l->products = calloc(n, sizeof(*l->products));
    if (!l->name_of || !l->order || !l->place || !l->elems || !l->products)
        return MSIM_ENOMEM;
    MSIM_TRY(read_names(l));
    l->width = read_width(l);
    MSIM_TRY(sort_launches(l));
    MSIM_TRY(msim_infer_products(l));
    return msim_infer_elements(l);
}

void msim_infer_release(struct msim_infer *l)
{
    free(l->names);
    free(l->name_of);
    free(l->order);
    free(l->place);
    free(l->elems);
    free(l->products);
    memset(l, 0, sizeof(*l));
}

static bool launches_known(const struct msim_infer *l,
                           const struct msim_op_kernels *kernels, uint32_t op)
{
    for (uint32_t j = kernels->begin[op]; j < kernels->begin[op + 1]; j++)
        if (l->t->gpu[kernels->gpu[j]].config == MSIM_NONE)
            return false;
    return true;
}

bool msim_infer_decides(const struct msim_infer *l,
                        const struct msim_op_kernels *kernels, uint32_t op,
                        enum msim_opmap_result r, const struct msim_work *works,
                        uint32_t n)
{
    if (kernels->begin[op] == kernels->begin[op + 1] ||
        (n && works[0].user.origin))
        return false;
    return l->shapeless || r == MSIM_OPMAP_COMPILED_REGION ||
           (r == MSIM_OPMAP_UNKNOWN &&
            (n == 0 || launches_known(l, kernels, op)));
}

/* In quadrature: the error of the law and that of the sizes are independent. */
void msim_infer_widen(struct msim_estimate *e, double log_sd)
{
    double half_width = MSIM_Z90 * log_sd;

    e->low_us = e->us * exp(-hypot(log(e->us / e->low_us), half_width));
    e->high_us = e->us * exp(hypot(log(e->high_us / e->us), half_width));
    if (e->source < MSIM_SOURCE_BOUND)
        e->source = MSIM_SOURCE_INFERRED;
}
