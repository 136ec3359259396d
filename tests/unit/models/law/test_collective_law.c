/*
 * tests/unit/models/law/test_collective_law.c - which fit a collective has.
 */
#include "models/law/law.h"

#include "tests/check.h"

static const char *key(const char *link, uint32_t collective, uint32_t ranks,
                       uint32_t nodes)
{
    static char text[128];
    struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};

    w.u.coll.collective = (uint8_t)collective;
    w.u.coll.ranks = ranks;
    w.u.coll.nodes = nodes;
    msim_collective_key(text, sizeof(text), link, "", &w);
    return text;
}

/* A bridge joins two GPUs: two ranks stay on it, three leave it. */
static void test_collective_key__bridges(void)
{
    CHECK_STR(key("nvlink-pairwise", MSIM_COLL_ALL_REDUCE, 2, 1),
              "nvlink-pairwise");
    CHECK_STR(key("nvlink-pairwise", MSIM_COLL_ALL_REDUCE, 3, 1),
              "nvlink-pairwise/beyond-pair");
    CHECK_STR(key("nvlink", MSIM_COLL_ALL_REDUCE, 8, 1), "nvlink");
}

/* Between nodes the bridge says nothing; transfers of two ranks are their own.
 */
static void test_collective_key__nodes_and_transfers(void)
{
    CHECK_STR(key("nvlink-pairwise", MSIM_COLL_ALL_REDUCE, 4, 2),
              "nvlink-pairwise/nodes");
    CHECK_STR(key("nvlink", MSIM_COLL_SEND, 2, 1), "nvlink/send");
    CHECK_STR(key("nvlink", MSIM_COLL_RECV, 2, 2), "nvlink/send/nodes");
}

int main(void)
{
    RUN(test_collective_key__bridges);
    RUN(test_collective_key__nodes_and_transfers);
    return check_summary();
}
