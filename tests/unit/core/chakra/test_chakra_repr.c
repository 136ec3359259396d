/*
 * tests/unit/core/chakra/test_chakra_repr.c - inputs and outputs as Python
 * prints them.
 */
#include "core/chakra/write_chakra_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 600

static struct msim_arg args[MOST];
static struct msim_arg_block blocks[1];
static int64_t dims[] = {2, 3, 4};
static struct msim_tensor_id ids[] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
static struct msim_strtab *strings;
static struct msim_trace trace = {
    .args = args, .blocks = blocks, .dims = dims, .tensor_ids = ids};

static void clear(void)
{
    blocks[0].count = 0;
}

static struct msim_arg *add(uint8_t kind, uint32_t n, int64_t v)
{
    struct msim_arg *a = &args[blocks[0].count++];

    *a = (struct msim_arg){.kind = kind, .n = n, .v.i = v};
    return a;
}

static void check(uint32_t first_id, const char *values, const char *shapes,
                  const char *types)
{
    struct msim_chakra_lists l = {0};

    trace.strings = strings;
    CHECK_INT(msim_chakra_print(&l, &trace, 0, first_id, 5), MSIM_OK);
    CHECK_STR(l.values.data, values);
    CHECK_STR(l.shapes.data, shapes);
    CHECK_STR(l.types.data, types);
    msim_chakra_lists_release(&l);
    CHECK(l.values.data == NULL && l.shapes.data == NULL);
}

static void add_tensor(uint32_t rank, uint8_t dtype, uint8_t device,
                       uint8_t layout)
{
    struct msim_arg *a = add(MSIM_ARG_TENSOR, rank, 0);

    a->dtype = dtype;
    a->device = device;
    a->layout = layout;
}

/* [tensor, storage, offset, elements, bytes of one, device]. */
static void test_chakra_repr__tensors(void)
{
    clear();
    check(MSIM_NONE, "[]", "[]", "[]");
    add_tensor(2, MSIM_DT_BF16, MSIM_DEV_GPU, MSIM_LAYOUT_PLAIN);
    check(1, "[[4, 5, 6, 6, 2, 'cuda:5']]", "[[2, 3]]",
          "['Tensor(c10::BFloat16)']");
    check(MSIM_NONE, "[[0, 0, 0, 6, 2, 'cuda:5']]", "[[2, 3]]",
          "['Tensor(c10::BFloat16)']");
    clear();
    add_tensor(0, MSIM_DT_I64, MSIM_DEV_CPU, MSIM_LAYOUT_PLAIN);
    add_tensor(1, MSIM_DT_UNKNOWN, MSIM_DEV_UNKNOWN, MSIM_LAYOUT_TURNED);
    add_tensor(3, MSIM_DT_F32, MSIM_DEV_HOST, MSIM_LAYOUT_GAPS);
    check(0,
          "[[1, 2, 3, 1, 8, 'cpu'], [4, 5, 6, 2, 1, '', 1], [7, 8, 9, 24, 4, "
          "'', 2]]",
          "[[], [2], [2, 3, 4]]",
          "['Tensor(long int)', 'Tensor(unknown)', 'Tensor(float)']");
}

static void add_text(const char *text)
{
    uint32_t id = 0;

    CHECK_INT(msim_strtab_add(strings, text, strlen(text), &id), MSIM_OK);
    add(MSIM_ARG_STR, 0, id);
}

static void test_chakra_repr__scalars(void)
{
    clear();
    add(MSIM_ARG_INT, 0, -7);
    add(MSIM_ARG_BOOL, 0, 1);
    add(MSIM_ARG_BOOL, 0, 0);
    add(MSIM_ARG_NONE, 0, 0);
    add_text("cuda:0");
    check(MSIM_NONE, "[-7, True, False, '<None>', 'cuda:0']",
          "[[], [], [], [], []]", "['Int', 'Bool', 'Bool', 'None', 'String']");
}

static void check_real(double v, const char *want)
{
    char list[64];

    clear();
    add(MSIM_ARG_REAL, 0, 0)->v.f = v;
    snprintf(list, sizeof(list), "[%s]", want);
    check(MSIM_NONE, list, "[[]]", "['Double']");
}

