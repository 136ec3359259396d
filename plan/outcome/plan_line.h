/*
 * plan/outcome/plan_line.h - the memory of a plan's point within a step.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_LINE_H
#define MSIM_PLAN_OUTCOME_PLAN_LINE_H
#include "core/base/json.h"
#include "plan/outcome/plan_report.h"

/* Members `by`, of the peak of the first stage, and `timeline`. */
void msim_plan_line_json(struct msim_json *j, const struct msim_plan *plan,
                         const struct msim_plan_point *p,
                         const struct msim_spec *spec);

/* The chart, of what is recommended. */
enum msim_status msim_plan_line_draw(const struct msim_plan *plan,
                                     const struct msim_spec *spec, char **svg,
                                     struct msim_error *err);

#endif
