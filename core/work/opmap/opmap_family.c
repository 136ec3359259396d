/*
 * core/work/opmap/opmap_family.c - the kind of a GPU activity, by the operator
 * that launched it.
 */
#include "core/work/opmap/opmap.h"

#include <string.h>

/* The family of the work with most arithmetic, then most traffic: the heaviest
 * work names an operator of several. */
static enum msim_family heaviest(const struct msim_work *works, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++) {
        const struct msim_work *w = &works[i], *b = &works[best];
        double bytes = w->bytes_read + w->bytes_written;

        if (w->flops > b->flops ||
            (w->flops == b->flops && bytes > b->bytes_read + b->bytes_written))
            best = i;
    }
    return works[best].family;
}

/* Without shapes no rule makes works; the operator's group has a family. */
static enum msim_family of_name(const struct msim_works *w, uint32_t op)
{
    static const enum msim_family FAMILIES[] = {
#define X(name, family) MSIM_FAMILY_##family,
        MSIM_GROUP_MAP(X)
#undef X
    };
    const struct msim_opmap_row *row = msim_opmap_row_of(w->trace, w->user, op);

    if (!row || !row->rule)
        return MSIM_FAMILY_BOUND;
    if (strstr(row->name, "softmax"))
        return MSIM_FAMILY_SOFTMAX;
    /* Of names that are made, those of fbgemm are look-ups in embeddings. */
    if (row->group == MSIM_GROUP_MADE && strstr(row->name, "embedding"))
        return MSIM_FAMILY_EMBEDDING;
    return FAMILIES[row->group];
}

enum msim_family msim_op_family(const struct msim_works *all, uint32_t op)
{
    const struct msim_work *works;
    uint32_t n;

    if (msim_works_of(all, op, &works, &n) == MSIM_OPMAP_WORKS)
        return heaviest(works, n);
    return of_name(all, op);
}

void msim_gpu_families(const struct msim_works *w, uint8_t *family)
{
    const struct msim_trace *t = w->trace;

    for (uint32_t i = 0; i < t->n_gpu; i++) {
        const struct msim_gpu *e = &t->gpu[i];

        if (e->kind == MSIM_GPU_COMM)
            family[i] = MSIM_FAMILY_COLLECTIVE;
        else if (e->kind != MSIM_GPU_KERNEL)
            family[i] = MSIM_FAMILY_COPY;
        else if (e->op == MSIM_NONE)
            family[i] = MSIM_FAMILY_BOUND;
        else
            family[i] = (uint8_t)msim_op_family(w, e->op);
    }
}
