/*
 * tests/unit/core/trace/test_op_shapes.c - sizes of tensors as a text, and
 * views of a trace, which have sizes of their own.
 */
#include "core/trace/trace_columns.h"
#include "core/trace/trace_steps.h"
#include "tests/check.h"

static int64_t dims[64] = {64, 512, 1024, 7};
static struct msim_arg args[64] = {
    {.kind = MSIM_ARG_TENSOR, .n = 2, .v.i = 0, .dtype = MSIM_DT_BF16},
    {.kind = MSIM_ARG_INT, .n = 2, .v.i = 1},
    {.kind = MSIM_ARG_LIST, .n = 2, .v.i = 2},
    {.kind = MSIM_ARG_TENSOR, .n = 1, .v.i = 3, .dtype = MSIM_DT_F32},
    {.kind = MSIM_ARG_TENSOR, .n = 0, .v.i = 0, .dtype = MSIM_DT_I64},
};
static struct msim_arg_block blocks[] = {{0, 5}, {1, 2}, {3, 1}, {8, 50}};
static struct msim_op ops[7];
static struct msim_trace trace = {.ops = ops,
                                  .n_ops = 7,
                                  .args = args,
                                  .n_args = 64,
                                  .blocks = blocks,
                                  .n_blocks = 4,
                                  .dims = dims,
                                  .n_dims = 64};

/* Blocks by operator: none, the first, none in it, no tensor in it, none in
 * that, the third in it; the last is by itself. */
static void make_ops(void)
{
    static const uint32_t BLOCKS[] = {MSIM_NONE, 0, MSIM_NONE, 1,
                                      MSIM_NONE, 2, MSIM_NONE};
    static const uint32_t PARENTS[] = {MSIM_NONE, 0, 1, 2, 3, 4, MSIM_NONE};

    for (int i = 0; i < 7; i++) {
        ops[i] = msim_op_empty();
        ops[i].args = BLOCKS[i];
        ops[i].parent = PARENTS[i];
    }
}

/* Tensors of the innermost operator around it that has arguments. */
static void test_op_shapes__whose(void)
{
    static const char *const WANT[] = {
        NULL, "[64,512] [7] []", "[64,512] [7] []", NULL, NULL, "[7]", NULL};
    struct msim_arena arena;
    struct msim_op_shapes s;

    make_ops();
    msim_arena_init(&arena);
    REQUIRE(msim_op_shapes_init(&s, &trace, &arena) == MSIM_OK);
    for (uint32_t i = 0; i < 7; i++)
        CHECK_STR(msim_op_shapes_of(&s, i), WANT[i]);
    CHECK(msim_op_shapes_of(&s, MSIM_NONE) == NULL);
    /* Made once each. */
    CHECK(msim_op_shapes_of(&s, 1) == msim_op_shapes_of(&s, 2));
    msim_op_shapes_release(&s);
    msim_arena_release(&arena);
}

/* A text has 256 bytes: of what does not fit, whole tensors are left out, and
 * of a tensor with very many sizes the last. A size of -33 stands for 33 in the
 * first tensor and 3 in all others. */
static void check_long(uint32_t n, uint32_t rank, int64_t size,
                       const char *begin, size_t want)
{
    struct msim_arena arena;
    struct msim_op_shapes s;
    const char *text;

    make_ops();
    ops[6].args = 3;
    for (uint32_t i = 0; i < 50; i++) {
        dims[8 + i] = size == -33 ? (i ? 3 : 33) : size;
        args[8 + i] =
            (struct msim_arg){.kind = i < n ? MSIM_ARG_TENSOR : MSIM_ARG_INT,
                              .n = rank,
                              .v.i = size == -33 ? 8 + i : 8};
    }
    msim_arena_init(&arena);
    REQUIRE(msim_op_shapes_init(&s, &trace, &arena) == MSIM_OK);
    text = msim_op_shapes_of(&s, 6);
    REQUIRE(text != NULL);
    CHECK(strncmp(text, begin, strlen(begin)) == 0);
    CHECK_UINT(strlen(text), want);
    CHECK_INT(text[strlen(text) - 1], ']');
    msim_op_shapes_release(&s);
    msim_arena_release(&arena);
}

static void test_op_shapes__long(void)
{
    /* "[3]", then " [3]": one begins while 64 bytes are left, at 192 most. */
    check_long(40, 1, 3, "[3] [3] [3]", 4 * 40 - 1);
    check_long(50, 1, 3, "[3] [3] [3]", 4 * 49 - 1);
    /* "[33] [3] [3]": the 49th begins at 192. */
    check_long(50, 1, -33, "[33] [3] [3]", 4 * 49);
    /* "[1000000000000" and ",1000000000000": sizes begin below 224. */
    check_long(1, 50, 1000000000000, "[1000000000000,1", 14 * 16 + 1);
    check_long(1, 16, 1000000000000, "[1000000000000,1", 14 * 16 + 1);
    check_long(1, 15, 1000000000000, "[1000000000000,1", 14 * 15 + 1);
}

/* ---- views --------------------------------------------------------------- */

/* bf16 of 64 x 512, fp32 of 7 and one int64, in a list or not. */
static void test_view__bytes(void)
{
    make_ops();
    CHECK(msim_args_bytes(&trace, 0) == 64 * 512 * 2 + 7 * 4 + 8);
    CHECK(msim_args_bytes(&trace, 1) == 0);
    CHECK(msim_args_bytes(&trace, 2) == 28);
    CHECK(msim_args_bytes(&trace, MSIM_NONE) == 0);
}

/* What operators are given is the view's own; the rest is the trace's. */
static void test_view__copies(void)
{
    struct msim_tensor_id ids[] = {{1, 2, 3}, {4, 5, 6}};
    struct msim_comm comms[] = {{.in_elems = 9}};
    struct msim_gpu gpu[] = {{.dur = 5}};
    uint32_t strides[] = {1};
    struct msim_trace t = trace, *v = NULL;

    make_ops();
    t.tensor_ids = ids;
    t.n_tensor_ids = 2;
    t.comms = comms;
    t.n_comms = 1;
    t.gpu = gpu;
    t.n_gpu = 1;
    t.tensor_strides = strides;
    t.n_tensor_strides = 1;
    t.rank = 6;
    REQUIRE(msim_trace_view_new(&v, &t) == MSIM_OK);
    CHECK_INT(v->rank, 6);
    CHECK(v->gpu == gpu);
    CHECK_UINT(v->n_gpu, 1);
    CHECK_UINT(v->n_tensor_strides, 0);
#define CHECK_OWN(column)                                                      \
    do {                                                                       \
        CHECK(v->column != t.column);                                          \
        CHECK_UINT(v->n_##column, t.n_##column);                               \
        CHECK_UINT(v->cap_##column, t.n_##column);                             \
        CHECK(!memcmp(v->column, t.column, t.n_##column * sizeof(*t.column))); \
    } while (0)
    CHECK_OWN(ops);
    CHECK_OWN(blocks);
    CHECK_OWN(args);
    CHECK_OWN(dims);
    CHECK_OWN(tensor_ids);
    CHECK_OWN(comms);
    v->dims[0] = 1;
    CHECK_INT(dims[0], 64);
    msim_trace_view_free(v);
    msim_trace_view_free(NULL);
}

int main(void)
{
    RUN(test_op_shapes__whose);
    RUN(test_op_shapes__long);
    RUN(test_view__bytes);
    RUN(test_view__copies);
    return check_summary();
}
