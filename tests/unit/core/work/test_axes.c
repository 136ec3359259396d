/*
 * Axes of works: of each size whose axis it is, works that differ in it alone
 * share that axis and no other; works that differ in anything else share none.
 */
#include "core/work/work.h"
#include "tests/check.h"

#include <stddef.h>
#include <stdlib.h>

#define AT(member) offsetof(struct msim_work, member)
#define NO         SIZE_MAX

/* Sizes in the order of their axes, and what goes with each. */
struct axis {
    size_t at, also;
};

static int64_t *size_at(struct msim_work *w, size_t at)
{
    return (int64_t *)(void *)((char *)w + at);
}

static void hold_axes(const struct msim_work *w, const struct axis *axis,
                      uint32_t n)
{
    struct msim_work_axis was[MSIM_WORK_AXES], is[MSIM_WORK_AXES];

    CHECK_INT(msim_work_axes(w, was), n);
    for (uint32_t i = 0; i < n; i++) {
        struct msim_work other = *w;

        CHECK_REL(was[i].size, (double)*size_at(&other, axis[i].at), 0);
        *size_at(&other, axis[i].at) += 6;
        if (axis[i].also != NO)
            *size_at(&other, axis[i].also) += 6;
        CHECK_INT(msim_work_axes(&other, is), n);
        for (uint32_t k = 0; k < n; k++) {
            CHECK((was[k].kind == is[k].kind) == (k == i));
            CHECK((was[k].size == is[k].size) == (k != i));
            CHECK((msim_work_axis_order(w, k) ==
                   msim_work_axis_order(&other, k)) == (k == i));
            CHECK(k == i || was[k].kind != was[i].kind);
        }
    }
}

static void hold_differs(const struct msim_work *w,
                         const struct msim_work *other, bool differs)
{
    struct msim_work_axis was[MSIM_WORK_AXES], is[MSIM_WORK_AXES];
    uint32_t n = msim_work_axes(w, was);

    CHECK_INT(msim_work_axes(other, is), n);
    for (uint32_t i = 0; i < n; i++)
        CHECK((was[i].kind != is[i].kind) == differs);
}

static const struct msim_work PRODUCT = {
    .family = MSIM_FAMILY_GEMM,
    .dtype = MSIM_DT_BF16,
    .u.gemm = {.m = 128, .n = 64, .k = 512, .batch = 3}};

static void test_axes__of_products(void)
{
    static const struct axis AXES[] = {{AT(u.gemm.m), NO},
                                       {AT(u.gemm.n), NO},
                                       {AT(u.gemm.k), NO},
                                       {AT(u.gemm.batch), NO}};

    hold_axes(&PRODUCT, AXES, 4);
}

static void test_axes__of_attention(void)
{
    static const struct axis SQUARE[] = {
        {AT(u.attention.batch), NO},
        {AT(u.attention.kv_len), AT(u.attention.q_len)},
        {AT(u.attention.heads), AT(u.attention.kv_heads)},
        {AT(u.attention.head_dim), NO}};
    static const struct axis OTHER[] = {{AT(u.attention.batch), NO},
                                        {AT(u.attention.kv_len), NO},
                                        {AT(u.attention.q_len), NO},
                                        {AT(u.attention.heads), NO},
                                        {AT(u.attention.head_dim), NO}};
    struct msim_work w = {.family = MSIM_FAMILY_ATTENTION,
                          .u.attention = {.batch = 2,
                                          .heads = 16,
                                          .kv_heads = 16,
                                          .q_len = 512,
                                          .kv_len = 512,
                                          .head_dim = 64}};

    hold_axes(&w, SQUARE, 4);
    w.u.attention.q_len = 1;
    w.u.attention.kv_heads = 4;
    hold_axes(&w, OTHER, 5);
}

