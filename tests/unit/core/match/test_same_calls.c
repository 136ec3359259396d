/*
 * tests/unit/core/match/test_same_calls.c - which calls of two ranks are one.
 *
 * Each call is a letter of a text, "a" a size of its own; what the most that
 * keep their order are is also counted by trying all ways.
 */
#include "core/match/lost_comms_internal.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 64

struct side {
    struct msim_comm comms[MOST];
    struct msim_match_call calls[MOST];
};

static struct side sides[2];
static struct msim_match_call *room[4 * MOST];

static uint32_t fill(struct side *s, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);

    for (uint32_t i = 0; i < n; i++) {
        s->comms[i] = (struct msim_comm){.collective = MSIM_COLL_ALL_REDUCE,
                                         .in_elems = (uint64_t)text[i]};
        s->calls[i] = (struct msim_match_call){.is = &s->comms[i],
                                               .from = 1,
                                               .to = 0,
                                               .rank = s == &sides[1],
                                               .comm = i,
                                               .part = (double)i / n};
        s->calls[i].as = &s->calls[i];
    }
    return n;
}

static struct msim_match_lists lists(const char *a, const char *b)
{
    struct msim_match_lists l = {.list = room, .other = room + 2 * MOST};

    l.n = fill(&sides[0], a);
    l.m = fill(&sides[1], b);
    for (uint32_t i = 0; i < l.n; i++)
        l.list[i] = &sides[0].calls[i];
    for (uint32_t i = 0; i < l.m; i++)
        l.other[i] = &sides[1].calls[i];
    return l;
}

static void check_counts(const char *a, const char *b, uint32_t in_order,
                         uint32_t most, bool any)
{
    struct msim_match_lists l = lists(a, b);
    uint32_t n = 99;
    bool all = !any;

    CHECK_UINT(msim_match_in_order(&l), in_order);
    CHECK_INT(msim_match_count(&l, &n), MSIM_OK);
    CHECK_UINT(n, most);
    CHECK_INT(msim_match_any_order(&l, &all), MSIM_OK);
    CHECK_INT(all, any);
}

static void test_same_calls__counts(void)
{
    check_counts("", "", 0, 0, true);
    check_counts("a", "", 0, 0, false);
    check_counts("abc", "abc", 3, 3, true);
    check_counts("abc", "bc", 0, 2, false);
    check_counts("abc", "cab", 0, 2, true);
    check_counts("ab", "ba", 0, 1, true);
    check_counts("aab", "abb", 2, 2, false); /* one of them is taken twice */
    check_counts("aba", "aab", 1, 2, true);
    check_counts("abcd", "abcde", 4, 4, false);
}

/* The longest text that is in both, by its definition. */
static uint32_t common(const char *a, const char *b)
{
    uint32_t x, y;

    if (!*a || !*b)
        return 0;
    if (*a == *b)
        return 1 + common(a + 1, b + 1);
    x = common(a + 1, b);
    y = common(a, b + 1);
    return x > y ? x : y;
}

/* All of both are in what is joined, in their orders, and as many as can meet
 * one that they can be. */
static void check_joined(const char *a, const char *b)
{
    struct msim_match_lists l = lists(a, b);
    uint32_t met = 0, at[2] = {0, 0};
    uint32_t n = l.n, m = l.m;

    CHECK_INT(msim_match_join(&l), MSIM_OK);
    CHECK_UINT(l.n, n + m - common(a, b));
    for (uint32_t i = 0; i < l.n; i++) {
        const struct msim_match_call *c = l.list[i];

        CHECK_UINT(c->comm, at[c->rank]++);
        if (c->rank == 0 && at[1] < m && sides[1].calls[at[1]].as == c) {
            CHECK_INT(a[at[0] - 1], b[at[1]]);
            at[1]++;
            met++;
        } else if (c->rank == 1) {
            CHECK(c->as == c);
        }
    }
    CHECK_UINT(at[0], n);
    CHECK_UINT(at[1], m);
    CHECK_UINT(met, common(a, b));
}

