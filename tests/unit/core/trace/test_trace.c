/*
 * tests/unit/core/trace/test_trace.c - element types, argument lists and how
 * tensors lie in memory.
 */
#include "core/trace/trace.h"
#include "tests/check.h"

#include <stdlib.h>

static void test_trace__types(void)
{
    static const struct {
        enum msim_dtype type;
        uint32_t bytes;
        const char *text;
    } WANT[] = {
        {MSIM_DT_UNKNOWN, 0, "unknown"},
        {MSIM_DT_F64, 8, "fp64"},
        {MSIM_DT_F32, 4, "fp32"},
        {MSIM_DT_F16, 2, "fp16"},
        {MSIM_DT_BF16, 2, "bfloat16"},
        {MSIM_DT_F8, 1, "fp8"},
        {MSIM_DT_I64, 8, "int64"},
        {MSIM_DT_I32, 4, "int32"},
        {MSIM_DT_I16, 2, "int16"},
        {MSIM_DT_I8, 1, "int8"},
        {MSIM_DT_U8, 1, "uint8"},
        {MSIM_DT_BOOL, 1, "bool"},
        {MSIM_DT_C64, 8, "complex64"},
        {MSIM_DT_C128, 16, "complex128"},
        {MSIM_DT_F4X2, 1, "fp4"},
        {MSIM_DT_ODD, 1, "odd"},
        {(enum msim_dtype)99, 0, "unknown"},
    };

    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++) {
        CHECK_UINT(msim_dtype_bytes(WANT[i].type), WANT[i].bytes);
        CHECK_STR(msim_dtype_text(WANT[i].type), WANT[i].text);
    }
}

static void test_trace__collectives(void)
{
    static const char *const WANT[] = {
        [MSIM_COLL_UNKNOWN] = "unknown",
        [MSIM_COLL_ALL_REDUCE] = "all_reduce",
        [MSIM_COLL_REDUCE] = "reduce",
        [MSIM_COLL_ALL_GATHER] = "all_gather",
        [MSIM_COLL_GATHER] = "gather",
        [MSIM_COLL_SCATTER] = "scatter",
        [MSIM_COLL_BROADCAST] = "broadcast",
        [MSIM_COLL_ALL_TO_ALL] = "all_to_all",
        [MSIM_COLL_REDUCE_SCATTER] = "reduce_scatter",
        [MSIM_COLL_BARRIER] = "barrier",
        [MSIM_COLL_SEND] = "send",
        [MSIM_COLL_RECV] = "recv",
        [MSIM_COLL_WAIT] = "wait",
        [MSIM_COLL_WAIT + 1] = "unknown",
    };

    for (size_t i = 0; i < sizeof(WANT) / sizeof(*WANT); i++)
        CHECK_STR(msim_collective_text((enum msim_collective)i), WANT[i]);
}

/* ---- arguments ----------------------------------------------------------- */

/* (7, [1, [2, 3]], [], true), then another list of one, then an empty one. */
static struct msim_arg args[] = {
    {.kind = MSIM_ARG_INT, .v.i = 7},
    {.kind = MSIM_ARG_LIST, .n = 2, .v.i = 4},
    {.kind = MSIM_ARG_INT, .v.i = 1},
    {.kind = MSIM_ARG_LIST, .n = 2, .v.i = 2},
    {.kind = MSIM_ARG_INT, .v.i = 2},
    {.kind = MSIM_ARG_INT, .v.i = 3},
    {.kind = MSIM_ARG_LIST, .n = 0, .v.i = 0},
    {.kind = MSIM_ARG_BOOL, .v.i = 1},
    {.kind = MSIM_ARG_REAL, .v.f = 0.5},
};
static struct msim_arg_block blocks[] = {{0, 8}, {8, 1}, {9, 0}};

