/*
 * tests/unit/core/trace/test_view.c - another trace of the same operators, and
 * the bytes of what they are given.
 */
#include "core/trace/trace_steps.h"

#include "tests/check.h"

static struct msim_op ops[] = {{.name = 1}, {.name = 2}};
static struct msim_comm comms[] = {{.peer = 3}};
static int64_t dims[] = {2, 3, 5};
static struct msim_arg args[] = {
    {.kind = MSIM_ARG_TENSOR, .dtype = MSIM_DT_F32, .n = 2, .v.i = 0},
    {.kind = MSIM_ARG_INT, .dtype = MSIM_DT_F64, .v.i = 1},
    {.kind = MSIM_ARG_TENSOR, .dtype = MSIM_DT_F16, .n = 0, .v.i = 2},
    {.kind = MSIM_ARG_LIST, .n = 1, .v.i = 1},
    {.kind = MSIM_ARG_TENSOR, .dtype = MSIM_DT_F64, .n = 1, .v.i = 2},
    {.kind = MSIM_ARG_TENSOR, .dtype = MSIM_DT_UNKNOWN, .n = 1, .v.i = 2},
};
static struct msim_arg_block blocks[] = {{0, 3}, {3, 2}, {5, 1}, {2, 0}};
static struct msim_tensor_id ids[] = {{.tensor = 7}};
static uint32_t strides[] = {0};
static struct msim_gpu gpu[] = {{.name = 4}};
static const struct msim_trace trace = {.ops = ops,
                                        .n_ops = 2,
                                        .comms = comms,
                                        .n_comms = 1,
                                        .args = args,
                                        .n_args = 6,
                                        .blocks = blocks,
                                        .n_blocks = 4,
                                        .dims = dims,
                                        .n_dims = 3,
                                        .tensor_ids = ids,
                                        .n_tensor_ids = 1,
                                        .tensor_strides = strides,
                                        .n_tensor_strides = 1,
                                        .gpu = gpu,
                                        .n_gpu = 1,
                                        .rank = 5};

#define CHECK_OWN(v, field)                                                    \
    do {                                                                       \
        CHECK_UINT((v)->n_##field, trace.n_##field);                           \
        CHECK_UINT((v)->cap_##field, trace.n_##field);                         \
        CHECK((v)->field != trace.field);                                      \
        CHECK(!memcmp((v)->field, trace.field,                                 \
                      trace.n_##field * sizeof(*trace.field)));                \
    } while (0)

static void test_view__copies(void)
{
    struct msim_trace *v;

    REQUIRE(msim_trace_view_new(&v, &trace) == MSIM_OK);
    CHECK_OWN(v, ops);
    CHECK_OWN(v, comms);
    CHECK_OWN(v, blocks);
    CHECK_OWN(v, args);
    CHECK_OWN(v, dims);
    CHECK_OWN(v, tensor_ids);
    CHECK_UINT(v->n_tensor_strides, 0);
    CHECK(v->gpu == gpu);
    CHECK_INT(v->rank, 5);
    v->dims[1] = 4; /* the trace keeps its sizes */
    CHECK_INT(dims[1], 3);
    CHECK_REL(msim_args_bytes(v, 0), 2 * 4 * 4 + 2, 0);
    msim_trace_view_free(v);
    msim_trace_view_free(NULL);
}

/* Of a trace without rows, too: what is there may be grown. */
static void test_view__empty(void)
{
    static const struct msim_trace none = {.rank = 1};
    struct msim_trace *v;

    REQUIRE(msim_trace_view_new(&v, &none) == MSIM_OK);
    CHECK(v->ops && v->dims);
    CHECK_UINT(v->n_ops, 0);
    msim_trace_view_free(v);
}

/* Numbers are no bytes, one number is one element, lists count with what they
 * hold, and a type that is not known has no bytes. */
static void test_view__bytes(void)
{
    static const double want[] = {2 * 3 * 4 + 2, 5 * 8, 0, 0};

    for (uint32_t i = 0; i < 4; i++)
        CHECK_REL(msim_args_bytes(&trace, i), want[i], 0);
    CHECK_REL(msim_args_bytes(&trace, MSIM_NONE), 0, 0);
}

int main(void)
{
    RUN(test_view__copies);
    RUN(test_view__empty);
    RUN(test_view__bytes);
    return check_summary();
}
