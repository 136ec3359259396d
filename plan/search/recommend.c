/*
 * plan/search/recommend.c - the frontier of a plan, and which point to take.
 */
#include "plan/search/plan.h"

#include "core/base/containers.h"

#include <math.h>
#include <stdlib.h>

struct order {
    double time, cost;
    uint64_t number;
    uint32_t index;
};

double msim_plan_cost(const struct msim_plan_point *p)
{
    return isnan(p->cost) ? p->gpu_us : p->cost;
}

/* Is it to be compared? Money with money: what has no price is left out, where
 * anything has one; and what cannot be as it is predicted. */
static bool is_candidate(const struct msim_plan *plan,
                         const struct msim_plan_point *p)
{
    return p->allowed && !msim_guard_bars(p->marks) &&
           !(plan->priced && isnan(p->cost));
}

static int by_time(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->time != y->time)
        return MSIM_ORDER(x->time, y->time);
    if (x->cost != y->cost)
        return MSIM_ORDER(x->cost, y->cost);
    return MSIM_ORDER(x->number, y->number);
}

/* Points that no other one beats in both time and cost, by time. */
static enum msim_status find_frontier(struct msim_plan *plan)
{
    struct order *o = calloc((size_t)plan->n + 1, sizeof(*o));
    double least = INFINITY;
    uint32_t n = 0;

    plan->frontier = calloc((size_t)plan->n + 1, sizeof(*plan->frontier));
    if (!o || !plan->frontier) {
        free(o);
        return MSIM_ENOMEM;
    }
    for (uint32_t i = 0; i < plan->n; i++)
        if (is_candidate(plan, &plan->points[i]))
            o[n++] = (struct order){plan->points[i].time,
                                    msim_plan_cost(&plan->points[i]),
                                    plan->points[i].number, i};
    qsort(o, n, sizeof(*o), by_time);
    for (uint32_t i = 0; i < n; i++)
        if (o[i].cost < least) {
            least = o[i].cost;
            plan->frontier[plan->n_frontier++] = o[i].index;
        }
    free(o);
    return MSIM_OK;
}

double msim_plan_expected_cost(const struct msim_plan_point *p)
{
    double sd = log(p->high_us / p->low_us) / 2 / MSIM_Z90;

    return msim_plan_cost(p) * (isfinite(sd) ? exp(sd * sd / 2) : 1);
}

bool msim_plan_is_sure(const struct msim_plan_point *p)
{
    return p->fits != MSIM_FITS_EDGE && !(p->chance < MSIM_PLAN_SAFE);
}

/* What is sure comes first, then what is expected to cost least: of what is
 * little known, the middle says too little. */
static bool is_better(const struct msim_plan_point *p,
                      const struct msim_plan_point *than)
{
    bool sure = msim_plan_is_sure(p);

    if (sure != msim_plan_is_sure(than))
        return sure;
    return msim_plan_expected_cost(p) < msim_plan_expected_cost(than);
}

/* Which is recommended; next comes another GPU, number of GPUs or strategy. */
static void find_best(struct msim_plan *plan)
{
    const struct msim_plan_point *points = plan->points;

    plan->best = plan->runner_up = UINT32_MAX;
    for (uint32_t i = 0; i < plan->n; i++) {
        if (!is_candidate(plan, &points[i]))
            continue;
        if (plan->best == UINT32_MAX ||
            is_better(&points[i], &points[plan->best])) {
            plan->runner_up = plan->best;
            plan->best = i;
        } else if (plan->runner_up == UINT32_MAX ||
                   is_better(&points[i], &points[plan->runner_up])) {
            plan->runner_up = i;
        }
    }
}

/* What may cost less than the best, and is not sure to fit or to keep the
 * limits. */
static void find_cheaper(struct msim_plan *plan)
{
    double least = INFINITY;

    plan->cheaper = UINT32_MAX;
    if (plan->best != UINT32_MAX &&
        msim_plan_is_sure(&plan->points[plan->best]))
        least = msim_plan_expected_cost(&plan->points[plan->best]);
    for (uint32_t i = 0; isfinite(least) && i < plan->n; i++) {
        const struct msim_plan_point *p = &plan->points[i];

        if (!is_candidate(plan, p) || msim_plan_expected_cost(p) >= least)
            continue;
        least = msim_plan_expected_cost(p);
        plan->cheaper = i;
    }
}

