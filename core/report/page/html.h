/*
 * core/report/page/html.h - text and pictures inside an HTML page.
 */
#ifndef MSIM_CORE_REPORT_PAGE_HTML_H
#define MSIM_CORE_REPORT_PAGE_HTML_H
#include "core/base/status.h"

#include <stdio.h>

/*
 * Write what `fmt` says, in which each %s is a text: between tags, or inside
 * the quotes of an attribute. A page has no addresses from elsewhere, so none
 * is written.
 */
void msim_html_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* An SVG of gnuplot, in the page: no colour depends on what is around it. */
void msim_html_svg(const char *svg, FILE *out);

#endif
