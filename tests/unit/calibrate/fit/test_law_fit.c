/*
 * Constants of a law from rows: those that were planted are found, from the
 * rows that are looked at, within bounds; launch gaps where they show.
 */
#include "calibrate/fit/law_fit.h"

#include "core/work/kernel_fact.h"
#include "models/platform/platform_data.h"
#include "tests/check.h"

#include <stdlib.h>

#define MOST 3000

/* A law of its own: a start, and a time for each operation. */
static double line_us(const struct msim_data_sheet *s,
                      const struct msim_work *w, const double *params)
{
    (void)s;
    return params[0] + w->flops * params[1];
}

static const struct msim_param PARAMS[] = {{"t0", "us", 2, 0.5, 20},
                                           {"slope", "us", 1, 0.1, 10}};
static const struct msim_law LINE = {
    .name = "line", .params = PARAMS, .n_params = 2, .time_us = line_us};

static const struct msim_data_sheet SHEET = {.floor_us = 1.25};
static struct msim_sample rows[MOST];
static uint8_t fold[MOST];

/* `n` rows of so many operations, from `first` on, each `by` times the last. */
static void plant(uint32_t n, double first, double by, double t0, double slope)
{
    memset(rows, 0, sizeof(rows));
    memset(fold, 0, sizeof(fold));
    for (uint32_t i = 0; i < n; i++) {
        rows[i].law = &LINE;
        rows[i].sheet = &SHEET;
        rows[i].work.flops = i ? rows[i - 1].work.flops * by : first;
        rows[i].us = t0 + slope * rows[i].work.flops;
    }
}

static struct msim_law_constants fit(uint32_t n, int held_out, bool has_gap)
{
    struct msim_law_constants c = {.params = {0}};

    CHECK_INT(msim_law_fit(&c, &LINE, rows, fold, n, held_out, has_gap),
              MSIM_OK);
    return c;
}

static void check_planted(struct msim_law_constants c, double t0, double slope)
{
    CHECK_REL(c.params[0], t0, 0.05);
    CHECK_REL(c.params[1], slope, 0.02);
    CHECK_REL(c.gap.least_us, 0, 0);
    CHECK_REL(c.gap.added_us, 0, 0);
}

static void test_law_fit__finds_what_was_planted(void)
{
    struct msim_law_constants c;

    plant(50, 0.1, 1.2, 5, 3);
    check_planted(fit(50, -1, false), 5, 3);
    /* six of ten took a hundredth: they count unless they are held out */
    for (uint32_t i = 0; i < 50; i++)
        if (i % 5 > 1) {
            fold[i] = 2;
            rows[i].us /= 100;
        }
    check_planted(fit(50, 2, false), 5, 3);
    c = fit(50, 1, false);
    CHECK(c.params[1] < 1);
    memset(fold, 4, sizeof(fold));
    CHECK_INT(msim_law_fit(&c, &LINE, rows, fold, 50, 4, false),
              MSIM_EINTERNAL);
}

/* A constant ends at its bound; one that no row can tell stays at its start. */
static void test_law_fit__bounds(void)
{
    struct msim_law_constants c;

    plant(50, 0.1, 1.2, 5, 30);
    c = fit(50, -1, false);
    CHECK(c.params[1] > 9 && c.params[1] <= 10);
    plant(50, 0.1, 1.2, 5, 0.001);
    c = fit(50, -1, false);
    CHECK(c.params[1] < 0.11 && c.params[1] >= 0.1);
    plant(50, 1e6, 1.2, 5, 3);
    c = fit(50, -1, false);
    CHECK_REL(c.params[0], 2, 0.05);
    CHECK_REL(c.params[1], 3, 0.02);
}

/* About a thousand rows are looked at, every third of 2500, every second of
 * 1001, all of 1000: here the others took ten times as long. */
static void test_law_fit__looks_at_a_thousand(void)
{
    static const struct {
        uint32_t n, step;
    } CASES[] = {{2500, 3}, {1001, 2}, {2000, 2}, {2001, 3}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        plant(CASES[i].n, 0.1, 1.005, 5, 3);
        for (uint32_t k = 0; k < CASES[i].n; k++)
            if (k % CASES[i].step)
                rows[k].us *= 10;
        check_planted(fit(CASES[i].n, -1, false), 5, 3);
    }
    plant(1000, 0.1, 1.01, 5, 1);
    for (uint32_t k = 1; k < 1000; k += 2)
        rows[k].us = 5 + 2 * rows[k].work.flops;
    for (uint32_t k = 0; k < 4; k += 2) /* 502 rows of 1000 */
        rows[k].us = 5 + 2 * rows[k].work.flops;
    check_planted(fit(1000, -1, false), 5, 2);
}

