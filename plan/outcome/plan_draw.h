/*
 * plan/outcome/plan_draw.h - what the charts of a plan share: a script for
 * gnuplot, how it begins, and drawing it.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_DRAW_H
#define MSIM_PLAN_OUTCOME_PLAN_DRAW_H
#include "plan/outcome/plan_report.h"

/* The colour of a part or platform by its number, as "#rrggbb". */
const char *msim_plan_color(uint32_t i);

/* An empty script; NULL, with `err`, where there is no room for it. */
FILE *msim_plan_script(struct msim_error *err);
/* Settings that all charts have; `height` in pixels. */
void msim_plan_script_begin(FILE *script, int height);
/* Draw it; the script is closed, `*svg` the caller's. EIO. */
MSIM_MUST_CHECK
enum msim_status msim_plan_script_draw(FILE *script, char **svg,
                                       struct msim_error *err);

#endif