static void test_same_calls__most_meet(void)
{
    char text[2][9];
    unsigned seed = 7;
    uint32_t n;

    for (int k = 0; k < 300; k++) {
        for (int s = 0; s < 2; s++) {
            int len = (int)((seed = seed * 1103515245 + 12345) >> 16) % 9;

            for (int i = 0; i < len; i++) {
                seed = seed * 1103515245 + 12345;
                text[s][i] = (char)('a' + (seed >> 16) % 3);
            }
            text[s][len] = '\0';
        }
        struct msim_match_lists l = lists(text[0], text[1]);

        CHECK_INT(msim_match_count(&l, &n), MSIM_OK);
        CHECK_UINT(n, common(text[0], text[1]));
        check_joined(text[0], text[1]);
    }
}

/* Of several ways that whose parts are alike: one of three equal calls. */
static void test_same_calls__alike_parts(void)
{
    for (uint32_t want = 0; want < 3; want++) {
        struct msim_match_lists l = lists("aaa", "a");

        for (uint32_t i = 0; i < 3; i++)
            sides[0].calls[i].part = 0.1 + 0.4 * i;
        sides[1].calls[0].part = 0.05 + 0.4 * want;
        CHECK_INT(msim_match_join(&l), MSIM_OK);
        CHECK_UINT(l.n, 3);
        CHECK(sides[1].calls[0].as == &sides[0].calls[want]);
    }
}

/* However unlike the parts of many are, more that meet count more. */
static void test_same_calls__unlike_parts(void)
{
    struct msim_match_lists l = lists("ab", "ab");
    uint32_t n;

    for (uint32_t i = 0; i < 2; i++) {
        sides[0].calls[i].part = 0;
        sides[1].calls[i].part = 50;
    }
    CHECK_INT(msim_match_count(&l, &n), MSIM_OK);
    CHECK_UINT(n, 2);
    CHECK_INT(msim_match_join(&l), MSIM_OK);
    CHECK_UINT(l.n, 2);
}

static bool can_be_one(struct msim_match_call x, struct msim_match_call y)
{
    struct msim_match_call *a = &x, *b = &y;
    struct msim_match_lists l = {.list = &a, .other = &b, .n = 1, .m = 1};

    return msim_match_in_order(&l) == 1;
}

/* 100 us lie between the end of one and the begin of the other at most. */
static void test_same_calls__times(void)
{
    const msim_ps gap = (msim_ps)100 * MSIM_PS_PER_US;
    struct msim_comm reduce = {.collective = MSIM_COLL_ALL_REDUCE};
    struct msim_comm broadcast = {.collective = MSIM_COLL_BROADCAST};
    struct msim_match_call x = {.is = &reduce, .from = 0, .to = 1000};
    struct msim_match_call y = x;

    y.from = 1000 + gap;
    y.to = y.from + 5;
    CHECK(can_be_one(x, y));
    CHECK(can_be_one(y, x));
    y.from++;
    CHECK(!can_be_one(x, y));
    CHECK(!can_be_one(y, x));
    y.to = y.from - 1; /* not known */
    CHECK(can_be_one(x, y));
    CHECK(can_be_one(y, x));
    y.to = y.from;
    CHECK(!can_be_one(x, y));
    x.is = y.is = &broadcast; /* its root need not stay */
    CHECK(can_be_one(x, y));
}

static void test_same_calls__timed_kinds(void)
{
    static const uint8_t TIMED[] = {
        MSIM_COLL_ALL_REDUCE, MSIM_COLL_ALL_GATHER, MSIM_COLL_ALL_TO_ALL,
        MSIM_COLL_REDUCE_SCATTER, MSIM_COLL_BARRIER};

    for (uint8_t kind = 0; kind <= MSIM_COLL_WAIT; kind++) {
        struct msim_comm c = {.collective = kind};
        struct msim_match_call call = {.is = &c, .from = 3, .to = 3};
        bool timed = memchr(TIMED, kind, sizeof(TIMED)) != NULL;

        CHECK_INT(msim_match_is_timed(&call), timed);
        call.to = 2;
        CHECK(!msim_match_is_timed(&call));
    }
}

/*
 * Two of 4096 calls each make a table of 4097 x 4097 cells, more than are
 * made; of 4095 it is made. Each list begins with one that the other lacks.
 */
