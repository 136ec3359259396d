/*
 * tests/unit/core/base/test_nearest.c - tests of core/base/nearest.c.
 */
#include "core/base/texts.h"

#include "tests/check.h"

#include <string.h>

static void test_word__one_slip_in_three_letters(void)
{
    static const char *const WORDS[] = {"predict", "info", "op"};

    CHECK_STR(msim_nearest_word("perdict", WORDS, 3), "predict");
    CHECK_STR(msim_nearest_word("inf", WORDS, 3), "info");
    CHECK(!msim_nearest_word("platforms", WORDS, 3));
    CHECK(!msim_nearest_word("xo", WORDS, 3)); /* two slips from "op" */
}

static void test_word__capitals(void)
{
    static const char *const NAMES[] = {"l4", "l40s", "-V"};

    CHECK_STR(msim_nearest_word("L41S", NAMES, 3), "l40s");
    CHECK_STR(msim_nearest_word("-v", NAMES, 3), "-V");
}

/* Paths are long, and what differs in them is short. */
static void test_word__long(void)
{
    static const char *const PATHS[] = {
        "/some/where/far/down/in/a/tree/data/traces/gpt2",
        "/some/where/far/down/in/a/tree/data/traces/bert",
    };
    static const char *const FAR[] = {
        "/some/where/far/down/in/a/tree/0123456789",
    };

    CHECK_STR(msim_nearest_word(
                  "/some/where/far/down/in/a/tree/data/traces/bart", PATHS, 2),
              PATHS[1]);
    CHECK_STR(msim_nearest_word(
                  "/some/where/far/down/in/a/tre/data/traces/gpt2", PATHS, 2),
              PATHS[0]);
    CHECK(!msim_nearest_word("/some/where/far/down/in/a/tree/abcdefghij", FAR,
                             1));
}

/* What both end with may begin both: "aa" is one letter from "a". */
static void test_word__ends_that_overlap(void)
{
    static const char *const WORDS[] = {"aaa"};

    CHECK_STR(msim_nearest_word("aa", WORDS, 1), "aaa");
    CHECK_STR(msim_nearest_word("aaaa", WORDS, 1), "aaa");
}

/* By its definition, over all of both words: by letters left out, put in,
 * changed, and by neighbours swapped. */
static unsigned slips(const char *a, const char *b)
{
    unsigned d[16][16], n = (unsigned)strlen(a), m = (unsigned)strlen(b);

    for (unsigned i = 0; i <= n; i++)
        for (unsigned j = 0; j <= m; j++) {
            unsigned best = i + j;

            if (i && d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (j && d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i && j && d[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
                a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[n][m];
}

static uint32_t random_word(char *word, uint32_t seed)
{
    uint32_t n = 1 + (seed = seed * 1664525 + 1013904223) / 65536 % 11;

    for (uint32_t i = 0; i < n; i++)
        word[i] = "abc"[(seed = seed * 1664525 + 1013904223) / 65536 % 3];
    word[n] = '\0';
    return seed;
}

/* The first of the nearest, where it is near enough. */
static void test_word__by_definition(void)
{
    char typed[16], a[16], b[16];
    const char *const words[] = {a, b};
    uint32_t seed = 1;

    for (int turn = 0; turn < 20000; turn++) {
        const char *found, *want;
        unsigned most, one, other;

        seed = random_word(b, random_word(a, random_word(typed, seed)));
        found = msim_nearest_word(typed, words, 2);
        most = ((unsigned)strlen(typed) + 1) / 3;
        one = slips(typed, a);
        other = slips(typed, b);
        want = one <= most && one <= other ? a : other <= most ? b : NULL;
        if (found != want) {
            CHECK_STR(found ? found : "none", want ? want : "none");
            return;
        }
    }
}

/* Every slip counts 8: a letter changed, put in, left out; a swap is two. */
static void test_part__slips(void)
{
    CHECK_UINT(msim_part_distance("mm", "mm"), 0);
    CHECK_UINT(msim_part_distance("mn", "mm"), 8);
    CHECK_UINT(msim_part_distance("linar", "linear"), 8);
    CHECK_UINT(msim_part_distance("linnear", "linear"), 8);
    CHECK_UINT(msim_part_distance("kitten", "sitting"), 2 * 8);
    CHECK_UINT(msim_part_distance("abc", "xyz"), 3 * 8);
    CHECK_UINT(msim_part_distance("abc", ""), 3 * 8);
    CHECK_UINT(msim_part_distance("", "mm"), 0);
}

/* What a name has before and after costs nothing, nor do capitals. */
static void test_part__of_a_name(void)
{
    CHECK_UINT(msim_part_distance("mm", "a::mm"), 0);
    CHECK_UINT(msim_part_distance("MMBACK", "MmBack0"), 0);
    CHECK_UINT(msim_part_distance("conv", "my_Conv2d"), 1); /* nine letters */
    CHECK_UINT(msim_part_distance("cnov", "my_conv2"), 2 * 8);
}

/* One for nine letters of a name, at most seven; none for its tail. */
static void test_part__long_names(void)
{
    char name[200];

    memset(name, 'x', sizeof(name));
    name[18] = '\0';
    CHECK_UINT(msim_part_distance("x", name), 2);
    name[18] = 'x';
    name[63] = '\0';
    CHECK_UINT(msim_part_distance("x", name), 7);
    name[63] = 'x';
    name[MSIM_PART_BYTES - 2] = 'y'; /* the last that is compared */
    name[sizeof(name) - 1] = '\0';
    CHECK_UINT(msim_part_distance("y", name), 7);
    name[MSIM_PART_BYTES - 2] = 'x';
    name[MSIM_PART_BYTES - 1] = 'y';
    CHECK_UINT(msim_part_distance("y", name), 8 + 7);
}

int main(void)
{
    RUN(test_word__one_slip_in_three_letters);
    RUN(test_word__capitals);
    RUN(test_word__long);
    RUN(test_word__ends_that_overlap);
    RUN(test_word__by_definition);
    RUN(test_part__slips);
    RUN(test_part__of_a_name);
    RUN(test_part__long_names);
    return check_summary();
}
