/*
 * plan/outcome/plan_limits.h - which limit of a plan is in the way.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_LIMITS_H
#define MSIM_PLAN_OUTCOME_PLAN_LIMITS_H
#include "plan/search/recommend.h"

#include <stdio.h>

/*
 * Of a plan whose feasible points all break a limit, a line for each limit of
 * time, cost, throughput and GPUs: how many points keep it, and what comes
 * nearest. One more where each is kept, but not all at once.
 */
void msim_plan_limits_text(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out);

#endif
