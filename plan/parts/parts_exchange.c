/*
 * plan/parts/parts_exchange.c - tokens to experts on other nodes.
 */
#include "plan/parts/parts.h"

#include <math.h>

int64_t msim_exchange_nodes(const struct msim_strategy *s, int64_t gpus_a_node)
{
    int64_t in_node = gpus_a_node / msim_expert_shares(s);

    if (in_node < 1)
        in_node = 1;
    return (s->ep + in_node - 1) / in_node;
}

/* Nodes that a token goes to in the mean, its own included: those of its
 * experts, and no more than have one of its groups of experts. */
static double distinct_nodes(const struct msim_parts *p, int64_t nodes)
{
    double some = msim_moe_places(p->topk, p->experts, nodes);

    if (p->topk_groups <= 0)
        return some;
    return fmin(some, msim_moe_places(p->topk_groups, p->groups, nodes) *
                          fmax((double)nodes / (double)p->groups, 1));
}

double msim_exchange_share(const struct msim_parts *p,
                           const struct msim_strategy *s, int64_t gpus_a_node)
{
    int64_t nodes = msim_exchange_nodes(s, gpus_a_node);

    if (nodes < 2)
        return 1;
    return fmin(distinct_nodes(p, nodes) / fmax((double)p->topk, 1), 1);
}
