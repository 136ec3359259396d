/*
 * core/report/compare/job_list.c - rows of a table of jobs.
 */
#include "core/report/compare/compare.h"

#include "core/base/print.h"
#include "core/record/record.h"
#include "core/report/write/report.h"

#include <inttypes.h>
#include <math.h>

/* ---- text ---------------------------------------------------------------- */

struct line {
    int64_t row;
    const char *job, *fits;
    char measured[MSIM_CELL], predicted[MSIM_CELL];
    char interval[2 * MSIM_CELL + 8];
    char error[MSIM_CELL], gib[MSIM_CELL];
};

#define CELL(name, ...)                                                        \
    MSIM_COLUMN(struct line, name, NULL, .type = MSIM_COLUMN_CELL, __VA_ARGS__)
static const struct msim_column LIST[] = {
    MSIM_COLUMN(struct line, row, NULL, .heading = "row",
                .type = MSIM_COLUMN_COUNT, .width = 4),
    MSIM_COLUMN(struct line, job, NULL, .heading = "job",
                .type = MSIM_COLUMN_TEXT, .gap = 2, .width = -34, .most = 34),
    CELL(measured, .heading = "measured", .gap = 1, .width = 11),
    CELL(predicted, .heading = "predicted", .gap = 1, .width = 11),
    CELL(interval, .heading = "90 %", .gap = 2, .width = -24),
    CELL(error, .heading = "error", .gap = 1, .width = 8),
    CELL(gib, .heading = "GiB", .gap = 1, .width = 7),
    MSIM_COLUMN(struct line, fits, NULL, .heading = "fits",
                .type = MSIM_COLUMN_TEXT, .gap = 2)};

void msim_job_list_begin(FILE *out)
{
    msim_record_text_head(out, MSIM_COLUMNS(LIST));
}

void msim_job_list_add(FILE *out, uint64_t number,
                       const struct msim_listed_job *job)
{
    struct line l = {.row = (int64_t)number,
                     .job = job->job,
                     .fits = job->fits ? job->fits : "-",
                     .measured = "-",
                     .error = "-",
                     .gib = "-"};
    char low[MSIM_CELL], high[MSIM_CELL];

    if (number > MSIM_JOB_LIST_ROWS)
        return;
    if (*job->reason) {
        msim_print(out, "%4" PRIu64 "  %-34.34s %s\n", number, job->job,
                   job->reason);
        return;
    }
    if (job->measured_ms > 0) {
        msim_format_time(l.measured, job->measured_ms * 1e3);
        snprintf(l.error, sizeof(l.error), "%+.1f %%",
                 100 * (job->us / 1e3 / job->measured_ms - 1));
    }
    msim_format_time(l.predicted, job->us);
    msim_format_time(low, job->low_us);
    msim_format_time(high, job->high_us);
    snprintf(l.interval, sizeof(l.interval), "%s to %s", low, high);
    if (job->gib > 0)
        snprintf(l.gib, sizeof(l.gib), "%.1f", job->gib);
    msim_record_text(out, MSIM_COLUMNS(LIST), &l);
}

void msim_job_list_end(FILE *out, uint64_t predicted, uint64_t n,
                       const char *why)
{
    uint64_t more = n > MSIM_JOB_LIST_ROWS ? n - MSIM_JOB_LIST_ROWS : 0;

    if (more)
        msim_print(out,
                   "      and %" PRIu64 " more row%s, which --csv prints\n",
                   more, more == 1 ? "" : "s");
    msim_print(out, "\n%" PRIu64 " of %" PRIu64 " jobs predicted\n", predicted,
               n);
    if (predicted < n)
        msim_print(out, "the first without a prediction: %s\n", why);
}

/* ---- CSV ----------------------------------------------------------------- */

#define FIGURE(name, key)                                                      \
    MSIM_COLUMN(struct msim_job_answer, name, key, .digits = 6)
#define WORD(name)                                                             \
    MSIM_COLUMN(struct msim_job_answer, name, #name, .type = MSIM_COLUMN_TEXT)
static const struct msim_column ANSWER[] = {
    FIGURE(ms, "predicted_ms"),
    FIGURE(low_ms, "low_ms"),
    FIGURE(high_ms, "high_ms"),
    MSIM_COLUMN(struct msim_job_answer, gib, "predicted_memory_gib",
                .digits = 4),
    WORD(fits),
    WORD(uses_rows),
    WORD(defaults),
    WORD(reason)};

void msim_job_answer_head(FILE *out)
{
    msim_record_csv_head(out, MSIM_COLUMNS(ANSWER));
}

void msim_job_answer_csv(FILE *out, const struct msim_job_answer *a)
{
    const struct msim_job_answer none = {.ms = NAN,
                                         .low_ms = NAN,
                                         .high_ms = NAN,
                                         .gib = NAN,
                                         .defaults = a->defaults,
                                         .reason = a->reason};

    msim_record_csv(out, MSIM_COLUMNS(ANSWER), *a->reason ? &none : a);
}
