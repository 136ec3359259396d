/*
 * tests/unit/core/graph/rules/test_graph_comm.c - ranks that meet.
 *
 * Ranks that meet: in collectives of two and three, by sequence number, by
 * kind alone, in pairs along a pipeline; and ranks whose peers are absent.
 * Times are microseconds, on one clock.
 */
#include "tests/unit/made_job.h"

#define RANKS 3

static struct made_comm all_reduce(const char *ranks, int size, int elems,
                                   int sequence)
{
    return (struct made_comm){
        .name = "allreduce",
        .group = "0",
        .ranks = ranks,
        .size = size,
        .elems = elems,
        .sequence = sequence,
        .src = -1,
        .dst = -1,
    };
}

/* One collective of a rank: launched at `at`, from `at` + 5 to `end`. */
static void meet(struct made *m, struct made_comm c, const char *op, int from,
                 int at, int end, int correlation)
{
    made_op(m, 1, op, from, at + 10 - from);
    made_call(m, 1, "cudaLaunchKernel", at, 2, correlation);
    made_nccl(m, 20, c, at + 5, end - at - 5, correlation);
}

/*
 * Arrivals at 15, 45 and 75, ends at 115, 116 and 118: the transfer takes 40,
 * 41 and 43 from the last arrival on, whoever that is.
 */
static void test_comm__three_ranks(void)
{
    struct made m[RANKS] = {made_trace(0, 3), made_trace(1, 3),
                            made_trace(2, 3)};
    struct made_comm c = all_reduce("0, 1, 2", 3, 100, -1);
    struct made_job j;

    meet(&m[0], c, "first", 0, 10, 115, 1);
    meet(&m[1], c, "second", 0, 40, 116, 1);
    meet(&m[2], c, "third", 0, 70, 118, 1);
    REQUIRE(made_load(&j, m, RANKS));
    CHECK_INT(made_scaled(&j, NULL), 118 * US);
    CHECK_INT(j.graph->traced[made_transfer(&j, 0, 0)], 40 * US);
    CHECK_INT(j.graph->traced[made_transfer(&j, 2, 0)], 43 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_COLLECTIVE, MSIM_FROM_IDS), 2 * RANKS);
    made_scaled(&j, "host:third=2"); /* arrives at 140 + 5 */
    CHECK_INT(made_transfer_end(&j, 0, 0), (145 + 40) * US);
    CHECK_INT(made_transfer_end(&j, 1, 0), (145 + 41) * US);
    CHECK_INT(made_transfer_end(&j, 2, 0), (145 + 43) * US);
    made_scaled(&j, "host:first=10"); /* now rank 0 is last, at 100 + 5 */
    CHECK_INT(made_transfer_end(&j, 2, 0), (105 + 43) * US);
    made_scaled(&j, "communication=2");
    CHECK_INT(made_transfer_end(&j, 0, 0), (75 + 80) * US);
    made_without(&j, MSIM_EDGE_COLLECTIVE);
    CHECK_INT(made_transfer_end(&j, 0, 0), (15 + 40) * US);
    made_unload(&j);
}

/*
 * Calls 7, 8 and 9 of a group, but rank 1's recording has lost the 8th. By
 * order alone rank 0's 8th would wait for rank 1's 9th, a hundred later.
 */
static void test_comm__sequence_numbers(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    for (int i = 0; i < 3; i++) {
        struct made_comm c = all_reduce("0, 1", 2, 100, 7 + i);
        int at = 10 + 100 * i;

        meet(&m[0], c, "op", at - 10, at, at + 45, 1 + i);
        if (i != 1)
            meet(&m[1], c, i ? "late" : "op", at - 10, at, at + 45, 1 + i);
    }
    REQUIRE(made_load(&j, m, 2));
    CHECK_INT(made_scaled(&j, NULL), 255 * US);
    CHECK_INT(made_transfer_end(&j, 0, 1), 155 * US);
    CHECK(!made_warned(&j, "disagree"));
    /* On rank 1 `late` launches after 20 instead of 10. */
    made_scaled(&j, "host:late=2");
    CHECK_INT(made_transfer_end(&j, 0, 1), 155 * US);
    CHECK_INT(made_transfer_end(&j, 0, 2), 265 * US);
    CHECK_INT(made_transfer_end(&j, 1, 1), 265 * US);
    made_unload(&j);
}

/*
 * Without sequence numbers a lost call shows in the sizes: rank 1's first is
 * rank 0's second, and each has one that the other has not. The two meet, and
 * it is said.
 */
