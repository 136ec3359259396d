/*
 * Collectives: what each counts, on how many nodes its ranks are, and what
 * becomes of it in a job of more ranks.
 */
#include "core/work/opmap/opmap.h"
#include "core/work/rules/opmap_rule.h"
#include "tests/unit/made_ops.h"

static struct build b;

#define MEMBERS_MAX 16

/* A transfer of 4-byte numbers of group 0, which is listed where `members` are
 * given ("0 2 4"). */
static void make(enum msim_collective collective, uint64_t in, uint64_t out,
                 uint32_t size, const char *members)
{
    static int32_t ranks[MEMBERS_MAX];

    build_init(&b);
    b.t.world_size = 8;
    b.t.group_ranks = ranks;
    b.groups[0].size = size;
    for (char *end; members && *members; members = end)
        ranks[b.groups[0].count++] = (int32_t)strtol(members, &end, 10);
    b.t.n_groups = 1;
    b.t.n_comms = 1;
    b.comms[0] = (struct msim_comm){.in_elems = in,
                                    .out_elems = out,
                                    .group = 0,
                                    .op = MSIM_NONE,
                                    .collective = (uint8_t)collective,
                                    .dtype = MSIM_DT_F32};
}

/* Sizes as nccl-tests counts them: what all ranks bring, or get. One side that
 * is not recorded, or is the smaller one, is that of a rank. */
static void test_opmap_comm__sizes(void)
{
    static const struct {
        enum msim_collective collective;
        uint64_t in, out, bytes;
    } cases[] = {
        {MSIM_COLL_ALL_GATHER, 3, 12, 48},
        {MSIM_COLL_ALL_GATHER, 3, 3, 12},
        {MSIM_COLL_ALL_GATHER, 3, 2, 48},
        {MSIM_COLL_ALL_GATHER, 3, 0, 48},
        {MSIM_COLL_ALL_GATHER, 0, 0, 0},
        {MSIM_COLL_ALL_GATHER, 1, 1, 4},
        {MSIM_COLL_GATHER, 3, 12, 48},
        {MSIM_COLL_GATHER, 3, 0, 48},
        {MSIM_COLL_REDUCE_SCATTER, 12, 3, 48},
        {MSIM_COLL_REDUCE_SCATTER, 3, 3, 12},
        {MSIM_COLL_REDUCE_SCATTER, 1, 1, 4},
        {MSIM_COLL_REDUCE_SCATTER, 2, 3, 48},
        {MSIM_COLL_REDUCE_SCATTER, 0, 3, 48},
        {MSIM_COLL_SCATTER, 12, 3, 48},
        {MSIM_COLL_SCATTER, 0, 3, 48},
        {MSIM_COLL_RECV, 5, 7, 28},
        {MSIM_COLL_RECV, 5, 0, 20},
        {MSIM_COLL_SEND, 5, 7, 20},
        {MSIM_COLL_ALL_REDUCE, 5, 7, 20},
        {MSIM_COLL_ALL_REDUCE, 0, 7, 28},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool sends = cases[i].collective == MSIM_COLL_SEND ||
                     cases[i].collective == MSIM_COLL_RECV;
        struct msim_work w;

        make(cases[i].collective, cases[i].in, cases[i].out, 4, NULL);
        w = msim_comm_work(&b.t, 0);
        CHECK_INT(w.family, MSIM_FAMILY_COLLECTIVE);
        CHECK_INT(w.dtype, MSIM_DT_F32);
        CHECK_STR(w.variant, "");
        CHECK_INT(w.kernels, 1);
        CHECK_INT(w.u.coll.collective, cases[i].collective);
        CHECK_INT((int64_t)w.u.coll.bytes, (int64_t)cases[i].bytes);
        CHECK_INT((int64_t)w.bytes_read, 4 * (int64_t)cases[i].in);
        CHECK_INT((int64_t)w.bytes_written, 4 * (int64_t)cases[i].out);
        CHECK_INT(w.u.coll.ranks, sends ? 2 : 4);
        build_release(&b);
    }
}

/* Without a group, or a size of it, all ranks take part; at least one does. */
static void test_opmap_comm__ranks(void)
{
    static const struct {
        uint32_t group, size, world, want;
    } cases[] = {
        {0, 4, 8, 4}, {0, 1, 8, 1}, {0, 0, 8, 8}, {MSIM_NONE, 4, 8, 8},
        {0, 0, 1, 1}, {0, 0, 0, 1}, {0, 4, 0, 4},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make(MSIM_COLL_ALL_REDUCE, 5, 5, cases[i].size, NULL);
        b.comms[0].group = cases[i].group;
        b.t.world_size = cases[i].world;
        CHECK_INT(msim_comm_work(&b.t, 0).u.coll.ranks, cases[i].want);
        build_release(&b);
    }
}

/*
 * Members that are listed are on the nodes that their numbers say, in whatever
 * order; others lie one after the other. A group of every n-th of all 8 ranks
 * is as far apart when it has grown, unless ranks are stages that send.
 */
