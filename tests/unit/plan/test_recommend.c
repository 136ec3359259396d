/*
 * tests/unit/plan/test_recommend.c - tests of plan/search/recommend.c: what is
 * recommended of made-up points is what their definitions say, in plain loops.
 */
#include "plan/search/plan.h"

#include "plan/step/step_law.h"
#include "tests/check.h"

#include <stdlib.h>

#define N 10

static uint32_t seed = 1;

/* One of 0 .. n - 1. */
static uint32_t pick(uint32_t n)
{
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % n;
}

/* Few values, so that many are equal. */
static void make(struct msim_plan_point *points, uint32_t n, bool priced)
{
    static const double CHANCES[] = {NAN, 0.9499, 0.95, 1};
    static const double WIDTHS[] = {1, 1.1, 1.2, 1.4};

    for (uint32_t i = 0; i < n; i++) {
        struct msim_plan_point *p = &points[i];

        *p = (struct msim_plan_point){.number = 3 * i,
                                      .platform = pick(3),
                                      .time = 1 + pick(4),
                                      .gpu_us = 10 + pick(4),
                                      .cost = 10 + pick(5),
                                      .allowed = pick(6) > 0,
                                      .chance = CHANCES[pick(4)],
                                      .fits = (enum msim_fits)(pick(4) == 0),
                                      .correction = pick(4) ? 1 : 1.2,
                                      .marks = pick(6) ? 0 : 1u << pick(8)};
        p->us = 100 * p->time;
        p->low_us = p->us / WIDTHS[pick(4)];
        p->high_us = p->us * WIDTHS[pick(4)];
        if (!priced || pick(8) == 0)
            p->cost = NAN;
    }
}

static bool is_taken(const struct msim_plan *plan, uint32_t i)
{
    const struct msim_plan_point *p = &plan->points[i];
    bool money = false;

    for (uint32_t k = 0; k < plan->n; k++)
        money |= !isnan(plan->points[k].cost);
    return p->allowed && (p->marks & ~MSIM_GUARD_BIT(EVIDENCE)) == 0 &&
           (!money || !isnan(p->cost));
}

static double plain_cost(const struct msim_plan_point *p)
{
    return isnan(p->cost) ? p->gpu_us : p->cost;
}

static double expected(const struct msim_plan_point *p)
{
    double sd = log(p->high_us / p->low_us) / (2 * 1.645);

    return plain_cost(p) * exp(sd * sd / 2);
}

static bool is_sure(const struct msim_plan_point *p)
{
    return p->fits == MSIM_FITS_YES && (isnan(p->chance) || p->chance >= 0.95);
}

/* Those that come before point i: surer, cheaper, or as good and earlier. */
static uint32_t rank_of(const struct msim_plan *plan, uint32_t i,
                        uint32_t platform)
{
    const struct msim_plan_point *p = &plan->points[i], *q;
    uint32_t before = 0;

    for (uint32_t k = 0; k < plan->n; k++) {
        q = &plan->points[k];
        if (!is_taken(plan, k) ||
            (platform != UINT32_MAX && q->platform != platform))
            continue;
        if (is_sure(q) != is_sure(p))
            before += is_sure(q);
        else if (expected(q) != expected(p))
            before += expected(q) < expected(p);
        else
            before += k < i;
    }
    return before;
}

/* Which is `rank`th; UINT32_MAX: none. */
static uint32_t at_rank(const struct msim_plan *plan, uint32_t rank,
                        uint32_t platform)
{
    for (uint32_t i = 0; i < plan->n; i++)
        if (is_taken(plan, i) &&
            (platform == UINT32_MAX || plan->points[i].platform == platform) &&
            rank_of(plan, i, platform) == rank)
            return i;
    return UINT32_MAX;
}

/* What is expected to cost less than the best; the least, the first of such. */
static uint32_t cheaper_than(const struct msim_plan *plan, uint32_t best)
{
    uint32_t found = UINT32_MAX;
    double least;

    if (best == UINT32_MAX || !is_sure(&plan->points[best]))
        return found;
    least = expected(&plan->points[best]);
    for (uint32_t i = 0; i < plan->n; i++)
        if (is_taken(plan, i) && expected(&plan->points[i]) < least) {
            least = expected(&plan->points[i]);
            found = i;
        }
    return found;
}

/* Shorter or cheaper than every other one; of equal ones the first. */
static bool is_on_frontier(const struct msim_plan *plan, uint32_t i)
{
    const struct msim_plan_point *p = &plan->points[i];

    for (uint32_t k = 0; k < plan->n; k++) {
        const struct msim_plan_point *q = &plan->points[k];
        double dt = q->time - p->time, dc = plain_cost(q) - plain_cost(p);

        if (k != i && is_taken(plan, k) && dt <= 0 && dc <= 0 &&
            (dt < 0 || dc < 0 || k < i))
            return false;
    }
    return is_taken(plan, i);
}

