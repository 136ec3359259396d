/*
 * core/report/write/report_internal.h - what the files of core/report/write
 * share; no other room includes it.
 */
#ifndef MSIM_CORE_REPORT_WRITE_REPORT_INTERNAL_H
#define MSIM_CORE_REPORT_WRITE_REPORT_INTERNAL_H
#include "core/report/write/report.h"

#include <stdint.h>
#include <stdio.h>

/* ---- short names --------------------------------------------------------- */
/*
 * The names of one page, each as short as its column wants it, and no two
 * alike.
 *
 * A name that is too long loses its middle. Where two names would then read the
 * same, the part that is kept is the one in which they differ:
 *
 *     gemm<bf16, Tile<128, 64>, Epilogue>  ->  gemm...Tile<128, 64>, ...
 *     gemm<bf16, Tile<128, 32>, Epilogue>  ->  gemm...Tile<128, 32>, ...
 *
 * Names that no window tells apart are numbered. Not thread-safe.
 */

#define MSIM_SHORT_NAMES   160 /* of one page */
#define MSIM_SHORT_COLUMNS 96  /* of a name at most */
#define MSIM_SHORT_BYTES   (4 * MSIM_SHORT_COLUMNS + 1)

struct msim_shortened {
    const char *name; /* the caller's */
    char text[MSIM_SHORT_BYTES];
    unsigned columns;
};

/* {.n = 0} is empty. */
struct msim_short_names {
    struct msim_shortened of[MSIM_SHORT_NAMES];
    uint32_t n;
    char spare[MSIM_SHORT_BYTES];
};

/* `name` will be asked for; further names than there is room for are shortened
 * without regard to others. It must outlive `s`. NULL is left out. */
void msim_short_names_add(struct msim_short_names *s, const char *name);

/* Shorten all names to at most `columns` (12 to SHORT_COLUMNS). */
void msim_short_names_fit(struct msim_short_names *s, unsigned columns);

/*
 * The short form of `name`, and its columns. Valid until the next call. A name
 * that was not added is cut at `columns`.
 */
const char *msim_short_name(struct msim_short_names *s, const char *name,
                            unsigned columns, unsigned *used);

/* The columns of the longest short form; 0 where there is none. */
unsigned msim_short_names_widest(const struct msim_short_names *s);

/* ---- report page --------------------------------------------------------- */
/*
 * The text report while it is written. Private to the files report_*.c that
 * write text.
 */

#define MSIM_PAGE_COLUMNS 100 /* no line is longer */

/* Where a report goes, and what can be shown there. */
struct msim_page {
    const struct msim_prediction *p;
    FILE *out;
    bool terminal, blocks;
    struct msim_short_names *names; /* all that the page shows */
    unsigned name_columns;          /* for the longest of them */
};

/* A line of the totals: its label, and what `fmt` says of it. In
 * report_format.c. */
void msim_page_line(const struct msim_page *page, const char *label,
                    const char *fmt, ...) MSIM_PRINTF(3, 4);

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
