/*
 * core/work/rules/opmap_optimizer.c - optimizer steps: one operator over lists
 * of tensors, in as many kernels as their arguments need.
 */
#include "core/work/rules/opmap_rule.h"
#include "core/work/rules/opmap_rules.h"
#include "core/work/work.h"

#include <string.h>

static uint32_t foreach_kernels(double tensors, double chunks, uint32_t lists)
{
    double n = msim_foreach_kernels(tensors, chunks, lists);

    return n < 1 ? 1 : n < 1e6 ? (uint32_t)(n + 0.999) : 1000000;
}

static void set_step(struct msim_work *w, const struct msim_opmap_row *row,
                     double elems, double read, double written)
{
    msim_opmap_set_rows(w, 1, elems);
    w->flops = elems * row->flops_each;
    w->bytes_read = read;
    w->bytes_written = written;
}

/* Sizes not recorded: the blocks that were launched, of 65,536 elements. */
static bool after_launch(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row, uint32_t lists)
{
    double elems = msim_opmap_grid_elems(c);
    struct msim_work *w;

    if (elems == 0)
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_OPTIMIZER, MSIM_DT_F32,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    set_step(w, row, elems, 4 * elems * lists, 4 * elems * row->arg);
    return true;
}

/*
 * row->inputs lists are read, row->arg of them (or as many new ones)
 * written; all have the first one's sizes. A list of optional tensors (the
 * largest squares of AMSGrad) may be empty, and is then nothing.
 */
bool msim_rule_optimizer_step(struct msim_opmap_ctx *c,
                              const struct msim_opmap_row *row)
{
    struct msim_tensor_list first = {0}, l;
    uint32_t lists = 0, seen = 0, n = msim_args_count(c->t, c->op->args);
    double read = 0;
    struct msim_work *w;

    for (uint32_t k = 0; k < n && seen < row->inputs; k++) {
        const struct msim_arg *a = msim_args_get(c->t, c->op->args, k);

        if (!a || a->kind != MSIM_ARG_LIST)
            continue;
        seen++;
        if (!msim_opmap_list(c, k, &l))
            continue;
        if (lists++ == 0)
            first = l;
        if (!(row->flags & MSIM_OPMAP_WRITES_ONLY))
            read += l.bytes;
    }
    if (lists == 0)
        return after_launch(c, row, row->inputs);
    w = msim_opmap_work(c, MSIM_FAMILY_OPTIMIZER, first.dtype,
                        msim_opmap_variant(row));
    if (!w)
        return false;
    set_step(w, row, first.elems, read, first.bytes * row->arg);
    w->kernels = foreach_kernels(first.n, first.chunks, lists);
    return true;
}

/* The scale of mixed precision and its counters: one number each. */
bool msim_rule_amp_scale(struct msim_opmap_ctx *c,
                         const struct msim_opmap_row *row)
{
    return msim_rule_pointwise(c, row);
}
