/*
 * plan/search/plan_guard.h - points of a plan that cannot be as predicted.
 *
 * What one point keeps, and what points that differ in one member keep beside
 * each other (core/guard/guard.h, plan/describe/strategy.h). A point that
 * trips a guard stays in the tables, with its marks; it is not recommended and
 * no part of the frontier.
 */
#ifndef MSIM_PLAN_SEARCH_PLAN_GUARD_H
#define MSIM_PLAN_SEARCH_PLAN_GUARD_H
#include "plan/search/plan.h"

/* Mark the points, and count them. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_guard(struct msim_plan *plan);

#endif
