/*
 * tests/unit/core/memory/test_caching.c - sizes and segments of PyTorch's
 * allocator of GPU memory, by its documented rules.
 */
#include "core/memory/caching.h"

#include "tests/check.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * 1024)

static uint32_t take(struct msim_caching *c, uint64_t bytes)
{
    uint32_t block = 0;

    CHECK(msim_caching_take(c, bytes, &block) == MSIM_OK);
    return block;
}

static void give(struct msim_caching *c, uint32_t block)
{
    CHECK(msim_caching_give(c, block) == MSIM_OK);
}

static void test_caching__segments(void)
{
    static const struct {
        uint64_t bytes, allocated, reserved;
    } rows[] = {
        {1, 512, 2 * MIB},
        {513, 1024, 2 * MIB},
        {MIB, MIB, 2 * MIB},
        {MIB + 1, MIB + 512, 20 * MIB},
        {10 * MIB - 512, 10 * MIB - 512, 20 * MIB},
        {10 * MIB + 1, 10 * MIB + 512, 12 * MIB}, /* the rest is split off */
        {31 * MIB, 32 * MIB, 32 * MIB}, /* 1 MiB is too little for that */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct msim_caching c = {0};

        take(&c, rows[i].bytes);
        CHECK_INT(c.reserved, rows[i].reserved);
        CHECK_INT(c.allocated, rows[i].allocated);
        msim_caching_release(&c);
    }
}

static void test_caching__used_again(void)
{
    struct msim_caching c = {0};
    uint32_t a = take(&c, 6 * MIB), b = take(&c, 6 * MIB);

    take(&c, 6 * MIB); /* the rest of one segment of 20 MiB: 8 MiB */
    CHECK_INT(c.reserved, 20 * MIB);
    give(&c, a);
    give(&c, b); /* neighbours: 12 MiB in one piece */
    CHECK_INT(c.allocated, 6 * MIB);
    take(&c, 12 * MIB);
    CHECK_INT(c.reserved, 20 * MIB);
    take(&c, 3 * MIB); /* only 2 MiB are left */
    CHECK_INT(c.reserved, 40 * MIB);
    msim_caching_release(&c);
    CHECK(!c.blocks && !c.reserved);
}

static void test_caching__pools_are_apart(void)
{
    struct msim_caching c = {0};
    uint32_t large = take(&c, 4 * MIB);

    give(&c, large);
    take(&c, 4 * KIB);
    CHECK_INT(c.reserved, 22 * MIB);
    CHECK(msim_caching_take(&c, UINT64_MAX, &large) == MSIM_ELIMIT);
    msim_caching_release(&c);
}

int main(void)
{
    RUN(test_caching__segments);
    RUN(test_caching__used_again);
    RUN(test_caching__pools_are_apart);
    return check_summary();
}
