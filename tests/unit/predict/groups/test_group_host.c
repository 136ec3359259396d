/*
 * predict/groups/group_host.c, group_links.c and group_maker.c: the part of the
 * host, the link and the family of each task, on graphs of a few tasks made by
 * hand.
 */
#include "predict/groups/group_maker.h"

#include "tests/unit/made_ops.h"

#define TASKS 32

static struct build b;

/* Tasks of the trace of `b`, which is rank 0 of a job. */
struct made {
    struct msim_job job;
    struct msim_trace *ranks[1];
    struct msim_graph g;
    uint8_t kind[TASKS], family[TASKS], link[TASKS], part[TASKS];
    struct msim_task_ref refs[TASKS];
    struct msim_task_groups out;
    struct msim_task_groups_options opt;
};

static void begin(struct made *m)
{
    memset(m, 0, sizeof(*m));
    build_init(&b);
    m->ranks[0] = &b.t;
    m->job.ranks = m->ranks;
    m->job.n_ranks = 1;
    m->job.strings = b.strings;
    m->g.job = &m->job;
    m->g.kind = m->kind;
    m->g.refs = m->refs;
    m->out = (struct msim_task_groups){m->family, m->link, m->part};
    memset(m->part, 200, sizeof(m->part));
    memset(m->link, 200, sizeof(m->link));
}

static uint32_t add(struct made *m, enum msim_task_kind kind,
                    struct msim_task_ref ref)
{
    uint32_t t = m->g.n_tasks++;

    m->kind[t] = (uint8_t)kind;
    m->refs[t] = ref;
    return t;
}

static struct msim_group_maker maker(const struct made *m,
                                     struct msim_task_groups *out)
{
    return (struct msim_group_maker){&m->g, &m->opt, out};
}

static uint32_t text(const char *s)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(b.strings, s, strlen(s), &id), MSIM_OK);
    return id;
}

/* An operator below `parent`, which may be none. */
static uint32_t op(const char *name, enum msim_op_kind kind, uint32_t parent)
{
    uint32_t i = b.t.n_ops++;

    b.ops[i] = msim_op_empty();
    b.ops[i].name = text(name);
    b.ops[i].kind = (uint8_t)kind;
    b.ops[i].parent = parent;
    b.ops[i].end = i + 1;
    return i;
}

/* ---- the host ------------------------------------------------------------ */

/* Every kind of call has a part; one that the trace has not is a launch. */
static void test_host_parts__of_calls(void)
{
    static const enum msim_host_part WANT[] = {
        [MSIM_CALL_OTHER] = MSIM_HOST_PART_CALL,
        [MSIM_CALL_LAUNCH] = MSIM_HOST_PART_LAUNCH,
        [MSIM_CALL_GRAPH_LAUNCH] = MSIM_HOST_PART_LAUNCH,
        [MSIM_CALL_MEMCPY] = MSIM_HOST_PART_TRANSFER,
        [MSIM_CALL_MEMCPY_SYNC] = MSIM_HOST_PART_TRANSFER,
        [MSIM_CALL_MEMSET] = MSIM_HOST_PART_TRANSFER,
        [MSIM_CALL_DEVICE_SYNC] = MSIM_HOST_PART_SYNC,
        [MSIM_CALL_STREAM_SYNC] = MSIM_HOST_PART_SYNC,
        [MSIM_CALL_EVENT_SYNC] = MSIM_HOST_PART_SYNC,
        [MSIM_CALL_EVENT_RECORD] = MSIM_HOST_PART_EVENT,
        [MSIM_CALL_STREAM_WAIT] = MSIM_HOST_PART_EVENT,
        [MSIM_CALL_EVENT_QUERY] = MSIM_HOST_PART_EVENT,
        [MSIM_CALL_EVENT_ELAPSED] = MSIM_HOST_PART_SYNC,
        [MSIM_CALL_MALLOC] = MSIM_HOST_PART_MEMORY,
        [MSIM_CALL_FREE] = MSIM_HOST_PART_MEMORY,
    };
    const uint32_t n = sizeof(WANT) / sizeof(*WANT);
    struct msim_group_maker maker_of;
    struct made m;
    uint32_t none;

    begin(&m);
    for (uint32_t i = 0; i < n; i++) {
        b.calls[i] = (struct msim_call){.kind = (uint8_t)i};
        add(&m, MSIM_TASK_CALL, (struct msim_task_ref){.index = i});
    }
    b.t.n_calls = n;
    none = add(&m, MSIM_TASK_CALL, (struct msim_task_ref){.index = MSIM_NONE});
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_host_parts(&maker_of), MSIM_OK);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT(m.part[i], WANT[i]);
    CHECK_INT(m.part[none], MSIM_HOST_PART_LAUNCH);
    build_release(&b);
}