static void check_large(uint32_t n, uint32_t in_order, uint32_t most)
{
    struct msim_comm kinds[3] = {{.collective = MSIM_COLL_ALL_REDUCE},
                                 {.collective = MSIM_COLL_BARRIER},
                                 {.collective = MSIM_COLL_ALL_GATHER}};
    struct msim_match_call *calls = calloc(2 * (size_t)n, sizeof(*calls));
    struct msim_match_call **at = calloc(4 * (size_t)n, sizeof(*at));
    struct msim_match_lists l = {at, at + 2 * n, n, n};
    uint32_t met;
    bool all = true;

    REQUIRE(calls != NULL && at != NULL);
    for (uint32_t i = 0; i < 2 * n; i++) {
        calls[i].is = &kinds[i < n ? i % 2 : (i - n) % 2 == 0];
        calls[i].from = 1;
        calls[i].as = &calls[i];
        (i < n ? l.list : l.other)[i % n] = &calls[i];
    }
    calls[0].is = &kinds[2];
    CHECK_UINT(msim_match_in_order(&l), in_order);
    CHECK_INT(msim_match_count(&l, &met), MSIM_OK);
    CHECK_UINT(met, most);
    CHECK_INT(msim_match_any_order(&l, &all), MSIM_OK);
    CHECK(!all);
    CHECK_INT(msim_match_join(&l), MSIM_OK);
    CHECK_UINT(l.n, 2 * n - (most ? most : n));
    for (uint32_t i = 0; i < n && !most; i++) /* the nth is the nth */
        CHECK(calls[n + i].as == &calls[i]);
    free(calls);
    free(at);
}

static void test_same_calls__large(void)
{
    check_large(4095, 0, 4094);
    check_large(4096, 0, 0);
}

/* Any order is tried up to 4096 calls beside 4096, and is none beyond. */
static void test_same_calls__large_in_any_order(void)
{
    struct msim_comm c = {.collective = MSIM_COLL_BROADCAST};
    struct msim_match_call call = {.is = &c, .from = 1};
    struct msim_match_call **at = calloc(4097, sizeof(*at));
    struct msim_match_lists l = {at, at, 4096, 4096};
    bool all = false;

    REQUIRE(at != NULL);
    for (uint32_t i = 0; i < 4097; i++)
        at[i] = &call;
    CHECK_INT(msim_match_any_order(&l, &all), MSIM_OK);
    CHECK(all);
    l.n = l.m = 4097;
    CHECK_INT(msim_match_any_order(&l, &all), MSIM_OK);
    CHECK(!all);
    free(at);
}

/* Without a table what the other has more of comes behind. */
static void test_same_calls__large_and_unlike(void)
{
    enum { N = 4000, M = 4500 };
    struct msim_comm c = {.collective = MSIM_COLL_ALL_REDUCE};
    struct msim_match_call *calls = calloc(N + M, sizeof(*calls));
    struct msim_match_call **at = calloc(2 * (N + M), sizeof(*at));
    struct msim_match_lists l = {at, at + N + M, N, M};

    REQUIRE(calls != NULL && at != NULL);
    for (uint32_t i = 0; i < N + M; i++) {
        calls[i].is = &c;
        calls[i].as = &calls[i];
        (i < N ? l.list : l.other)[i < N ? i : i - N] = &calls[i];
    }
    CHECK_UINT(msim_match_in_order(&l), N);
    CHECK_INT(msim_match_join(&l), MSIM_OK);
    CHECK_UINT(l.n, M);
    for (uint32_t i = 0; i < M; i++) {
        CHECK(l.list[i] == &calls[i < N ? i : N + i]);
        CHECK(calls[N + i].as == &calls[i < N ? i : N + i]);
    }
    free(calls);
    free(at);
}

int main(void)
{
    RUN(test_same_calls__counts);
    RUN(test_same_calls__most_meet);
    RUN(test_same_calls__alike_parts);
    RUN(test_same_calls__unlike_parts);
    RUN(test_same_calls__times);
    RUN(test_same_calls__timed_kinds);
    RUN(test_same_calls__large);
    RUN(test_same_calls__large_in_any_order);
    RUN(test_same_calls__large_and_unlike);
    return check_summary();
}