static void check_frontier(const struct msim_plan *plan)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < plan->n; i++)
        n += is_on_frontier(plan, i);
    CHECK_UINT(plan->n_frontier, n);
    for (uint32_t k = 0; k < plan->n_frontier; k++) {
        CHECK(is_on_frontier(plan, plan->frontier[k]));
        CHECK(k == 0 || plan->points[plan->frontier[k]].time >
                            plan->points[plan->frontier[k - 1]].time);
    }
}

static void check_ratio(const struct msim_plan *plan)
{
    const struct msim_plan_point *a = &plan->points[plan->best];
    const struct msim_plan_point *b = &plan->points[plan->runner_up];
    double ratio = plain_cost(a) / plain_cost(b);
    double down = hypot(log(a->us / a->low_us), log(b->high_us / b->us));
    double up = hypot(log(b->us / b->low_us), log(a->high_us / a->us));
    double low = ratio * exp(-down / sqrt(2)), high = ratio * exp(up / sqrt(2));
    double wide_a = a->high_us / a->low_us, wide_b = b->high_us / b->low_us;

    (void)msim_step_ratio_widen(a->correction / b->correction, ratio, &low,
                                &high);
    CHECK_REL(plan->ratio, ratio, 1e-12);
    CHECK_REL(plan->ratio_low, low, 1e-12);
    CHECK_REL(plan->ratio_high, high, 1e-12);
    if (low >= 1 || high <= 1) {
        CHECK_UINT(plan->test, UINT32_MAX);
        return;
    }
    CHECK_UINT(plan->test, wide_a < wide_b ? plan->runner_up : plan->best);
    CHECK_REL(plan->after_test, exp(log(fmin(wide_a, wide_b)) / 2 / sqrt(2)),
              1e-12);
}

static void test_recommend__keeps_its_definitions(void)
{
    uint32_t tested = 0, cheaper = 0, none = 0;

    for (int turn = 0; turn < 2000; turn++) {
        struct msim_plan_point points[N];
        struct msim_plan plan = {
            .points = points, .n = pick(N + 1), .test = UINT32_MAX};

        make(points, plan.n, turn % 4 != 0);
        REQUIRE(msim_plan_recommend(&plan) == MSIM_OK);
        CHECK_UINT(plan.best, at_rank(&plan, 0, UINT32_MAX));
        CHECK_UINT(plan.runner_up, at_rank(&plan, 1, UINT32_MAX));
        CHECK_UINT(plan.cheaper, cheaper_than(&plan, plan.best));
        for (uint32_t k = 0; k < MSIM_SPEC_PLATFORMS; k++)
            CHECK_UINT(plan.best_of[k], at_rank(&plan, 0, k));
        check_frontier(&plan);
        if (plan.runner_up != UINT32_MAX)
            check_ratio(&plan);
        else
            CHECK_UINT(plan.test, UINT32_MAX);
        tested += plan.test != UINT32_MAX;
        cheaper += plan.cheaper != UINT32_MAX;
        none += plan.best == UINT32_MAX;
        free(plan.frontier);
    }
    CHECK(tested > 100 && cheaper > 100 && none > 50);
}

/* A point that has one time alone is expected to cost what it costs, and one
 * that may take longer, more; where nothing is known, it is what it is. */
static void test_recommend__expects_no_more_than_is_known(void)
{
    struct msim_plan_point p = {.us = 5, .low_us = 5, .high_us = 5, .cost = 7};

    CHECK_REL(msim_plan_expected_cost(&p), 7, 1e-12);
    p.low_us = 0;
    CHECK_REL(msim_plan_expected_cost(&p), 7, 1e-12);
    p.low_us = 4;
    p.high_us = 16; /* a standard deviation of ln 2 / 1.645 */
    CHECK_REL(msim_plan_expected_cost(&p), 7 * exp(0.0887746813), 1e-8);
    p.cost = NAN;
    p.gpu_us = 9;
    CHECK_REL(msim_plan_cost(&p), 9, 0);
}

/* Each side has its own spread; without one, a limit is kept or not. */
static void test_recommend__knows_chances(void)
{
    CHECK_REL(msim_chance_below(30, 20, 15, 30), 0.95, 1e-3);
    CHECK_REL(msim_chance_below(15, 20, 15, 90), 0.05, 1e-2);
    CHECK_REL(msim_chance_below(19.999, 20, 20, 30), 0, 0);
    CHECK_REL(msim_chance_below(20.001, 20, 10, 20), 1, 0);
    CHECK_REL(msim_chance_below(20, 20, 20, 30), 1, 0);
}

int main(void)
{
    RUN(test_recommend__keeps_its_definitions);
    RUN(test_recommend__expects_no_more_than_is_known);
    RUN(test_recommend__knows_chances);
    return check_summary();
}
