/*
 * core/report/page/page_head.h - how every page begins: the mark that tells it
 * from other files, what may run in it, and its style.
 */
#ifndef MSIM_CORE_REPORT_PAGE_PAGE_HEAD_H
#define MSIM_CORE_REPORT_PAGE_PAGE_HEAD_H
#include <stdbool.h>
#include <stdio.h>

/* The mark of such a page; `of` is a text without quotes. */
#define MSIM_PAGE_MARK(of)                                                     \
    "<meta name=generator content=\"mystique-sim " of "\">"

/* Up to the style that all pages have (page.css). No page loads anything: one
 * that our script draws runs that script alone, any other none. */
void msim_page_head(const char *title, const char *of, bool is_drawn,
                    FILE *out);

#endif
