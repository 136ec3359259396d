/*
 * core/work/kernel/infer_state.c - blocks and threads of launch configurations.
 */
#include "core/work/kernel/infer_state.h"

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
