/*
 * tests/unit/core/base/test_arena.c - memory that is taken piece by piece, and
 * arrays that grow.
 */
#include "core/base/containers.h"
#include "tests/check.h"

#include <stdlib.h>

/* What stands before the data of a chunk. */
#define HEAD ((size_t)16)
#define KIB  ((size_t)1024)

static bool is_zero(const void *p, size_t n)
{
    const unsigned char *at = p;

    for (size_t i = 0; i < n; i++)
        if (at[i])
            return false;
    return true;
}

/* Pieces are zeroed, aligned to 16 and none in another. */
static void test_arena__pieces(void)
{
    struct msim_arena a;
    unsigned char *last = NULL, *p;

    msim_arena_init(&a);
    CHECK_UINT(a.total, 0);
    for (size_t n = 1; n < 200; n++) {
        p = msim_arena_alloc(&a, n);
        REQUIRE(p != NULL);
        CHECK_UINT((uintptr_t)p % 16, 0);
        CHECK(is_zero(p, n));
        if (last) /* the one before, to 16 */
            CHECK_INT(p - last, (n - 1 + 15) / 16 * 16);
        memset(p, 0xff, n);
        last = p;
    }
    CHECK_UINT(a.total, 64 * KIB + HEAD);
    msim_arena_release(&a);
    CHECK(a.chunks == NULL);
    CHECK_UINT(a.total, 0);
    CHECK_UINT(a.size, 0);
}

/* A chunk is filled to its last byte; the next has twice its size, to 4 MiB. */
static void test_arena__chunks(void)
{
    struct msim_arena a;
    size_t size = 64 * KIB, total = 0;

    msim_arena_init(&a);
    for (int i = 0; i < 9; i++) {
        CHECK(msim_arena_alloc(&a, size - 32) != NULL);
        total += size + HEAD;
        CHECK_UINT(a.total, total);
        CHECK(msim_arena_alloc(&a, 32) != NULL);
        CHECK_UINT(a.total, total);
        CHECK_UINT(a.used, a.size);
        size = size < 4096 * KIB ? 2 * size : size;
    }
    CHECK_UINT(size, 4096 * KIB);
    msim_arena_release(&a);
}

