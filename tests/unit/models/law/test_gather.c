/*
 * Shares of look-ups that hit, against caches that were played look-up by
 * look-up (least recently used, seeded).
 */
#include "models/law/law.h"
#include "tests/check.h"

#include <math.h>

static void test_gather__as_played(void)
{
    static const struct {
        double lookups, table, cached, skew, hits;
    } PLAYED[] = {
        {20000, 1000, 2000, 0, 0.9500},      {20000, 1000, 200, 0, 0.1968},
        {100000, 10000, 1000, 1.0, 0.6731},  {100000, 10000, 1000, 0.6, 0.2437},
        {5000, 100000, 100000, 1.2, 0.7426},
    };

    for (size_t i = 0; i < sizeof(PLAYED) / sizeof(*PLAYED); i++) {
        double hits = msim_gather_hits(PLAYED[i].lookups, PLAYED[i].table,
                                       PLAYED[i].cached, PLAYED[i].skew);

        CHECK(fabs(hits - PLAYED[i].hits) < 0.01);
    }
}

static void test_gather__edges(void)
{
    CHECK(msim_gather_hits(0, 10, 10, 0) == 0);
    CHECK(msim_gather_hits(10, 0, 10, 0) == 0);
    CHECK(msim_gather_hits(10, 10, 0, 0) == 0);
    CHECK(msim_gather_hits(NAN, 10, 10, 0) == 0);
    /* one row: every look-up but the first */
    CHECK(fabs(msim_gather_hits(1000, 1, 1, 1) - 0.999) < 1e-6);
    CHECK(msim_gather_hits(1e9, 1e12, 1e6, 0) < 0.01);
}

/* Where all rows are equally popular, those that are cached are a share of the
 * hits: exactly so, of few and of nearly all rows. */
static void test_gather__share_of_equals(void)
{
    static const double SHARES[] = {1e-3, 0.07, 0.5, 0.93, 0.999, 1 - 1e-6};

    for (double table = 1e3; table < 1e9; table *= 7)
        for (size_t i = 0; i < sizeof(SHARES) / sizeof(*SHARES); i++)
            for (int alike = 0; alike < 2; alike++) /* or nearly */
                CHECK_REL(msim_gather_hits(1e18, floor(table),
                                           SHARES[i] * floor(table),
                                           alike ? 0 : 1e-13),
                          SHARES[i], 1e-11);
}

static void test_gather__order(void)
{
    double last = 0;

    for (double skew = 0; skew < 2; skew += 0.1) { /* more skew, more hits */
        double hits = msim_gather_hits(1e6, 1e7, 1e5, skew);

        CHECK(hits >= last && hits <= 1);
        last = hits;
    }
    for (double cached = 1, most = 0; cached < 1e8; cached *= 10) {
        double hits = msim_gather_hits(1e6, 1e7, cached, 0.8);

        CHECK(hits >= most - 1e-9);
        most = hits;
    }
}

/* Rows that n look-ups fetch are n less those that hit where nothing is ever
 * evicted. */
static void test_gather__distinct(void)
{
    CHECK_REL(msim_gather_distinct(1000, 1e9, 0), 1000, 1e-5);
    CHECK_REL(msim_gather_distinct(1e9, 1000, 0), 1000, 1e-9);
    for (double skew = 0; skew < 1.5; skew += 0.5)
        CHECK_REL(msim_gather_distinct(1e6, 1e6, skew),
                  1e6 * (1 - msim_gather_hits(1e6, 1e6, 1e6, skew)), 1e-6);
    CHECK(msim_gather_distinct(1e6, 1e6, 1) <
          msim_gather_distinct(1e6, 1e6, 0.5));
    CHECK_REL(msim_gather_distinct(0, 1000, 0), 0, 0);
    CHECK_REL(msim_gather_distinct(1000, 0, 1), 0, 0);
}

int main(void)
{
    RUN(test_gather__as_played);
    RUN(test_gather__edges);
    RUN(test_gather__share_of_equals);
    RUN(test_gather__order);
    RUN(test_gather__distinct);
    return check_summary();
}
