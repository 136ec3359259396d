/*
 * tests/unit/core/trace/test_order_comms.c - collectives and the kernels that
 * carry them out.
 *
 * Operators are rows with a parent; tensors are of 6, 5 and 4 elements.
 */
#include "core/trace/trace_columns.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 32

struct made {
    struct msim_trace t;
    struct msim_strtab *strings;
    struct msim_op ops[MOST];
    struct msim_gpu gpu[8];
    struct msim_arg args[8];
    struct msim_arg_block blocks[8];
};

static struct made made;
static int64_t dims[] = {2, 3, 5, 4};

enum { ONE_TENSOR, LIST, TWO_TENSORS, NO_TENSOR, TENSOR_AND_NUMBER };

static void make(void)
{
    struct made *m = &made;

    memset(m, 0, sizeof(*m));
    CHECK_INT(msim_strtab_new(&m->strings), MSIM_OK);
    m->args[0] = (struct msim_arg){
        .kind = MSIM_ARG_TENSOR, .n = 2, .v.i = 0, .dtype = MSIM_DT_F32};
    m->args[1] = (struct msim_arg){.kind = MSIM_ARG_LIST, .n = 2, .v.i = 2};
    m->args[2] = (struct msim_arg){
        .kind = MSIM_ARG_TENSOR, .n = 2, .v.i = 0, .dtype = MSIM_DT_BF16};
    m->args[3] = (struct msim_arg){
        .kind = MSIM_ARG_TENSOR, .n = 1, .v.i = 2, .dtype = MSIM_DT_F32};
    m->args[4] = (struct msim_arg){
        .kind = MSIM_ARG_TENSOR, .n = 1, .v.i = 2, .dtype = MSIM_DT_F16};
    m->args[5] = (struct msim_arg){
        .kind = MSIM_ARG_TENSOR, .n = 1, .v.i = 3, .dtype = MSIM_DT_F64};
    m->args[6] = (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = 1};
    m->blocks[ONE_TENSOR] = (struct msim_arg_block){0, 1};
    m->blocks[LIST] = (struct msim_arg_block){1, 3};
    m->blocks[TWO_TENSORS] = (struct msim_arg_block){4, 2};
    m->blocks[NO_TENSOR] = (struct msim_arg_block){6, 1};
    m->blocks[TENSOR_AND_NUMBER] = (struct msim_arg_block){5, 2};
    m->t = (struct msim_trace){.strings = m->strings,
                               .ops = m->ops,
                               .gpu = m->gpu,
                               .args = m->args,
                               .n_args = 7,
                               .blocks = m->blocks,
                               .n_blocks = 5,
                               .dims = dims};
}

static void release(void)
{
    free(made.t.comms);
    msim_strtab_free(made.strings);
}

static uint32_t name_of(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(made.strings, text, strlen(text), &id), MSIM_OK);
    return id;
}

static uint32_t op(const char *name, uint32_t parent, uint32_t args)
{
    uint32_t i = made.t.n_ops++;

    made.ops[i] = msim_op_empty();
    made.ops[i].name = name_of(name);
    made.ops[i].parent = parent;
    made.ops[i].args = args;
    made.ops[i].end = i + 1;
    for (uint32_t p = parent; p != MSIM_NONE; p = made.ops[p].parent)
        made.ops[p].end = i + 1;
    return i;
}

static struct msim_gpu *kernel(const char *name, uint32_t in)
{
    struct msim_gpu *g = &made.gpu[made.t.n_gpu++];

    *g = (struct msim_gpu){.name = name_of(name), .op = in, .comm = MSIM_NONE};
    return g;
}

/* A row that the reader made of a record's own data. */
static uint32_t row(struct msim_comm c)
{
    made.t.comms = realloc(made.t.comms, 8 * sizeof(*made.t.comms));
    if (!CHECK(made.t.comms != NULL))
        abort();
    made.t.cap_comms = 8;
    made.t.comms[made.t.n_comms] = c;
    return made.t.n_comms++;
}

static void order(void)
{
    CHECK_INT(msim_order_comms(&made.t), MSIM_OK);
}

static uint64_t noted(enum msim_import_kind kind)
{
    return made.t.import.rows[kind].n;
}

static void check_comm(uint32_t i, uint8_t kind, uint64_t in, uint64_t out,
                       uint8_t dtype, uint32_t of)
{
    const struct msim_comm *c = &made.t.comms[i];

    if (!CHECK(i < made.t.n_comms))
        return;
    CHECK_INT(c->collective, kind);
    CHECK_UINT(c->in_elems, in);
    CHECK_UINT(c->out_elems, out);
    CHECK_INT(c->dtype, dtype);
    CHECK_UINT(c->op, of);
}

