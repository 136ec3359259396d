/*
 * tests/unit/predict/memory/test_rank_beside.c - what a rank holds beside its
 * tensors, by what its trace communicates, in MiB of NCCL's buffers.
 *
 * An A100 has 24 channels of NVLink and 8 GPUs a node, and two channels for
 * messages between nodes; a connection takes 12 MiB (core/memory/beside.c).
 */
#include "core/trace/trace.h"
#include "predict/memory/rank_memory.h"

#include "tests/check.h"

#define MIB      1048576.0
#define MOST     6
#define NOBODY   (-1)
#define CHANNELS 24

/* `rank` of `world`, and what it communicates in group 0. */
struct asked {
    int64_t rank;
    uint32_t world, size, count;
    int32_t members[8];
    struct {
        enum msim_collective what;
        int32_t peer;
        bool all; /* in no group */
    } calls[MOST];
};

static double nccl_of(const struct asked *a)
{
    struct msim_platform *p = NULL;
    struct msim_comm comms[MOST] = {0};
    struct msim_group group = {.size = a->size, .count = a->count};
    struct msim_trace t = {.rank = a->rank,
                           .world_size = a->world,
                           .comms = comms,
                           .groups = &group,
                           .n_groups = 1,
                           .group_ranks = (int32_t *)a->members};
    struct msim_beside b;

    for (; t.n_comms < MOST && a->calls[t.n_comms].what; t.n_comms++)
        comms[t.n_comms] = (struct msim_comm){
            .collective = (uint8_t)a->calls[t.n_comms].what,
            .peer = a->calls[t.n_comms].peer,
            .group = a->calls[t.n_comms].all ? MSIM_NONE : 0};
    if (!CHECK(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK))
        return NAN;
    b = msim_rank_beside(&t, p);
    msim_platform_free(p);
    return b.nccl / MIB;
}

static void check_nccl(const char *what, double want, struct asked a)
{
    check_rel(nccl_of(&a), want, 1e-12, what, __FILE__, __LINE__);
}

/* Channels a connection and 12 MiB a channel; of a ring and a tree of n. */
static double ring(double n, double channels)
{
    return channels * (1 + 2 * (n - 1) / n) * 12;
}

/* Of members that are listed those of this node count as near; others are
 * numbered one after the other. */
static void test_rank_beside__collectives(void)
{
    check_nccl("in a node", ring(4, CHANNELS),
               (struct asked){.world = 4,
                              .size = 4,
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0}}});
    check_nccl("all ranks, without a group", ring(2, CHANNELS),
               (struct asked){.world = 2,
                              .size = 4,
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 1}}});
    check_nccl("of an unknown size: all", ring(16, CHANNELS),
               (struct asked){.world = 16,
                              .calls = {{MSIM_COLL_BROADCAST, NOBODY, 0}}});
    check_nccl("one of each node", ring(2, 2),
               (struct asked){.rank = 9,
                              .world = 16,
                              .size = 2,
                              .count = 2,
                              .members = {1, 9},
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0}}});
    check_nccl("one of each node, of the first", ring(2, 2),
               (struct asked){.rank = 0,
                              .world = 16,
                              .size = 2,
                              .count = 2,
                              .members = {0, 9},
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0}}});
    check_nccl("two of this node", ring(3, CHANNELS),
               (struct asked){.rank = 9,
                              .world = 16,
                              .size = 3,
                              .count = 3,
                              .members = {8, 9, 1},
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0}}});
    check_nccl("a rank that is not known", ring(2, CHANNELS),
               (struct asked){.rank = -1,
                              .world = 16,
                              .size = 2,
                              .count = 2,
                              .members = {1, 9},
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0}}});
    check_nccl("waiting is none", 0,
               (struct asked){.world = 4,
                              .size = 4,
                              .calls = {{MSIM_COLL_WAIT, NOBODY, 0}}});
    check_nccl("once, however often", ring(4, CHANNELS),
               (struct asked){.world = 4,
                              .size = 4,
                              .calls = {{MSIM_COLL_ALL_REDUCE, NOBODY, 0},
                                        {MSIM_COLL_ALL_GATHER, NOBODY, 0}}});
}

/* Messages: to those that are named, at most two; without a name two; where all
 * exchange with all, to all. */
static void test_rank_beside__messages(void)
{
    static const struct asked quad = {.world = 4, .size = 4};
    struct asked a = quad;

    a.calls[0].what = MSIM_COLL_SEND;
    a.calls[0].peer = 1;
    a.calls[1] = a.calls[0];
    check_nccl("one peer, twice", CHANNELS * 12, a);
    a.calls[1].what = MSIM_COLL_RECV;
    a.calls[1].peer = 3;
    check_nccl("two peers", 2 * CHANNELS * 12, a);
    a.calls[2] = a.calls[0];
    a.calls[2].peer = 2;
    check_nccl("three, of which two count", 2 * CHANNELS * 12, a);
    a = quad;
    a.calls[0].what = MSIM_COLL_SEND;
    a.calls[0].peer = NOBODY;
    check_nccl("a peer without a name", 2 * CHANNELS * 12, a);
    a.size = a.world = 2;
    check_nccl("there is but one other", CHANNELS * 12, a);
    a = quad;
    a.calls[0].what = MSIM_COLL_SEND;
    a.calls[0].peer = 1;
    a.calls[1].what = MSIM_COLL_BROADCAST; /* from 2, which is no message */
    a.calls[1].peer = 2;
    check_nccl("a message and a collective", CHANNELS * 12 + ring(4, CHANNELS),
               a);
    a.calls[1].what = MSIM_COLL_SEND;
    a.calls[1].all = true;
    check_nccl("a group and all ranks", 2 * CHANNELS * 12, a);
    a = quad;
    a.calls[0].what = MSIM_COLL_ALL_TO_ALL;
    a.calls[1].what = MSIM_COLL_SEND;
    a.calls[1].peer = 1;
    check_nccl("all with all", 3 * CHANNELS * 12, a);
    a.size = a.world = 16; /* seven in the node, eight beyond it */
    check_nccl("all with all of two nodes", (7 * CHANNELS + 8 * 2) * 12, a);
}

/* CUDA's context: none of a CPU, none where no platform is known. */
static void test_rank_beside__context(void)
{
    struct msim_trace t = {.world_size = 1};
    struct msim_platform *p = NULL;

    CHECK(msim_beside_bytes(&(struct msim_beside){3, 4}) == 7);
    CHECK(msim_rank_beside(&t, NULL).context == 0);
    REQUIRE(msim_platform_load(&p, MSIM_DATA, "a100", NULL) == MSIM_OK);
    CHECK_REL(msim_rank_beside(&t, p).context, 512 * MIB, 1e-12);
    CHECK(msim_rank_beside(&t, p).nccl == 0);
    msim_platform_free(p);
}

int main(void)
{
    RUN(test_rank_beside__collectives);
    RUN(test_rank_beside__messages);
    RUN(test_rank_beside__context);
    return check_summary();
}
