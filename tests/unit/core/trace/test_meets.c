/*
 * tests/unit/core/trace/test_meets.c - which calls of two ranks meet.
 */
#include "core/trace/trace_columns.h"
#include "tests/check.h"

/* Ranks 4, 6 and 9; then a group of 8 that lists nobody. */
static int32_t members[] = {4, 6, 9, 11}; /* and one of no group */
static struct msim_group groups[] = {
    {.name = 0, .size = 3, .first = 0, .count = 3},
    {.name = 0, .size = 8},
};

static struct msim_strtab *strings;

static struct msim_trace trace_of(int64_t rank)
{
    return (struct msim_trace){.strings = strings,
                               .group_ranks = members,
                               .n_group_ranks = 3,
                               .groups = groups,
                               .n_groups = 2,
                               .rank = rank};
}

static struct msim_comm comm_of(uint8_t kind, int32_t peer, uint32_t group)
{
    return (struct msim_comm){
        .collective = kind, .peer = peer, .group = group, .op = MSIM_NONE};
}

static void check_peer(int32_t peer, uint32_t group, bool by_place,
                       int32_t want)
{
    struct msim_trace t = trace_of(0);
    struct msim_comm c = comm_of(MSIM_COLL_SEND, peer, group);

    c.by_place = by_place;
    CHECK_INT(msim_comm_peer(&t, &c), want);
}

/* A place is looked up where the group is listed and has it. */
static void test_meets__peer(void)
{
    check_peer(0, 0, true, 4);
    check_peer(2, 0, true, 9);
    check_peer(2, 0, false, 2);
    check_peer(3, 0, true, 3);
    check_peer(-1, 0, true, -1);
    check_peer(1, 1, true, 1);
    check_peer(1, MSIM_NONE, true, 1);
}

static void check_message(uint8_t kind, int64_t rank, int32_t peer,
                          int64_t from, int64_t to)
{
    struct msim_trace t = trace_of(rank);
    struct msim_comm c = comm_of(kind, peer, MSIM_NONE);
    struct msim_message m = {-7, -7};

    CHECK_INT(msim_message_of(&t, &c, &m), from >= 0);
    CHECK_INT(m.from, from >= 0 ? from : -7);
    CHECK_INT(m.to, to >= 0 ? to : -7);
}

static void test_meets__message(void)
{
    check_message(MSIM_COLL_SEND, 3, 5, 3, 5);
    check_message(MSIM_COLL_RECV, 3, 5, 5, 3);
    check_message(MSIM_COLL_SEND, 0, 0, 0, 0);
    check_message(MSIM_COLL_SEND, 3, -1, -1, -1);
    check_message(MSIM_COLL_SEND, -1, 5, -1, -1);
    for (uint8_t kind = 0; kind <= MSIM_COLL_WAIT; kind++)
        if (kind != MSIM_COLL_SEND && kind != MSIM_COLL_RECV)
            check_message(kind, 3, 5, -1, -1);
}

static void check_peers(uint32_t n, struct msim_comm *comms, bool has,
                        bool names)
{
    struct msim_trace t = trace_of(2);

    t.comms = comms;
    t.n_comms = n;
    CHECK_INT(msim_has_messages(&t), has);
    CHECK_INT(msim_names_peers(&t), names);
}

static void test_meets__names_peers(void)
{
    struct msim_comm c[] = {comm_of(MSIM_COLL_BARRIER, -1, MSIM_NONE),
                            comm_of(MSIM_COLL_SEND, 1, MSIM_NONE),
                            comm_of(MSIM_COLL_ALL_REDUCE, -1, MSIM_NONE),
                            comm_of(MSIM_COLL_RECV, -1, MSIM_NONE)};

    check_peers(0, c, false, false);
    check_peers(1, c, false, false);
    check_peers(2, c, true, true);
    check_peers(3, c, true, true);
    check_peers(4, c, true, false); /* of one nobody knows from whom */
    check_peers(1, &c[3], true, false);
    c[0] = c[3];
    check_peers(2, c, true, false);
}

static uint64_t key(int64_t rank, struct msim_comm c, uint32_t n_ranks)
{
    struct msim_trace t = trace_of(rank);

    return msim_meeting_key(&t, &c, n_ranks);
}

/* The same ranks are the same group; so is all of the job, by its size. */
static void test_meets__groups(void)
{
    struct msim_comm listed = comm_of(MSIM_COLL_ALL_REDUCE, -1, 0);
    struct msim_comm named = comm_of(MSIM_COLL_ALL_REDUCE, -1, 1);
    struct msim_comm none = comm_of(MSIM_COLL_ALL_REDUCE, -1, MSIM_NONE);
    struct msim_comm other = comm_of(MSIM_COLL_BARRIER, -1, MSIM_NONE);
    uint64_t first = key(4, listed, 16), all, by_name;

    CHECK(first == key(6, listed, 16));
    members[2] = 8;
    CHECK(first != key(4, listed, 16));
    members[2] = 9;
    members[0] = 3;
    CHECK(first != key(4, listed, 16));
    members[0] = 4;
    members[3] = 12;
    CHECK(first == key(4, listed, 16));
    groups[0].count = 2; /* a prefix of the list is another group */
    CHECK(first != key(4, listed, 16));
    groups[0].count = 3;
    all = key(0, named, 8);
    by_name = key(0, named, 16);
    CHECK(all != by_name);
    groups[1].name = 2;
    CHECK(all == key(0, named, 8));
    CHECK(by_name != key(0, named, 16));
    groups[1].name = 0;
    groups[1].size = 9;
    CHECK(by_name != key(0, named, 16));
    groups[1].size = 8;
    groups[1].count = 1; /* one that is listed is none */
    CHECK(all == key(0, named, 8));
    groups[1].count = 0;
    /* Without a group all of one kind are. */
    CHECK(key(0, none, 8) == key(3, none, 16));
    CHECK(key(0, none, 8) != key(0, other, 8));
    CHECK(key(0, none, 8) != all);
}