static void test_opmap_comm__nodes(void)
{
    static const struct {
        enum msim_collective collective;
        uint32_t size, ranks, gpus;
        const char *members;
        uint32_t nodes;
    } cases[] = {
        {MSIM_COLL_ALL_REDUCE, 4, 4, 8, "0 1 2 3", 1},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 2, "0 1 2 3", 2},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 2, "0 2 4 6", 4},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 2, "6 0 7 1", 2},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 2, "3 0 2 1", 2},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 0, "0 1 7 8", 2},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 0, "0 1 6 7", 1},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 4, NULL, 1},
        {MSIM_COLL_ALL_REDUCE, 4, 4, 3, NULL, 2},
        {MSIM_COLL_ALL_REDUCE, 4, 9, 0, NULL, 2},
        {MSIM_COLL_ALL_REDUCE, 4, 8, 0, NULL, 1},
        /* every second of 8: 4 of them fit in 8 places, 1 in 2 */
        {MSIM_COLL_ALL_REDUCE, 4, 8, 8, "0 2 4 6", 2},
        {MSIM_COLL_ALL_REDUCE, 4, 8, 2, "0 2 4 6", 8},
        {MSIM_COLL_ALL_REDUCE, 4, 8, 1, "0 2 4 6", 8},
        {MSIM_COLL_ALL_REDUCE, 4, 1, 8, "0 2 4 6", 1},
        /* not equally far apart; backwards; not all listed; not all ranks */
        {MSIM_COLL_ALL_REDUCE, 4, 8, 8, "0 2 4 7", 1},
        {MSIM_COLL_ALL_REDUCE, 4, 8, 8, "6 4 2 0", 1},
        {MSIM_COLL_ALL_REDUCE, 4, 8, 8, "0 2 4", 1},
        {MSIM_COLL_ALL_REDUCE, 3, 8, 8, "0 2 4", 1},
        {MSIM_COLL_ALL_REDUCE, 8, 16, 8, "0 1 2 3 4 5 6 7", 2},
        /* of a pair both are listed, of a stage's peers too many */
        {MSIM_COLL_SEND, 2, 2, 2, "0 2", 2},
        {MSIM_COLL_RECV, 2, 2, 2, "0 1", 1},
        {MSIM_COLL_SEND, 4, 4, 1, "0 0 0 0", 4},
        {MSIM_COLL_SEND, 4, 8, 8, "0 2 4 6", 1},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};

        make(cases[i].collective, 5, 5, cases[i].size, cases[i].members);
        w.u.coll.ranks = cases[i].ranks;
        msim_comm_place(&w, &b.t, 0, cases[i].gpus);
        if (!CHECK_INT(w.u.coll.nodes, cases[i].nodes))
            fprintf(stderr, "  case %zu\n", i);
        build_release(&b);
    }
}

/* A job where some ranks send to each other has stages. */
static void test_opmap_comm__stages(void)
{
    static const struct {
        enum msim_collective other;
        uint32_t nodes;
    } cases[] = {
        {MSIM_COLL_SEND, 1}, {MSIM_COLL_RECV, 1}, {MSIM_COLL_BROADCAST, 2}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w = {.family = MSIM_FAMILY_COLLECTIVE};

        make(MSIM_COLL_ALL_REDUCE, 5, 5, 4, "0 2 4 6");
        b.comms[b.t.n_comms++] = (struct msim_comm){
            .group = 0, .collective = (uint8_t)cases[i].other};
        w.u.coll.ranks = 8;
        msim_comm_place(&w, &b.t, 0, 8);
        CHECK_INT(w.u.coll.nodes, cases[i].nodes);
        build_release(&b);
    }
}

/* From 8 traced ranks to 16: of all ranks, of every second, of some. 48 bytes
 * of 12 elements in and out. */
static void test_opmap_comm__growth(void)
{
    static const struct {
        enum msim_collective collective;
        uint32_t size;
        const char *members;
        uint32_t to, ranks, nodes;
        int64_t bytes, read, written;
    } cases[] = {
        {MSIM_COLL_ALL_REDUCE, 8, NULL, 16, 16, 2, 48, 48, 48},
        {MSIM_COLL_ALL_REDUCE, 0, NULL, 16, 16, 2, 48, 48, 48},
        {MSIM_COLL_ALL_REDUCE, 4, NULL, 16, 4, 1, 48, 48, 48},
        {MSIM_COLL_ALL_REDUCE, 4, "0 2 4 6", 16, 8, 1, 48, 48, 48},
        {MSIM_COLL_ALL_REDUCE, 4, "0 2 4 6", 20, 4, 1, 48, 48, 48},
        {MSIM_COLL_ALL_GATHER, 8, NULL, 16, 16, 2, 48, 24, 48},
        {MSIM_COLL_REDUCE_SCATTER, 8, NULL, 16, 16, 2, 48, 48, 24},
        {MSIM_COLL_GATHER, 8, NULL, 16, 16, 2, 96, 48, 96},
        {MSIM_COLL_SEND, 8, NULL, 16, 2, 1, 48, 48, 48},
        {MSIM_COLL_RECV, 8, NULL, 16, 2, 1, 48, 48, 48},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w;

        make(cases[i].collective, 12, 12, cases[i].size, cases[i].members);
        w = msim_comm_grow(msim_comm_work(&b.t, 0), &b.t, 0, 8, cases[i].to);
        CHECK_INT(w.u.coll.ranks, cases[i].ranks);
        CHECK_INT(w.u.coll.nodes, cases[i].nodes);
        CHECK_INT((int64_t)w.u.coll.bytes, cases[i].bytes);
        CHECK_INT((int64_t)w.bytes_read, cases[i].read);
        CHECK_INT((int64_t)w.bytes_written, cases[i].written);
        build_release(&b);
    }
}

