/*
 * tests/unit/core/write_et/test_trace_args.c - arguments of operators as an
 * execution trace's file has them.
 */
#include "core/write_et/write_et_internal.h"

#include "tests/unit/loaded.h"

#define MOST 40

static struct msim_strtab *strings;
static struct msim_arg args[MOST];
static struct msim_arg_block block;
static int64_t dims[2 * MOST];
static struct msim_tensor_id ids[] = {{.storage = 4, .offset = 8},
                                      {.storage = 5}};
static const uint32_t tensors[] = {70, 80};
static uint32_t strides[] = {MSIM_NONE, MOST};
static struct msim_trace t = {.args = args,
                              .blocks = &block,
                              .dims = dims,
                              .tensor_ids = ids,
                              .n_tensor_ids = 2,
                              .tensor_strides = strides,
                              .n_tensor_strides = 2};
static const struct msim_et_names names = {.t = &t, .tensor = tensors};

static enum msim_status keep(void *ctx, const char *bytes, size_t n)
{
    struct spelled *to = ctx;

    spell(to, "%.*s", (int)n, bytes);
    return MSIM_OK;
}

static void check(uint32_t id, enum msim_et_column c, const char *want)
{
    const struct msim_et_block b = {&names, 0, id};
    struct spelled got = {"", 0};
    struct msim_json j;

    msim_json_begin(&j, keep, &got);
    msim_json_open(&j, NULL, '[', false);
    msim_et_block_put(&j, &b, c);
    msim_json_close(&j);
    CHECK_INT(msim_json_end(&j), MSIM_OK);
    got.text[strcspn(got.text, "\n")] = '\0';
    CHECK_STR(got.text, want);
}

static struct msim_arg *add(uint8_t kind, uint32_t n, int64_t v)
{
    struct msim_arg *a = &args[block.count++];

    *a = (struct msim_arg){.kind = kind, .n = n, .v.i = v};
    return a;
}

/* ---- strides ------------------------------------------------------------- */

#define P MSIM_LAYOUT_PLAIN
#define T MSIM_LAYOUT_TURNED
#define G MSIM_LAYOUT_GAPS

/* As recorded where that fits the layout and the sizes, else such as give the
 * layout. */
