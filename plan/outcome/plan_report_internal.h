/*
 * plan/outcome/plan_report_internal.h - what the files of plan/outcome share;
 * no other room includes it.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_REPORT_INTERNAL_H
#define MSIM_PLAN_OUTCOME_PLAN_REPORT_INTERNAL_H
#include "core/base/json.h"
#include "core/report/page/page.h"
#include "plan/outcome/plan_report.h"

/* ---- plan line ----------------------------------------------------------- */
/* The memory of a plan's point within a step. */

/* Members `by`, of the peak of the first stage, and `timeline`. */
void msim_plan_line_json(struct msim_json *j, const struct msim_plan *plan,
                         const struct msim_plan_point *p,
                         const struct msim_spec *spec);

/* The chart, of what is recommended. */
enum msim_status msim_plan_line_draw(const struct msim_plan *plan,
                                     const struct msim_spec *spec, char **svg,
                                     struct msim_error *err);

/* ---- plan page ----------------------------------------------------------- */
/*
 * The sections of the report that a planner hands on, in the order of the page.
 * Each writes HTML.
 */

/* The question in a sentence; what is recommended, in figures with their
 * intervals; how sure that is. In plan_answer.c. */
void msim_plan_page_answer(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out);

/* Tables: the best of each GPU, the frontier. In plan_tables.c. */
void msim_plan_page_platforms(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out);
void msim_plan_page_frontier(const struct msim_plan *plan,
                             const struct msim_spec *spec, FILE *out);

/* Bars: where a step goes, what a GPU holds. In plan_bars.c. */
void msim_plan_page_steps(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out);
void msim_plan_page_memory(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out);

/* What is recommended, by the law and by the graph of its job. In
 * plan_simulated.c. */
void msim_plan_page_simulated(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out);

/* Where every figure comes from; what words mean. In plan_basis.c. */
void msim_plan_page_basis(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out);
void msim_plan_page_words(const struct msim_spec *spec, FILE *out);

#endif