/* The part of a stretch inside the operator that `names` end in, each below the
 * one before; labels have a '!' in front, roots a '/'. */
static int part_within(const char *const *names, enum msim_task_kind kind)
{
    struct msim_group_maker maker_of;
    struct made m;
    uint32_t at = MSIM_NONE;

    begin(&m);
    for (; *names; names++)
        at = op(**names == '!' || **names == '/' ? *names + 1 : *names,
                **names == '!'   ? MSIM_OP_ANNOTATION
                : **names == '/' ? MSIM_OP_ROOT
                                 : MSIM_OP_OPERATOR,
                at);
    add(&m, kind, (struct msim_task_ref){.index = b.t.n_ops, .op = at});
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_host_parts(&maker_of), MSIM_OK);
    build_release(&b);
    return m.part[0];
}

#define EVALUATE "autograd::engine::evaluate_function: MmBackward0"
#define LOADER   "enumerate(DataLoader)#_SingleProcess.__next__"
#define ADAM     "Optimizer.step#Adam.step"

/* From the outside in: what an optimizer's step, a loader, an evaluation of
 * autograd or communication encloses is theirs. */
static void test_host_parts__of_operators(void)
{
    static const struct {
        const char *names[4];
        enum msim_host_part is, gap;
    } ROWS[] = {
        {{NULL}, MSIM_HOST_PART_PYTHON, MSIM_HOST_PART_PYTHON},
        {{"/aten::mm"}, MSIM_HOST_PART_PYTHON, MSIM_HOST_PART_PYTHON},
        {{"aten::mm"}, MSIM_HOST_PART_DISPATCH, MSIM_HOST_PART_PYTHON},
        {{"!forward"}, MSIM_HOST_PART_PYTHON, MSIM_HOST_PART_PYTHON},
        {{"!forward", "aten::mm"},
         MSIM_HOST_PART_DISPATCH,
         MSIM_HOST_PART_PYTHON},
        {{"!" ADAM, "aten::add_"},
         MSIM_HOST_PART_OPTIMIZER,
         MSIM_HOST_PART_OPTIMIZER},
        {{ADAM}, MSIM_HOST_PART_OPTIMIZER, MSIM_HOST_PART_OPTIMIZER},
        {{"!" LOADER, "aten::stack"},
         MSIM_HOST_PART_LOADER,
         MSIM_HOST_PART_LOADER},
        {{LOADER}, MSIM_HOST_PART_LOADER, MSIM_HOST_PART_LOADER},
        {{EVALUATE, "MmBackward0", "aten::mm"},
         MSIM_HOST_PART_AUTOGRAD,
         MSIM_HOST_PART_PYTHON},
        {{"MmBackward0"}, MSIM_HOST_PART_AUTOGRAD, MSIM_HOST_PART_PYTHON},
        {{"c10d::allreduce_", "aten::view"},
         MSIM_HOST_PART_COLLECTIVE,
         MSIM_HOST_PART_PYTHON},
        {{"!" ADAM, "c10d::allreduce_"},
         MSIM_HOST_PART_OPTIMIZER,
         MSIM_HOST_PART_OPTIMIZER},
        {{"aten::mm", "!" ADAM},
         MSIM_HOST_PART_DISPATCH,
         MSIM_HOST_PART_PYTHON},
        {{"Optimizer"}, MSIM_HOST_PART_DISPATCH, MSIM_HOST_PART_PYTHON},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(*ROWS); i++) {
        CHECK_INT(part_within(ROWS[i].names, MSIM_TASK_HOST), ROWS[i].is);
        CHECK_INT(part_within(ROWS[i].names, MSIM_TASK_GAP), ROWS[i].gap);
    }
}

