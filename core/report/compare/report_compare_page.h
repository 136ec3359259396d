/*
 * core/report/compare/report_compare_page.h - the text of a comparison while
 * it is written. Private to report_compare.c and report_compare_table.c.
 */
#ifndef MSIM_CORE_REPORT_COMPARE_REPORT_COMPARE_PAGE_H
#define MSIM_CORE_REPORT_COMPARE_REPORT_COMPARE_PAGE_H
#include "core/report/compare/compare.h"
#include "core/report/write/report.h"

struct msim_compare_page {
    const struct msim_comparison *c;
    FILE *out;
    bool doubtful; /* some difference was marked as within the intervals */
};

/* The columns that a table has in addition to times. */
enum msim_extra {
    MSIM_EXTRA_NOTHING,
    MSIM_EXTRA_CALLS, /* how often, and the share of the table's change */
    MSIM_EXTRA_MEANS, /* how often, and how long each */
};

struct msim_compare_table {
    const char *title;
    const struct msim_changes *t;
    enum msim_extra extra;
    bool total; /* the rows sum to something */
    unsigned name_columns;
    const struct msim_unit *unit, *mean_unit;
};

/* The first `limit` rows, the sum of the others, and the total. Widths and
 * units are chosen here. */
void msim_compare_table_print(struct msim_compare_page *page,
                              struct msim_compare_table t, uint32_t limit);

/* The parts of a table whose width and unit the caller has chosen: its header,
 * and a row under a label. */
void msim_compare_header(const struct msim_compare_page *page,
                         const struct msim_compare_table *t);
void msim_compare_sum(struct msim_compare_page *page,
                      const struct msim_compare_table *t, const char *label,
                      const struct msim_change *c);

/* The unit in which `us` has up to 9999 before the point, so that the smaller
 * of two sides keeps its digits. */
const struct msim_unit *msim_compare_unit(double us);

/* "+1.234", in the unit of its table; "x 1.03", "new" or "gone". */
void msim_format_change(char cell[MSIM_CELL], const struct msim_unit *u,
                        double us);
void msim_format_ratio(char cell[MSIM_CELL], const struct msim_change *c);

/* '~' marks a difference within the intervals, else ' '. */
char msim_compare_mark(struct msim_compare_page *page,
                       const struct msim_change *c);

/* Are both sides empty? */
bool msim_change_is_zero(const struct msim_change *c);

#endif
