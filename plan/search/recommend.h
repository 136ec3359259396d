/*
 * plan/search/recommend.h - the frontier of a plan, and which of its points to
 * take.
 */
#ifndef MSIM_PLAN_SEARCH_RECOMMEND_H
#define MSIM_PLAN_SEARCH_RECOMMEND_H
#include "plan/search/plan.h"

/* Fill in frontier, best, runner-up, what is cheaper and not sure, and best_of
 * from the points. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_recommend(struct msim_plan *plan);

/*
 * Indices of the points that are worth a closer look, each once: what is
 * recommended and the next two in that order, the shortest and the next two,
 * and what may be cheaper. Returns their number.
 */
uint32_t msim_plan_foremost(const struct msim_plan *plan,
                            uint32_t out[MSIM_PLAN_SIMULATED]);

/* What a point costs: money, else GPUs for as long as a step takes. */
double msim_plan_cost(const struct msim_plan_point *p);

/* The mean of that under the interval of a step, log-normal: of two that cost
 * alike the less known one is expected to cost more. */
double msim_plan_expected_cost(const struct msim_plan_point *p);

/* Does it surely fit, and keep the limits with a chance of MSIM_PLAN_SAFE? */
bool msim_plan_is_sure(const struct msim_plan_point *p);

/*
 * The probability that a figure is at most `limit`, whose middle is predicted,
 * with a 90 % interval of low..high: log-normal, each side with its own spread.
 *
 *     msim_chance_below(30, 20, 15, 30) = 0.95
 */
double msim_chance_below(double limit, double middle, double low, double high);

#endif
