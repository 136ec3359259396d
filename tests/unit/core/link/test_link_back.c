/*
 * tests/unit/core/link/test_link_back.c - what an execution trace is told by
 * the Kineto trace of its rank.
 */
#include "core/link/link_et.h"
#include "tests/check.h"

#include <stdlib.h>

struct made {
    struct msim_trace k, e;
    struct msim_step steps[3];
    struct msim_op ops[8];
    struct msim_group groups[2], e_groups[3];
};

/* Steps [100, 200), [200, 300) and [400, 500), whose numbers are 5, 6, 7. */
static void make(struct made *m)
{
    static const msim_ps AT[] = {100, 200, 400};

    memset(m, 0, sizeof(*m));
    for (int i = 0; i < 3; i++)
        m->steps[i] = (struct msim_step){.start = AT[i],
                                         .dur = 100,
                                         .number = 5 + i,
                                         .op = 77,
                                         .node_from = 88,
                                         .node_to = 99};
    m->k = (struct msim_trace){.steps = m->steps,
                               .n_steps = 3,
                               .ops = m->ops,
                               .groups = m->groups,
                               .et = &m->e,
                               .has_times = true,
                               .rank = 3,
                               .world_size = 8,
                               .cpu_only = true};
    m->e.groups = m->e_groups;
}

static void add(struct made *m, msim_ps at, uint32_t node)
{
    m->ops[m->k.n_ops++] = (struct msim_op){.start = at, .et_id = node};
}

static void release(struct made *m)
{
    free(m->e.steps);
    free(m->e.group_ranks);
    free(m->e.left_steps);
}

static void check_step(const struct made *m, uint32_t i, uint32_t from,
                       uint32_t to, uint32_t op)
{
    const struct msim_step *s = &m->e.steps[i];

    CHECK_INT(s->start, m->steps[i].start);
    CHECK_INT(s->dur, m->steps[i].dur);
    CHECK_INT(s->number, m->steps[i].number);
    CHECK_UINT(s->node_from, from);
    CHECK_UINT(s->node_to, to);
    CHECK_UINT(s->op, op);
}

/* From the first node in a step's time to the last; what has no node and what
 * is a label says nothing, and no step takes what began outside of it. */
static void test_link_back__nodes_by_time(void)
{
    struct msim_left_step left = {.number = 4, .why = MSIM_LEFT_CUT};
    struct made m;

    make(&m);
    add(&m, 100, 12);
    add(&m, 150, 9);
    add(&m, 199, 30);
    add(&m, 200, 40);
    add(&m, 210, 0);
    add(&m, 220, 90);
    m.ops[5].kind = MSIM_OP_ANNOTATION;
    add(&m, 300, 2); /* between two */
    add(&m, 99, 1);
    m.k.left_steps = &left;
    m.k.n_left_steps = 1;
    REQUIRE(msim_link_back(&m.k) == MSIM_OK);
    REQUIRE(m.e.n_steps == 3);
    CHECK_UINT(m.e.cap_steps, 3);
    check_step(&m, 0, 9, 31, MSIM_NONE);
    check_step(&m, 1, 40, 41, MSIM_NONE);
    check_step(&m, 2, 0, 0, MSIM_NONE);
    CHECK_INT(m.e.rank, 3);
    CHECK_UINT(m.e.world_size, 8);
    CHECK(m.e.cpu_only);
    REQUIRE(m.e.n_left_steps == 1); /* nor is what is left out one of it */
    CHECK_INT(m.e.left_steps[0].number, 4);
    CHECK_UINT(m.steps[0].node_from, 88); /* its own stay as they are */
    release(&m);
}

/* Marks of the execution trace say it exactly, in whatever order. */
static void test_link_back__nodes_by_mark(void)
{
    struct made m;

    make(&m);
    add(&m, 150, 9);
    add(&m, 250, 10);
    m.e.steps = calloc(3, sizeof(*m.e.steps));
    REQUIRE(m.e.steps != NULL);
    m.e.n_steps = m.e.cap_steps = 3;
    m.e.steps[0] = (struct msim_step){
        .number = 7, .op = 4, .node_from = 50, .node_to = 60};
    m.e.steps[1] = (struct msim_step){
        .number = 5, .op = 2, .node_from = 20, .node_to = 30};
    m.e.steps[2] = (struct msim_step){
        .number = 9, .op = 8, .node_from = 70, .node_to = 80};
    REQUIRE(msim_link_back(&m.k) == MSIM_OK);
    REQUIRE(m.e.n_steps == 3);
    check_step(&m, 0, 20, 30, 2);
    check_step(&m, 1, 10, 11, MSIM_NONE);
    check_step(&m, 2, 50, 60, 4);
    release(&m);
}

/* Without steps it keeps those that it marks. */
static void test_link_back__without_steps(void)
{
    struct made m;

    make(&m);
    m.k.n_steps = 0;
    m.e.steps = calloc(1, sizeof(*m.e.steps));
    REQUIRE(m.e.steps != NULL);
    m.e.n_steps = 1;
    m.e.steps[0].number = 9;
    REQUIRE(msim_link_back(&m.k) == MSIM_OK);
    CHECK_UINT(m.e.n_steps, 1);
    CHECK_INT(m.e.steps[0].number, 9);
    CHECK_INT(m.e.rank, 3);
    release(&m);
    m.k.et = NULL;
    CHECK_INT(msim_link_back(&m.k), MSIM_OK);
}

/* A group that lists nobody has the members of that of its name. */
static void test_link_back__groups(void)
{
    int32_t members[] = {0, 1, 4, 6, 7};
    struct made m;

    make(&m);
    m.k.group_ranks = members;
    m.k.n_groups = 2;
    m.groups[0] =
        (struct msim_group){.name = 1, .size = 3, .first = 2, .count = 3};
    m.groups[1] = (struct msim_group){.name = 2, .size = 9};
    m.e.n_groups = 3;
    m.e_groups[0] = (struct msim_group){.name = 2, .size = 5};
    m.e_groups[1] = (struct msim_group){.name = 1};
    m.e_groups[2] =
        (struct msim_group){.name = 1, .size = 1, .first = 0, .count = 1};
    m.e.group_ranks = calloc(1, sizeof(*m.e.group_ranks));
    REQUIRE(m.e.group_ranks != NULL);
    m.e.group_ranks[0] = 5;
    m.e.n_group_ranks = m.e.cap_group_ranks = 1;
    REQUIRE(msim_link_back(&m.k) == MSIM_OK);
    CHECK_UINT(m.e_groups[0].count, 0); /* nobody lists them */
    CHECK_UINT(m.e_groups[0].size, 5);
    CHECK_UINT(m.e_groups[1].count, 3);
    CHECK_UINT(m.e_groups[1].size, 3);
    CHECK_UINT(m.e_groups[1].first, 1);
    CHECK_UINT(m.e_groups[2].count, 1); /* it has its own */
    REQUIRE(m.e.n_group_ranks == 4);
    for (int i = 0; i < 3; i++)
        CHECK_INT(m.e.group_ranks[1 + i], members[2 + i]);
    release(&m);
}

int main(void)
{
    RUN(test_link_back__nodes_by_time);
    RUN(test_link_back__nodes_by_mark);
    RUN(test_link_back__without_steps);
    RUN(test_link_back__groups);
    return check_summary();
}
