/*
 * tests/unit/core/read/test_keyword.c - tests of core/read/keyword.c.
 */
#include "core/read/reader.h"

#include "tests/check.h"

static const struct msim_keyword words[] = {
    {"", 1},
    {"a", 2},
    {"ab", 3},
    {"abc", 4},
    {"abcd", 5},
    {"External id", 6},
    {"external id", 7},
    {"Process Group Description", 8},
    {"Process Group Ranks", 9},
    {NULL, 0},
};

static uint8_t find(const struct msim_keyset *set, const char *s)
{
    return msim_keyset_find(set, s, strlen(s));
}

static void test_keyword__finds_each_and_no_other(void)
{
    static const char *const others[] = {
        "b",
        "aa",
        "abd",
        "abce",
        "External ib",
        "Process Group Descr1ption",
        "Process Group Ranks ",
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"};
    struct msim_keyset set;
    size_t i;

    msim_keyset_init(&set, words);
    for (i = 0; words[i].text; i++)
        CHECK_UINT(find(&set, words[i].text), words[i].id);
    for (i = 0; i < sizeof(others) / sizeof(*others); i++)
        CHECK_UINT(find(&set, others[i]), 0);
}

int main(void)
{
    RUN(test_keyword__finds_each_and_no_other);
    return check_summary();
}
