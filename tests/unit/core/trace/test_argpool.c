/*
 * tests/unit/core/trace/test_argpool.c - tests of core/trace/argpool.c.
 */
#include "core/trace/trace_columns.h"

#include "tests/check.h"

static struct msim_arg scalar(int64_t value)
{
    return (struct msim_arg){.kind = MSIM_ARG_INT, .v.i = value};
}

static void test_argpool__equal_lists_once(void)
{
    struct msim_trace t = {0};
    struct msim_argpool p;
    struct msim_arg args[3] = {scalar(1), scalar(2), scalar(3)};
    uint32_t a, b, c, d;

    msim_argpool_init(&p, &t);
    CHECK_INT(msim_argpool_block(&p, args, 3, &a), MSIM_OK);
    CHECK_INT(msim_argpool_block(&p, args, 2, &b), MSIM_OK);
    CHECK_INT(msim_argpool_block(&p, args, 3, &c), MSIM_OK);
    CHECK_INT(msim_argpool_block(&p, args, 0, &d), MSIM_OK);
    CHECK_UINT(a, c);
    CHECK(a != b && b != d);
    CHECK_UINT(t.n_blocks, 3);
    CHECK_UINT(msim_args_count(&t, a), 3);
    CHECK_UINT(msim_args_count(&t, d), 0);
    CHECK(msim_args_get(&t, d, 0) == NULL);
    CHECK_INT(msim_args_get(&t, b, 1)->v.i, 2);
    msim_argpool_release(&p);
    msim_trace_release(&t);
}

/* A scalar tensor has no sizes but a place; [2,3] is not [2] nor [3,2]. */
static void test_argpool__sizes(void)
{
    static const int64_t sizes[] = {2, 3, 2};
    struct msim_trace t = {0};
    struct msim_argpool p;
    uint32_t none, one, two, swapped, again;

    msim_argpool_init(&p, &t);
    CHECK_INT(msim_argpool_dims(&p, NULL, 0, &none), MSIM_OK);
    CHECK_INT(msim_argpool_dims(&p, sizes, 1, &one), MSIM_OK);
    CHECK_INT(msim_argpool_dims(&p, sizes, 2, &two), MSIM_OK);
    CHECK_INT(msim_argpool_dims(&p, sizes + 1, 2, &swapped), MSIM_OK);
    CHECK_INT(msim_argpool_dims(&p, sizes, 2, &again), MSIM_OK);
    CHECK_UINT(two, again);
    CHECK(one != two && two != swapped && none < t.n_dims);
    CHECK_INT(t.dims[two + 1], 3);
    CHECK_INT(t.dims[swapped], 3);
    msim_argpool_release(&p);
    msim_trace_release(&t);
}

static void test_argpool__grows(void)
{
    struct msim_trace t = {0};
    struct msim_argpool p;
    uint32_t i, block;

    msim_argpool_init(&p, &t);
    for (i = 0; i < 5000; i++) {
        struct msim_arg a = scalar(i);

        CHECK_INT(msim_argpool_block(&p, &a, 1, &block), MSIM_OK);
        CHECK_UINT(block, i);
    }
    for (i = 0; i < 5000; i++) {
        struct msim_arg a = scalar(i);

        CHECK_INT(msim_argpool_block(&p, &a, 1, &block), MSIM_OK);
        CHECK_UINT(block, i);
    }
    msim_argpool_release(&p);
    msim_trace_release(&t);
}

int main(void)
{
    RUN(test_argpool__equal_lists_once);
    RUN(test_argpool__sizes);
    RUN(test_argpool__grows);
    return check_summary();
}
