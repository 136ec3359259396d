/*
 * tests/unit/core/memory/test_caching.c - sizes and segments of PyTorch's
 * allocator of GPU memory, by its documented rules.
 */
#include "core/memory/caching.h"

#include "tests/check.h"

#include <string.h>

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
    msim_caching_give(c, block);
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

/* ---- a second allocator --------------------------------------------------
 */

/* Blocks in the order in which they lie, segment after segment. */
#define BLOCKS 4000

struct lying {
    uint64_t size;
    uint32_t number, segment;
    bool free, small;
};
static struct {
    struct lying of[BLOCKS];
    uint32_t n, numbers, segments;
    uint64_t allocated, reserved;
} plain;

static void put_behind(uint32_t at, struct lying block)
{
    memmove(&plain.of[at + 1], &plain.of[at],
            (plain.n - at) * sizeof(*plain.of));
    plain.of[at] = block;
    plain.n++;
}

/* The rules of the header, by a search of all blocks. */
static uint32_t plain_take(uint64_t bytes)
{
    uint64_t size = bytes < 512 ? 512 : (bytes + 511) / 512 * 512, left;
    bool small = size <= MIB;
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < plain.n; i++) {
        const struct lying *x = &plain.of[i];
        const struct lying *b = &plain.of[best == UINT32_MAX ? i : best];

        if (x->free && x->small == small && x->size >= size &&
            (best == UINT32_MAX || x->size < b->size ||
             (x->size == b->size && x->number < b->number)))
            best = i;
    }
    if (best == UINT32_MAX) {
        uint64_t segment = small ? 2 * MIB
                           : size < 10 * MIB
                               ? 20 * MIB
                               : (size + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);

        best = plain.n;
        put_behind(best, (struct lying){segment, plain.numbers++,
                                        plain.segments++, false, small});
        plain.reserved += segment;
    }
    plain.of[best].free = false;
    left = plain.of[best].size - size;
    if (small ? left >= 512 : left > MIB) {
        put_behind(best + 1,
                   (struct lying){left, plain.numbers++, plain.of[best].segment,
                                  true, small});
        plain.of[best].size = size;
    }
    plain.allocated += plain.of[best].size;
    return plain.of[best].number;
}

static void plain_join(uint32_t at, uint32_t number)
{
    plain.of[at].size += plain.of[at + 1].size;
    plain.of[at].number = number;
    plain.n--;
    memmove(&plain.of[at + 1], &plain.of[at + 2],
            (plain.n - at - 1) * sizeof(*plain.of));
}

static void plain_give(uint32_t number)
{
    uint32_t at = 0;

    while (plain.of[at].number != number || plain.of[at].free)
        at++;
    plain.allocated -= plain.of[at].size;
    plain.of[at].free = true;
    if (at && plain.of[at - 1].free &&
        plain.of[at - 1].segment == plain.of[at].segment)
        plain_join(--at, number);
    if (at + 1 < plain.n && plain.of[at + 1].free &&
        plain.of[at + 1].segment == plain.of[at].segment)
        plain_join(at, number);
}

/* Sizes at the limits of the rules, and any others, in any order. */
static void test_caching__as_a_plain_search(void)
{
    static const uint64_t EDGES[] = {0,       1,         512,      513,
                                     MIB,     MIB + 1,   10 * MIB, 10 * MIB - 1,
                                     2 * MIB, 19 * MIB,  MIB / 2,  9 * MIB,
                                     5 * MIB, 100 * KIB, 7 * KIB,  21 * MIB};
    struct msim_caching c = {0};
    uint32_t held[300], n = 0, seed = 5;

    for (int i = 0; i < 3000; i++) {
        uint64_t bytes;

        seed = seed * 1664525u + 1013904223u;
        if (n == 300 || (n && (seed >> 28) < 7)) {
            uint32_t which = (seed >> 8) % n;

            give(&c, held[which]);
            plain_give(held[which]);
            held[which] = held[--n];
        } else {
            bytes =
                seed >> 30 ? EDGES[(seed >> 12) % 16] : (seed >> 8) % (4 * MIB);
            held[n] = take(&c, bytes);
            CHECK_INT(held[n], plain_take(bytes));
            n++;
        }
        CHECK_INT(c.allocated, plain.allocated);
        CHECK_INT(c.reserved, plain.reserved);
    }
    while (n)
        give(&c, held[--n]);
    CHECK_INT(c.allocated, 0);
    msim_caching_release(&c);
}

/* 2^60 bytes are asked for, and one more; and when so many are reserved. */
static void test_caching__limits(void)
{
    struct msim_caching c = {0};
    uint64_t most = UINT64_C(1) << 60;
    uint32_t block;

    CHECK_INT(msim_caching_take(&c, most + 1, &block), MSIM_ELIMIT);
    CHECK_INT(c.n, 0);
    CHECK_INT(msim_caching_take(&c, most, &block), MSIM_OK);
    CHECK_INT(c.reserved, most);
    CHECK_INT(msim_caching_take(&c, 1, &block), MSIM_OK);
    CHECK_INT(msim_caching_take(&c, 1, &block), MSIM_ELIMIT);
    msim_caching_release(&c);
}

int main(void)
{
    RUN(test_caching__segments);
    RUN(test_caching__used_again);
    RUN(test_caching__pools_are_apart);
    RUN(test_caching__as_a_plain_search);
    RUN(test_caching__limits);
    return check_summary();
}