/* ---- rows of operators --------------------------------------------------- */

/* The label inside says the kind; tensors of the operator, else of the label,
 * the size. */
static void test_order_comms__labels(void)
{
    uint32_t a, b, c;

    make();
    a = op("record_param_comms", MSIM_NONE, ONE_TENSOR);
    op("nccl:all_reduce", a, LIST);
    b = op("record_param_comms", MSIM_NONE, NO_TENSOR);
    op("other", b, TWO_TENSORS);
    op("nccl:_all_gather_base", b, LIST);
    op("nccl:broadcast", b, ONE_TENSOR);
    c = op("record_param_comms", MSIM_NONE, MSIM_NONE);
    op("all_reduce", c, ONE_TENSOR); /* no label */
    op("record_param_comms", MSIM_NONE, TWO_TENSORS);
    order();
    REQUIRE(made.t.n_comms == 4);
    CHECK_UINT(made.t.comms[3].in_elems, 5); /* of the first argument */
    check_comm(0, MSIM_COLL_ALL_REDUCE, 6, 6, MSIM_DT_F32, a);
    check_comm(1, MSIM_COLL_ALL_GATHER, 11, 0, MSIM_DT_BF16, b);
    check_comm(2, MSIM_COLL_UNKNOWN, 0, 0, MSIM_DT_UNKNOWN, c);
    CHECK_UINT(made.ops[b].comm, 1);
    CHECK_INT(made.t.comms[0].sequence, -1);
    CHECK_INT(made.t.comms[0].peer, -1);
    CHECK_UINT(made.t.comms[0].group, MSIM_NONE);
    CHECK_UINT(noted(MSIM_IMPORT_COMM_SIZE), 4);
    release();
}

/* Of these the output is as large as the input on every rank. */
static void check_out(const char *label, bool same)
{
    uint32_t a;

    make();
    a = op("record_param_comms", MSIM_NONE, ONE_TENSOR);
    op(label, a, MSIM_NONE);
    order();
    CHECK_UINT(made.t.comms[0].out_elems, same ? 6 : 0);
    release();
}

static void test_order_comms__outputs(void)
{
    check_out("nccl:all_reduce", true);
    check_out("nccl:broadcast", true);
    check_out("nccl:reduce", true);
    check_out("nccl:all_to_all", true);
    check_out("nccl:all_gather", false);
    check_out("nccl:reduce_scatter", false);
    check_out("nccl:gather", false);
}

/* A label is within sixteen operators, and within the operator. */
static void test_order_comms__far_labels(void)
{
    for (uint32_t between = 13; between < 16; between++) {
        uint32_t a;

        make();
        a = op("record_param_comms", MSIM_NONE, ONE_TENSOR);
        for (uint32_t i = 0; i < between; i++)
            op("x", a, MSIM_NONE);
        op("nccl:all_reduce", a, MSIM_NONE);
        order();
        CHECK_INT(made.t.comms[0].collective,
                  between < 15 ? MSIM_COLL_ALL_REDUCE : MSIM_COLL_UNKNOWN);
        release();
    }
    make();
    op("record_param_comms", MSIM_NONE, ONE_TENSOR);
    op("nccl:all_reduce", MSIM_NONE, MSIM_NONE);
    order();
    CHECK_INT(made.t.comms[0].collective, MSIM_COLL_UNKNOWN);
    release();
}

/* c10d's base operators have output and input as their first two. */
static void check_base(const char *around, uint32_t args, bool base)
{
    uint32_t a, b;

    make();
    a = op(around, MSIM_NONE, args);
    b = op("record_param_comms", a, ONE_TENSOR);
    op("nccl:all_gather", b, MSIM_NONE);
    order();
    REQUIRE(made.t.n_comms == 1);
    check_comm(0, MSIM_COLL_ALL_GATHER, base ? 4 : 6, base ? 5 : 0, MSIM_DT_F32,
               b);
    release();
}

static void test_order_comms__base(void)
{
    check_base("c10d::_allgather_base_", TWO_TENSORS, true);
    check_base("c10d::allgather_", TWO_TENSORS, false);
    check_base("_allgather_base_", TWO_TENSORS, false);
    check_base("c10d::_allgather_base_", ONE_TENSOR, false);
    check_base("c10d::_allgather_base_", LIST, false);
    check_base("c10d::_allgather_base_", TENSOR_AND_NUMBER, false);
    check_base("c10d::_allgather_base_", MSIM_NONE, false);
}

