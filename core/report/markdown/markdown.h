/*
 * core/report/markdown/markdown.h - answers as Markdown, for pull requests.
 */
#ifndef MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_H
#define MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_H
#include "core/base/status.h"
#include "core/guard/guard.h"
#include "core/report/analyse/prediction.h"
#include "core/report/write/report.h"

#include <stdio.h>

/* ---- markdown ------------------------------------------------------------ */
/* Answers as Markdown, for pull requests and notes. */

struct msim_comparison;

#define MSIM_MARKDOWN_ROWS 10 /* of a table that may be long */

/*
 * Write what `fmt` says, in which each %s is a text: words and figures as they
 * are, and whatever has another character as code between backticks, where
 * nothing is a tag, a link, a mention or the end of a cell.
 */
void msim_markdown_print(FILE *out, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* The period and its interval, where the time goes, the operators that take
 * most. */
MSIM_MUST_CHECK
enum msim_status msim_markdown_prediction(const struct msim_prediction *p,
                                          FILE *out);
/* Both sides and their differences; the operators that changed most. */
MSIM_MUST_CHECK
enum msim_status msim_markdown_comparison(const struct msim_comparison *c,
                                          FILE *out);

/* ---- markdown scenarios -------------------------------------------------- */
/* Scenarios side by side as Markdown, whatever their job is. */

struct msim_markdown_scenario {
    const char *name;
    const char *reason;      /* why it has no figures; "": it has */
    double us;               /* its period or step */
    double ratio, low, high; /* of that to the base's */
    char work[MSIM_CELL];    /* a figure more */
    char memory[MSIM_CELL];  /* peak; "": not known */
    const char *fits;        /* "yes"; NULL: not known */
    msim_guard_marks marks;
};

struct msim_scenario_table {
    const void *of;          /* for row() */
    uint32_t n;              /* without the base, which is row 0 */
    const char *time, *work; /* heads of those columns */
    const struct msim_guard_count *marked;
    struct msim_markdown_scenario (*row)(const void *of, uint32_t i);
};

/* A row a scenario, and why the others cannot be predicted. */
void msim_markdown_scenarios(const struct msim_scenario_table *s, FILE *out);

#endif
