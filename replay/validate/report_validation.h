/*
 * replay/validate/report_validation.h - a validation as text, CSV, JSON and a
 * chart.
 */
#ifndef MSIM_REPLAY_VALIDATE_REPORT_VALIDATION_H
#define MSIM_REPLAY_VALIDATE_REPORT_VALIDATION_H
#include "core/base/json.h"
#include "replay/validate/validation.h"

/* For people. */
void msim_validation_text(const struct msim_validation *v, FILE *out);

/* Rows as in the text; iterations follow with the times of their steps. */
void msim_validation_csv(const struct msim_validation *v, FILE *out);

/* docs/replay.md explains the members. */
void msim_validation_json(const struct msim_validation *v,
                          struct msim_json *out);

/* The rows on an axis of ratios, drawn by gnuplot: SVG or PNG by the end of
 * `path`. */
MSIM_MUST_CHECK
enum msim_status msim_validation_chart(const struct msim_validation *v,
                                       const char *path,
                                       struct msim_error *err);

#endif