static void test_trace__arguments(void)
{
    const struct msim_trace t = {.args = args, .blocks = blocks};
    static const int AT[] = {0, 1, 6, 7};

    CHECK_UINT(msim_args_count(&t, 0), 4);
    CHECK_UINT(msim_args_count(&t, 1), 1);
    CHECK_UINT(msim_args_count(&t, 2), 0);
    CHECK_UINT(msim_args_count(&t, MSIM_NONE), 0);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(msim_args_get(&t, 0, i) == &args[AT[i]]);
    CHECK(msim_args_get(&t, 0, 4) == NULL);
    CHECK(msim_args_get(&t, 1, 0) == &args[8]);
    CHECK(msim_args_get(&t, 1, 1) == NULL);
    CHECK(msim_args_get(&t, 2, 0) == NULL);
    CHECK(msim_args_get(&t, MSIM_NONE, 0) == NULL);
}

static uint64_t elems(uint32_t rank, int64_t a, int64_t b, int64_t c)
{
    int64_t dims[] = {-9, a, b, c};
    const struct msim_trace t = {.dims = dims};
    const struct msim_arg arg = {.kind = MSIM_ARG_TENSOR, .n = rank, .v.i = 1};

    return msim_arg_elems(&t, &arg);
}

/* As many as can be counted, at most; a size below 0 is none. */
static void test_trace__elements(void)
{
    const struct msim_trace t = {.n_ops = 0};
    const struct msim_arg number = {.kind = MSIM_ARG_INT, .v.i = 5};

    CHECK_UINT(elems(0, 5, 5, 5), 1);
    CHECK_UINT(elems(1, 5, 6, 7), 5);
    CHECK_UINT(elems(3, 5, 6, 7), 210);
    CHECK_UINT(elems(3, 5, 1, 7), 35);
    CHECK_UINT(elems(3, 5, 0, 7), 0);
    CHECK_UINT(elems(3, 5, -1, 7), 0);
    CHECK_UINT(elems(2, INT64_C(1) << 32, INT64_C(1) << 31, 7), UINT64_C(1)
                                                                    << 63);
    CHECK_UINT(elems(2, INT64_C(1) << 32, INT64_C(1) << 32, 7), UINT64_MAX);
    CHECK_UINT(elems(3, INT64_C(1) << 32, INT64_C(1) << 31, 2), UINT64_MAX);
    CHECK_UINT(elems(2, INT64_MAX, 2, 0), UINT64_MAX - 1);
    CHECK_UINT(msim_arg_elems(&t, &number), 0);
}

/* ---- layouts ------------------------------------------------------------- */

static enum msim_layout layout(uint32_t rank, int64_t a, int64_t b, int64_t c,
                               int64_t x, int64_t y, int64_t z)
{
    const int64_t dims[] = {a, b, c}, strides[] = {x, y, z};

    return msim_layout_of(dims, strides, rank);
}

/* Plain: each stride is what lies inside of it; turned: in another order. Of
 * sizes of one it does not matter what their strides are. */
static void test_trace__layouts(void)
{
    CHECK_INT(layout(0, 9, 9, 9, 9, 9, 9), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(1, 4, 9, 9, 1, 9, 9), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(1, 4, 9, 9, 2, 9, 9), MSIM_LAYOUT_GAPS);
    CHECK_INT(layout(3, 2, 3, 4, 12, 4, 1), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(3, 2, 3, 4, 4, 8, 1), MSIM_LAYOUT_TURNED);
    CHECK_INT(layout(3, 2, 3, 4, 1, 2, 6), MSIM_LAYOUT_TURNED);
    CHECK_INT(layout(2, 3, 4, 9, 1, 3, 9), MSIM_LAYOUT_TURNED);
    CHECK_INT(layout(2, 3, 4, 9, 8, 1, 9), MSIM_LAYOUT_GAPS);
    CHECK_INT(layout(2, 3, 4, 9, 0, 1, 9), MSIM_LAYOUT_GAPS);
    CHECK_INT(layout(3, 2, 1, 4, 4, 77, 1), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(3, 2, 0, 4, 4, 77, 1), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(3, 1, 1, 1, 5, 5, 5), MSIM_LAYOUT_PLAIN);
    CHECK_INT(layout(2, 2, 2, 9, 1, 2, 9), MSIM_LAYOUT_TURNED);
}

