/*
 * core/report/write/report_page.h - the text report while it is written.
 * Private to the files report_*.c that write text.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_PAGE_H
#define MSIM_CORE_REPORT_WRITE_REPORT_PAGE_H
#include "core/report/write/report_format.h"
#include "core/report/write/short_names.h"

#include <stdio.h>

#define MSIM_PAGE_COLUMNS 100 /* no line is longer */

/* Where a report goes, and what can be shown there. */
struct msim_page {
    const struct msim_prediction *p;
    FILE *out;
    bool terminal, blocks;
    struct msim_short_names *names; /* all that the page shows */
    unsigned name_columns;          /* for the longest of them */
};

/* The operators and owners that will be shown, as msim_page_fit() needs them.
 */
void msim_page_add_ops(const struct msim_page *page);
void msim_page_add_owners(const struct msim_page *page);
void msim_page_add_work(const struct msim_page *page);

/* Shorten the names to what the widest table leaves; before any table. */
void msim_page_fit(struct msim_page *page);

/* Print two spaces and a name, padded to its column by characters, not bytes.
 */
void msim_page_name(const struct msim_page *page, const char *name);

/* What the row of an operator is called: a collective by what it does. */
const char *msim_page_op_name(const struct msim_op_row *op);

/* The peak of memory, and what would make it fit. */
void msim_page_memory(const struct msim_page *page);

/* What GPUs do over time, on average. */
void msim_page_usage(const struct msim_page *page);

/* The operators that take most device time, and the sum of the others. */
void msim_page_ops(const struct msim_page *page);

/* The share of time that laws and tables cover, and what they do not cover. */
void msim_page_coverage(const struct msim_page *page);

/* Phases, and the regions that the job marks. */
void msim_page_phases(const struct msim_page *page);

/* The kernels and copies that take most time, by name. */
void msim_page_kernels(const struct msim_page *page);

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