/* Groups as large as the traced ranks hold all of them, and so does what has
 * no comm; a work of one rank counts as all traced ones. */
static void test_opmap_comm__growth_of_what_was_traced(void)
{
    struct msim_work w;

    make(MSIM_COLL_ALL_GATHER, 12, 12, 4, NULL);
    w = msim_comm_work(&b.t, 0);
    CHECK_INT(msim_comm_grow(w, &b.t, 0, 4, 16).u.coll.ranks, 16);
    CHECK_INT(msim_comm_grow(w, &b.t, 0, 3, 16).u.coll.ranks, 4);
    w = msim_comm_grow(w, &b.t, MSIM_NONE, 2, 16);
    CHECK_INT(w.u.coll.ranks, 16);
    CHECK_INT((int64_t)w.bytes_read, 48 / 4);
    w.u.coll.ranks = 1;
    CHECK_INT((int64_t)msim_comm_grow(w, &b.t, MSIM_NONE, 2, 8).bytes_read,
              12 / 4);
    w.u.coll.ranks = 2;
    CHECK_INT((int64_t)msim_comm_grow(w, &b.t, MSIM_NONE, 9, 8).bytes_read,
              12 / 4);
    build_release(&b);
}

/* A kernel alone: over all ranks, a node's where there is but one. */
static void test_opmap_comm__by_name(void)
{
    static const uint32_t cases[][3] = {
        {0, 8, 1}, {1, 8, 1}, {2, 2, 1}, {16, 16, 2}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct msim_work w;

        make(MSIM_COLL_ALL_REDUCE, 12, 12, 4, NULL);
        b.t.world_size = cases[i][0];
        w = msim_comm_work_by_name(
            &b.t, "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgs)");
        CHECK_INT(w.family, MSIM_FAMILY_COLLECTIVE);
        CHECK_INT(w.u.coll.collective, MSIM_COLL_ALL_GATHER);
        CHECK_INT(w.dtype, MSIM_DT_UNKNOWN);
        CHECK_STR(w.variant, "");
        CHECK_INT(w.kernels, 1);
        CHECK_INT(w.u.coll.ranks, cases[i][1]);
        CHECK_INT(w.u.coll.nodes, cases[i][2]);
        build_release(&b);
    }
}

/* The operator in the middle has the transfer; waits and what nobody knows
 * have none. */
static void test_opmap_comm__operators(void)
{
    static const struct {
        enum msim_collective collective;
        enum msim_opmap_result want;
    } cases[] = {{MSIM_COLL_ALL_REDUCE, MSIM_OPMAP_WORKS},
                 {MSIM_COLL_WAIT, MSIM_OPMAP_NO_KERNEL},
                 {MSIM_COLL_UNKNOWN, MSIM_OPMAP_NO_KERNEL}};
    struct msim_work w[MSIM_OPMAP_MAX];
    uint32_t n, op;

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        make(cases[i].collective, 12, 12, 4, NULL);
        op = build_op(&b, 0, "record_param_comms", "f32[12]", NULL);
        CHECK_INT(msim_opmap(&b.t, NULL, op, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  MSIM_OPMAP_NO_KERNEL);
        b.ops[op].comm = 0;
        CHECK_INT(msim_opmap(&b.t, NULL, op, -1, MSIM_OPMAP_AS_TRACED, w, &n),
                  cases[i].want);
        CHECK_INT(n, cases[i].want == MSIM_OPMAP_WORKS);
        if (n)
            CHECK_INT((int64_t)w[0].u.coll.bytes, 48);
        build_release(&b);
    }
}

int main(void)
{
    RUN(test_opmap_comm__sizes);
    RUN(test_opmap_comm__ranks);
    RUN(test_opmap_comm__nodes);
    RUN(test_opmap_comm__stages);
    RUN(test_opmap_comm__growth);
    RUN(test_opmap_comm__growth_of_what_was_traced);
    RUN(test_opmap_comm__by_name);
    RUN(test_opmap_comm__operators);
    return check_summary();
}
