/*
 * tests/unit/core/match/test_rank_calls.c - the collectives of one rank, as
 * others look for the same.
 *
 * A trace is two steps, [100, 200) and [300, 400), and a GPU activity for
 * each call, launched at the time that a test gives.
 */
#include "core/match/lost_comms_internal.h"
#include "core/trace/trace_columns.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 8

struct made {
    struct msim_trace t;
    struct msim_step steps[2];
    struct msim_comm comms[MOST];
    struct msim_gpu gpu[MOST];
    struct msim_call calls[MOST];
    struct msim_op ops[MOST];
    struct msim_group groups[1];
    struct msim_vec found; /* struct msim_match_call */
};

static void make(struct made *m)
{
    memset(m, 0, sizeof(*m));
    m->steps[0] = (struct msim_step){.start = 100, .dur = 100};
    m->steps[1] = (struct msim_step){.start = 300, .dur = 100};
    m->groups[0] = (struct msim_group){.size = 4, .name = 7};
    m->t = (struct msim_trace){.steps = m->steps,
                               .n_steps = 2,
                               .comms = m->comms,
                               .gpu = m->gpu,
                               .calls = m->calls,
                               .ops = m->ops,
                               .groups = m->groups,
                               .n_groups = 1,
                               .rank = 5,
                               .has_times = true,
                               .has_gpu_events = true};
}

/* A collective of the group whose activity [from, to) was launched at `at`. */
static uint32_t add(struct made *m, msim_ps at, msim_ps from, msim_ps to)
{
    uint32_t i = m->t.n_comms++, g = m->t.n_gpu++;

    m->comms[i] = (struct msim_comm){
        .collective = MSIM_COLL_ALL_REDUCE, .peer = -1, .op = MSIM_NONE};
    m->calls[g] = (struct msim_call){.start = at};
    m->gpu[g] = (struct msim_gpu){
        .start = from, .dur = to - from, .comm = i, .call = g};
    return i;
}

static const struct msim_match_call *find(struct made *m)
{
    free(m->found.data);
    m->found = (struct msim_vec){0};
    CHECK_INT(msim_match_rank_calls(&m->t, 2, 4, &m->found), MSIM_OK);
    return m->found.data;
}

static void check_span(msim_ps at, int64_t span, double part)
{
    const struct msim_match_call *c;
    struct made m;

    make(&m);
    add(&m, 0, 0, 500); /* the recording is [0, 401) */
    add(&m, 400, 400, 500);
    add(&m, at, at, at + 7);
    c = find(&m);
    REQUIRE(c != NULL && m.found.n == 3);
    CHECK_INT(c[2].span, span);
    CHECK_REL(c[2].part, part, 1e-12);
    CHECK_INT(c[2].place, at);
    CHECK_INT(c[2].from, at);
    CHECK_INT(c[2].to, at + 7);
    CHECK_UINT(c[2].rank, 2);
    CHECK_UINT(c[2].comm, 2);
    CHECK(c[2].is == &m.comms[2]);
    CHECK_UINT(c[2].group, msim_meeting_key(&m.t, &m.comms[2], 4));
    free(m.found.data);
}

/* 0 before the first step, 2 i + 1 of step i, 2 i + 2 behind it. */
static void test_rank_calls__spans(void)
{
    check_span(40, 0, 40 / 401.0);
    check_span(99, 0, 99 / 401.0);
    check_span(100, 1, 0);
    check_span(125, 1, 0.25);
    check_span(199, 1, 0.99);
    check_span(200, 2, 1);
    check_span(250, 2, 1.5);
    check_span(300, 3, 0);
    check_span(399, 3, 0.99);
    check_span(400, 4, 1);
}

/* Then all is one step, from the first thing done to the last: operators
 * count where their times are of the launches' clock. */
static void test_rank_calls__without_steps(void)
{
    const struct msim_match_call *c;
    struct made m;

    make(&m);
    m.t.n_steps = 0;
    m.ops[0].start = 10;
    m.ops[1].start = 109;
    m.t.n_ops = 2;
    add(&m, 35, 5, 900);
    c = find(&m);
    REQUIRE(m.found.n == 1);
    CHECK_INT(c->span, 1);
    CHECK_REL(c->part, 0.25, 1e-12); /* [10, 110) */
    m.t.n_ops = 0;
    add(&m, 54, 55, 60);
    c = find(&m);
    CHECK(c[0].part == 0);
    CHECK_REL(c[1].part, 0.95, 1e-12); /* [35, 55) */
    m.calls[1].start = 36;
    c = find(&m);
    CHECK_REL(c[1].part, 0.5, 1e-12); /* [35, 37) */
    free(m.found.data);
}

/* The first launch, the first begin and the last end of all its activities,
 * in whatever order they lie. */