/* What is larger than a chunk gets one of its own; nothing can be endless. */
static void test_arena__large(void)
{
    struct msim_arena a;
    unsigned char *p;

    msim_arena_init(&a);
    p = msim_arena_alloc(&a, 100 * KIB + 1);
    REQUIRE(p != NULL);
    CHECK_UINT(a.total, 100 * KIB + 16 + HEAD);
    CHECK(is_zero(p, 100 * KIB + 1));
    CHECK(msim_arena_alloc(&a, 16) != NULL); /* 200 KiB and 32 bytes */
    CHECK_UINT(a.total, 300 * KIB + 48 + 2 * HEAD);
    CHECK(msim_arena_alloc(&a, SIZE_MAX / 4 + 1) == NULL);
    CHECK(msim_arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK_UINT(a.total, 300 * KIB + 48 + 2 * HEAD);
    msim_arena_release(&a);
}

/* What one holds is the other's, where it stands. */
static void test_arena__absorbs(void)
{
    struct msim_arena a, b;
    char *x, *y, *z;

    msim_arena_init(&a);
    msim_arena_init(&b);
    x = msim_arena_alloc(&b, 8);
    REQUIRE(x != NULL);
    memcpy(x, "of b", 5);
    msim_arena_absorb(&a, &b); /* into one that is empty */
    CHECK(b.chunks == NULL);
    CHECK_UINT(b.total, 0);
    CHECK_UINT(a.total, 64 * KIB + HEAD);
    y = msim_arena_alloc(&a, 8);
    CHECK_INT(y - x, 16);
    z = msim_arena_alloc(&b, 200 * KIB);
    REQUIRE(z != NULL);
    memcpy(z, "more", 5);
    msim_arena_absorb(&a, &b);
    CHECK_UINT(a.total, 264 * KIB + 2 * HEAD);
    CHECK_INT((char *)msim_arena_alloc(&a, 8) - y, 16);
    msim_arena_absorb(&a, &b); /* of one that is empty */
    CHECK_UINT(a.total, 264 * KIB + 2 * HEAD);
    CHECK_STR(x, "of b");
    CHECK_STR(z, "more");
    msim_arena_release(&a);
}

/* ---- arrays -------------------------------------------------------------- */

/* From 64 on by a half each time, and only where there is no room. */
static void test_vec__grows(void)
{
    uint32_t *data = NULL, cap = 0, want[] = {64, 97, 146, 220};

    for (int i = 0; i < 4; i++) {
        CHECK_INT(msim_grow((void **)&data, &cap, cap, sizeof(*data)), MSIM_OK);
        CHECK_UINT(cap, want[i]);
        REQUIRE(data != NULL);
        data[cap - 1] = 1;
        CHECK_INT(msim_grow((void **)&data, &cap, cap - 1, sizeof(*data)),
                  MSIM_OK);
        CHECK_UINT(cap, want[i]);
    }
    free(data);
}

/* No more elements than can be counted. */
static void test_vec__limits(void)
{
    char byte, *data = &byte;
    uint32_t cap = UINT32_MAX - 1;

    CHECK_INT(msim_grow((void **)&data, &cap, cap, 1), MSIM_ELIMIT);
    CHECK(data == &byte);
    CHECK_UINT(cap, UINT32_MAX - 1);
    CHECK_INT(msim_grow((void **)&data, &cap, cap - 1, 1), MSIM_OK);
    CHECK(data == &byte);
}

static void test_vec__adds(void)
{
    struct msim_vec v = {0};

    for (uint32_t i = 0; i < 300; i++) {
        uint64_t *at = msim_vec_add(&v, sizeof(*at));

        REQUIRE(at != NULL);
        *at = i * i;
        CHECK_UINT(v.n, i + 1);
    }
    for (uint32_t i = 0; i < 300; i++)
        CHECK_UINT(((uint64_t *)v.data)[i], i * i);
    free(v.data);
}

/* One byte behind a text is always there. */
static void test_vec__text(void)
{
    struct msim_vec v = {0};
    struct msim_text_piece p;
    char text[64];

    memset(text, 'x', sizeof(text));
    CHECK_INT(msim_vec_text(&v, "", 0, &p), MSIM_OK);
    CHECK_UINT(p.at, 0);
    CHECK_UINT(p.len, 0);
    CHECK_UINT(v.cap, 64);
    CHECK_INT(msim_vec_text(&v, text, 63, &p), MSIM_OK);
    CHECK_UINT(v.cap, 64);
    CHECK_UINT(v.n, 63);
    CHECK_INT(msim_vec_text(&v, "ab", 2, &p), MSIM_OK);
    CHECK_UINT(p.at, 63);
    CHECK_UINT(p.len, 2);
    CHECK_UINT(v.n, 65);
    CHECK_UINT(v.cap, 97);
    CHECK(!memcmp((char *)v.data + 62, "xab", 3));
    CHECK_INT(msim_vec_text(&v, text, ((size_t)1 << 30) - 65, &p), MSIM_ELIMIT);
    CHECK_INT(msim_vec_text(&v, text, SIZE_MAX, &p), MSIM_ELIMIT);
    CHECK_UINT(v.n, 65);
    free(v.data);
}

/* Emptied, it gives zeroed memory again, and its largest chunk. */
static void test_arena__resets(void)
{
    struct msim_arena a;
    char *first, *again;

    msim_arena_init(&a);
    msim_arena_reset(&a);
    for (int i = 0; i < 300; i++) {
        first = msim_arena_alloc(&a, 1000);
        REQUIRE(first != NULL);
        memset(first, 7, 1000);
    }
    msim_arena_reset(&a);
    CHECK(a.total < 300 * 1000);
    again = msim_arena_alloc(&a, 1000);
    REQUIRE(again != NULL);
    for (int i = 0; i < 1000; i++)
        CHECK(!again[i]);
    msim_arena_release(&a);
}

static void test_arena__text(void)
{
    struct msim_arena a;
    char text[] = "text";
    const char *copy;

    msim_arena_init(&a);
    copy = msim_arena_text(&a, text);
    text[0] = 'n';
    CHECK_STR(copy, "text");
    CHECK_STR(msim_arena_text(&a, ""), "");
    msim_arena_release(&a);
}

int main(void)
{
    RUN(test_arena__pieces);
    RUN(test_arena__chunks);
    RUN(test_arena__large);
    RUN(test_arena__absorbs);
    RUN(test_arena__resets);
    RUN(test_arena__text);
    RUN(test_vec__grows);
    RUN(test_vec__limits);
    RUN(test_vec__adds);
    RUN(test_vec__text);
    return check_summary();
}
