/*
 * core/work/rules/opmap_moe.c - layers of experts that are one operator, and
 * products of groups.
 *
 * The operators of vLLM and SGLang hold everything that a layer launches
 * behind its router: sorting tokens by expert, two grouped products, the
 * activation between them and the sum over experts.
 */
#include "core/work/rules/opmap_rules.h"

#include <string.h>

#define ARG_TOKENS  0 /* tokens x hidden */
#define ARG_UP      1 /* experts x (2 inter, or inter without gate) x hidden */
#define ARG_DOWN    2 /* experts x hidden x inter */
#define ARG_WEIGHTS 3 /* of the chosen experts: tokens x k */

/* Packed weights have other sizes than they stand for. */
static bool is_packed(const struct msim_operand *o)
{
    return o->dtype == MSIM_DT_U8 || o->dtype == MSIM_DT_I8 ||
           o->dtype == MSIM_DT_I32;
}

/*
 * op(tokens, up, down, weights of the chosen experts, ...). The routing is not
 * recorded: it is taken to be random. The experts of other ranks are not
 * recorded either: this rank's experts get all pairs.
 */
bool msim_rule_experts(struct msim_opmap_ctx *c,
                       const struct msim_opmap_row *row)
{
    struct msim_operand tokens, up, down, chosen;
    struct msim_work *w;

    if (!msim_opmap_tensor(c, ARG_TOKENS, &tokens) ||
        !msim_opmap_tensor(c, ARG_UP, &up) ||
        !msim_opmap_tensor(c, ARG_DOWN, &down) ||
        !msim_opmap_tensor(c, ARG_WEIGHTS, &chosen) || tokens.rank != 2 ||
        up.rank != 3 || down.rank != 3 || chosen.rank != 2 || is_packed(&up))
        return false;
    w = msim_opmap_work(c, MSIM_FAMILY_MOE, up.dtype, "");
    if (!w)
        return false;
    w->backend = msim_opmap_variant(row);
    w->u.moe.hidden = msim_operand_dim(&tokens, 1);
    w->u.moe.inter = msim_operand_dim(&down, 2);
    w->u.moe.plain = msim_operand_dim(&up, 1) == w->u.moe.inter;
    w->u.moe.tp = 1;
    w->u.moe.routing.tokens = msim_operand_dim(&tokens, 0);
    w->u.moe.routing.topk = msim_operand_dim(&chosen, 1);
    w->u.moe.routing.experts = msim_operand_dim(&up, 0);
    w->u.moe.routing.ep = 1;
    msim_work_count(w);
    return true;
}

/* The mean share of a size that `groups` groups cut among them. */
static int64_t share_of(int64_t size, int64_t groups)
{
    return (size + groups - 1) / groups;
}

/*
 * A product for each group, as a batch of products of the mean size. What the
 * groups cut is the side of a matrix of two dimensions: rows in (rows x k)
 * (groups x k x n), columns where the first has three, and sums where both have
 * two, of a gradient of weights (_grouped_mm in aten/src/ATen/native/
 * GroupedMMUtils.h); offsets then say how many there are.
 */
bool msim_rule_grouped_product(struct msim_opmap_ctx *c,
                               const struct msim_opmap_row *row)
{
    struct msim_operand a, b, ends = {0};
    struct msim_opmap_arithmetic as;
    struct msim_work *w;
    int64_t groups;

    (void)row;
    if (!msim_opmap_tensor(c, 0, &a) || !msim_opmap_tensor(c, 1, &b) ||
        a.rank < 2 || a.rank > 3 || b.rank < 2 || b.rank > 3)
        return false;
    /* Scales of both stand before the offsets. */
    if (a.rank == 2 && b.rank == 2 &&
        !msim_opmap_tensor(c, strstr(c->name, "scaled") ? 4 : 2, &ends))
        return false;
    groups = b.rank == 3   ? msim_operand_dim(&b, 0)
             : a.rank == 3 ? msim_operand_dim(&a, 0)
                           : msim_opmap_count(ends.elems);
    as = msim_opmap_arithmetic_of(a.dtype);
    w = groups < 1 ? NULL
                   : msim_opmap_work(c, MSIM_FAMILY_GEMM, as.dtype, as.variant);
    if (!w)
        return false;
    w->u.gemm.m =
        msim_opmap_count((double)msim_operand_dim(&a, -2) * (double)as.rows);
    w->u.gemm.n = msim_operand_dim(&b, -1);
    w->u.gemm.k =
        msim_opmap_count((double)msim_operand_dim(&a, -1) * (double)as.depth);
    if (a.rank == 2 && b.rank == 3)
        w->u.gemm.m = share_of(w->u.gemm.m, groups);
    else if (a.rank == 3 && b.rank == 2)
        w->u.gemm.n = share_of(w->u.gemm.n, groups);
    else if (a.rank == 2)
        w->u.gemm.k = share_of(w->u.gemm.k, groups);
    w->u.gemm.batch = groups;
    msim_work_count(w);
    return true;
}
