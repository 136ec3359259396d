/*
 * tests/unit/core/report/analyse/test_pace.c - the period of a rank beside
 * absent ranks.
 */
#include "core/run/engine.h"

#include "tests/unit/made_outcome.h"

/* Work of 1000, a collective of 40 that is waited for, and a tail. */
static void add_step(struct made *m, int number, int at, int tail)
{
    struct made_comm c = {"allreduce", "0", "0, 1", 2, 100, -1, -1, -1};
    int launch = at + 1000, n = 2 * number;

    made_step(m, 1, number, at, 1050 + tail);
    made_op(m, 1, "work", at, 1000);
    made_call(m, 1, "cudaLaunchKernel", launch, 2, n + 1);
    made_nccl(m, 20, c, launch + 5, 40, n + 1);
    made_call(m, 1, "cudaDeviceSynchronize", launch + 2, 48, n + 2);
    made_op(m, 1, "tail", at + 1050, tail);
}

static double period_us(struct made_job *j, const char *scale,
                        enum msim_peers peers)
{
    struct msim_outcome o =
        made_outcome(j, (struct made_what){.scale = scale, .peers = peers});
    struct msim_error err = {0};
    struct msim_prediction *p;
    double us;

    if (!CHECK_INT(msim_analyse(&p, &o, UINT32_MAX, &err), MSIM_OK))
        return 0;
    us = p->period.us.predicted;
    msim_prediction_free(p);
    return us;
}

/*
 * A peer arrives at 1005, 2155 and 4305: 2150 from one iteration to the next,
 * as long as tails are 1100. Without tails the rank is done at 1050, 2200 and
 * 4350, which looks like 1650: it caught up, and cannot do so again.
 */
static void test_period__keeps_pace(void)
{
    struct made m = made_trace(0, 2);
    struct made_job j;

    add_step(&m, 0, 0, 100);
    add_step(&m, 1, 1150, 1100);
    add_step(&m, 2, 3300, 1100);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_REL(period_us(&j, NULL, MSIM_PEERS_FIXED), 2150, 1e-9);
    CHECK_REL(period_us(&j, "host:tail=0", MSIM_PEERS_FIXED), 2150, 1e-9);
    CHECK_REL(period_us(&j, "host:tail=2", MSIM_PEERS_FIXED), 3250, 1e-9);
    /* Ranks that follow, and collectives that are gone, hold nobody. */
    CHECK_REL(period_us(&j, "host:tail=0", MSIM_PEERS_FOLLOW), 1050, 1e-9);
    CHECK_REL(period_us(&j, "host:tail=0 communication=0", MSIM_PEERS_FIXED),
              1005, 0.01);
    made_unload(&j);
}

int main(void)
{
    RUN(test_period__keeps_pace);
    return check_summary();
}