static void test_trace_args__strides(void)
{
    static const struct {
        uint32_t n;
        int64_t sizes[3];
        uint8_t layout;
        bool known;
        int64_t recorded[3];
        const char *want;
    } cases[] = {
        {2, {2, 3}, P, false, {0}, "[[3, 1]]"},
        {2, {2, 3}, P, true, {3, 1}, "[[3, 1]]"},
        {0, {0}, P, false, {0}, "[[]]"},
        {2, {0, 3}, P, false, {0}, "[[3, 1]]"},
        {2, {2, 0}, P, false, {0}, "[[1, 1]]"},
        {2, {2, 3}, T, false, {0}, "[[1, 2]]"},
        {2, {2, 3}, T, true, {1, 2}, "[[1, 2]]"},
        {3, {2, 3, 4}, T, true, {1, 8, 2}, "[[1, 8, 2]]"},
        {3, {2, 3, 4}, T, false, {0}, "[[1, 2, 6]]"},
        {2, {4, 8}, G, true, {24, 1}, "[[24, 1]]"},
        {2, {4, 8}, G, true, {0, 1}, "[[0, 1]]"},
        {2, {4, 8}, G, false, {0}, "[[16, 2]]"},
        {3, {8, 128, 512}, G, true, {66048, 1536, 1}, "[[196608, 1536, 1]]"},
        {3,
         {2, INT64_C(1) << 62, 4},
         P,
         false,
         {0},
         "[[9223372036854775807, 4, 1]]"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        block = (struct msim_arg_block){0};
        add(MSIM_ARG_TENSOR, cases[i].n, 0)->layout = cases[i].layout;
        memcpy(dims, cases[i].sizes, sizeof(cases[i].sizes));
        memcpy(dims + MOST, cases[i].recorded, sizeof(cases[i].recorded));
        check(cases[i].known, MSIM_ET_STRIDES, cases[i].want);
    }
    block = (struct msim_arg_block){0}; /* of so many sizes nothing is said */
    add(MSIM_ARG_TENSOR, 33, 0);
    check(0, MSIM_ET_STRIDES, "[[]]");
}

/* ---- values and types ---------------------------------------------------- */

static void test_trace_args__values(void)
{
    static const double reals[] = {2.5, INFINITY, -INFINITY, NAN};
    uint32_t word = 0;

    CHECK_INT(msim_strtab_add(strings, "w", 1, &word), MSIM_OK);
    block = (struct msim_arg_block){0};
    dims[0] = 2;
    dims[1] = 3;
    add(MSIM_ARG_TENSOR, 2, 0)->dtype = MSIM_DT_F16;
    args[0].device = MSIM_DEV_GPU;
    add(MSIM_ARG_LIST, 2, 3);
    add(MSIM_ARG_LIST, 1, 1);
    add(MSIM_ARG_INT, 0, -7);
    add(MSIM_ARG_TENSOR, 0, 0)->dtype = MSIM_DT_F64;
    args[4].device = MSIM_DEV_HOST;
    for (int i = 0; i < 4; i++)
        add(MSIM_ARG_REAL, 0, 0)->v.f = reals[i];
    add(MSIM_ARG_BOOL, 0, 2);
    add(MSIM_ARG_BOOL, 0, 0);
    add(MSIM_ARG_STR, 0, word);
    add(MSIM_ARG_NONE, 0, 0);
    add(MSIM_ARG_LIST, 0, 0);
    check(0, MSIM_ET_VALUES,
          "[[70, 4, 8, 6, 2, \"cuda:0\"], [[-7], [80, 5, 0, 1, 8, \"cpu\"]], "
          "2.5, \"inf\", \"-inf\", \"nan\", true, false, \"w\", \"<None>\", "
          "[]]");
    check(0, MSIM_ET_SHAPES,
          "[[2, 3], [[[]], []], [], [], [], [], [], [], [], [], []]");
    check(0, MSIM_ET_TYPES,
          "[\"Tensor(c10::Half)\", "
          "\"GenericList[GenericList[Int],Tensor(double)]\", \"Double\", "
          "\"Double\", \"Double\", \"Double\", \"Bool\", \"Bool\", \"String\", "
          "\"None\", \"GenericList[]\"]");
    CHECK_UINT(msim_et_block_depth(&t, 0), 2);
    /* without ids, and on a device that is not said */
    args[0].device = MSIM_DEV_UNKNOWN;
    block.count = 1;
    check(MSIM_NONE, MSIM_ET_VALUES, "[[0, 0, 0, 6, 2, \"\"]]");
    CHECK_UINT(msim_et_block_depth(&t, 0), 0);
    block.count = 0;
    check(0, MSIM_ET_TYPES, "[]");
    CHECK_UINT(msim_et_block_depth(&t, MSIM_NONE), 0);
}

/* Lists in lists, as deep as a file has them and one more; beside each other
 * they are not deeper. */
static void test_trace_args__depth(void)
{
    for (uint32_t n = 1; n <= MSIM_ET_LISTS + 1; n++) {
        block = (struct msim_arg_block){0};
        for (uint32_t i = 0; i < n; i++)
            add(MSIM_ARG_LIST, 1, n - i);
        add(MSIM_ARG_INT, 0, 5);
        add(MSIM_ARG_LIST, 1, 1);
        add(MSIM_ARG_INT, 0, 6);
        CHECK_UINT(msim_et_block_depth(&t, 0), n);
    }
    block = (struct msim_arg_block){0};
    for (uint32_t i = 0; i < MSIM_ET_LISTS; i++)
        add(MSIM_ARG_LIST, 1, MSIM_ET_LISTS - i);
    add(MSIM_ARG_INT, 0, 5);
    check(0, MSIM_ET_VALUES, "[[[[[[[[[5]]]]]]]]]");
}

int main(void)
{
    if (!CHECK(msim_strtab_new(&strings) == MSIM_OK))
        return check_summary();
    t.strings = strings;
    RUN(test_trace_args__strides);
    RUN(test_trace_args__values);
    RUN(test_trace_args__depth);
    msim_strtab_free(strings);
    return check_summary();
}