/* A stretch in no operator is of the first part that begins in it. A name is
 * read once, but never a label's for an operator's. */
static void test_host_parts__of_what_begins(void)
{
    struct msim_group_maker maker_of;
    struct made m;
    uint32_t first, second, empty, kernel;

    begin(&m);
    op("forward", MSIM_OP_ANNOTATION, MSIM_NONE);
    op("aten::mm", MSIM_OP_OPERATOR, MSIM_NONE);
    op(ADAM, MSIM_OP_ANNOTATION, MSIM_NONE);
    op("forward", MSIM_OP_OPERATOR, MSIM_NONE);
    first =
        add(&m, MSIM_TASK_HOST,
            (struct msim_task_ref){.index = 0, .op = MSIM_NONE, .op_end = 3});
    second =
        add(&m, MSIM_TASK_HOST,
            (struct msim_task_ref){.index = 2, .op = MSIM_NONE, .op_end = 4});
    empty =
        add(&m, MSIM_TASK_HOST,
            (struct msim_task_ref){.index = 0, .op = MSIM_NONE, .op_end = 1});
    add(&m, MSIM_TASK_HOST,
        (struct msim_task_ref){.index = 3, .op = MSIM_NONE, .op_end = 4});
    kernel = add(&m, MSIM_TASK_KERNEL, (struct msim_task_ref){.op = 1});
    add(&m, MSIM_TASK_JOIN, (struct msim_task_ref){.op = 1});
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_host_parts(&maker_of), MSIM_OK);
    CHECK_INT(m.part[first], MSIM_HOST_PART_DISPATCH);
    CHECK_INT(m.part[second], MSIM_HOST_PART_OPTIMIZER);
    CHECK_INT(m.part[empty], MSIM_HOST_PART_PYTHON);
    CHECK_INT(m.part[3], MSIM_HOST_PART_DISPATCH);
    CHECK_INT(m.part[kernel], MSIM_NO_GROUP);
    CHECK_INT(m.part[kernel + 1], MSIM_NO_GROUP);
    build_release(&b);
}

/* ---- links --------------------------------------------------------------- */

static uint32_t event(enum msim_gpu_kind kind, enum msim_copy_kind copy,
                      uint32_t comm)
{
    uint32_t i = b.t.n_gpu++;

    b.gpu[i] = (struct msim_gpu){.kind = (uint8_t)kind,
                                 .copy_kind = (uint8_t)copy,
                                 .comm = comm,
                                 .name = text("ncclDevKernel_AllReduce"),
                                 .config = MSIM_NONE};
    return i;
}

/* Each kind of copy, and memsets, in the memory of the GPU; kernels and the
 * host go over none. */
static void test_links__of_copies(void)
{
    static const enum msim_link WANT[] = {
        [MSIM_COPY_UNKNOWN] = MSIM_LINK_D2D, [MSIM_COPY_H2D] = MSIM_LINK_H2D,
        [MSIM_COPY_D2H] = MSIM_LINK_D2H,     [MSIM_COPY_D2D] = MSIM_LINK_D2D,
        [MSIM_COPY_P2P] = MSIM_LINK_P2P,
    };
    const uint32_t n = sizeof(WANT) / sizeof(*WANT);
    struct msim_group_maker maker_of;
    struct made m;

    begin(&m);
    for (uint32_t i = 0; i < n; i++)
        add(&m, MSIM_TASK_COPY,
            (struct msim_task_ref){
                .index =
                    event(MSIM_GPU_MEMCPY, (enum msim_copy_kind)i, MSIM_NONE)});
    add(&m, MSIM_TASK_COPY,
        (struct msim_task_ref){
            .index = event(MSIM_GPU_MEMSET, MSIM_COPY_UNKNOWN, MSIM_NONE)});
    add(&m, MSIM_TASK_KERNEL, (struct msim_task_ref){.index = 0});
    add(&m, MSIM_TASK_HOST, (struct msim_task_ref){.index = 0});
    add(&m, MSIM_TASK_JOIN, (struct msim_task_ref){.index = 0});
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_links(&maker_of), MSIM_OK);
    for (uint32_t i = 0; i < n; i++)
        CHECK_INT(m.link[i], WANT[i]);
    CHECK_INT(m.link[n], MSIM_LINK_D2D);
    for (uint32_t i = n + 1; i < n + 4; i++)
        CHECK_INT(m.link[i], MSIM_NO_GROUP);
    build_release(&b);
}

