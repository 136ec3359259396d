/*
 * tests/unit/serving/engine/test_kv_cache.c - blocks of a KV cache are counted,
 * and prefixes of prompts live in free ones until those are needed.
 */
#include "serving/engine/replica_internal.h"
#include "tests/check.h"

static const uint64_t abc[] = {101, 102, 103};

/* 5 blocks: two are A and B, three are taken. All come back: the plain ones
 * first, then B, then A, so B is forgotten before A. */
static void test_kv_cache__keeps_the_start_longest(void)
{
    struct msim_kv_cache kv;

    REQUIRE(msim_kv_init(&kv, 5, 1) == MSIM_OK);
    CHECK(msim_kv_take(&kv, 5));
    CHECK(!msim_kv_take(&kv, 1));
    msim_kv_keep(&kv, abc[0]);
    msim_kv_keep(&kv, abc[1]);
    msim_kv_give(&kv, 3, abc, 2);
    CHECK_UINT(kv.free, 5);
    CHECK_UINT(msim_kv_hits(&kv, abc, 3), 2);
    CHECK(msim_kv_take(&kv, 3)); /* the plain ones */
    CHECK_UINT(msim_kv_hits(&kv, abc, 3), 2);
    CHECK(msim_kv_take(&kv, 1));
    CHECK_UINT(msim_kv_hits(&kv, abc, 3), 1);
    CHECK(msim_kv_take(&kv, 1));
    CHECK_UINT(msim_kv_hits(&kv, abc, 3), 0);
    CHECK_UINT(kv.free, 0);
    CHECK_UINT(kv.peak, 5);
    msim_kv_release(&kv);
}

/* What is held is not free, however old; two holders take it once. */
static void test_kv_cache__holds(void)
{
    struct msim_kv_cache kv;

    REQUIRE(msim_kv_init(&kv, 3, 1) == MSIM_OK);
    CHECK(msim_kv_take(&kv, 1));
    msim_kv_keep(&kv, abc[0]);
    msim_kv_hold(&kv, abc, 1);
    CHECK_UINT(kv.free, 2);
    msim_kv_give(&kv, 0, abc, 1);
    CHECK_UINT(kv.free, 2);
    CHECK(msim_kv_take(&kv, 2));
    CHECK(!msim_kv_take(&kv, 1));
    CHECK_UINT(msim_kv_hits(&kv, abc, 1), 1);
    msim_kv_give(&kv, 2, abc, 1);
    CHECK_UINT(kv.free, 3);
    msim_kv_release(&kv);
}

/* Two sequences compute one unit beside each other: the second's blocks are
 * free again. */
static void test_kv_cache__one_of_two_equal_units_is_kept(void)
{
    struct msim_kv_cache kv;

    REQUIRE(msim_kv_init(&kv, 8, 2) == MSIM_OK);
    CHECK(msim_kv_take(&kv, 4));
    msim_kv_keep(&kv, abc[0]);
    msim_kv_keep(&kv, abc[0]);
    CHECK_UINT(kv.free, 6);
    msim_kv_give(&kv, 0, abc, 1);
    CHECK_UINT(kv.free, 6);
    msim_kv_give(&kv, 0, abc, 1);
    CHECK_UINT(kv.free, 8);
    /* 6 plain blocks and one of the unit, whose other block is plain now. */
    CHECK(msim_kv_take(&kv, 7));
    CHECK_UINT(msim_kv_hits(&kv, abc, 1), 0);
    CHECK(msim_kv_take(&kv, 1));
    msim_kv_release(&kv);
}

static uint32_t drawn(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* 20,000 sequences of which 8 live at a time, with prefixes of 40 units: at the
 * end all is free, and every unit that is said to be cached can be held. */
static void test_kv_cache__loses_no_block(void)
{
    struct {
        uint32_t first, units, plain;
    } live[8] = {{0}};
    struct msim_kv_cache kv;
    uint64_t hashes[64];
    uint32_t state = 7, hits = 0;

    for (uint32_t i = 0; i < 64; i++)
        hashes[i] = 1000 + i;
    REQUIRE(msim_kv_init(&kv, 100, 3) == MSIM_OK);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t k = drawn(&state, 8), first = drawn(&state, 40);
        uint32_t units = drawn(&state, 5), had;

        msim_kv_give(&kv, live[k].plain, hashes + live[k].first, live[k].units);
        live[k].units = live[k].plain = 0;
        had = msim_kv_hits(&kv, hashes + first, units);
        msim_kv_hold(&kv, hashes + first, had);
        live[k].first = first;
        live[k].units = had;
        hits += had;
        live[k].plain = drawn(&state, 6);
        if (!msim_kv_take(&kv, live[k].plain)) {
            live[k].plain = 0;
            continue;
        }
        for (; live[k].units < units && live[k].plain >= 3; live[k].units++) {
            msim_kv_keep(&kv, hashes[first + live[k].units]);
            live[k].plain -= 3;
        }
    }
    for (uint32_t k = 0; k < 8; k++)
        msim_kv_give(&kv, live[k].plain, hashes + live[k].first, live[k].units);
    CHECK_UINT(kv.free, 100);
    CHECK(hits > 1000);
    CHECK(msim_kv_take(&kv, 100));
    for (uint32_t i = 0; i < 45; i++)
        CHECK_UINT(msim_kv_hits(&kv, hashes + i, 1), 0);
    msim_kv_release(&kv);
}

int main(void)
{
    RUN(test_kv_cache__keeps_the_start_longest);
    RUN(test_kv_cache__holds);
    RUN(test_kv_cache__one_of_two_equal_units_is_kept);
    RUN(test_kv_cache__loses_no_block);
    return check_summary();
}