static void test_trace__gpus(void)
{
    const struct msim_trace none = {.gpus = 0}, some = {.gpus = 3};
    uint32_t topmost[] = {4, 5};
    const struct msim_trace t = {.topmost = topmost};

    CHECK_UINT(msim_trace_gpus(&none), 1);
    CHECK_UINT(msim_trace_gpus(&some), 3);
    CHECK_UINT(msim_op_topmost(&t, 1), 5);
    CHECK_UINT(msim_op_topmost(&t, MSIM_NONE), MSIM_NONE);
}

/* What is released is empty. */
static void test_trace__release(void)
{
    const struct msim_trace none = {.n_ops = 0};
    struct msim_trace t = {.ops = malloc(sizeof(struct msim_op)),
                           .n_ops = 1,
                           .source = malloc(1),
                           .rank = 5};

    t.et = calloc(1, sizeof(*t.et));
    msim_trace_release(&t);
    CHECK(memcmp(&t, &none, sizeof(t)) == 0);
    msim_trace_free(NULL);
}

/* Whatever is a text gets its number in the other table: text i is there
 * i + 10. */
static void test_trace__renumber(void)
{
    struct msim_op ops[] = {{.name = 1, .schema = 2}, {.name = 3}};
    struct msim_call calls[] = {{.name = 4}};
    struct msim_gpu gpu[] = {{.name = 5}};
    struct msim_thread threads[] = {{.name = 6}};
    struct msim_group groups[] = {{.name = 7}};
    struct msim_arg list[] = {{.kind = MSIM_ARG_INT, .v.i = 1},
                              {.kind = MSIM_ARG_STR, .v.i = 8}};
    struct msim_trace t = {.ops = ops,
                           .n_ops = 2,
                           .calls = calls,
                           .n_calls = 1,
                           .gpu = gpu,
                           .n_gpu = 1,
                           .threads = threads,
                           .n_threads = 1,
                           .groups = groups,
                           .n_groups = 1,
                           .args = list,
                           .n_args = 2,
                           .host = 9,
                           .gpu_properties.name = 10};
    const struct msim_strtab *other = (const struct msim_strtab *)&t;
    uint32_t number[13] = {0}, last = MSIM_IMPORT_KINDS + MSIM_IMPORT_NAMES - 1;

    for (uint32_t i = 1; i < 13; i++)
        number[i] = i + 10;
    t.import.rows[0].example = 11;
    t.import.rows[last].name = 12;
    msim_trace_renumber(&t, other, number);
    CHECK_UINT(ops[0].name, 11);
    CHECK_UINT(ops[0].schema, 12);
    CHECK_UINT(ops[1].name, 13);
    CHECK_UINT(ops[1].schema, 0);
    CHECK_UINT(calls[0].name, 14);
    CHECK_UINT(gpu[0].name, 15);
    CHECK_UINT(threads[0].name, 16);
    CHECK_UINT(groups[0].name, 17);
    CHECK_INT(list[0].v.i, 1);
    CHECK_INT(list[1].v.i, 18);
    CHECK_UINT(t.host, 19);
    CHECK_UINT(t.gpu_properties.name, 20);
    CHECK_UINT(t.import.rows[0].example, 21);
    CHECK_UINT(t.import.rows[last].name, 22);
    CHECK(t.strings == other);
}

int main(void)
{
    RUN(test_trace__types);
    RUN(test_trace__collectives);
    RUN(test_trace__arguments);
    RUN(test_trace__elements);
    RUN(test_trace__layouts);
    RUN(test_trace__gpus);
    RUN(test_trace__release);
    RUN(test_trace__renumber);
    return check_summary();
}
