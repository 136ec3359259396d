/*
 * An execution trace (e) linked with the Kineto trace of its rank (k): which
 * operator is which, and what is taken over.
 */
#include "core/link/link_et.h"
#include "tests/unit/made_ops.h"

#define THREADS 34

static struct build k, e;
static struct msim_thread k_threads[THREADS], e_threads[THREADS];
static struct msim_group groups[4];
static int32_t group_ranks[8];
static uint64_t linked, total;

/* Both name texts alike; columns of k have room for those of e. */
static void begin(void)
{
    build_init(&k);
    build_init(&e);
    msim_strtab_free(e.strings);
    e.t.strings = e.strings = k.strings;
    k.t.cap_dims = sizeof(k.dims) / sizeof(k.dims[0]);
    k.t.cap_args = sizeof(k.args) / sizeof(k.args[0]);
    k.t.cap_blocks = sizeof(k.blocks) / sizeof(k.blocks[0]);
    k.t.has_et = false;
    memset(k_threads, 0, sizeof(k_threads));
    memset(e_threads, 0, sizeof(e_threads));
}

/* An operator without arguments, on the thread that comes last. */
static uint32_t op_of(struct build *b, uint32_t depth, const char *name,
                      uint64_t id)
{
    uint32_t i = build_op(b, depth, name, "", NULL);

    b->ops[i].rf_id = id;
    b->ops[i].et_id = 100 + i;
    return i;
}

/* Operators from the last begin on are those of thread `th`, the last so
 * far. */
static void end_thread(struct build *b, struct msim_thread *threads,
                       uint32_t th)
{
    threads[th].op_begin = th ? threads[th - 1].op_end : 0;
    threads[th].op_end = b->t.n_ops;
    b->t.threads = threads;
    b->t.n_threads = th + 1;
    for (uint32_t i = threads[th].op_begin; i < b->t.n_ops; i++)
        b->ops[i].thread = th;
}

static void link_both(void)
{
    CHECK_INT(msim_link_et(&k.t, &e.t, k.strings, &linked, &total), MSIM_OK);
    CHECK(k.t.has_et);
}

static uint64_t counted(enum msim_import_kind kind)
{
    return k.t.import.rows[kind].n;
}

/* Which node an operator has; 0: none. */
static int64_t node(uint32_t i)
{
    return (int64_t)k.ops[i].et_id;
}

/* Ids that at least half of the operators with one find under their name are
 * of one run. Else names in their order count. */
