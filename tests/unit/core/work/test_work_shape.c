/*
 * core/work/work_shape.c: the sizes that make two works one operator on one
 * shape.
 */
#include "core/work/work.h"

#include "tests/check.h"

#include <string.h>

static bool same(const struct msim_work *a, const struct msim_work *b)
{
    struct msim_work_shape x, y;

    CHECK(msim_work_shape_of(a, &x) && msim_work_shape_of(b, &y));
    return memcmp(&x, &y, sizeof(x)) == 0;
}

/* Rows and columns are one row where each element is by itself, and are not
 * where rows are summed. */
static void test_work_shape__of_vectors(void)
{
    struct msim_work a = {.family = MSIM_FAMILY_POINTWISE,
                          .u.vector = {.elems = 96, .rows = 8, .cols = 12}};
    struct msim_work b = a;

    b.u.vector.rows = b.u.vector.cols = 0;
    CHECK(same(&a, &b));
    a.family = b.family = MSIM_FAMILY_SOFTMAX;
    CHECK(!same(&a, &b));
    b.u.vector.rows = 1;
    b.u.vector.cols = 96;
    CHECK(!same(&a, &b));
    a.u.vector = b.u.vector;
    CHECK(same(&a, &b));
}

/* Three rows of 256 numbers of a table of 40; without the table's size nobody
 * knows what is fetched. */
static void test_work_shape__of_tables(void)
{
    struct msim_work a = {.family = MSIM_FAMILY_EMBEDDING,
                          .dtype = MSIM_DT_F32,
                          .u.vector = {.elems = 768,
                                       .rows = 1,
                                       .cols = 768,
                                       .lookups = 3,
                                       .table_rows = 40,
                                       .row_bytes = 1024}};
    struct msim_work b = a;
    struct msim_work_shape s;
    int64_t rows, cols;

    msim_work_rows(&a, &rows, &cols);
    CHECK_INT(rows, 3);
    CHECK_INT(cols, 256);
    b.u.vector.table_rows = 41;
    CHECK(!same(&a, &b));
    b.u.vector.table_rows = 0;
    CHECK(!msim_work_shape_of(&b, &s));
    msim_work_rows(&b, &rows, &cols);
    CHECK_INT(rows, 1);
    CHECK_INT(cols, 768);
}

static void test_work_shape__of_products(void)
{
    struct msim_work a = {
        .family = MSIM_FAMILY_GEMM,
        .u.gemm = {.m = 2, .n = 3, .k = 5, .batch = 1, .a_transposed = true}};
    struct msim_work b = a;

    CHECK(same(&a, &b));
    b.u.gemm.a_transposed = false;
    CHECK(!same(&a, &b));
    b = a;
    b.u.gemm.batch = 2;
    CHECK(!same(&a, &b));
}

/* Groups and values' heads that are not said are one, and as wide as keys. */
static void test_work_shape__of_what_is_not_said(void)
{
    struct msim_work a = {.family = MSIM_FAMILY_CONV,
                          .u.conv = {.n = 1, .c = 2, .k = 3}};
    struct msim_work b = a;

    b.u.conv.groups = 1;
    CHECK(same(&a, &b));
    b.u.conv.groups = 2;
    CHECK(!same(&a, &b));
    a = (struct msim_work){.family = MSIM_FAMILY_ATTENTION,
                           .u.attention = {.heads = 4, .head_dim = 64}};
    b = a;
    b.u.attention.v_dim = 64;
    CHECK(same(&a, &b));
    b.u.attention.backward = true;
    CHECK(!same(&a, &b));
}

static void test_work_shape__of_others(void)
{
    static const enum msim_family OTHERS[] = {
        MSIM_FAMILY_COLLECTIVE, MSIM_FAMILY_MOE, MSIM_FAMILY_DISPATCH,
        MSIM_FAMILY_OPTIMIZER, MSIM_FAMILY_BOUND};

    for (size_t i = 0; i < sizeof(OTHERS) / sizeof(*OTHERS); i++) {
        struct msim_work w = {.family = OTHERS[i]};
        struct msim_work_shape s;

        CHECK(!msim_work_shape_of(&w, &s));
    }
}

int main(void)
{
    RUN(test_work_shape__of_vectors);
    RUN(test_work_shape__of_tables);
    RUN(test_work_shape__of_products);
    RUN(test_work_shape__of_what_is_not_said);
    RUN(test_work_shape__of_others);
    return check_summary();
}