static void test_comm__ranks_lost(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    meet(&m[0], all_reduce("0, 1", 2, 100, -1), "op", 0, 10, 55, 1);
    meet(&m[0], all_reduce("0, 1", 2, 200, -1), "op", 100, 110, 155, 2);
    meet(&m[1], all_reduce("0, 1", 2, 200, -1), "op", 0, 110, 155, 1);
    meet(&m[1], all_reduce("0, 1", 2, 300, -1), "op", 200, 210, 255, 2);
    REQUIRE(made_load(&j, m, 2));
    made_scaled(&j, NULL);
    CHECK_INT(made_transfer_end(&j, 0, 0), 55 * US);
    CHECK_INT(made_transfer_end(&j, 0, 1), 155 * US);
    CHECK_INT(made_transfer_end(&j, 1, 0), 155 * US);
    CHECK(made_warned(&j, "2 collectives are not recorded that other ranks"));
    CHECK(!made_warned(&j, "disagree"));
    made_unload(&j);
}

/*
 * Each has what the other has, in another order, as two threads call them.
 * Nobody is let wait for the wrong one, and it is said.
 */
static void test_comm__ranks_disagree(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    meet(&m[0], all_reduce("0, 1", 2, 100, -1), "op", 0, 10, 80, 1);
    meet(&m[0], all_reduce("0, 1", 2, 200, -1), "op", 100, 110, 155, 2);
    meet(&m[1], all_reduce("0, 1", 2, 200, -1), "op", 0, 110, 155, 1);
    meet(&m[1], all_reduce("0, 1", 2, 100, -1), "op", 100, 156, 200, 2);
    REQUIRE(made_load(&j, m, 2));
    made_scaled(&j, NULL);
    CHECK_INT(made_transfer_end(&j, 0, 0), 80 * US);
    CHECK(made_warned(&j, "ranks disagree on the order of collectives"));
    CHECK_INT(made_edges(&j, MSIM_EDGE_COLLECTIVE, MSIM_FROM_IDS), 0);
    made_unload(&j);
}

/* An all-to-all of a trace without metadata: an operator, a label in it and a
 * kernel by whose name it could be any exchange. */
static void unnamed(struct made *m, int at, int end)
{
    made_op(m, 1, "record_param_comms", 0, at + 10);
    made_op(m, 1, "nccl:all_to_all", 1, at + 8);
    made_call(m, 1, "cudaLaunchKernel", at, 2, 1);
    made_kernel(m, 20, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t", at + 5,
                end - at - 5, 1);
}

static void test_comm__without_metadata(void)
{
    struct made m[2] = {made_trace(0, 2), made_trace(1, 2)};
    struct made_job j;

    unnamed(&m[0], 10, 115);
    unnamed(&m[1], 70, 115);
    REQUIRE(made_load(&j, m, 2));
    CHECK_INT(j.job->ranks[0]->comms[0].collective, MSIM_COLL_ALL_TO_ALL);
    CHECK_INT(made_scaled(&j, NULL), 115 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_COLLECTIVE, MSIM_FROM_ORDER), 4);
    CHECK_INT(made_scaled(&j, "communication=2"), (75 + 80) * US);
    CHECK_INT(made_scaled(&j, "host=2"), (140 + 5 + 40) * US);
    made_unload(&j);
}

/* ---- pairs -------------------------------------------------------------- */

static struct made_comm pair(const char *name, int src, int dst)
{
    return (struct made_comm){
        .name = name,
        .group = "0",
        .ranks = "0, 1, 2",
        .size = 3,
        .elems = 100,
        .sequence = -1,
        .src = src,
        .dst = dst,
    };
}

/* What a stage does next: everything on one stream, launched at once. */
struct stage {
    struct made m;
    int launched;
};

static void compute(struct stage *s, int from, int to)
{
    made_call(&s->m, 1, "cudaLaunchKernel", 2 * s->launched, 2,
              s->launched + 1);
    made_kernel(&s->m, 7, "stage", from, to - from, ++s->launched);
}

static void exchange(struct stage *s, struct made_comm c, int from, int to)
{
    made_call(&s->m, 1, "cudaLaunchKernel", 2 * s->launched, 2,
              s->launched + 1);
    made_nccl(&s->m, 7, c, from, to - from, ++s->launched);
}

/*
 * Two micro-batches through three stages: 100 of compute in each, 10 for each
 * transfer, which waits for both sides.
 *
 *   rank 0   5 compute 105 send 115 compute 215 send            235
 *   rank 1   5 recv        115 compute 215 send 225 recv 235 compute 335 send
 * 345 rank 2   5 recv                         225 compute 325 recv 345 compute
 * 445
 */
