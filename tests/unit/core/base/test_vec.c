/* Arrays that grow: by how much, where they end, and what stays. */
#include "core/base/containers.h"
#include "tests/check.h"

#include <stdlib.h>

/* 64 elements first, then half as much again and one. */
static void test_vec__grows_by_half(void)
{
    static const uint32_t want[] = {64, 97, 146, 220};
    uint32_t *data = NULL, cap = 0, n = 0;

    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        CHECK_INT(msim_grow((void **)&data, &cap, n, sizeof(*data)), MSIM_OK);
        CHECK_INT(cap, want[i]);
        CHECK(n == 0 || data[n - 1] == n - 1); /* what was there stays */
        for (; n + 1 < cap; n++)
            data[n] = n;
        CHECK_INT(msim_grow((void **)&data, &cap, n, sizeof(*data)), MSIM_OK);
        CHECK_INT(cap, want[i]); /* one has room yet */
        data[n] = n;
        n++;
    }
    free(data);
}

/* No more than UINT32_MAX - 1 elements; nothing is taken where one has room. */
static void test_vec__ends(void)
{
    static const struct {
        uint32_t cap, length;
        enum msim_status status;
    } cases[] = {
        {UINT32_MAX - 1, UINT32_MAX - 2, MSIM_OK},
        {UINT32_MAX - 1, UINT32_MAX - 1, MSIM_ELIMIT},
        {UINT32_MAX - 1, UINT32_MAX, MSIM_ELIMIT},
        {1, 0, MSIM_OK},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t cap = cases[i].cap;
        void *data = NULL;

        CHECK_INT(msim_grow(&data, &cap, cases[i].length, 1), cases[i].status);
        CHECK_INT(cap, cases[i].cap);
        CHECK(!data);
    }
}

static void test_vec__elements(void)
{
    struct msim_vec v = {0};

    for (uint64_t i = 0; i < 200; i++) {
        uint64_t *x = msim_vec_add(&v, sizeof(*x));

        CHECK(x == (uint64_t *)v.data + i);
        CHECK_INT(v.n, i + 1);
        if (x)
            *x = i;
    }
    for (uint64_t i = 0; i < 200; i++)
        CHECK_INT(((uint64_t *)v.data)[i], i);
    free(v.data);
}

/* Pieces lie one behind the other, and a byte is free behind the last. */
static void test_vec__text(void)
{
    struct msim_vec v = {0};
    struct msim_text_piece p;
    char text[64];

    memset(text, 'x', sizeof(text));
    CHECK_INT(msim_vec_text(&v, "abc", 3, &p), MSIM_OK);
    CHECK_INT(p.at, 0);
    CHECK_INT(p.len, 3);
    CHECK_INT(msim_vec_text(&v, text, 60, &p), MSIM_OK);
    CHECK_INT(p.at, 3);
    CHECK_INT(p.len, 60);
    CHECK_INT(v.cap, 64);
    CHECK_INT(msim_vec_text(&v, "", 0, &p), MSIM_OK);
    CHECK_INT(v.n, 63);
    CHECK_INT(v.cap, 64);
    CHECK_INT(msim_vec_text(&v, "y", 1, &p), MSIM_OK);
    CHECK_INT(v.n, 64);
    CHECK(v.cap > 64);
    CHECK(!memcmp(v.data, "abcxx", 5) && ((char *)v.data)[63] == 'y');
    /* 1 GiB less one byte is the most: nothing is read of what is too long */
    CHECK_INT(msim_vec_text(&v, text, UINT32_MAX / 4 - 63, &p), MSIM_ELIMIT);
    CHECK_INT(v.n, 64);
    free(v.data);
}

int main(void)
{
    RUN(test_vec__grows_by_half);
    RUN(test_vec__ends);
    RUN(test_vec__elements);
    RUN(test_vec__text);
    return check_summary();
}
