/*
 * tests/unit/core/base/test_sort.c - tests of core/base/sort.c.
 */
#include "core/base/containers.h"

#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t key, number;
};

static bool before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct row *rows = ctx;

    return rows[a].key < rows[b].key;
}

static void check_sorted(uint32_t n, uint32_t (*key)(uint32_t))
{
    struct row *rows = calloc((size_t)n + 1, sizeof(*rows));
    uint32_t i;
    bool ok = true;

    REQUIRE(rows);
    for (i = 0; i < n; i++)
        rows[i] = (struct row){key(i), i};
    CHECK_INT(msim_sort_rows(rows, n, sizeof(*rows), before, rows), MSIM_OK);
    for (i = 1; i < n; i++)
        ok = ok && (rows[i - 1].key < rows[i].key ||
                    (rows[i - 1].key == rows[i].key &&
                     rows[i - 1].number < rows[i].number));
    CHECK(ok);
    free(rows);
}

static uint32_t rising(uint32_t i)
{
    return i;
}

static uint32_t falling(uint32_t i)
{
    return 5000 - i;
}

static uint32_t mixed(uint32_t i)
{
    return i * 2654435761u >> 24; /* many equal keys: order must be kept */
}

static uint32_t equal(uint32_t i)
{
    return i * 0;
}

struct large_row {
    uint32_t key;
    char rest[3000];
};

static bool large_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct large_row *rows = ctx;

    return rows[a].key < rows[b].key;
}

static void test_sort__large_rows(void)
{
    static struct large_row rows[5];

    for (uint32_t i = 0; i < 5; i++) {
        rows[i].key = 2 * i % 5;
        memset(rows[i].rest, (int)rows[i].key, sizeof(rows[i].rest));
    }
    CHECK_INT(msim_sort_rows(rows, 5, sizeof(*rows), large_before, rows),
              MSIM_OK);
    for (uint32_t i = 0; i < 5; i++) {
        CHECK_UINT(rows[i].key, i);
        CHECK_INT(rows[i].rest[2999], (int)i);
    }
}

static void test_sort__is_stable(void)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 17, 1000, 5000};
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        check_sorted(sizes[i], rising);
        check_sorted(sizes[i], falling);
        check_sorted(sizes[i], mixed);
        check_sorted(sizes[i], equal);
    }
}

/* By group first, which are the last digits; then by key. */
static uint32_t group_of(const void *ctx, uint32_t i)
{
    const struct row *rows = ctx;

    return rows[i].number % 7;
}

static void test_sort__by_groups(void)
{
    enum { N = 3000 };
    struct row *rows = calloc(N, sizeof(*rows));
    uint32_t i;
    bool ok = true;

    REQUIRE(rows);
    for (i = 0; i < N; i++)
        rows[i] = (struct row){mixed(i), i};
    CHECK_INT(
        msim_sort_groups(rows, N, sizeof(*rows), group_of, 9, before, rows),
        MSIM_OK);
    for (i = 1; i < N; i++) {
        uint32_t a = group_of(rows, i - 1), b = group_of(rows, i);

        ok = ok &&
             (a < b || (a == b && (before(rows, i - 1, i) ||
                                   (!before(rows, i, i - 1) &&
                                    rows[i - 1].number < rows[i].number))));
    }
    CHECK(ok);
    free(rows);
}

/* Keys that differ in their first byte, their last and some between, by rows
 * that are in the order of their numbers backwards. */
static void check_by_keys(uint32_t n, uint32_t (*key)(uint32_t))
{
    uint64_t *keys = calloc((size_t)n + 1, sizeof(*keys));
    uint32_t *index = calloc((size_t)n + 1, sizeof(*index));
    bool ok = true;

    REQUIRE(keys && index);
    for (uint32_t i = 0; i < n; i++) {
        keys[i] = (uint64_t)(key(i) & 3) << 62 | (uint64_t)(key(i) / 4) << 20 |
                  (key(i) & 1);
        index[i] = n - 1 - i;
    }
    CHECK_INT(msim_sort_by_keys(index, n, keys), MSIM_OK);
    for (uint32_t i = 1; i < n; i++)
        ok =
            ok &&
            (keys[index[i - 1]] < keys[index[i]] ||
             (keys[index[i - 1]] == keys[index[i]] && index[i - 1] > index[i]));
    CHECK(ok);
    free(keys);
    free(index);
}

static void test_sort__by_keys(void)
{
    static const uint32_t sizes[] = {0, 1, 2, 3, 100, 5000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        check_by_keys(sizes[i], rising);
        check_by_keys(sizes[i], falling);
        check_by_keys(sizes[i], mixed);
        check_by_keys(sizes[i], equal);
    }
}

int main(void)
{
    RUN(test_sort__large_rows);
    RUN(test_sort__by_groups);
    RUN(test_sort__by_keys);
    RUN(test_sort__is_stable);
    return check_summary();
}
