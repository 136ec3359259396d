/*
 * plan/outcome/plan_frame.h - how the page of a plan begins.
 */
#ifndef MSIM_PLAN_OUTCOME_PLAN_FRAME_H
#define MSIM_PLAN_OUTCOME_PLAN_FRAME_H
#include <stdio.h>

/* How the page of a plan begins: its title and style, and
 * MSIM_PLAN_HTML_MARK, which tells it from other files. */
void msim_html_begin(const char *name, FILE *out);

#endif
