/*
 * The law of collectives against what its table of ways says, on a made-up GPU
 * of 100 GB/s links and network cards of 10 GB/s.
 */
#include "models/law/law.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

#define MB 1000000

static struct msim_data_sheet sheet(void)
{
    struct msim_data_sheet s = {.link = 100e9,
                                .network = 10e9,
                                .pcie = 20e9,
                                .cards_per_gpu = 1,
                                .latency_us = 5};

    snprintf(s.interconnect, sizeof(s.interconnect), "NVLink9");
    return s;
}

static const double *params(void)
{
    /* t0, hop, LL's share, bulk's share, switch, crowding, latencies, cards' */
    static const double P[MSIM_TRANSFER_PARAMS] = {1, 1, 0.25, 1, 20, 1, 2, 1};

    return P;
}

static struct msim_work work(enum msim_collective what, uint32_t ranks,
                             uint32_t nodes, uint64_t bytes)
{
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};

    w.u.coll.collective = what;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = nodes;
    w.u.coll.bytes = bytes;
    return w;
}

static struct msim_transfer choose(const struct msim_data_sheet *s,
                                   struct msim_work w)
{
    return msim_transfer_choose(s, &w, params());
}

/* 4 bytes to 8 ranks: a tree up and down, 2 log2 8 = 6 hops; a ring has 14. */
static void test_transfer__small_by_tree(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_transfer t = choose(&s, work(MSIM_COLL_ALL_REDUCE, 8, 1, 4));

    CHECK_STR(t.algorithm, "tree");
    CHECK_STR(t.protocol, "LL");
    CHECK_REL(t.us, 1 + 6, 1e-3);
}

/* 100 MB to 8 ranks: 2 * 7 / 8 of it at 100 GB/s, 1750 us, and fences. LL128
 * would send 128 for 120 bytes. */
static void test_transfer__large_in_bulk(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_transfer t =
        choose(&s, work(MSIM_COLL_ALL_REDUCE, 8, 1, 100 * MB));

    CHECK_STR(t.protocol, "Simple");
    CHECK_REL(t.us, 1 + 6 * 3.4 / 0.6 + 1750, 1e-9);
    /* A switch that adds up takes the buffer once. */
    s.in_switch = true;
    t = choose(&s, work(MSIM_COLL_ALL_REDUCE, 8, 1, 100 * MB));
    CHECK_STR(t.algorithm, "in-switch");
    CHECK_REL(t.us, 1 + 20 + 1000, 1e-9);
    t = choose(&s, work(MSIM_COLL_ALL_GATHER, 8, 1, 100 * MB));
    CHECK_STR(t.algorithm, "ring");
    CHECK_REL(t.us, 1 + 7 * 3.4 / 0.6 + 875, 1e-9);
}

/* Seven links of a mesh, one to each peer: two ranks have one of them, four
 * have three, and a message goes over one, whatever the number of GPUs. */
static void test_transfer__mesh(void)
{
    static const struct {
        enum msim_collective what;
        uint32_t ranks;
        double links;
    } CASES[] = {{MSIM_COLL_ALL_GATHER, 2, 1},
                 {MSIM_COLL_ALL_GATHER, 4, 3},
                 {MSIM_COLL_ALL_GATHER, 8, 7},
                 {MSIM_COLL_ALL_GATHER, 16, 7},
                 {MSIM_COLL_SEND, 2, 1}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_data_sheet s = sheet();
        struct msim_work w =
            work(CASES[i].what, CASES[i].ranks, 1, UINT64_C(1000000) * MB);
        double all = choose(&s, w).us;

        s.mesh = 7;
        CHECK_REL(choose(&s, w).us, all * 7 / CASES[i].links, 1e-4);
    }
}

/* A stack's own: 8 KB to 8 ranks in one shot is 56 KB of reads, 0.56 us and one
 * hop; 800 KB in two shots 14 us and two hops, in one it were 56 us. */
