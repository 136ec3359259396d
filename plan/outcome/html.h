/*
 * plan/outcome/html.h - text and pictures inside an HTML page.
 */
#ifndef MSIM_PLAN_OUTCOME_HTML_H
#define MSIM_PLAN_OUTCOME_HTML_H
#include <stdio.h>

/* `text` with the characters that HTML gives a meaning written out. */
void msim_html_text(const char *text, FILE *out);

/* An SVG of gnuplot, in the page: no colour depends on what is around it. */
void msim_html_svg(const char *svg, FILE *out);

#endif
