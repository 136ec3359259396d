/*
 * Spans of each rank by an instant: against a search of all of them, and at
 * the ends of a few.
 */
#include "core/graph/contention.h"
#include "tests/check.h"

#include <stdlib.h>

/* Rank 1 has [10, 20), [20, 30) and around both [5, 40); rank 0 has none, and
 * rank 2 one. They are added out of order. */
static void test_windows__ends_of_spans(void)
{
    struct msim_windows w;

    CHECK_INT(msim_windows_init(&w, 4, 3), MSIM_OK);
    msim_windows_add(&w, 2, 7, 100, 200);
    msim_windows_add(&w, 1, 4, 20, 30);
    msim_windows_add(&w, 1, 3, 10, 20);
    msim_windows_add(&w, 1, 5, 5, 12);
    msim_windows_place(&w);
    CHECK_INT(w.n, 4);
    for (uint32_t r = 0; r <= 3; r++)
        CHECK_INT(w.first[r], r < 2 ? 0 : r + 1);
    CHECK_INT(msim_windows_at(&w, 1, 4), UINT32_MAX);
    CHECK_INT(msim_windows_at(&w, 1, 5), 5);
    CHECK_INT(msim_windows_at(&w, 1, 11), 5);
    CHECK_INT(msim_windows_at(&w, 1, 12), 3);
    CHECK_INT(msim_windows_at(&w, 1, 19), 3);
    CHECK_INT(msim_windows_at(&w, 1, 20), 4);
    CHECK_INT(msim_windows_at(&w, 1, 30), UINT32_MAX);
    CHECK_INT(msim_windows_at(&w, 0, 15), UINT32_MAX);
    CHECK_INT(msim_windows_at(&w, 2, 99), UINT32_MAX);
    CHECK_INT(msim_windows_at(&w, 2, 100), 7);
    CHECK_INT(msim_windows_after(&w, 1, 4), 0);
    CHECK_INT(msim_windows_after(&w, 1, 29), 2);
    CHECK_INT(msim_windows_after(&w, 1, 30), 3);
    CHECK_INT(msim_windows_after(&w, 0, 0), 0);
    msim_windows_release(&w);
}

/* Those that begin together are in the order of their numbers. */
static void test_windows__ties(void)
{
    struct msim_windows w;

    CHECK_INT(msim_windows_init(&w, 3, 1), MSIM_OK);
    msim_windows_add(&w, 0, 9, 10, 20);
    msim_windows_add(&w, 0, 2, 10, 15);
    msim_windows_add(&w, 0, 5, 10, 30);
    msim_windows_place(&w);
    CHECK_INT(w.of[0].window, 2);
    CHECK_INT(w.of[1].window, 5);
    CHECK_INT(w.of[2].window, 9);
    CHECK_INT(w.of[2].latest, 30);
    CHECK_INT(msim_windows_at(&w, 0, 14), 2);
    CHECK_INT(msim_windows_at(&w, 0, 15), 5);
    msim_windows_release(&w);
}

static void test_windows__none(void)
{
    struct msim_windows w;

    CHECK_INT(msim_windows_init(&w, 0, 2), MSIM_OK);
    msim_windows_place(&w);
    CHECK_INT(msim_windows_at(&w, 1, 0), UINT32_MAX);
    CHECK_INT(w.first[2], 0);
    msim_windows_release(&w);
}

#define MANY  40
#define RANKS 3

/* The definition: the first by begin that is not over, if it has begun. */
static void test_windows__any_spans(void)
{
    unsigned short state[3] = {3, 1, 4};

    for (int round = 0; round < 50; round++) {
        struct msim_windows w;

        CHECK_INT(msim_windows_init(&w, MANY, RANKS), MSIM_OK);
        for (uint32_t i = 0; i < MANY; i++) {
            msim_ps begin = nrand48(state) % 100;

            msim_windows_add(&w, (uint32_t)nrand48(state) % RANKS, i, begin,
                             begin + 1 + nrand48(state) % 20);
        }
        msim_windows_place(&w);
        for (msim_ps at = -1; at < 125; at++)
            for (uint32_t r = 0; r < RANKS; r++) {
                uint32_t i = w.first[r];

                CHECK(i == 0 || w.of[i - 1].rank < r);
                while (i < w.first[r + 1] && w.of[i].latest <= at)
                    i++;
                CHECK_INT(msim_windows_after(&w, r, at), i);
                CHECK_INT(msim_windows_at(&w, r, at),
                          i < w.first[r + 1] && w.of[i].begin <= at
                              ? w.of[i].window
                              : UINT32_MAX);
            }
        msim_windows_release(&w);
    }
}

int main(void)
{
    RUN(test_windows__ends_of_spans);
    RUN(test_windows__ties);
    RUN(test_windows__none);
    RUN(test_windows__any_spans);
    return check_summary();
}
