/*
 * tests/unit/core/graph/rules/test_graph_launch_plan.c - whom later kernels of
 * a planned rank wait for, where a wait has the number of a collective.
 */
#include "core/graph/build/graph_build.h"

#include "core/base/containers.h"

#include "tests/unit/core/rewrite/trained_step.h"

#define MOST_OPS 256
#define ALL      MSIM_COLL_WAIT

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

struct planned {
    struct made_changed m;
    struct msim_job job;
    struct msim_graph *g;
    uint32_t first[MOST_OPS + 1];
    uint8_t kinds[MOST_OPS];
    uint32_t gather, reduce; /* one of each */
};

static bool name_group(struct msim_trace *t, enum msim_collective kind)
{
    if (!CHECK(msim_grow((void **)&t->groups, &t->cap_groups, t->n_groups,
                         sizeof(*t->groups)) == MSIM_OK))
        return false;
    t->groups[t->n_groups] = (struct msim_group){.size = 4};
    for (uint32_t i = 0; i < t->n_comms; i++)
        if (kind == ALL || t->comms[i].collective == kind)
            t->comms[i].group = t->n_groups;
    t->n_groups++;
    return true;
}

/* The graph of FSDP's step on four ranks, of which the collectives of `kind`
 * name a group. */
static bool plan_step(struct planned *p, enum msim_collective kind)
{
    const struct msim_rewrite r = {.world = 4, .shard = MSIM_SHARD_FULL};
    struct msim_launch_plan plan = {p->first, p->kinds, false};
    const struct msim_launch_plan *plans[] = {&plan};
    const struct msim_graph_options o = {.launch_plans = plans,
                                         .peers = MSIM_PEERS_TOGETHER};
    struct msim_error err = {0};

    if (!change_step(&p->m, &r) || !CHECK(p->m.t->n_ops <= MOST_OPS) ||
        !name_group(p->m.t, kind))
        return false;
    plan_of(p->m.t, &plan);
    p->job = (struct msim_job){
        .n_ranks = 1, .ranks = &p->m.t, .strings = p->m.job->strings};
    msim_arena_init(&p->job.arena);
    CHECK_INT(msim_graph_build(&p->g, &p->job, &o, &err), MSIM_OK);
    p->gather = task_of(p->g, find_op(p->m.t, "c10d::_allgather_base_", 3),
                        MSIM_TASK_COMM);
    p->reduce = task_of(p->g, find_op(p->m.t, "c10d::_reduce_scatter_base_", 0),
                        MSIM_TASK_COMM);
    return CHECK(p->gather != MSIM_NONE && p->reduce != MSIM_NONE);
}

static void done_plan(struct planned *p)
{
    msim_graph_free(p->g);
    msim_arena_release(&p->job.arena);
    done_step(&p->m);
}

/*
 * FSDP gathers the next unit before one is computed: in backward the first unit
 * before the second is, whose gradients are reduced after that. Backward of the
 * first unit waits for its gathering, not for what was sent last.
 */
static void test_launch_plan__wait_of_a_number(void)
{
    struct planned p;
    uint32_t linear;

    REQUIRE(plan_step(&p, MSIM_COLL_UNKNOWN));
    linear = task_of(p.g, find_op(p.m.t, "aten::linear_backward", 1),
                     MSIM_TASK_KERNEL);
    REQUIRE(linear != MSIM_NONE);
    CHECK(waits_for(p.g, p.gather, linear));
    CHECK(!waits_for(p.g, p.reduce, linear));
    CHECK(!waits_for(p.g, p.gather,
                     task_of(p.g, find_op(p.m.t, "aten::linear_backward", 0),
                             MSIM_TASK_KERNEL)));
    done_plan(&p);
}

/* A group has a stream of its own; what names none is of one group. */
static void test_launch_plan__streams_of_groups(void)
{
    static const struct {
        enum msim_collective named;
        bool one;
    } CASES[] = {{MSIM_COLL_UNKNOWN, true},
                 {MSIM_COLL_REDUCE_SCATTER, false},
                 {ALL, true}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct planned p;

        REQUIRE(plan_step(&p, CASES[i].named));
        CHECK_INT(p.g->lane[p.gather] == p.g->lane[p.reduce], CASES[i].one);
        done_plan(&p);
    }
}

int main(void)
{
    RUN(test_launch_plan__wait_of_a_number);
    RUN(test_launch_plan__streams_of_groups);
    return check_summary();
}