/* ---- launch gaps --------------------------------------------------------- */

/* Many rows of 40 us, and long ones with 12 us more: the start is the GPU's
 * shortest kernel. */
static void test_law_fit__finds_the_gap(void)
{
    struct msim_law_constants c;

    plant(200, 0.1, 1.05, 1.25, 3);
    for (uint32_t i = 0; i < 200; i++)
        rows[i].us = msim_with_gap(rows[i].us, (struct msim_gap){40, 12});
    c = fit(200, -1, true);
    CHECK_REL(c.params[0], 1.25, 0);
    CHECK_REL(c.params[1], 3, 0.03);
    CHECK_REL(c.gap.least_us, 40, 0.03);
    CHECK_REL(c.gap.added_us, 12, 0.2);
    for (uint32_t i = 0; i < 200; i++) /* more is added than waited for */
        rows[i].us = 39 + 3 * rows[i].work.flops;
    c = fit(200, -1, true);
    CHECK(c.gap.added_us <= c.gap.least_us);
    /* it is the rows' own where they bring one */
    for (uint32_t i = 0; i < 200; i++) {
        rows[i].gap = (struct msim_gap){40, 12};
        rows[i].us = msim_with_gap(1.25 + 3 * rows[i].work.flops, rows[i].gap);
    }
    c = fit(200, -1, false);
    CHECK_REL(c.params[0], 1.25, 0);
    CHECK_REL(c.params[1], 3, 0.03);
    CHECK_REL(c.gap.least_us, 0, 0);
    for (uint32_t i = 0; i < 200; i++) /* of all GPUs together */
        rows[i].start = 1;
    c = fit(200, -1, false);
    CHECK_REL(c.params[0], MSIM_FACT(NULL, SHARED_LAW_FLOOR_US), 0);
}

/* A gap shows where 3 % of the rows are less than a fifth longer than the
 * shortest, which is below 70 us: 6 of 200 rows. */
static void test_law_fit__a_gap_that_shows(void)
{
    static const struct {
        double shortest, by;
        bool shows;
    } CASES[] = {{20, 1.05, false},
                 {20, 1.025, true},
                 {60, 1.025, true},
                 {75, 1.025, false}};

    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        struct msim_law_constants c;

        plant(200, CASES[i].shortest, CASES[i].by, 0, 1);
        c = fit(200, -1, true);
        CHECK((c.gap.least_us == 30 && c.gap.added_us == 15) != CASES[i].shows);
    }
}

/* By hand: 3 + 4 x 2 us; a start twice as long; a gap of the row before that of
 * the fit. Norms of 8: of 100 and 11 it is 100. */
static void test_law_measured__by_hand(void)
{
    struct msim_law_constants c = {.params = {3, 2}};
    struct msim_sample r = {
        .law = &LINE, .sheet = &SHEET, .work = {.flops = 4}};

    CHECK_REL(msim_law_measured(&c, &r), 11, 1e-12);
    r.start = 2;
    CHECK_REL(msim_law_measured(&c, &r), 14, 1e-12);
    CHECK_REL(c.params[0], 3, 0);
    r.start = 0;
    c.gap = (struct msim_gap){100, 0};
    CHECK_REL(msim_law_measured(&c, &r), 100, 1e-6);
    r.gap = (struct msim_gap){1, 89};
    CHECK_REL(msim_law_measured(&c, &r), 100, 1e-6);
    c.gap = (struct msim_gap){1e6, 0};
    CHECK_REL(msim_law_measured(&c, &r), 100, 1e-6);
}

int main(void)
{
    RUN(test_law_fit__finds_what_was_planted);
    RUN(test_law_fit__bounds);
    RUN(test_law_fit__looks_at_a_thousand);
    RUN(test_law_fit__finds_the_gap);
    RUN(test_law_fit__a_gap_that_shows);
    RUN(test_law_measured__by_hand);
    return check_summary();
}
