/*
 * plan/outcome/plan_report.h - a plan as text, CSV, JSON and one HTML page.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#define MSIM_PLAN_OUTCOME_PLAN_REPORT_H
#include "plan/search/plan_search.h"

#include <stdio.h>

/* "tp 4, pp 2, dp 8, ZeRO 1, micro batch 2, no recomputation, bf16" */
void msim_plan_strategy_text(const struct msim_strategy *s, char *text,
                             size_t size);

/* The first screen: what is recommended, why, the frontier. */
void msim_plan_text(const struct msim_plan *plan, const struct msim_spec *spec,
                    FILE *out);

/* Feasible points, or those of the frontier alone. */
void msim_plan_csv(const struct msim_plan *plan, const struct msim_spec *spec,
                   bool frontier, FILE *out);

MSIM_MUST_CHECK
enum msim_status msim_plan_json(const struct msim_plan *plan,
                                const struct msim_spec *spec, FILE *out);

/*
 * One page without links to other files: the answer, its charts as SVG, the
 * frontier, assumptions. `charts`: SVG texts, NULL where gnuplot is missing.
 */
void msim_plan_html(const struct msim_plan *plan, const struct msim_spec *spec,
                    const char *const *charts, uint32_t n_charts, FILE *out);

/* That page, from the file `html`, as a PDF by WeasyPrint. EIO says what to
 * install. */
MSIM_MUST_CHECK
enum msim_status msim_plan_pdf(const char *html, const char *pdf,
                               struct msim_error *err);

/*
 * Draw with gnuplot into `path` (.svg): time against cost of all points with
 * the frontier, or the best point of every platform by number of GPUs.
 */
MSIM_MUST_CHECK
enum msim_status msim_plan_chart_frontier(const struct msim_plan *plan,
                                          const struct msim_spec *spec,
                                          const char *path,
                                          struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_plan_chart_scaling(const struct msim_plan *plan,
                                         const struct msim_spec *spec,
                                         const char *path,
                                         struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_plan_chart_breakdown(const struct msim_plan *plan,
                                           const struct msim_spec *spec,
                                           const char *path,
                                           struct msim_error *err);

#endif
