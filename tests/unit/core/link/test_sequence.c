/*
 * tests/unit/core/link/test_sequence.c - tests of core/link/sequence.h.
 */
#include "core/link/sequence.h"

#include "tests/check.h"

#include <stdlib.h>

#define NONE UINT32_MAX

/* Letters are the elements; `want` has the place in `a` as a digit, or '-'. */
static void check_match(const char *a, const char *b, bool repeat,
                        const char *want)
{
    uint32_t left[64], right[64], match[64];
    char got[65] = "";
    size_t i;

    for (i = 0; a[i]; i++)
        left[i] = (uint32_t)a[i];
    for (i = 0; b[i]; i++)
        right[i] = (uint32_t)b[i];
    CHECK_INT(msim_sequence_match(left, (uint32_t)strlen(a), right,
                                  (uint32_t)strlen(b), repeat, match),
              MSIM_OK);
    for (i = 0; b[i]; i++)
        got[i] = match[i] == NONE ? '-' : (char)('0' + match[i]);
    CHECK_STR(got, want);
}

static void test_sequence__once(void)
{
    check_match("abcd", "abcd", false, "0123");
    check_match("abcd", "abxcd", false, "01-23"); /* one too many in b */
    check_match("abcd", "acd", false, "023");     /* one too many in a */
    check_match("abc", "xyz", false, "---");
    check_match("", "ab", false, "--");
    check_match("ab", "", false, "");
    check_match("abc", "abcabc", false, "012---");
}

/* An ET of one iteration beside several iterations of Kineto. */
static void test_sequence__repeated(void)
{
    check_match("abc", "abcabcabc", true, "012012012");
    check_match("abc", "abcxabc", true, "012-012");
    check_match("abc", "abcacabc", true, "01202012");
    check_match("abc", "bcab", true, "1201"); /* begins in the middle */
}

/* Far apart: the beginning is matched, nothing hangs. */
static void test_sequence__is_bounded(void)
{
    enum { N = 20000 };
    uint32_t *a = malloc(N * sizeof(*a)), *b = malloc(N * sizeof(*b));
    uint32_t *match = malloc(N * sizeof(*match)), i;

    REQUIRE(a && b && match);
    for (i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i < 100 ? i : N * 2 - i;
    }
    CHECK_INT(msim_sequence_match(a, N, b, N, false, match), MSIM_OK);
    CHECK_UINT(match[0], 0);
    CHECK_UINT(match[99], 99);
    free(a);
    free(b);
    free(match);
}

/* Behind so many elements that only b has, a's few are still found; behind one
 * more they are not. */
static void test_sequence__how_far(void)
{
    enum { MOST = 1500, FEW = 5 };
    uint32_t a[FEW], b[MOST + 1 + FEW], match[MOST + 1 + FEW];

    for (uint32_t more = MOST; more <= MOST + 1; more++) {
        for (uint32_t i = 0; i < FEW; i++)
            a[i] = b[more + i] = i;
        for (uint32_t i = 0; i < more; i++)
            b[i] = 99;
        CHECK_INT(msim_sequence_match(a, FEW, b, more + FEW, false, match),
                  MSIM_OK);
        for (uint32_t i = 0; i < FEW; i++)
            CHECK_INT(match[more + i], more == MOST ? i : NONE);
    }
}

int main(void)
{
    RUN(test_sequence__once);
    RUN(test_sequence__repeated);
    RUN(test_sequence__is_bounded);
    RUN(test_sequence__how_far);
    return check_summary();
}
