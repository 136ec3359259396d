/*
 * core/work/kernel/infer_state.c - blocks and threads of launch configurations,
 * and nodes of the autograd graph.
 */
#include "core/work/kernel/infer.h"

double msim_infer_blocks(const struct msim_infer *l, uint32_t i)
{
    const struct msim_launch_config *c;

    if (l->t->gpu[i].config == MSIM_NONE)
        return 0;
    c = &l->t->configs[l->t->gpu[i].config];
    return (double)c->grid[0] * c->grid[1] * c->grid[2];
}

double msim_infer_threads(const struct msim_infer *l, uint32_t i)
{
    const struct msim_launch_config *c;

    if (l->t->gpu[i].config == MSIM_NONE)
        return 0;
    c = &l->t->configs[l->t->gpu[i].config];
    return msim_infer_blocks(l, i) * c->block[0] * c->block[1] * c->block[2];
}

bool msim_infer_node(const struct msim_trace *t, uint32_t gpu, int64_t *node,
                     bool *backward)
{
    uint32_t op = t->gpu[gpu].op;

    while (op != MSIM_NONE && t->ops[op].seq < 0)
        op = t->ops[op].parent;
    if (op == MSIM_NONE)
        return false;
    *node = t->ops[op].seq;
    *backward = t->ops[op].scope == 1 || t->ops[op].fw_thread != MSIM_NONE;
    return true;
}
