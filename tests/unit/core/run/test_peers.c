/*
 * tests/unit/core/run/test_peers.c - absent ranks that follow this one.
 */
#include "core/run/engine.h"

#include "tests/unit/made_job.h"

/* A collective of 40 at 15, and one of 100 at 115: a peer comes 60 late. */
static struct made alone(void)
{
    struct made_comm c = {"allreduce", "0", "0, 1", 2, 100, -1, -1, -1};
    struct made m = made_trace(0, 2);

    made_op(&m, 1, "aten::mm", 0, 130);
    made_call(&m, 1, "cudaLaunchKernel", 10, 2, 1);
    made_call(&m, 1, "cudaLaunchKernel", 110, 2, 2);
    made_nccl(&m, 20, c, 15, 40, 1);
    made_nccl(&m, 20, c, 115, 100, 2);
    return m;
}

/* As if the replay brought this rank to its second collective `late` later. */
static void delay_launches(struct msim_graph *g, msim_ps late)
{
    for (uint32_t e = 0; e < g->n_edges; e++)
        if (msim_edge_kind_of(g->edge_kind[e]) == MSIM_EDGE_LAUNCH)
            g->edges[e].lag += late;
}

static msim_ps replay(const struct msim_graph *g, uint32_t task)
{
    struct msim_error err = {0};
    struct msim_scenario s = {0};
    struct msim_engine *e;
    msim_ps start[64], at;

    if (!CHECK(g->n_tasks <= 64) || !CHECK_INT(msim_engine_new(&e, g), MSIM_OK))
        return 0;
    s.dur = g->traced;
    for (int k = 0; k < MSIM_EDGE_KINDS; k++)
        s.lag[k] = -1;
    CHECK_INT(
        msim_engine_simulate(e, &s, &(struct msim_times){.start = start}, &err),
        MSIM_OK);
    at = start[task];
    msim_engine_free(e);
    return at;
}

/*
 * The transfer begins when it did, at 175, however late this rank comes to it;
 * by the difference of traced times, 60, it would begin at 182.000001.
 */
static void test_peers__follow_the_replay(void)
{
    struct msim_error err = {0};
    struct made m = alone();
    struct made_job j;
    uint32_t transfer;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){.peers = MSIM_PEERS_FOLLOW});
    transfer = made_transfer(&j, 0, 1);
    CHECK_INT(replay(j.graph, transfer), 175 * US);
    delay_launches(j.graph, 7 * US + 1);
    CHECK_INT(replay(j.graph, transfer), 182 * US + 1);
    CHECK_INT(msim_peers_follow(j.graph, &err), MSIM_OK);
    CHECK_INT(replay(j.graph, transfer), 175 * US);
    CHECK_INT(replay(j.graph, made_transfer(&j, 0, 0)), 22 * US + 1);
    /* Later still: it follows. */
    delay_launches(j.graph, 30 * US);
    CHECK_INT(replay(j.graph, transfer), 205 * US);
    made_unload(&j);
}

/* Fixed ones are left alone. */
static void test_peers__fixed(void)
{
    struct msim_error err = {0};
    struct made m = alone();
    struct made_job j;

    REQUIRE(made_load(&j, &m, 1));
    made_run(&j, (struct made_what){.peers = MSIM_PEERS_FIXED});
    delay_launches(j.graph, 7 * US);
    CHECK_INT(msim_peers_follow(j.graph, &err), MSIM_OK);
    CHECK_INT(replay(j.graph, made_transfer(&j, 0, 1)), 175 * US);
    delay_launches(j.graph, 70 * US);
    CHECK_INT(replay(j.graph, made_transfer(&j, 0, 1)), 192 * US);
    made_unload(&j);
}

int main(void)
{
    RUN(test_peers__follow_the_replay);
    RUN(test_peers__fixed);
    return check_summary();
}