/* A whole number has a point, so that it is read as one of these again. */
static void test_chakra_repr__reals(void)
{
    check_real(0.5, "0.5");
    check_real(3, "3.0");
    check_real(-2, "-2.0");
    check_real(1e-5, "1e-05");
    check_real(INFINITY, "'inf'");
    check_real(-INFINITY, "'-inf'");
    check_real(NAN, "'nan'");
}

static void check_text(const char *text, const char *want)
{
    struct msim_vec to = {0};
    char list[64];

    CHECK_INT(msim_chakra_print_text(&to, text), MSIM_OK);
    snprintf(list, sizeof(list), "['%s']", want);
    CHECK_STR(to.data, list);
    free(to.data);
    clear();
    add_text(text);
    check(MSIM_NONE, list, "[[]]", "['String']");
}

/* In single quotes; what is no text is escaped. */
static void test_chakra_repr__texts(void)
{
    check_text("", "");
    check_text("plain \"text\"", "plain \"text\"");
    check_text("it's \\", "it\\'s \\\\");
    check_text("a\nb\t\x1f\x7f ", "a\\x0ab\\x09\\x1f\\x7f ");
    check_text("\xc3\xa9\xe2\x82\xac", "\xc3\xa9\xe2\x82\xac");
    check_text("\xff\xc3", "\\xff\\xc3");
}

/* ([1, [x, []]], [], 2): types are quoted whole at the top. */
static void test_chakra_repr__lists(void)
{
    clear();
    add(MSIM_ARG_LIST, 2, 4);
    add(MSIM_ARG_INT, 0, 1);
    add(MSIM_ARG_LIST, 2, 2);
    add_tensor(1, MSIM_DT_F64, MSIM_DEV_CPU, 0);
    add(MSIM_ARG_LIST, 0, 0);
    add(MSIM_ARG_LIST, 0, 0);
    add(MSIM_ARG_INT, 0, 2);
    check(0, "[[1, [[1, 2, 3, 2, 8, 'cpu'], []]], [], 2]",
          "[[[], [[2], []]], [], []]",
          "['GenericList[Int,GenericList[Tensor(double),GenericList[]]]', "
          "'GenericList[]', 'Int']");
}

/* 520 lists in each other are as deep as readers go: one more is none. */
static void test_chakra_repr__deep(void)
{
    for (uint32_t deep = 520; deep < 522; deep++) {
        struct msim_chakra_lists l = {0};
        const char *at;
        uint32_t opened = 0;

        clear();
        for (uint32_t i = 0; i < deep; i++)
            add(MSIM_ARG_LIST, i + 1 < deep, deep - 1 - i);
        CHECK_INT(msim_chakra_print(&l, &trace, 0, MSIM_NONE, 0), MSIM_OK);
        at = l.values.data;
        while (at && at[opened] == '[')
            opened++;
        CHECK_UINT(opened, 521);
        CHECK_INT(at[opened], deep == 520 ? ']' : '\'');
        msim_chakra_lists_release(&l);
    }
}

static void test_chakra_repr__types(void)
{
    static const char *const WANT[] = {"unknown",
                                       "double",
                                       "float",
                                       "c10::Half",
                                       "c10::BFloat16",
                                       "c10::Float8_e4m3fn",
                                       "long int",
                                       "int",
                                       "short int",
                                       "signed char",
                                       "unsigned char",
                                       "bool",
                                       "c10::complex<float>",
                                       "c10::complex<double>",
                                       "c10::Float4_e2m1fn_x2",
                                       "odd",
                                       "unknown"};

    for (int i = 0; i < 17; i++)
        CHECK_STR(msim_chakra_dtype_text((enum msim_dtype)i), WANT[i]);
}

int main(void)
{
    if (!CHECK_INT(msim_strtab_new(&strings), MSIM_OK))
        return check_summary();
    RUN(test_chakra_repr__tensors);
    RUN(test_chakra_repr__scalars);
    RUN(test_chakra_repr__reals);
    RUN(test_chakra_repr__texts);
    RUN(test_chakra_repr__lists);
    RUN(test_chakra_repr__deep);
    RUN(test_chakra_repr__types);
    msim_strtab_free(strings);
    return check_summary();
}
