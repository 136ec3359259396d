/*
 * tests/unit/core/base/test_idmap.c - tests of core/base/idmap.c.
 */
#include "core/base/containers.h"

#include "tests/check.h"

static void test_idmap__keeps_what_was_put(void)
{
    struct msim_idmap m = {0};
    uint32_t *slot, i;

    CHECK_UINT(msim_idmap_get(&m, 5), UINT32_MAX);
    for (i = 0; i < 10000; i++) {
        /* Keys that differ in high bits only, and 0, are keys like others. */
        CHECK_INT(msim_idmap_put(&m, (uint64_t)i << 40, i, &slot), MSIM_OK);
        CHECK_UINT(*slot, i);
    }
    CHECK_INT(msim_idmap_put(&m, 0, 77, &slot), MSIM_OK);
    CHECK_UINT(*slot, 0); /* the first stays */
    for (i = 0; i < 10000; i++)
        CHECK_UINT(msim_idmap_get(&m, (uint64_t)i << 40), i);
    CHECK_UINT(msim_idmap_get(&m, 1), UINT32_MAX);
    CHECK_UINT(m.count, 10000);
    msim_idmap_release(&m);
    CHECK_UINT(msim_idmap_get(&m, 0), UINT32_MAX);
}

/* A process and a thread: swapped or off by one, they are others. */
static void test_idmap__pairs_differ(void)
{
    CHECK(msim_idmap_pair(1, 2) != msim_idmap_pair(2, 1));
    CHECK(msim_idmap_pair(0, 7) != msim_idmap_pair(7, 0));
    CHECK(msim_idmap_pair(-1, 0) != msim_idmap_pair(0, -1));
}

int main(void)
{
    RUN(test_idmap__keeps_what_was_put);
    RUN(test_idmap__pairs_differ);
    return check_summary();
}
