/*
 * The memory that operands of each kind of experiment take, counted by hand,
 * and the words of vector operators.
 */
#include "profilers/experiment.h"

#include "tests/check.h"

#define ROWS 6
#define COLS 10

static struct msim_experiment vector(const char *word, enum msim_dtype dtype)
{
    struct msim_experiment e = {.table = MSIM_TABLE_VECTOR, .dtype = dtype};

    e.u.vector.op = msim_vector_op_parse(word);
    e.work.u.vector.rows = ROWS;
    e.work.u.vector.cols = COLS;
    e.work.u.vector.elems = ROWS * COLS;
    return e;
}

/* 6 rows of 10 numbers of 2 bytes: 120 bytes a tensor. */
static void test_bytes__of_vector_operators(void)
{
    static const struct {
        const char *word;
        double bytes;
    } ROWS_OF[] = {
        {"fill", 120},
        {"fill_", 120},
        {"mulu_", 120},
        {"addu_", 120},
        {"divu_", 120},
        {"clamp_min_", 120},
        {"copy", 240},
        {"relu", 240},
        {"add_", 240},
        {"lerp_", 240},
        {"softmax", 240},
        {"add", 360},
        {"addcmul_", 360},
        {"softmax_backward", 360},
        {"dropout", 240 + 60},          /* a byte each */
        {"sum", 120 + 6 * 2},           /* a figure a row */
        {"layer_norm", 2 * (120 + 20)}, /* in, out, weight, bias */
        {"rms_norm", 2 * (120 + 20)},
        {"layer_norm_backward", 3 * 120 + 4 * 20},
        {"batch_norm", 240 + 4 * 6 * 4}, /* four figures of 4 bytes a row */
        {"batch_norm_backward", 360 + 7 * 6 * 4},
        /* the table is of 65536 rows, indices are of 8 bytes */
        {"index_select", 120 + 65536 * 20 + 6 * 8},
        {"embedding_backward", 120 + 65536 * 20 + 6 * 8},
    };
    struct msim_experiment e;

    for (size_t i = 0; i < sizeof(ROWS_OF) / sizeof(*ROWS_OF); i++) {
        e = vector(ROWS_OF[i].word, MSIM_DT_F16);
        CHECK(e.u.vector.op < MSIM_VOP_COUNT);
        CHECK_REL(msim_experiment_bytes(&e), ROWS_OF[i].bytes, 1e-12);
    }
    e = vector("add", MSIM_DT_F32);
    CHECK_REL(msim_experiment_bytes(&e), 720, 1e-12);
    e = vector("batch_norm", MSIM_DT_F32);
    CHECK_REL(msim_experiment_bytes(&e), 480 + 4 * 6 * 4, 1e-12);
    e = vector("no such word", MSIM_DT_F16);
    CHECK_REL(msim_experiment_bytes(&e), 0, 0);
    e = vector("index_select", MSIM_DT_F16);
    CHECK_INT(msim_experiment_table_rows(&e), 65536);
    e.u.vector.table_rows = 7;
    CHECK_INT(msim_experiment_table_rows(&e), 7);
    CHECK_REL(msim_experiment_bytes(&e), 120 + 7 * 20 + 48, 1e-12);
}

static void test_bytes__of_products(void)
{
    static const struct {
        enum msim_dtype dtype;
        double in, out; /* bytes of a number */
    } TYPES[] = {{MSIM_DT_F64, 8, 8},  {MSIM_DT_F32, 4, 4}, {MSIM_DT_F16, 2, 2},
                 {MSIM_DT_BF16, 2, 2}, {MSIM_DT_F8, 1, 2},  {MSIM_DT_I8, 1, 4}};

    for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++) {
        struct msim_experiment e = {.table = MSIM_TABLE_GEMM,
                                    .dtype = TYPES[i].dtype};

        e.work.u.gemm.batch = 2;
        e.work.u.gemm.m = 3;
        e.work.u.gemm.n = 5;
        e.work.u.gemm.k = 7;
        CHECK_REL(msim_experiment_bytes(&e),
                  2 * ((21 + 35) * TYPES[i].in + 15 * TYPES[i].out), 1e-12);
    }
}

/* Queries and results, keys and values. */
static void test_bytes__of_attention(void)
{
    struct msim_experiment e = {.table = MSIM_TABLE_ATTENTION,
                                .dtype = MSIM_DT_F16};

    e.work.u.attention.batch = 3;
    e.work.u.attention.heads = 8;
    e.work.u.attention.kv_heads = 2;
    e.work.u.attention.q_len = 5;
    e.work.u.attention.kv_len = 100;
    e.work.u.attention.head_dim = 64;
    CHECK_REL(msim_experiment_bytes(&e),
              2.0 * 3 * 64 * (2 * (8 * 5) + 2 * (2 * 100)), 1e-12);
}