static void test_link_et__ids(void)
{
    static const struct {
        const char *name[4]; /* in e, with ids 1 .. 4; in k all are "a" */
        int64_t nodes[4];
        uint64_t by_order;
    } cases[] = {
        {{"a", "a", "a", "a"}, {103, 102, 101, 100}, 0},
        {{"a", "a", "b", "b"}, {0, 0, 101, 100}, 0},
        {{"a", "b", "b", "b"}, {100, 0, 0, 0}, 1},
        {{"b", "b", "b", "b"}, {0, 0, 0, 0}, 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin();
        for (uint32_t n = 0; n < 4; n++) {
            op_of(&e, 0, cases[i].name[n], n + 1);
            k.ops[op_of(&k, 0, "a", 4 - n)].et_id = 0;
        }
        link_both();
        if (i < 2) {
            for (uint32_t n = 0; n < 4; n++)
                CHECK_INT(node(n), cases[i].nodes[n]);
            CHECK_INT(linked, i == 0 ? 4 : 2);
        }
        CHECK_INT(counted(MSIM_IMPORT_NODE_ORDER), i < 2 ? 0 : linked);
        CHECK_INT(total, 4);
        CHECK_INT(linked > 0, i < 3);
        build_release(&k);
    }
}

/* What e has goes to k behind what k has, and what k has of its own stays. */
static void test_link_et__what_is_taken(void)
{
    const struct msim_arg *a;
    uint32_t own, i, j;

    begin();
    own = build_op(&k, 0, "own", "f32[2,3] (f32[4])", NULL);
    i = build_op(&k, 0, "aten::mm", "", NULL);
    k.ops[i].rf_id = 1;
    k.ops[i].seq = -1;
    k.ops[own].seq = 5;
    (void)build_op(&e, 0, "pad", "f32[9,9,9]", NULL);
    j = build_op(&e, 0, "aten::mm", "f32[5,7] 3 f16[7,11]", "f32[5,11]");
    e.ops[j].rf_id = 1;
    e.ops[j].et_id = 77;
    e.ops[j].seq = 6;
    e.ops[j].scope = 1;
    e.ops[j].schema = build_text(&e, "aten::mm(Tensor) -> Tensor");
    e.t.world_size = 8;
    link_both();
    CHECK_INT(linked, 1);
    CHECK_INT(total, 2);
    CHECK_INT(k.ops[i].et_id, 77);
    CHECK_INT(k.ops[i].seq, 6);
    CHECK_INT(k.ops[i].scope, 1);
    CHECK_INT(k.ops[i].schema, e.ops[j].schema);
    CHECK_INT(k.ops[i].ids, MSIM_NONE);
    CHECK_INT(k.ops[own].seq, 5);
    CHECK_INT(k.t.world_size, 8);
    a = msim_args_get(&k.t, k.ops[i].args, 0);
    CHECK_INT(msim_arg_dims(&k.t, a)[1], 7);
    a = msim_args_get(&k.t, k.ops[i].args, 1);
    CHECK_INT(a->v.i, 3); /* a number is none of a size */
    a = msim_args_get(&k.t, k.ops[i].args, 2);
    CHECK_INT(msim_arg_dims(&k.t, a)[1], 11);
    a = msim_args_get(&k.t, k.ops[i].outs, 0);
    CHECK_INT(msim_arg_dims(&k.t, a)[0], 5);
    a = msim_args_get(&k.t, k.ops[own].args, 0);
    CHECK_INT(msim_arg_dims(&k.t, a)[1], 3);
    build_release(&k);
}

/* Of one run both records of an operator agree; where they do not, the first is
 * told. Lists are one argument, and what has no sizes is not compared. */
static void test_link_et__other_sizes(void)
{
    static const struct {
        const char *k, *e, *want;
    } cases[] = {
        {"f32[2,3]", "f32[2,3]", NULL},
        {"f32[2,3]", "f32[2,4]", "'aten::mm' of 2 x 3 has a node of 2 x 4"},
        {"f32[2,3]", "f32[2]", "'aten::mm' of 2 x 3 has a node of 2"},
        {"f32[2,3]", "f32[]", NULL},
        {"f32[2,3] f32[5]", "f32[2,3] f32[6]",
         "'aten::mm' of 5 has a node of 6"},
        {"none f32[5]", "f32[2,3] f32[6]", "'aten::mm' of 5 has a node of 6"},
        {"(f32[2] f32[3]) f32[5]", "(f32[2] f32[4]) f32[5]", NULL},
        {"(f32[2] f32[3]) f32[5]", "(f32[2]) f32[6]",
         "'aten::mm' of 5 has a node of 6"},
        {"f32[2,3]", "", NULL},
        /* no more than 59 bytes of either */
        {"f32[1000000,1000000,1000000,1000000,1000000,1000000,1000000]",
         "f32[2000000,1000000,1000000,1000000,1000000,1000000,1000000]",
         "'aten::mm' of 1000000 x 1000000 x 1000000 x 1000000 x 1000000 x "
         "1000000 x has a node of 2000000 x 1000000 x 1000000 x 1000000 x "
         "1000000 x 1000000 x"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct msim_import_count *c =
            &k.t.import.rows[MSIM_IMPORT_OTHER_SIZES];

        begin();
        for (int n = 0; n < 2; n++) {
            k.ops[build_op(&k, 0, "aten::mm", cases[i].k, NULL)].rf_id = 1 + n;
            e.ops[build_op(&e, 0, "aten::mm", cases[i].e, NULL)].rf_id = 1 + n;
        }
        link_both();
        CHECK_INT(c->n, cases[i].want ? 2 : 0);
        CHECK_STR(c->example ? msim_trace_text(&k.t, c->example) : "",
                  cases[i].want ? cases[i].want : "");
        build_release(&k);
    }
}

/* By order an iteration of e repeats in k, the callees of a pair are matched
 * below it, and a label is looked through. */
static void test_link_et__order(void)
{
    begin();
    op_of(&e, 0, "a", 0); /* 100 */
    op_of(&e, 1, "b", 0); /* 101 */
    op_of(&e, 1, "c", 0); /* 102 */
    op_of(&e, 0, "d", 0); /* 103 */
    for (int n = 0; n < 2; n++) {
        k.ops[op_of(&k, 0, "label", 0)].kind = MSIM_OP_ANNOTATION;
        op_of(&k, 1, "a", 0);
        op_of(&k, 2, "b", 0);
        op_of(&k, 2, "x", 0);
        op_of(&k, 2, "c", 0);
        op_of(&k, 1, "d", 0);
    }
    for (uint32_t i = 0; i < k.t.n_ops; i++)
        k.ops[i].et_id = 0;
    e.threads[0].op_end = 4;
    link_both();
    for (uint32_t n = 0; n < 12; n += 6) {
        static const int64_t want[] = {0, 100, 101, 0, 102, 103};

        for (uint32_t i = 0; i < 6; i++)
            CHECK_INT(node(n + i), want[i]);
    }
    CHECK_INT(linked, 8);
    CHECK_INT(total, 10);
    CHECK_INT(counted(MSIM_IMPORT_NODE_ORDER), 8);
    build_release(&k);
}

/* Threads with most names in common are one. A label has none. */
static void test_link_et__threads(void)
{
    static const int64_t want[] = {102, 103, 104, 100, 101, 0};

    begin();
    op_of(&e, 0, "a", 0); /* 100 */
    op_of(&e, 0, "b", 0);
    end_thread(&e, e_threads, 0);
    op_of(&e, 0, "c", 0); /* 102 */
    op_of(&e, 0, "b", 0);
    op_of(&e, 0, "d", 0);
    end_thread(&e, e_threads, 1);
    op_of(&k, 0, "c", 0);
    op_of(&k, 0, "b", 0);
    op_of(&k, 0, "d", 0);
    end_thread(&k, k_threads, 0);
    op_of(&k, 0, "a", 0);
    op_of(&k, 0, "b", 0);
    end_thread(&k, k_threads, 1);
    op_of(&k, 0, "z", 0);
    end_thread(&k, k_threads, 2);
    for (uint32_t i = 0; i < k.t.n_ops; i++)
        k.ops[i].et_id = 0;
    link_both();
    for (uint32_t i = 0; i < 6; i++)
        CHECK_INT(node(i), want[i]);
    CHECK_INT(linked, 5);
    build_release(&k);
}

/* The 32 busiest threads of each are compared; of 34 the first two here have
 * fewer operators than the others. */
static void test_link_et__busiest_threads(void)
{
    char name[8];

    begin();
    for (uint32_t th = 0; th < THREADS; th++) {
        snprintf(name, sizeof(name), "t%u", th);
        op_of(&k, 0, name, 0);
        if (th >= 2)
            op_of(&k, 0, name, 0);
        end_thread(&k, k_threads, th);
    }
    for (uint32_t th = 0; th < 3; th++) {
        snprintf(name, sizeof(name), "t%u", th);
        op_of(&e, 0, name, 0);
        end_thread(&e, e_threads, th);
    }
    for (uint32_t i = 0; i < k.t.n_ops; i++)
        k.ops[i].et_id = 0;
    link_both();
    CHECK_INT(node(0), 0);
    CHECK_INT(node(1), 0);
    CHECK_INT(node(2), 102);
    build_release(&k);
}

/* Of a collective what Kineto did not record is taken; a group goes by its
 * name, and comes with its members where k has none of that name. */
static void test_link_et__collectives(void)
{
    static struct msim_group other;
    const struct msim_comm recorded = {.in_elems = 3,
                                       .out_elems = 4,
                                       .sequence = 9,
                                       .peer = 2,
                                       .group = 0,
                                       .collective = MSIM_COLL_BROADCAST,
                                       .dtype = MSIM_DT_F16};
    const struct msim_comm bare = {.sequence = -1,
                                   .peer = -1,
                                   .group = MSIM_NONE,
                                   .collective = MSIM_COLL_UNKNOWN,
                                   .dtype = MSIM_DT_UNKNOWN};
    const struct msim_comm *c = k.comms;

    for (int what = 0; what < 3; what++) {
        begin();
        memset(groups, 0, sizeof(groups));
        memset(group_ranks, 0, sizeof(group_ranks));
        k.t.groups = groups;
        k.t.cap_groups = 4;
        k.t.group_ranks = group_ranks;
        k.t.cap_group_ranks = 8;
        k.t.n_group_ranks = 2;
        k.t.n_groups = 1;
        groups[0].name = build_text(&k, "0");
        k.t.n_comms = e.t.n_comms = 1;
        op_of(&k, 0, "c", 1);
        op_of(&e, 0, "c", 1);
        k.ops[0].comm = e.ops[0].comm = 0;
        other = (struct msim_group){.name = build_text(&k, what ? "0" : "7"),
                                    .size = 2,
                                    .first = 1,
                                    .count = 2};
        e.t.groups = &other;
        e.t.group_ranks = (int32_t[]){9, 5, 6};
        e.t.n_groups = 1;
        k.comms[0] = what == 2 ? recorded : bare;
        e.comms[0] = what == 2 ? bare : recorded;
        e.comms[0].by_place = what < 2;
        link_both();
        CHECK_INT((int64_t)c->in_elems, 3);
        CHECK_INT((int64_t)c->out_elems, 4);
        CHECK_INT(c->sequence, 9);
        CHECK_INT(c->peer, 2);
        CHECK_INT(c->by_place, what < 2);
        CHECK_INT(c->collective, MSIM_COLL_BROADCAST);
        CHECK_INT(c->dtype, MSIM_DT_F16);
        CHECK_INT(c->group, what == 0);
        CHECK_INT(k.t.n_groups, what == 0 ? 2 : 1);
        CHECK_INT(groups[0].size, what == 1 ? 2 : 0);
        if (what == 0) {
            CHECK_INT(groups[1].size, 2);
            CHECK_INT(groups[1].first, 2);
            CHECK_INT(groups[1].count, 2);
            CHECK_INT(group_ranks[2], 5);
            CHECK_INT(group_ranks[3], 6);
        }
        build_release(&k);
    }
}

int main(void)
{
    RUN(test_link_et__ids);
    RUN(test_link_et__what_is_taken);
    RUN(test_link_et__other_sizes);
    RUN(test_link_et__order);
    RUN(test_link_et__threads);
    RUN(test_link_et__busiest_threads);
    RUN(test_link_et__collectives);
    return check_summary();
}
