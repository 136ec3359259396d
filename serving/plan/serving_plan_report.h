/*
 * serving/plan/serving_plan_report.h - a plan of serving as text, CSV, JSON and
 * one HTML page.
 */
#ifndef MSIM_SERVING_PLAN_SERVING_PLAN_REPORT_H
#define MSIM_SERVING_PLAN_SERVING_PLAN_REPORT_H
#include "serving/plan/serving_choice.h"

#include <stdio.h>

/* A configuration: "h100, tp 2, precision fp8". */
void msim_serving_config_text(const struct msim_serving_spec *s,
                              uint32_t config, char *text, size_t size);
/* A promise: "TTFT p90", with the class where there are several. */
void msim_serving_promise_text(const struct msim_serving_choice *c,
                               uint32_t promise, char *text, size_t size);
/* Why nothing keeps the promises, in a sentence without a full stop. */
void msim_serving_none_text(const struct msim_serving_choice *c, char *text,
                            size_t size);
/* The question in a sentence. */
void msim_serving_question_text(const struct msim_serving_choice *c, char *text,
                                size_t size);

void msim_serving_plan_text(const struct msim_serving_choice *c, FILE *out);
/* All points, or those of the frontier. */
void msim_serving_plan_csv(const struct msim_serving_choice *c, bool frontier,
                           FILE *out);
/* Schema mystique-sim/plan/serving/1. */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_json(const struct msim_serving_choice *c,
                                        FILE *out);
/* Without links to other files; `chart`: SVG, or NULL. */
void msim_serving_plan_html(const struct msim_serving_choice *c,
                            const char *chart, FILE *out);
/* Cost beside what is left of the promises, by gnuplot; `*svg` is the
 * caller's. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_serving_plan_chart(const struct msim_serving_choice *c,
                                         char **svg, struct msim_error *err);

#endif
