/*
 * core/report/write/report_page.h - the text report while it is written.
 * Private to report_text.c, report_tables.c and report_where.c.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_PAGE_H
#define MSIM_CORE_REPORT_WRITE_REPORT_PAGE_H
#include "core/report/write/report_format.h"

#include <stdio.h>

/* Where a report goes, and what can be shown there. */
struct msim_page {
    const struct msim_prediction *p;
    FILE *out;
    bool terminal, blocks;
    unsigned name_columns; /* for the longest of the names shown */
};

/* Choose the width of the names; before any table. */
void msim_page_fit(struct msim_page *page);

/* The operators that take most device time, and the sum of the others. */
void msim_page_ops(const struct msim_page *page);

/* The share of time that laws and tables cover, and what they do not cover. */
void msim_page_coverage(const struct msim_page *page);

/* The owners of the critical path. */
void msim_page_path(const struct msim_page *page);

/* What threads and the GPU wait for, which ranks the others wait for, and
 * which operators have time to spare. */
void msim_page_waits(const struct msim_page *page);

/* How each kind of dependency is known, and what was copied. */
void msim_page_known(const struct msim_page *page);

/* One line for each rank, where there are several. */
void msim_page_ranks(const struct msim_page *page);

#endif
