/*
 * tests/unit/core/graph/rules/test_graph_launch_plan.c - whom later kernels of
 * a planned rank wait for, where a wait has the number of a collective.
 */
#include "core/graph/build/graph_build.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define MOST_OPS 256

/* One collective each, one kernel for each linear layer and its backward. */
static void plan_of(const struct msim_trace *t, struct msim_launch_plan *p)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_ops; i++) {
        uint32_t comm = t->ops[i].comm;

        p->first[i] = n;
        if (comm != MSIM_NONE && t->comms[comm].collective != MSIM_COLL_WAIT)
            p->kinds[n++] = MSIM_LAUNCH_COMM;
        else if (strstr(msim_trace_text(t, t->ops[i].name), "aten::linear"))
            p->kinds[n++] = MSIM_LAUNCH_KERNEL;
    }
    p->first[t->n_ops] = n;
}

/* The task of `kind` that operator `op` launched. */
static uint32_t task_of(const struct msim_graph *g, uint32_t op,
                        enum msim_task_kind kind)
{
    for (uint32_t i = 0; i < g->n_tasks; i++)
        if (g->kind[i] == kind && g->refs[i].op == op)
            return i;
    return MSIM_NONE;
}

static bool waits_for(const struct msim_graph *g, uint32_t from, uint32_t to)
{
    for (uint32_t e = g->edge_begin[from]; e < g->edge_begin[from + 1]; e++)
        if (g->edges[e].to == to)
            return true;
    return false;
}

/*
 * FSDP gathers the next unit before one is computed: in backward the first unit
 * before the second is, whose gradients are reduced after that. Backward of the
 * first unit waits for its gathering, not for what was sent last.
 */
static void test_launch_plan__wait_of_a_number(void)
{
    const struct msim_rewrite r = {.world = 4, .shard = MSIM_SHARD_FULL};
    uint32_t first[MOST_OPS + 1];
    uint8_t kinds[MOST_OPS];
    struct msim_launch_plan plan = {first, kinds, false};
    const struct msim_launch_plan *plans[] = {&plan};
    struct made_changed m;
    struct msim_job job = {.n_ranks = 1};
    struct msim_graph *g;
    struct msim_error err = {0};
    uint32_t linear, gather, reduce;

    REQUIRE(change_step(&m, &r));
    REQUIRE(m.t->n_ops <= MOST_OPS);
    plan_of(m.t, &plan);
    msim_arena_init(&job.arena);
    job.ranks = &m.t;
    job.strings = m.job->strings;
    CHECK_INT(msim_graph_build(
                  &g, &job,
                  &(struct msim_graph_options){.launch_plans = plans,
                                               .peers = MSIM_PEERS_TOGETHER},
                  &err),
              MSIM_OK);
    gather =
        task_of(g, find_op(m.t, "c10d::_allgather_base_", 3), MSIM_TASK_COMM);
    reduce = task_of(g, find_op(m.t, "c10d::_reduce_scatter_base_", 0),
                     MSIM_TASK_COMM);
    linear =
        task_of(g, find_op(m.t, "aten::linear_backward", 1), MSIM_TASK_KERNEL);
    REQUIRE(linear != MSIM_NONE && gather != MSIM_NONE && reduce != MSIM_NONE);
    CHECK(waits_for(g, gather, linear));
    CHECK(!waits_for(g, reduce, linear));
    CHECK(!waits_for(g, gather,
                     task_of(g, find_op(m.t, "aten::linear_backward", 0),
                             MSIM_TASK_KERNEL)));
    msim_graph_free(g);
    msim_arena_release(&job.arena);
    done_step(&m);
}

int main(void)
{
    RUN(test_launch_plan__wait_of_a_number);
    return check_summary();
}
