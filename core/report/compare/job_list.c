/*
 * core/report/compare/job_list.c - rows of a table of jobs as text.
 */
#include "core/report/compare/job_list.h"

#include "core/base/print.h"
#include "core/report/write/report_format.h"

#include <inttypes.h>

void msim_job_list_begin(FILE *out)
{
    msim_print(out, "%4s  %-34s %11s %11s  %-24s %8s %7s  %s\n", "row", "job",
               "measured", "predicted", "90 %", "error", "GiB", "fits");
}

void msim_job_list_add(FILE *out, uint64_t number,
                       const struct msim_listed_job *line)
{
    char cells[4][MSIM_CELL], interval[2 * MSIM_CELL + 8], error[32] = "-";
    char gib[MSIM_CELL] = "-";

    if (number > MSIM_JOB_LIST_ROWS)
        return;
    msim_print(out, "%4" PRIu64 "  %-34.34s", number, line->job);
    if (*line->reason) {
        msim_print(out, " %s\n", line->reason);
        return;
    }
    snprintf(cells[0], MSIM_CELL, "-");
    if (line->measured_ms > 0) {
        msim_format_time(cells[0], line->measured_ms * 1e3);
        snprintf(error, sizeof(error), "%+.1f %%",
                 100 * (line->us / 1e3 / line->measured_ms - 1));
    }
    msim_format_time(cells[1], line->us);
    msim_format_time(cells[2], line->low_us);
    msim_format_time(cells[3], line->high_us);
    snprintf(interval, sizeof(interval), "%s to %s", cells[2], cells[3]);
    if (line->gib > 0)
        snprintf(gib, sizeof(gib), "%.1f", line->gib);
    msim_print(out, " %11s %11s  %-24s %8s %7s  %s\n", cells[0], cells[1],
               interval, error, gib, line->fits ? line->fits : "-");
}

void msim_job_list_end(FILE *out, uint64_t n)
{
    uint64_t more = n > MSIM_JOB_LIST_ROWS ? n - MSIM_JOB_LIST_ROWS : 0;

    if (more)
        msim_print(out,
                   "      and %" PRIu64 " more row%s, which --csv prints\n",
                   more, more == 1 ? "" : "s");
    msim_print(out, "\n");
}
