/*
 * What is usual of an application: the spread of its counters, and what the
 * trees of all applications say of it.
 */
#include "serving/watch/watch_model.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

#define BEGIN   (-1.0)
#define HORIZON 5.0

static double usually(const struct msim_watch_said *s)
{
    return msim_watch_said_usually(s, HORIZON, BEGIN);
}

static void add(struct msim_watch_said *s, int n, double log_odds, bool late)
{
    for (int i = 0; i < n; i++)
        msim_watch_said_add(s, log_odds, late);
}

/* `begin` counts as ten seconds; the last five are not over yet. */
static void test_said__begins_with_all_applications(void)
{
    struct msim_watch_said s = {0};

    add(&s, 5, 3, false);
    CHECK_REL(usually(&s), BEGIN, 0);
    add(&s, 10, -4, false);
    CHECK_REL(usually(&s), (10 * 3 + 10 * BEGIN) / 20, 1e-12);
}

/* 3 was said of the five seconds before a violation, and came true. */
static void test_said__leaves_out_what_came_true(void)
{
    struct msim_watch_said s = {0};

    add(&s, 20, -4, false);
    add(&s, 5, 3, false);
    add(&s, 2, 5, true);
    add(&s, 20, -4, false);
    CHECK_REL(usually(&s), ((20 + 15) * -4 + 10 * BEGIN) / 45, 1e-12);
}

/* Of 0 to 19, in some order, 95 % are below 18.05. */
static void test_said__is_a_quantile(void)
{
    struct msim_watch_said s = {0};

    for (int i = 0; i < 20; i++)
        add(&s, 1, i * 7 % 20, false);
    add(&s, 5, 99, false);
    CHECK_REL(usually(&s), (20 * 18.05 + 10 * BEGIN) / 30, 1e-12);
}

static void test_said__forgets(void)
{
    struct msim_watch_said s = {0};
    double kept = MSIM_HISTORY_KEPT - HORIZON;

    add(&s, 50, 3, false);
    add(&s, MSIM_HISTORY_KEPT, -4, false);
    CHECK_UINT(s.n, MSIM_HISTORY_KEPT);
    CHECK_REL(usually(&s), (kept * -4 + 10 * BEGIN) / (kept + 10), 1e-12);
}

static void test_said__moves_the_odds(void)
{
    struct msim_watch_model m = {
        .horizon_s = HORIZON,
        .odds = {.said = 0.5, .usually = -2, .plus = 0.25}};

    CHECK_REL(msim_watch_model_odds(&m, 3, -0.5), 0.5 * 3 + 1 + 0.25, 1e-12);
    CHECK_REL(msim_watch_model_chance(&m, log(3), HORIZON), 0.75, 1e-12);
    CHECK_REL(msim_watch_model_chance(&m, log(3), 2 * HORIZON), 1 - 1.0 / 16,
              1e-12);
}

/* Waits are 1 in eight seconds of ten and 11 in the rest: half of them do not
 * differ from the median, but its outliers are no news. */
static void test_history__spread_knows_outliers(void)
{
    struct msim_second_stage stages[1];
    struct msim_history h;

    REQUIRE(msim_history_init(&h, 0) == MSIM_OK);
    for (int i = 0; i < 120; i++) {
        memset(stages, 0, sizeof(stages));
        for (int c = 0; c < MSIM_COUNTERS; c++)
            stages[0].v[c] = NAN;
        stages[0].v[MSIM_COUNTER_WAIT_MS] = i % 5 ? 1 : 11;
        msim_history_add(&h, stages);
    }
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_WAIT)->median, 1, 0);
    CHECK_REL(msim_history_usual(&h, 0, MSIM_TRACK_WAIT)->spread, 10 / 1.645,
              1e-12);
    msim_history_release(&h);
}

int main(void)
{
    RUN(test_said__begins_with_all_applications);
    RUN(test_said__leaves_out_what_came_true);
    RUN(test_said__is_a_quantile);
    RUN(test_said__forgets);
    RUN(test_said__moves_the_odds);
    RUN(test_history__spread_knows_outliers);
    return check_summary();
}
