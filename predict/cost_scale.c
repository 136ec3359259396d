/*
 * predict/cost_scale.c - `--scale`: durations made longer or shorter by hand.
 */
#include "predict/costing.h"

static const char *topmost(const struct msim_graph *g, uint32_t task)
{
    const struct msim_trace *t = g->job->ranks[g->refs[task].rank];
    uint32_t op = msim_op_topmost(t, g->refs[task].op);

    return op == MSIM_NONE ? "" : msim_trace_text(t, t->ops[op].name);
}

static bool is_gpu(enum msim_task_kind kind)
{
    return kind >= MSIM_TASK_KERNEL && kind <= MSIM_TASK_COMM;
}

static bool selects(const struct msim_scale *s, const struct msim_graph *g,
                    uint32_t task)
{
    enum msim_task_kind kind = (enum msim_task_kind)g->kind[task];

    switch (s->select) {
    case MSIM_SELECT_KERNELS:
        return kind == MSIM_TASK_KERNEL;
    case MSIM_SELECT_COMMUNICATION:
        return kind == MSIM_TASK_COMM;
    case MSIM_SELECT_COPIES:
        return kind == MSIM_TASK_COPY;
    case MSIM_SELECT_HOST:
        return kind <= MSIM_TASK_CALL;
    case MSIM_SELECT_OP:
        return is_gpu(kind) && msim_scale_matches(s, topmost(g, task));
    case MSIM_SELECT_HOST_OP:
        return kind <= MSIM_TASK_CALL &&
               msim_scale_matches(s, topmost(g, task));
    }
    return false;
}

static void scale(struct msim_costs *c, const struct msim_graph *g,
                  const struct msim_scale *s)
{
    for (uint32_t i = 0; i < g->n_tasks; i++) {
        if (!selects(s, g, i))
            continue;
        c->mid[i] = msim_costing_times(c->mid[i], s->factor);
        c->low[i] = msim_costing_times(c->low[i], s->factor);
        c->high[i] = msim_costing_times(c->high[i], s->factor);
        c->removed[i] |=
            s->factor == 0 && is_gpu((enum msim_task_kind)g->kind[i]);
    }
}

/*
 * A collective is not waited for where its transfer, the next task, is removed.
 * A meeting, which is on no lane, holds nobody where all its transfers are
 * removed.
 */
static bool join_is_removed(const struct msim_costs *c,
                            const struct msim_graph *g, uint32_t join)
{
    uint32_t e = g->edge_begin[join], end = g->edge_begin[join + 1];

    if (g->lane[join] != MSIM_NONE)
        return c->removed[join + 1];
    for (; e < end; e++)
        if (!c->removed[g->edges[e].to])
            return false;
    return true;
}

static void take_out_joins(struct msim_costs *c, const struct msim_graph *g)
{
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->kind[i] == MSIM_TASK_JOIN)
            c->removed[i] = join_is_removed(c, g, i);
}

void msim_cost_scale(struct msim_costs *c, const struct msim_graph *g,
                     const struct msim_scale *scales, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        scale(c, g, &scales[i]);
    if (n)
        take_out_joins(c, g);
}
