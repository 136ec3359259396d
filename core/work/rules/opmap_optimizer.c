/*
 * core/work/rules/opmap_optimizer.c - optimizer steps: one operator over lists
 * of tensors, in as many kernels as their arguments need.
 */
#include "core/work/rules/opmap_vector.h"

#include <string.h>

/*
 * A foreach kernel takes its tensors as arguments, at most 4 kB of them, and
 * at most 320 blocks of 65,536 elements each (PyTorch: MultiTensorApply.cuh,
 * depth_to_max_tensors and depth_to_max_blocks).
 */
static uint32_t foreach_kernels(double tensors, double chunks, uint32_t lists)
{
    static const double most_tensors[] = {110, 110, 64, 48, 36, 30};
    double by_tensors = tensors / most_tensors[lists < 5 ? lists : 5];
    double by_chunks = chunks / 320;
    double n = by_tensors > by_chunks ? by_tensors : by_chunks;

    return n < 1 ? 1 : n < 1e6 ? (uint32_t)(n + 0.999) : 1000000;
}

static void set_step(struct msim_work *w, const struct msim_opmap_row *row,
                     double elems, double read, double written)
{
    msim_opmap_set_rows(w, 1, elems);
    w->flops = elems * row->flops;
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
static bool step(struct msim_opmap_ctx *c, const struct msim_opmap_row *row)
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

/* name, lists read, lists written, flops an element */
#define S(name, read, written, flops)                                          \
    {                                                                          \
        name, step, NULL, read, flops, MSIM_OPMAP_COMPOSITE, written           \
    }

static const struct msim_opmap_row rows[] = {
    S("_amp_foreach_non_finite_check_and_unscale_", 1, 1, 2),
    {"_amp_update_scale_", msim_opmap_pointwise_rule, "amp", 3, 2, 0, 0},
    S("_foreach_abs", 1, 1, 1),
    S("_foreach_acos", 1, 1, 8),
    S("_foreach_add", 2, 1, 1),
    S("_foreach_addcdiv", 3, 1, 3),
    S("_foreach_addcmul", 3, 1, 3),
    S("_foreach_asin", 1, 1, 8),
    S("_foreach_atan", 1, 1, 8),
    S("_foreach_ceil", 1, 1, 1),
    S("_foreach_clamp_max", 2, 1, 1),
    S("_foreach_clamp_min", 2, 1, 1),
    S("_foreach_copy_", 2, 1, 0),
    S("_foreach_cos", 1, 1, 8),
    S("_foreach_cosh", 1, 1, 8),
    S("_foreach_div", 2, 1, 1),
    S("_foreach_erf", 1, 1, 8),
    S("_foreach_erfc", 1, 1, 8),
    S("_foreach_exp", 1, 1, 8),
    S("_foreach_expm1", 1, 1, 8),
    S("_foreach_floor", 1, 1, 1),
    S("_foreach_frac", 1, 1, 2),
    S("_foreach_lerp", 2, 1, 3),
    S("_foreach_lgamma", 1, 1, 20),
    S("_foreach_log", 1, 1, 8),
    S("_foreach_log10", 1, 1, 8),
    S("_foreach_log1p", 1, 1, 8),
    S("_foreach_log2", 1, 1, 8),
    S("_foreach_max", 1, 0, 1),
    S("_foreach_maximum", 2, 1, 1),
    S("_foreach_minimum", 2, 1, 1),
    S("_foreach_mul", 2, 1, 1),
    S("_foreach_neg", 1, 1, 1),
    S("_foreach_norm", 1, 0, 2),
    S("_foreach_pow", 2, 1, 10),
    S("_foreach_reciprocal", 1, 1, 1),
    S("_foreach_round", 1, 1, 1),
    S("_foreach_rsqrt", 1, 1, 2),
    S("_foreach_sigmoid", 1, 1, 8),
    S("_foreach_sign", 1, 1, 1),
    S("_foreach_sin", 1, 1, 8),
    S("_foreach_sinh", 1, 1, 8),
    S("_foreach_sqrt", 1, 1, 2),
    S("_foreach_sub", 2, 1, 1),
    S("_foreach_tan", 1, 1, 8),
    S("_foreach_tanh", 1, 1, 8),
    S("_foreach_trunc", 1, 1, 1),
    {"_foreach_zero_", step, "zero", 1, 0,
     MSIM_OPMAP_COMPOSITE | MSIM_OPMAP_WRITES_ONLY, 1},
    S("_fused_adagrad_", 3, 2, 8),
    S("_fused_adam_", 5, 3, 14),
    S("_fused_adamw_", 5, 3, 14),
    S("_fused_sgd_", 3, 2, 4),
};

const struct msim_opmap_table msim_opmap_optimizer = {
    rows, sizeof(rows) / sizeof(rows[0])};
