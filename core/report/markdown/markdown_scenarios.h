/*
 * core/report/markdown/markdown_scenarios.h - scenarios side by side as
 * Markdown, whatever their job is.
 */
#ifndef MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_SCENARIOS_H
#define MSIM_CORE_REPORT_MARKDOWN_MARKDOWN_SCENARIOS_H
#include "core/guard/guard.h"
#include "core/report/write/report_format.h"

#include <stdio.h>

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