/* The link of a collective of a group of `size` ranks, or a message, where a
 * node has `gpus` and the one traced rank stands for `ranks`. */
static int comm_link(enum msim_collective what, uint32_t size, uint32_t gpus,
                     uint32_t ranks, bool by_name)
{
    struct msim_group_maker maker_of;
    struct made m;
    uint32_t e;

    begin(&m);
    b.t.world_size = (int32_t)size;
    b.groups[0] = (struct msim_group){.size = size};
    b.t.n_groups = 1;
    b.comms[0] = (struct msim_comm){.collective = (uint8_t)what,
                                    .dtype = MSIM_DT_F32,
                                    .in_elems = 1000,
                                    .out_elems = 1000,
                                    .sequence = -1,
                                    .peer = -1,
                                    .op = MSIM_NONE};
    b.t.n_comms = 1;
    e = event(MSIM_GPU_COMM, MSIM_COPY_UNKNOWN, by_name ? MSIM_NONE : 0);
    m.opt.gpus_a_node = gpus;
    m.opt.ranks = ranks;
    /* twice: the second answer is the group's, once asked */
    add(&m, MSIM_TASK_COMM, (struct msim_task_ref){.index = e});
    add(&m, MSIM_TASK_COMM, (struct msim_task_ref){.index = e});
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_links(&maker_of), MSIM_OK);
    CHECK_INT(m.link[0], m.link[1]);
    build_release(&b);
    return m.link[0];
}

static void test_links__of_collectives(void)
{
    const enum msim_collective all = MSIM_COLL_ALL_REDUCE;

    for (int by_name = 0; by_name < 2; by_name++) {
        CHECK_INT(comm_link(all, 8, 8, 0, by_name), MSIM_LINK_NODE);
        CHECK_INT(comm_link(all, 9, 8, 0, by_name), MSIM_LINK_NETWORK);
        CHECK_INT(comm_link(all, 4, 4, 0, by_name), MSIM_LINK_NODE);
        CHECK_INT(comm_link(all, 8, 0, 0, by_name), MSIM_LINK_NODE);
        CHECK_INT(comm_link(all, 9, 0, 0, by_name), MSIM_LINK_NETWORK);
        CHECK_INT(comm_link(all, 2, 1, 0, by_name), MSIM_LINK_NETWORK);
    }
    /* Messages have two ranks, whatever their group has. */
    CHECK_INT(comm_link(MSIM_COLL_SEND, 16, 8, 0, false), MSIM_LINK_NODE);
    CHECK_INT(comm_link(MSIM_COLL_RECV, 16, 8, 0, false), MSIM_LINK_NODE);
    CHECK_INT(comm_link(MSIM_COLL_ALL_TO_ALL, 16, 8, 0, false),
              MSIM_LINK_NETWORK);
    /* A group of all ranks grows with the job. */
    CHECK_INT(comm_link(all, 1, 8, 8, true), MSIM_LINK_NODE);
    CHECK_INT(comm_link(all, 1, 8, 16, true), MSIM_LINK_NETWORK);
}

/* In one group, what all ranks do goes over the network and a message does not,
 * whichever comes first. */
