/*
 * tests/unit/core/base/test_strtab.c - interned strings: equal text, equal
 * number.
 */
#include "core/base/containers.h"
#include "tests/check.h"

#include <stdlib.h>

static struct msim_strtab *make(void)
{
    struct msim_strtab *t = NULL;

    CHECK_INT(msim_strtab_new(&t), MSIM_OK);
    return t;
}

static uint32_t add(struct msim_strtab *t, const char *s, size_t len)
{
    uint32_t id = 99999;

    CHECK_INT(msim_strtab_add(t, s, len, &id), MSIM_OK);
    return id;
}

/* Numbers count up in the order of first use; 0 is the empty string. */
static void test_strtab__numbers(void)
{
    struct msim_strtab *t = make();

    REQUIRE(t != NULL);
    CHECK_UINT(msim_strtab_count(t), 1);
    CHECK_STR(msim_strtab_text(t, 0), "");
    CHECK_UINT(add(t, "one", 3), 1);
    CHECK_UINT(add(t, "", 0), 0);
    CHECK_UINT(add(t, "two", 3), 2);
    CHECK_UINT(add(t, "one", 3), 1);
    CHECK_UINT(add(t, "one more", 3), 1); /* of a longer text */
    CHECK_UINT(add(t, "one more", 8), 3);
    CHECK_UINT(msim_strtab_count(t), 4);
    CHECK_STR(msim_strtab_text(t, 1), "one");
    CHECK_STR(msim_strtab_text(t, 2), "two");
    CHECK_STR(msim_strtab_text(t, 3), "one more");
    CHECK_UINT(msim_strtab_find(t, "two"), 2);
    CHECK_UINT(msim_strtab_find(t, ""), 0);
    CHECK_UINT(msim_strtab_find(t, "tw"), UINT32_MAX);
    CHECK_UINT(msim_strtab_find(t, "three"), UINT32_MAX);
    CHECK_UINT(msim_strtab_count(t), 4);
    msim_strtab_free(t);
    msim_strtab_free(NULL);
}

/* Texts with a NUL are told apart by all of their bytes. */
static void test_strtab__told_apart(void)
{
    struct msim_strtab *t = make();
    uint32_t a, b;

    REQUIRE(t != NULL);
    a = add(t, "x\0y", 3);
    b = add(t, "x\0z", 3);
    CHECK(a != b);
    CHECK(add(t, "x", 1) != a);
    CHECK_UINT(add(t, "x\0y", 3), a);
    CHECK_STR(msim_strtab_text(t, b), "x");
    /* These two have one hash of 32 bits. */
    a = add(t, "kernel_44978", 12);
    CHECK(add(t, "kernel_50000", 12) != a);
    CHECK_UINT(msim_strtab_find(t, "kernel_44978"), a);
    msim_strtab_free(t);
}

/* Many of all lengths around the eight bytes that are hashed at once. A text
 * never moves, however many follow. */
static void test_strtab__many(void)
{
    enum { N = 20000 };
    struct msim_strtab *t = make();
    const char *first;
    char text[64];

    REQUIRE(t != NULL);
    add(t, "first", 5);
    first = msim_strtab_text(t, 1);
    for (uint32_t i = 0; i < N; i++) {
        int n = snprintf(text, sizeof(text), "%u%.*s", i, (int)(i % 20),
                         "abcdefghijklmnopqrst");

        CHECK_UINT(add(t, text, (size_t)n), 2 + i);
    }
    CHECK_UINT(msim_strtab_count(t), N + 2);
    CHECK(msim_strtab_text(t, 1) == first);
    for (uint32_t i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "%u%.*s", i, (int)(i % 20),
                 "abcdefghijklmnopqrst");
        CHECK_UINT(msim_strtab_find(t, text), 2 + i);
        CHECK_STR(msim_strtab_text(t, 2 + i), text);
    }
    msim_strtab_free(t);
}

/* A text of half of what 32 bits count is refused, before it is read. */
static void test_strtab__too_long(void)
{
    struct msim_strtab *t = make();
    uint32_t id = 7;

    REQUIRE(t != NULL);
    CHECK_INT(msim_strtab_add(t, "x", (size_t)UINT32_MAX / 2 + 1, &id),
              MSIM_ELIMIT);
    CHECK_UINT(id, 7);
    CHECK_UINT(msim_strtab_count(t), 1);
    msim_strtab_free(t);
}

/* Texts of another table join in their order, those with a NUL as a whole; what
 * is there already keeps its number. */
static void test_strtab__joined(void)
{
    struct msim_strtab *t = make(), *from = make();
    uint32_t *numbers = NULL;

    REQUIRE(t != NULL && from != NULL);
    CHECK_UINT(add(t, "a", 1), 1);
    CHECK_UINT(add(t, "both", 4), 2);
    CHECK_UINT(add(from, "x\0y", 3), 1);
    CHECK_UINT(add(from, "both", 4), 2);
    CHECK_UINT(add(from, "x\0z", 3), 3);
    CHECK_INT(msim_strtab_join(t, from, &numbers), MSIM_OK);
    REQUIRE(numbers != NULL);
    CHECK_UINT(numbers[0], 0);
    CHECK_UINT(numbers[1], 3);
    CHECK_UINT(numbers[2], 2);
    CHECK_UINT(numbers[3], 4);
    free(numbers);
    msim_strtab_free(from);
    CHECK_UINT(msim_strtab_count(t), 5);
    CHECK_UINT(add(t, "x\0z", 3), 4);
    CHECK_STR(msim_strtab_text(t, 4), "x");
    msim_strtab_free(t);
}

int main(void)
{
    RUN(test_strtab__numbers);
    RUN(test_strtab__told_apart);
    RUN(test_strtab__many);
    RUN(test_strtab__too_long);
    RUN(test_strtab__joined);
    return check_summary();
}