static void test_bytes__of_convolutions(void)
{
    struct msim_experiment e = {.table = MSIM_TABLE_CONV, .dtype = MSIM_DT_F32};

    e.work.u.conv.n = 2;
    e.work.u.conv.c = 6;
    e.work.u.conv.h = 10;
    e.work.u.conv.w = 11;
    e.work.u.conv.k = 9;
    e.work.u.conv.r = 3;
    e.work.u.conv.s = 5;
    e.work.u.conv.groups = 3;
    e.u.conv.out_h = 8;
    e.u.conv.out_w = 7;
    CHECK_REL(msim_experiment_bytes(&e),
              4.0 * (2 * 6 * 10 * 11 + 2 * 9 * 8 * 7 + 9 * (6 / 3) * 3 * 5),
              1e-12);
}

static void test_bytes__of_what_is_moved(void)
{
    struct msim_experiment e = {.table = MSIM_TABLE_COPY};

    e.u.copy.bytes = 1000;
    for (int way = 0; way < MSIM_COPY_WAY_COUNT; way++) {
        e.u.copy.op = (enum msim_copy_way)way;
        CHECK_REL(msim_experiment_bytes(&e),
                  way == MSIM_COPY_WAY_D2D ? 2000 : 1000, 1e-12);
    }
    e = (struct msim_experiment){.table = MSIM_TABLE_COLLECTIVE,
                                 .dtype = MSIM_DT_F32};
    e.work.u.coll.collective = MSIM_COLL_ALL_GATHER;
    e.work.u.coll.bytes = 4096;
    e.work.u.coll.ranks = 4;
    CHECK_REL(msim_experiment_bytes(&e), 1024 + 4096, 1e-12);
    e.work.u.coll.collective = MSIM_COLL_ALL_REDUCE;
    CHECK_REL(msim_experiment_bytes(&e), 2 * 4096, 1e-12);
    e.table = MSIM_TABLE_LATENCY;
    CHECK_REL(msim_experiment_bytes(&e), 0, 0);
}

/* Of 40 bytes in numbers of 4, over 3 ranks: 10 numbers, or 3 for each. */
static void test_elems__as_nccl_tests_count(void)
{
    static const struct {
        enum msim_collective c;
        uint64_t in, out, least_in, least_out;
    } WANT[] = {
        {MSIM_COLL_ALL_REDUCE, 10, 10, 1, 1},
        {MSIM_COLL_BROADCAST, 10, 10, 1, 1},
        {MSIM_COLL_ALL_GATHER, 3, 9, 1, 3},
        {MSIM_COLL_REDUCE_SCATTER, 9, 3, 3, 1},
        {MSIM_COLL_ALL_TO_ALL, 9, 9, 3, 3},
    };

    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++) {
        uint64_t in, out;

        msim_collective_elems(WANT[i].c, 40, 3, 4, &in, &out);
        CHECK_UINT(in, WANT[i].in);
        CHECK_UINT(out, WANT[i].out);
        msim_collective_elems(WANT[i].c, 3, 3, 4, &in, &out); /* no number */
        CHECK_UINT(in, WANT[i].least_in);
        CHECK_UINT(out, WANT[i].least_out);
    }
}

/* Each word is that of one operator, which is in place where an underscore says
 * so: fewer tensors than without it. */
static void test_vector_op__words(void)
{
    for (int i = 0; i < MSIM_VOP_COUNT; i++) {
        const char *word = msim_vector_op_text((enum msim_vector_op)i);

        CHECK_INT(msim_vector_op_parse(word), i);
    }
    CHECK(msim_vector_op_text(MSIM_VOP_COUNT) == NULL);
    CHECK_INT(msim_vector_op_parse(NULL), MSIM_VOP_COUNT);
    CHECK_INT(msim_vector_op_parse(""), MSIM_VOP_COUNT);
    CHECK_INT(msim_vector_op_parse("ad"), MSIM_VOP_COUNT);
    CHECK_INT(msim_vector_op_parse("addd"), MSIM_VOP_COUNT);
    CHECK_STR(msim_vector_op_text(MSIM_VOP_COPY), "copy");
    CHECK_STR(msim_vector_op_text(MSIM_VOP_EMBEDDING_BACKWARD),
              "embedding_backward");
    CHECK_INT(msim_vector_op_kind(MSIM_VOP_COPY), MSIM_VECTOR_UNARY);
    CHECK_INT(msim_vector_op_kind(MSIM_VOP_ADD), MSIM_VECTOR_BINARY);
    CHECK_INT(msim_vector_op_kind(MSIM_VOP_EMBEDDING_BACKWARD),
              MSIM_VECTOR_SCATTER);
}

int main(void)
{
    RUN(test_bytes__of_vector_operators);
    RUN(test_bytes__of_products);
    RUN(test_bytes__of_attention);
    RUN(test_bytes__of_convolutions);
    RUN(test_bytes__of_what_is_moved);
    RUN(test_elems__as_nccl_tests_count);
    RUN(test_vector_op__words);
    return check_summary();
}