static void test_links__messages_of_a_group(void)
{
    for (int first = 0; first < 2; first++) {
        struct msim_group_maker maker_of;
        struct made m;

        begin(&m);
        b.t.world_size = 16;
        b.groups[0] = (struct msim_group){.size = 16};
        b.t.n_groups = 1;
        for (uint32_t i = 0; i < 2; i++) {
            b.comms[i] = (struct msim_comm){
                .collective =
                    (int)i == first ? MSIM_COLL_SEND : MSIM_COLL_ALL_REDUCE,
                .dtype = MSIM_DT_F32,
                .in_elems = 1000,
                .out_elems = 1000,
                .sequence = -1,
                .peer = -1,
                .op = MSIM_NONE};
            add(&m, MSIM_TASK_COMM,
                (struct msim_task_ref){
                    .index = event(MSIM_GPU_COMM, MSIM_COPY_UNKNOWN, i)});
        }
        b.t.n_comms = 2;
        m.opt.gpus_a_node = 8;
        maker_of = maker(&m, &m.out);
        CHECK_INT(msim_group_links(&maker_of), MSIM_OK);
        CHECK_INT(m.link[first], MSIM_LINK_NODE);
        CHECK_INT(m.link[1 - first], MSIM_LINK_NETWORK);
        build_release(&b);
    }
}

/* What the trace has no event of: by the operator's collective, or the kind of
 * its copy, of which there may be fewer than is asked for. */
static void test_links__of_what_is_planned(void)
{
    struct msim_trace *ranks[1] = {&b.t};
    struct msim_group_maker maker_of;
    struct msim_works **works;
    struct made m;

    begin(&m);
    build_op(&b, 0, "aten::copy_", "f16[8,4] f16[8,4]@", "f16[8,4]");
    build_op(&b, 0, "aten::copy_", "f16[8,4]@ f16[8,4]", "f16[8,4]@");
    build_op(&b, 0, "nccl:all_reduce", "", "");
    b.t.world_size = 16;
    b.comms[0] = (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                                    .dtype = MSIM_DT_F32,
                                    .in_elems = 1000,
                                    .out_elems = 1000,
                                    .sequence = -1,
                                    .peer = -1,
                                    .group = MSIM_NONE,
                                    .op = 2};
    b.t.n_comms = 1;
    b.ops[2].comm = 0;
    REQUIRE(msim_works_new_ranks(&works, ranks, 1, NULL, false) == MSIM_OK);
    m.opt.works = works;
    for (uint32_t i = 0; i < 2; i++)
        add(&m, MSIM_TASK_COPY,
            (struct msim_task_ref){.index = MSIM_NONE, .op = i});
    add(&m, MSIM_TASK_COPY,
        (struct msim_task_ref){.index = MSIM_NONE, .op = 1, .work = 1});
    add(&m, MSIM_TASK_COMM,
        (struct msim_task_ref){.index = MSIM_NONE, .op = 2});
    m.opt.gpus_a_node = 8;
    maker_of = maker(&m, &m.out);
    CHECK_INT(msim_group_links(&maker_of), MSIM_OK);
    CHECK_INT(m.link[0], MSIM_LINK_H2D);
    CHECK_INT(m.link[1], MSIM_LINK_D2H);
    CHECK_INT(m.link[2], MSIM_LINK_D2D);
    CHECK_INT(m.link[3], MSIM_LINK_NETWORK);
    msim_works_free_ranks(works, 1);
    build_release(&b);
}

/* ---- families ------------------------------------------------------------ */

/* Of what the trace has no event of: the family of the operator's work of that
 * number, and none that is known where there is no such work. Of an event: that
 * of its operator, else what a kernel's name says; a copy's name says nothing.
 * The host is of none. */