static void test_axes__of_others_with_sizes(void)
{
    static const struct axis CONV[] = {{AT(u.conv.n), NO},
                                       {AT(u.conv.c), NO},
                                       {AT(u.conv.h), NO},
                                       {AT(u.conv.w), NO},
                                       {AT(u.conv.k), NO}};
    static const struct axis MOE[] = {{AT(u.moe.routing.tokens), NO}};
    static const struct axis SENT[] = {{AT(u.dispatch.tokens), NO}};
    static const struct axis BYTES[] = {{AT(u.coll.bytes), NO}};
    struct msim_work conv = {
        .family = MSIM_FAMILY_CONV,
        .u.conv = {
            .n = 8, .c = 64, .h = 28, .w = 30, .k = 128, .r = 3, .s = 3}};
    struct msim_work moe = {
        .family = MSIM_FAMILY_MOE,
        .u.moe = {.hidden = 64, .inter = 32, .routing = {.tokens = 100}}};
    struct msim_work sent = {.family = MSIM_FAMILY_DISPATCH,
                             .u.dispatch = {.tokens = 100, .hidden = 64}};
    struct msim_work coll = {.family = MSIM_FAMILY_COLLECTIVE,
                             .u.coll = {.bytes = 4096, .ranks = 8}};
    struct msim_work loaded = moe;

    hold_axes(&conv, CONV, 5);
    hold_axes(&moe, MOE, 1);
    hold_axes(&sent, SENT, 1);
    hold_axes(&coll, BYTES, 1);
    /* the load of experts follows from their tokens */
    loaded.u.moe.load.active = 7;
    hold_differs(&moe, &loaded, false);
    loaded = moe;
    loaded.u.moe.hidden = 65;
    hold_differs(&moe, &loaded, true);
}

/* Rows and columns; elements and whatever is counted follow from both. */
static void test_axes__of_rows_and_columns(void)
{
    static const struct axis AXES[] = {{AT(u.vector.cols), AT(u.vector.elems)},
                                       {AT(u.vector.rows), AT(u.vector.elems)}};
    struct msim_work w = {.family = MSIM_FAMILY_NORM,
                          .u.vector = {.elems = 4096, .rows = 64, .cols = 64}};
    struct msim_work other = w;

    hold_axes(&w, AXES, 2);
    other.u.vector.taps = other.u.vector.turns = 3;
    other.u.vector.threads = other.u.vector.lookups = 5;
    other.u.vector.row_bytes = 7;
    hold_differs(&w, &other, false);
    other = w;
    other.u.vector.segments = 3;
    hold_differs(&w, &other, true);
    /* one row is no axis, two are one */
    w.u.vector.rows = 1;
    hold_axes(&w, AXES, 1);
    w.u.vector.rows = 2;
    hold_axes(&w, AXES, 2);
    w.family = MSIM_FAMILY_BOUND;
    hold_axes(&w, AXES, 2);
}

/* A text counts by what it says; what follows from sizes does not count. */
static void test_axes__kinds_of_works(void)
{
    static const size_t TEXTS[] = {AT(framework), AT(source), AT(version),
                                   AT(backend), AT(variant)};
    char a[] = "tf32", same[] = "tf32";
    struct msim_work w = PRODUCT, other = PRODUCT;

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        const char **of_w = (const char **)(void *)((char *)&w + TEXTS[i]);
        const char **of_other =
            (const char **)(void *)((char *)&other + TEXTS[i]);

        w = other = PRODUCT;
        *of_w = a;
        hold_differs(&w, &other, true);
        *of_other = same;
        hold_differs(&w, &other, false);
        *of_other = "fp32";
        hold_differs(&w, &other, true);
    }
    /* a text is not that of another member */
    w = other = PRODUCT;
    w.source = other.version = a;
    hold_differs(&w, &other, true);
    /* no variant is an empty one */
    w = other = PRODUCT;
    w.variant = "";
    hold_differs(&w, &other, false);
    other.flops = 1;
    other.bytes_read = 2;
    other.bytes_written = 3;
    hold_differs(&w, &other, false);
    other.dtype = MSIM_DT_F16;
    hold_differs(&w, &other, true);
    w = other = PRODUCT;
    other.u.gemm.a_transposed = true;
    hold_differs(&w, &other, true);
}

static void test_axes__texts_of_collectives(void)
{
    static const size_t TEXTS[] = {AT(u.coll.interconnect),
                                   AT(u.coll.algorithm), AT(u.coll.setting)};
    static const struct msim_work COLL = {
        .family = MSIM_FAMILY_COLLECTIVE,
        .u.coll = {.bytes = 4096, .ranks = 8}};
    char a[] = "ring", same[] = "ring";

    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(*TEXTS); i++) {
        struct msim_work w = COLL, other = COLL;

        *(const char **)(void *)((char *)&w + TEXTS[i]) = a;
        hold_differs(&w, &other, true);
        *(const char **)(void *)((char *)&other + TEXTS[i]) = same;
        hold_differs(&w, &other, false);
    }
}

int main(void)
{
    RUN(test_axes__of_products);
    RUN(test_axes__of_attention);
    RUN(test_axes__of_others_with_sizes);
    RUN(test_axes__of_rows_and_columns);
    RUN(test_axes__kinds_of_works);
    RUN(test_axes__texts_of_collectives);
    return check_summary();
}