static void test_rank_calls__several_activities(void)
{
    static const msim_ps AT[3][3] = {
        {120, 130, 160}, {110, 150, 170}, {115, 125, 140}};
    const struct msim_match_call *c;

    for (int turn = 0; turn < 3; turn++) {
        struct made m;

        make(&m);
        for (int i = 0; i < 3; i++) {
            const msim_ps *at = AT[(i + turn) % 3];

            m.gpu[add(&m, at[0], at[1], at[2])].comm = 0;
        }
        m.t.n_comms = 1;
        c = find(&m);
        REQUIRE(m.found.n == 1);
        CHECK_INT(c->place, 110);
        CHECK_INT(c->from, 125);
        CHECK_INT(c->to, 170);
        free(m.found.data);
    }
}

/* What no call launched was launched as it began. */
static void test_rank_calls__without_a_launch(void)
{
    const struct msim_match_call *c;
    struct made m;

    make(&m);
    m.calls[0].start = 999;
    add(&m, 10, 120, 130);
    m.gpu[0].call = MSIM_NONE;
    c = find(&m);
    REQUIRE(m.found.n == 1);
    CHECK_INT(c->place, 120);
    free(m.found.data);
}

/* Of an execution trace: nodes, by their numbers, and no times on a GPU. */
static void test_rank_calls__nodes(void)
{
    const struct msim_match_call *c;
    struct made m;

    make(&m);
    m.t.has_times = m.t.has_gpu_events = false;
    m.steps[0].node_from = 10;
    m.steps[0].node_to = 20;
    m.t.n_steps = 1;
    m.t.n_ops = 2;
    m.ops[0] = (struct msim_op){.et_id = 15, .start = 77};
    m.ops[1] = (struct msim_op){.et_id = 4, .start = 77};
    m.t.n_comms = 3;
    for (uint32_t i = 0; i < 3; i++)
        m.comms[i] = (struct msim_comm){.collective = MSIM_COLL_BARRIER,
                                        .peer = -1,
                                        .op = i < 2 ? i : MSIM_NONE};
    c = find(&m);
    REQUIRE(m.found.n == 2); /* the third was not called */
    CHECK_INT(c[0].span, 1);
    CHECK_REL(c[0].part, 0.5, 1e-12);
    CHECK_INT(c[1].span, 0);
    CHECK_UINT(c[1].comm, 1);
    CHECK(c[0].from > c[0].to);
    m.t.n_steps = 0;
    c = find(&m);
    CHECK_REL(c[0].part, 11 / 12.0, 1e-12); /* nodes 4 to 15 */
    CHECK(c[1].part == 0);
    /* Where a GPU is recorded, what did not run on it is none. */
    m.t.has_gpu_events = true;
    (void)find(&m);
    CHECK_UINT(m.found.n, 0);
    /* Activities without times lie nowhere, but in order. */
    m.gpu[0] = (struct msim_gpu){.start = 12, .dur = 3, .call = MSIM_NONE};
    m.t.n_gpu = 1;
    c = find(&m);
    REQUIRE(m.found.n == 1);
    CHECK_INT(c->place, 12);
    CHECK(c->part == 0); /* nodes count on another clock: [12, 13) */
    CHECK(c->from > c->to);
    free(m.found.data);
}

/* What can meet nothing is none of them. */
static void test_rank_calls__counted(void)
{
    const struct msim_match_call *c;
    struct made m;

    make(&m);
    for (msim_ps i = 0; i < 7; i++)
        add(&m, 110 + i, 110 + i, 120);
    m.comms[0].group = MSIM_NONE;
    m.comms[1].collective = MSIM_COLL_UNKNOWN;
    m.comms[2].collective = MSIM_COLL_WAIT;
    m.comms[3].collective = MSIM_COLL_SEND; /* to nobody */
    m.comms[4].collective = MSIM_COLL_RECV;
    m.comms[4].peer = 3;
    m.comms[4].group = MSIM_NONE; /* a message needs none */
    m.comms[5].collective = MSIM_COLL_BROADCAST;
    m.gpu[6].comm = MSIM_NONE; /* then the last did not run */
    c = find(&m);
    REQUIRE(m.found.n == 2);
    CHECK_UINT(c[0].comm, 4);
    CHECK_UINT(c[1].comm, 5);
    CHECK(c[0].group != c[1].group);
    free(m.found.data);
}

int main(void)
{
    RUN(test_rank_calls__spans);
    RUN(test_rank_calls__without_steps);
    RUN(test_rank_calls__several_activities);
    RUN(test_rank_calls__without_a_launch);
    RUN(test_rank_calls__nodes);
    RUN(test_rank_calls__counted);
    return check_summary();
}