static void test_transfer__shots(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work w = work(MSIM_COLL_ALL_REDUCE, 8, 1, 8000);
    struct msim_transfer t;

    w.u.coll.algorithm = "own";
    t = choose(&s, w);
    CHECK_STR(t.algorithm, "one-shot");
    CHECK_REL(t.us, 1 + 1 + 0.56, 1e-9);
    w.u.coll.bytes = 800000;
    t = choose(&s, w);
    CHECK_STR(t.algorithm, "two-shot");
    CHECK_REL(t.us, 1 + 2 + 14, 1e-9);
}

/* Eight on a PCIe tree get a quarter of what two get; pairs count as one. */
static void test_transfer__crowds(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_work two = work(MSIM_COLL_SEND, 2, 1, 1000 * MB);
    struct msim_work eight = work(MSIM_COLL_SEND, 8, 1, 1000 * MB);

    s.link = s.pcie;
    snprintf(s.interconnect, sizeof(s.interconnect), "PCIe4");
    CHECK_REL(choose(&s, eight).us / choose(&s, two).us, 4, 1e-3);
    two = work(MSIM_COLL_SEND, 2, 1, 1000 * MB);
    two.u.coll.interconnect = "bridges_pairwise";
    CHECK(!msim_transfer_leaves_pair(&s, &two));
    two = work(MSIM_COLL_SEND, 4, 1, 1000 * MB);
    two.u.coll.interconnect = "bridges_pairwise";
    CHECK(msim_transfer_leaves_pair(&s, &two) &&
          msim_transfer_on_pcie(&s, &two));
    CHECK_REL(choose(&s, two).us, 50000, 1e-3); /* at 20 GB/s */
}

/*
 * 4 nodes of 2: each node sends 3 / 4 of what all-gather gathers over two
 * cards of 10 GB/s, 37.5 ms for 1 GB; inside, half of it at 100 GB/s is hidden.
 * All-to-all sends as much from every rank, over its own card: twice the time.
 */
static void test_transfer__between_nodes(void)
{
    struct msim_data_sheet s = sheet();
    struct msim_transfer gather =
        choose(&s, work(MSIM_COLL_ALL_GATHER, 8, 4, 1000 * MB));
    struct msim_transfer all =
        choose(&s, work(MSIM_COLL_ALL_TO_ALL, 8, 4, 1000 * MB));

    CHECK_REL(gather.us, 37500, 0.01);
    CHECK_REL(all.us, 75000, 0.01);
    /* One card for two GPUs: half the rate. */
    s.cards_per_gpu = 0.5;
    CHECK_REL(choose(&s, work(MSIM_COLL_ALL_GATHER, 8, 4, 1000 * MB)).us, 75000,
              0.01);
    /* Small: log2 4 messages up and as many down, of two latencies each. */
    CHECK_REL(choose(&s, work(MSIM_COLL_ALL_REDUCE, 4, 4, 4)).us, 1 + 4 * 10,
              1e-3);
}

/* More bytes, more ranks and slower links never take less. */
static void test_transfer__grows(void)
{
    struct msim_data_sheet s = sheet(), slow = sheet();

    slow.link /= 2;
    slow.network /= 2;
    for (int c = MSIM_COLL_ALL_REDUCE; c < MSIM_COLL_WAIT; c++)
        for (uint32_t nodes = 1; nodes <= 4; nodes *= 4)
            for (uint64_t bytes = 1; bytes < (UINT64_C(1) << 34); bytes *= 4) {
                struct msim_work w =
                    work((enum msim_collective)c, 8, nodes, bytes);
                struct msim_work more = w;
                double us = choose(&s, w).us;

                more.u.coll.bytes *= 2;
                CHECK(us > 0 && isfinite(us));
                CHECK(choose(&s, more).us >= us);
                CHECK(choose(&slow, w).us >= us);
            }
}

int main(void)
{
    RUN(test_transfer__small_by_tree);
    RUN(test_transfer__large_in_bulk);
    RUN(test_transfer__mesh);
    RUN(test_transfer__shots);
    RUN(test_transfer__crowds);
    RUN(test_transfer__between_nodes);
    RUN(test_transfer__grows);
    return check_summary();
}