/* Half of the variance is taken to be the model's, common to both. */
static void compare_best(struct msim_plan *plan)
{
    const struct msim_plan_point *a, *b;
    double low, high;

    if (plan->runner_up == UINT32_MAX)
        return;
    a = &plan->points[plan->best];
    b = &plan->points[plan->runner_up];
    plan->ratio = msim_plan_cost(a) / msim_plan_cost(b);
    low = log(a->us / a->low_us);
    high = log(b->high_us / b->us);
    plan->ratio_low = plan->ratio / exp(sqrt((low * low + high * high) / 2));
    low = log(b->us / b->low_us);
    high = log(a->high_us / a->us);
    plan->ratio_high = plan->ratio * exp(sqrt((low * low + high * high) / 2));
    (void)msim_step_ratio_widen(a->correction / b->correction, plan->ratio,
                                &plan->ratio_low, &plan->ratio_high);
}

static double width(const struct msim_plan_point *p)
{
    return log(p->high_us / p->low_us);
}

/* The less known of the two is run; then the other's own half is left. */
static void find_test(struct msim_plan *plan)
{
    uint32_t other;

    plan->test = UINT32_MAX;
    if (plan->runner_up == UINT32_MAX ||
        !(plan->ratio_low < 1 && plan->ratio_high > 1))
        return;
    plan->test = plan->best;
    other = plan->runner_up;
    if (width(&plan->points[plan->best]) < width(&plan->points[other])) {
        plan->test = other;
        other = plan->best;
    }
    plan->after_test = exp(width(&plan->points[other]) / 2 * M_SQRT1_2);
}

/* The best of each platform. */
static void find_best_of(struct msim_plan *plan)
{
    for (uint32_t k = 0; k < MSIM_SPEC_PLATFORMS; k++)
        plan->best_of[k] = UINT32_MAX;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct msim_plan_point *p = &plan->points[i];
        uint32_t *best = &plan->best_of[p->platform];

        if (is_candidate(plan, p) &&
            (*best == UINT32_MAX || is_better(p, &plan->points[*best])))
            *best = i;
    }
}

enum msim_status msim_plan_recommend(struct msim_plan *plan)
{
    for (uint32_t i = 0; i < plan->n; i++)
        plan->priced |= !isnan(plan->points[i].cost);
    find_best(plan);
    compare_best(plan);
    find_test(plan);
    find_cheaper(plan);
    find_best_of(plan);
    return find_frontier(plan);
}

#define FOREMOST 3 /* of each order */

static bool is_shorter(const struct msim_plan_point *p,
                       const struct msim_plan_point *than)
{
    return p->time < than->time;
}

/* Put a candidate among the first of an order; of equals the first stays. */
static void place(uint32_t first[FOREMOST],
                  const struct msim_plan_point *points, uint32_t i,
                  bool (*before)(const struct msim_plan_point *,
                                 const struct msim_plan_point *))
{
    for (uint32_t k = 0; k < FOREMOST; k++) {
        uint32_t other = first[k];

        if (other != UINT32_MAX && !before(&points[i], &points[other]))
            continue;
        first[k] = i;
        i = other;
        if (i == UINT32_MAX)
            return;
    }
}

static void add(uint32_t out[MSIM_PLAN_SIMULATED], uint32_t *n, uint32_t i)
{
    for (uint32_t k = 0; k < *n; k++)
        if (out[k] == i)
            return;
    if (i != UINT32_MAX && *n < MSIM_PLAN_SIMULATED)
        out[(*n)++] = i;
}

uint32_t msim_plan_foremost(const struct msim_plan *plan,
                            uint32_t out[MSIM_PLAN_SIMULATED])
{
    uint32_t best[FOREMOST], shortest[FOREMOST], n = 0;

    for (uint32_t k = 0; k < FOREMOST; k++)
        best[k] = shortest[k] = UINT32_MAX;
    for (uint32_t i = 0; i < plan->n; i++)
        if (is_candidate(plan, &plan->points[i])) {
            place(best, plan->points, i, is_better);
            place(shortest, plan->points, i, is_shorter);
        }
    for (uint32_t k = 0; k < FOREMOST; k++)
        add(out, &n, best[k]);
    for (uint32_t k = 0; k < FOREMOST; k++)
        add(out, &n, shortest[k]);
    add(out, &n, plan->cheaper);
    return n;
}

double msim_chance_below(double limit, double middle, double low, double high)
{
    double sd = log(limit > middle ? high / middle : middle / low) / MSIM_Z90;
    double z = log(limit / middle);

    if (!(sd > 0))
        return z >= 0 ? 1 : 0;
    return 0.5 * erfc(-z / sd * M_SQRT1_2);
}