static void made_pipeline(struct made *m)
{
    struct stage s[RANKS] = {{.m = made_trace(0, 3)},
                             {.m = made_trace(1, 3)},
                             {.m = made_trace(2, 3)}};

    compute(&s[0], 5, 105);
    exchange(&s[0], pair("send", -1, 1), 105, 115);
    compute(&s[0], 115, 215);
    exchange(&s[0], pair("send", -1, 1), 215, 235);
    exchange(&s[1], pair("recv", 0, -1), 5, 115);
    compute(&s[1], 115, 215);
    exchange(&s[1], pair("send", -1, 2), 215, 225);
    exchange(&s[1], pair("recv", 0, -1), 225, 235);
    compute(&s[1], 235, 335);
    exchange(&s[1], pair("send", -1, 2), 335, 345);
    exchange(&s[2], pair("recv", 1, -1), 5, 225);
    compute(&s[2], 225, 325);
    exchange(&s[2], pair("recv", 1, -1), 325, 345);
    compute(&s[2], 345, 445);
    for (int i = 0; i < RANKS; i++) {
        made_op(&s[i].m, 1, "schedule", 0, 20);
        m[i] = s[i].m;
    }
}

/*
 * With stages of 200: rank 0 sends at 205 and 415; rank 1 receives until 215,
 * sends at 415 and, once that is done at 425, receives until 435, sends at 635;
 * rank 2 receives until 425, computes until 625, receives until 645, ends at
 * 845. Nobody waits: 10 + 100 + 10 + 100 is the longest, on stage 1 or 2, and
 * rank 1 has one transfer more.
 */
static void test_pair__pipeline(void)
{
    struct made m[RANKS];
    struct made_job j;

    made_pipeline(m);
    REQUIRE(made_load(&j, m, RANKS));
    CHECK_INT(made_scaled(&j, NULL), 445 * US);
    CHECK_INT(made_edges(&j, MSIM_EDGE_POINT_TO_POINT, MSIM_FROM_IDS), 16);
    CHECK_INT(made_transfer_end(&j, 0, 1), 235 * US);
    CHECK_INT(made_scaled(&j, "kernels=2"), 845 * US);
    CHECK_INT(made_transfer_end(&j, 0, 1), 435 * US);
    CHECK_INT(made_without(&j, MSIM_EDGE_POINT_TO_POINT), 245 * US);
    made_unload(&j);
}

/* ---- absent peers ------------------------------------------------------- */

static msim_ps with_peers(struct made_job *j, enum msim_peers peers,
                          const char *scale)
{
    made_run(j, (struct made_what){.scale = scale, .peers = peers});
    return made_transfer_end(j, 0, 1);
}

/*
 * Alone: two calls of one size, the first in 40, the second, launched at 110,
 * in 100: so it waited 60 for a peer that is not there. Together with this
 * rank the peer arrives at 115; fixed at 175; or always 60 after this rank.
 */
static void test_comm__absent_peers(void)
{
    struct made m = made_trace(0, 2);
    struct made_comm c = all_reduce("0, 1", 2, 100, -1);
    struct made_job j;

    meet(&m, c, "op", 0, 10, 55, 1);
    meet(&m, c, "op", 100, 110, 215, 2);
    REQUIRE(made_load(&j, &m, 1));
    CHECK_INT(with_peers(&j, MSIM_PEERS_TOGETHER, NULL), 155 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FIXED, NULL), 215 * US);
    CHECK_INT(j.graph->copied[MSIM_COPIED_PEERS], 60 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FOLLOW, NULL), 215 * US);
    /* Launched at 220, it arrives at 225. */
    CHECK_INT(with_peers(&j, MSIM_PEERS_TOGETHER, "host=2"), 265 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FIXED, "host=2"), 265 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FOLLOW, "host=2"), 325 * US);
    /* Launched at 55, it arrives at 60. */
    CHECK_INT(with_peers(&j, MSIM_PEERS_TOGETHER, "host=0.5"), 100 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FIXED, "host=0.5"), 215 * US);
    CHECK_INT(with_peers(&j, MSIM_PEERS_FOLLOW, "host=0.5"), 160 * US);
    made_unload(&j);
}

int main(void)
{
    RUN(test_comm__three_ranks);
    RUN(test_comm__sequence_numbers);
    RUN(test_comm__ranks_lost);
    RUN(test_comm__ranks_disagree);
    RUN(test_comm__without_metadata);
    RUN(test_pair__pipeline);
    RUN(test_comm__absent_peers);
    return check_summary();
}
