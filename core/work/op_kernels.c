/*
 * core/work/op_kernels.c - kernels grouped by operator, in two passes: count,
 * then place.
 */
#include "core/work/work.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const struct msim_gpu *e)
{
    return e->kind == MSIM_GPU_KERNEL && e->op != MSIM_NONE;
}

enum msim_status msim_op_kernels_init(struct msim_op_kernels *l,
                                      const struct msim_trace *t)
{
    l->begin = calloc((size_t)t->n_ops + 2, sizeof(*l->begin));
    l->gpu = malloc(((size_t)t->n_gpu + 1) * sizeof(*l->gpu));
    if (!l->begin || !l->gpu)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (counts(&t->gpu[i]))
            l->begin[t->gpu[i].op + 2]++;
    for (uint32_t i = 1; i < t->n_ops + 2; i++)
        l->begin[i] += l->begin[i - 1];
    for (uint32_t i = 0; i < t->n_gpu; i++)
        if (counts(&t->gpu[i]))
            l->gpu[l->begin[t->gpu[i].op + 1]++] = i;
    return MSIM_OK;
}

void msim_op_kernels_release(struct msim_op_kernels *l)
{
    free(l->begin);
    free(l->gpu);
    memset(l, 0, sizeof(*l));
}