/* The job may say its size, where not all of its ranks are there. */
static void test_meets__world_size(void)
{
    struct msim_trace t = trace_of(0);
    struct msim_comm c = comm_of(MSIM_COLL_ALL_REDUCE, -1, 1);
    uint64_t all = key(0, c, 8);

    CHECK(msim_meeting_key(&t, &c, 2) != all);
    t.world_size = 8;
    CHECK(msim_meeting_key(&t, &c, 2) == all);
}

/* Two communicators of the same ranks have two names; one of 8 letters and
 * more may be a pointer, which differs from rank to rank. */
static void check_names(const char *x, const char *y, bool same)
{
    struct msim_comm c = comm_of(MSIM_COLL_ALL_REDUCE, -1, 0);
    uint32_t a = 0, b = 0;
    uint64_t first;

    CHECK_INT(msim_strtab_add(strings, x, strlen(x), &a), MSIM_OK);
    CHECK_INT(msim_strtab_add(strings, y, strlen(y), &b), MSIM_OK);
    groups[0].name = a;
    first = key(4, c, 16);
    groups[0].name = b;
    CHECK_INT(first == key(4, c, 16), same);
    groups[0].name = 0;
}

static void test_meets__names(void)
{
    check_names("1", "2", false);
    check_names("1", "1", true);
    check_names("1234567", "7654321", false);
    check_names("12345678", "87654321", true);
}

/* A sender meets its receiver, and nobody else. */
static void test_meets__messages(void)
{
    struct msim_comm send = comm_of(MSIM_COLL_SEND, 6, 0);
    struct msim_comm recv = comm_of(MSIM_COLL_RECV, 4, 0);
    struct msim_comm alone = comm_of(MSIM_COLL_SEND, 6, MSIM_NONE);
    struct msim_comm from = comm_of(MSIM_COLL_RECV, 4, MSIM_NONE);

    CHECK(key(4, send, 16) == key(6, recv, 16));
    CHECK(key(4, send, 16) != key(9, send, 16));
    CHECK(key(4, send, 16) != key(9, recv, 16));
    CHECK(key(6, comm_of(MSIM_COLL_SEND, 4, 0), 16) != key(4, send, 16));
    CHECK(key(4, alone, 16) == key(6, from, 16));
    CHECK(key(4, alone, 16) != key(4, send, 16));
    /* Without the other's number it is the group's. */
    send.peer = -1;
    CHECK(key(4, send, 16) == key(4, comm_of(MSIM_COLL_ALL_REDUCE, -1, 0), 16));
}

static bool may_meet(uint8_t kind, uint64_t x, uint8_t other, uint64_t y)
{
    struct msim_comm a = {.collective = kind, .in_elems = x};
    struct msim_comm b = {.collective = other, .in_elems = y};

    return msim_comms_may_meet(&a, &b) && msim_comms_may_meet(&b, &a);
}

/* Sizes agree where all ranks give as much; 0 is not known. */
static void test_meets__sizes(void)
{
    static const uint8_t EQUAL[] = {
        MSIM_COLL_ALL_REDUCE,     MSIM_COLL_BROADCAST, MSIM_COLL_REDUCE,
        MSIM_COLL_REDUCE_SCATTER, MSIM_COLL_SEND,      MSIM_COLL_RECV};

    for (uint8_t k = 0; k <= MSIM_COLL_WAIT; k++) {
        bool equal = memchr(EQUAL, k, sizeof(EQUAL)) != NULL;

        CHECK(may_meet(k, 5, k, 5));
        CHECK(may_meet(k, 5, k, 0));
        CHECK(may_meet(k, 0, k, 0));
        CHECK_INT(may_meet(k, 5, k, 6), !equal);
    }
    CHECK(may_meet(MSIM_COLL_SEND, 5, MSIM_COLL_RECV, 5));
    CHECK(!may_meet(MSIM_COLL_SEND, 5, MSIM_COLL_RECV, 6));
    CHECK(!may_meet(MSIM_COLL_SEND, 5, MSIM_COLL_REDUCE, 5));
    CHECK(!may_meet(MSIM_COLL_BARRIER, 0, MSIM_COLL_REDUCE, 0));
}

int main(void)
{
    if (!CHECK_INT(msim_strtab_new(&strings), MSIM_OK))
        return check_summary();
    RUN(test_meets__peer);
    RUN(test_meets__message);
    RUN(test_meets__names_peers);
    RUN(test_meets__groups);
    RUN(test_meets__world_size);
    RUN(test_meets__names);
    RUN(test_meets__messages);
    RUN(test_meets__sizes);
    msim_strtab_free(strings);
    return check_summary();
}