static void test_families__of_tasks(void)
{
    static const uint8_t WANT[] = {
        MSIM_FAMILY_GEMM, MSIM_FAMILY_BOUND, MSIM_FAMILY_BOUND,
        MSIM_NO_GROUP,    MSIM_FAMILY_GEMM,  MSIM_FAMILY_COLLECTIVE,
        MSIM_FAMILY_COPY, MSIM_NO_GROUP,     MSIM_NO_GROUP};
    static const enum msim_gpu_kind KIND[] = {MSIM_GPU_KERNEL, MSIM_GPU_COMM,
                                              MSIM_GPU_MEMCPY};
    static const enum msim_task_kind TASK[] = {MSIM_TASK_KERNEL, MSIM_TASK_COMM,
                                               MSIM_TASK_COPY};
    struct msim_trace *ranks[1] = {&b.t};
    struct msim_group_maker maker_of;
    struct msim_works **works;
    struct made m;

    begin(&m);
    build_op(&b, 0, "aten::mm", "f16[8,4] f16[4,8]", "f16[8,8]");
    build_op(&b, 0, "aten::view", "f16[8,4]", "f16[4,8]");
    for (uint32_t i = 0; i < 3; i++) /* the first alone has a work */
        add(&m, MSIM_TASK_KERNEL,
            (struct msim_task_ref){
                .index = MSIM_NONE, .op = i == 2, .work = (uint16_t)(i == 1)});
    add(&m, MSIM_TASK_HOST, (struct msim_task_ref){.index = MSIM_NONE});
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t e = event(KIND[i], MSIM_COPY_D2D, MSIM_NONE);

        b.gpu[e].name = text("ampere_sgemm_128x64_nn");
        b.gpu[e].op = MSIM_NONE;
        add(&m, TASK[i], (struct msim_task_ref){.index = e});
    }
    add(&m, MSIM_TASK_CALL, (struct msim_task_ref){.index = 0});
    add(&m, MSIM_TASK_JOIN, (struct msim_task_ref){.index = 0});
    REQUIRE(msim_works_new_ranks(&works, ranks, 1, NULL, false) == MSIM_OK);
    m.opt.works = works;
    maker_of = maker(&m, &m.out);
    memset(m.family, 200, sizeof(m.family));
    CHECK_INT(msim_group_families(&maker_of), MSIM_OK);
    for (uint32_t i = 0; i < sizeof(WANT); i++)
        CHECK_INT(m.family[i], WANT[i]);
    msim_works_free_ranks(works, 1);
    build_release(&b);
}

/* ---- an overlay ---------------------------------------------------------- */

/* What is inserted is of the family that made it, if it is one. */
static void test_overlaid__keeps_what_was(void)
{
    uint8_t family[] = {1, 2, 3}, link[] = {4, 5, 6}, part[] = {7, 8, 9};
    const struct msim_task_groups base = {family, link, part};
    const uint32_t from[] = {2, 0, 3, 4, 1};
    const uint8_t made_by[] = {0, 0, MSIM_FAMILY_CONV, MSIM_FAMILY_COUNT, 0};
    struct msim_task_groups *t;

    REQUIRE(msim_task_groups_overlaid(&t, &base, 3, made_by, from, 5) ==
            MSIM_OK);
    CHECK_INT(t->family[0], 3);
    CHECK_INT(t->link[0], 6);
    CHECK_INT(t->part[0], 9);
    CHECK_INT(t->family[1], 1);
    CHECK_INT(t->family[2], MSIM_FAMILY_CONV);
    CHECK_INT(t->family[3], MSIM_NO_GROUP);
    for (int i = 2; i < 4; i++) {
        CHECK_INT(t->link[i], MSIM_NO_GROUP);
        CHECK_INT(t->part[i], MSIM_NO_GROUP);
    }
    CHECK_INT(t->family[4], 2);
    CHECK_INT(t->part[4], 8);
    msim_task_groups_free(t);
    msim_task_groups_free(NULL);
}

int main(void)
{
    RUN(test_host_parts__of_calls);
    RUN(test_host_parts__of_operators);
    RUN(test_host_parts__of_what_begins);
    RUN(test_links__of_collectives);
    RUN(test_links__messages_of_a_group);
    RUN(test_links__of_copies);
    RUN(test_links__of_what_is_planned);
    RUN(test_families__of_tasks);
    RUN(test_overlaid__keeps_what_was);
    return check_summary();
}