/* A backend that records none: the operator itself is the collective, unless
 * one inside of it says more. */
static void test_order_comms__bare(void)
{
    uint32_t a, b;

    make();
    a = op("c10d::allreduce_", MSIM_NONE, ONE_TENSOR);
    op("gloo:all_reduce", a, MSIM_NONE);
    op("c10d::thing", MSIM_NONE, ONE_TENSOR);
    op("allreduce", MSIM_NONE, ONE_TENSOR);
    b = op("c10d::broadcast_", MSIM_NONE, TWO_TENSORS);
    op("record_param_comms", b, LIST);
    order();
    REQUIRE(made.t.n_comms == 2);
    CHECK_INT(made.t.comms[0].collective, MSIM_COLL_ALL_REDUCE);
    CHECK_UINT(made.t.comms[0].in_elems, 6);
    CHECK_UINT(made.t.comms[0].op, a);
    check_comm(1, MSIM_COLL_UNKNOWN, 11, 0, MSIM_DT_BF16, b + 1);
    release();
}

/* Nothing launched, nothing inside, no tensor. */
static void test_order_comms__waits(void)
{
    uint32_t a;

    make();
    op("record_param_comms", MSIM_NONE, NO_TENSOR);
    a = op("record_param_comms", MSIM_NONE, NO_TENSOR);
    op("x", a, MSIM_NONE);
    op("record_param_comms", MSIM_NONE, ONE_TENSOR);
    order();
    REQUIRE(made.t.n_comms == 3);
    CHECK_INT(made.t.comms[0].collective, MSIM_COLL_WAIT);
    CHECK_INT(made.t.comms[1].collective, MSIM_COLL_UNKNOWN);
    CHECK_INT(made.t.comms[2].collective, MSIM_COLL_UNKNOWN);
    release();
}

/* ---- kernels ------------------------------------------------------------- */

/* A kernel in an operator of a collective carries it out; its own data fill
 * what the operator does not say, and its row is gone. */
static void test_order_comms__merged(void)
{
    struct msim_gpu *g;
    uint32_t a, b;

    make();
    row((struct msim_comm){.op = MSIM_NONE, /* of nothing at all */
                           .collective = MSIM_COLL_BARRIER});
    b = row((struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                               .in_elems = 70,
                               .out_elems = 80,
                               .dtype = MSIM_DT_F64,
                               .sequence = 4,
                               .peer = 2,
                               .by_place = true,
                               .group = 5,
                               .op = MSIM_NONE});
    a = op("record_param_comms", MSIM_NONE, NO_TENSOR);
    g = kernel("ncclKernel", op("launch", a, MSIM_NONE));
    g->kind = MSIM_GPU_COMM;
    g->comm = b;
    order();
    REQUIRE(made.t.n_comms == 1);
    check_comm(0, MSIM_COLL_ALL_REDUCE, 70, 80, MSIM_DT_F64, a);
    CHECK_INT(made.t.comms[0].sequence, 4);
    CHECK_INT(made.t.comms[0].peer, 2);
    CHECK(made.t.comms[0].by_place);
    CHECK_UINT(made.t.comms[0].group, 5);
    CHECK_UINT(g->comm, 0);
    CHECK_UINT(made.ops[a].comm, 0);
    release();
}

/* What the operator says stays. */
static void test_order_comms__kept(void)
{
    struct msim_gpu *g;
    uint32_t a, b;

    make();
    b = row((struct msim_comm){.collective = MSIM_COLL_BARRIER,
                               .in_elems = 70,
                               .out_elems = 80,
                               .dtype = MSIM_DT_F64,
                               .sequence = 4,
                               .peer = 2,
                               .group = 5,
                               .op = MSIM_NONE});
    a = op("record_param_comms", MSIM_NONE, MSIM_NONE);
    made.ops[a].comm = row((struct msim_comm){.collective = MSIM_COLL_SEND,
                                              .out_elems = 3,
                                              .dtype = MSIM_DT_I8,
                                              .sequence = 0,
                                              .peer = 0,
                                              .group = 0,
                                              .op = MSIM_NONE});
    g = kernel("ncclKernel", a);
    g->kind = MSIM_GPU_COMM;
    g->comm = b;
    order();
    REQUIRE(made.t.n_comms == 1);
    check_comm(0, MSIM_COLL_SEND, 0, 3, MSIM_DT_I8, a);
    CHECK_INT(made.t.comms[0].sequence, 0);
    CHECK_INT(made.t.comms[0].peer, 0);
    CHECK_UINT(made.t.comms[0].group, 0);
    CHECK_UINT(noted(MSIM_IMPORT_COMM_SIZE), 0);
    release();
}

