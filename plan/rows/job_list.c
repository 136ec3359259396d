/*
 * plan/rows/job_list.c - rows of a table of jobs as text.
 */
#include "plan/rows/job_list.h"

#include "core/base/print.h"
#include "core/report/write/report_format.h"

#include <inttypes.h>
#include <string.h>

void msim_job_list_begin(FILE *out)
{
    msim_print(out, "%4s  %-34s %11s %11s  %-24s %8s %7s  %s\n", "row", "job",
               "measured", "predicted", "90 %", "error", "GiB", "fits");
}

static void put_job(char *text, size_t size, const char *platform,
                    const struct msim_job_row *row)
{
    const char *model = row->model ? row->model->name : "";

    if (row->strategy.gpus > 0)
        snprintf(text, size, "%.24s, %" PRId64 " x %.40s", model,
                 row->strategy.gpus, platform ? platform : "");
    else
        snprintf(text, size, "%.24s, %.40s", model, platform ? platform : "");
}

void msim_job_list_add(FILE *out, uint64_t number, const char *platform,
                       const struct msim_job_row *row,
                       const struct msim_step_estimate *e,
                       const struct msim_job_list_peak *peak)
{
    char job[160], cells[4][MSIM_CELL], interval[2 * MSIM_CELL + 8], error[32];

    put_job(job, sizeof(job), platform, row);
    msim_print(out, "%4" PRIu64 "  %-34.34s", number, job);
    if (*row->reason) {
        msim_print(out, " %s\n", row->reason);
        return;
    }
    snprintf(cells[0], MSIM_CELL, "-");
    snprintf(error, sizeof(error), "-");
    if (row->step_ms > 0) {
        msim_format_time(cells[0], row->step_ms * 1e3);
        snprintf(error, sizeof(error), "%+.1f %%",
                 100 * (e->us / 1e3 / row->step_ms - 1));
    }
    msim_format_time(cells[1], e->us);
    msim_format_time(cells[2], e->low_us);
    msim_format_time(cells[3], e->high_us);
    snprintf(interval, sizeof(interval), "%s to %s", cells[2], cells[3]);
    msim_print(out, " %11s %11s  %-24s %8s %7.1f  %s\n", cells[0], cells[1],
               interval, error, peak->gib, msim_fits_text(peak->fits));
}