/* A kernel launched up to seven operators inside; copies are no kernels. */
static void test_order_comms__around(void)
{
    for (uint32_t deep = 6; deep < 9; deep++) {
        uint32_t in;

        make();
        in = op("record_param_comms", MSIM_NONE, ONE_TENSOR);
        for (uint32_t i = 0; i < deep; i++)
            in = op("x", in, MSIM_NONE);
        kernel("k", in);
        kernel("copy", in)->kind = MSIM_GPU_MEMCPY;
        order();
        CHECK_INT(made.gpu[0].kind, deep < 8 ? MSIM_GPU_COMM : MSIM_GPU_KERNEL);
        CHECK_UINT(made.gpu[0].comm, deep < 8 ? 0 : MSIM_NONE);
        CHECK_INT(made.gpu[1].kind, MSIM_GPU_MEMCPY);
        CHECK_UINT(made.gpu[1].comm, MSIM_NONE);
        release();
    }
}

/* Where only the name shows it, it has neither size nor group; another
 * library's has no row. */
static void test_order_comms__by_name(void)
{
    make();
    kernel("ncclDevKernel_AllReduce_Sum_f32", MSIM_NONE);
    kernel("gemm", MSIM_NONE);
    kernel("ncclDevKernel_AllReduce_Sum_f32", op("x", MSIM_NONE, ONE_TENSOR));
    kernel("internode::dispatch", MSIM_NONE);
    order();
    REQUIRE(made.t.n_comms == 2);
    check_comm(0, MSIM_COLL_ALL_REDUCE, 0, 0, MSIM_DT_UNKNOWN, MSIM_NONE);
    CHECK_INT(made.t.comms[0].sequence, -1);
    CHECK_INT(made.t.comms[0].peer, -1);
    CHECK_UINT(made.t.comms[0].group, MSIM_NONE);
    CHECK_INT(made.gpu[0].kind, MSIM_GPU_COMM);
    CHECK_INT(made.gpu[1].kind, MSIM_GPU_KERNEL);
    CHECK_UINT(made.gpu[2].comm, 1);
    CHECK_INT(made.gpu[3].kind, MSIM_GPU_COMM);
    CHECK_UINT(made.gpu[3].comm, MSIM_NONE);
    CHECK_UINT(noted(MSIM_IMPORT_COMM_NAME), 3);
    release();
}

/* A row without a kind has that of its kernel's name. */
static void test_order_comms__kind_of_a_kernel(void)
{
    uint32_t a;

    make();
    a = op("record_param_comms", MSIM_NONE, ONE_TENSOR);
    kernel("ncclKernel_AllGather_RING", a);
    order();
    check_comm(0, MSIM_COLL_ALL_GATHER, 6, 0, MSIM_DT_F32, a);
    release();
}

/* ---- devices ------------------------------------------------------------- */

static void test_order_comms__cpu_only(void)
{
    make();
    CHECK(msim_order_cpu_only(&made.t));
    made.args[6].device = MSIM_DEV_GPU; /* no tensor */
    CHECK(msim_order_cpu_only(&made.t));
    made.args[5].device = MSIM_DEV_CPU;
    CHECK(msim_order_cpu_only(&made.t));
    made.args[0].device = MSIM_DEV_GPU;
    CHECK(!msim_order_cpu_only(&made.t));
    made.args[0].device = MSIM_DEV_UNKNOWN;
    made.t.has_gpu_events = true;
    CHECK(!msim_order_cpu_only(&made.t));
    release();
}

int main(void)
{
    RUN(test_order_comms__labels);
    RUN(test_order_comms__outputs);
    RUN(test_order_comms__far_labels);
    RUN(test_order_comms__base);
    RUN(test_order_comms__bare);
    RUN(test_order_comms__waits);
    RUN(test_order_comms__merged);
    RUN(test_order_comms__kept);
    RUN(test_order_comms__around);
    RUN(test_order_comms__by_name);
    RUN(test_order_comms__kind_of_a_kernel);
    RUN(test_order_comms__cpu_only);
    return check_summary();
}
