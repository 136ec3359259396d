/*
 * predict/rows/trace_report.c - a table of jobs from one trace: CSV and errors.
 */
#include "predict/rows/trace_rows.h"

#include "core/base/csv.h"
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/record/record.h"
#include "core/report/compare/compare.h"

#include <inttypes.h>
#include <math.h>

#define MS_US 1e3

static void write_row(const struct msim_trace_rows *t, uint32_t i, FILE *out)
{
    const struct msim_scenario_row *s = &t->scenarios.rows[i];
    const struct msim_memory_note *m = &s->memory;
    char guards[MSIM_GUARD_WORDS];

    msim_record_csv_fields(out, t->rows[i].fields, t->n_columns);
    putc(',', out);
    msim_job_answer_csv(
        out, &(struct msim_job_answer){.ms = s->period.predicted / MS_US,
                                       .low_ms = s->period.low / MS_US,
                                       .high_ms = s->period.high / MS_US,
                                       .gib = m->peak > 0 ? m->peak / MSIM_GIB
                                                          : (double)NAN,
                                       .fits = m->fits,
                                       .uses_rows = "0",
                                       .defaults = t->rows[i].defaults,
                                       .reason = s->reason});
    msim_guard_words(*s->reason ? 0 : s->marks, guards);
    msim_csv_print(out, ",%s\n", guards);
}

static void write_csv(const struct msim_trace_rows *t, FILE *out)
{
    msim_record_csv_fields(out, t->columns, t->n_columns);
    putc(',', out);
    msim_job_answer_head(out);
    fputs(",guards\n", out);
    for (uint32_t i = 0; i < t->n; i++)
        write_row(t, i, out);
}

static enum msim_status judge(struct msim_judged_groups *g,
                              const struct msim_trace_row *row,
                              const struct msim_scenario_row *s)
{
    const struct msim_memory_note *m = &s->memory;

    MSIM_TRY(msim_judged_add(g, row->kind, MSIM_JUDGED_STEP, row->step_ms,
                             s->period.predicted / MS_US, s->period.low / MS_US,
                             s->period.high / MS_US));
    return msim_judged_add(
        g, row->kind, MSIM_JUDGED_MEMORY, m->peak > 0 ? row->memory_gib : 0,
        m->peak / MSIM_GIB, m->low / MSIM_GIB, m->high / MSIM_GIB);
}

static enum msim_status judge_all(struct msim_judged_groups *g,
                                  const struct msim_trace_rows *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!*t->scenarios.rows[i].reason)
            MSIM_TRY(judge(g, &t->rows[i], &t->scenarios.rows[i]));
    return MSIM_OK;
}

static uint32_t predicted_of(const struct msim_trace_rows *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n; i++)
        n += !*t->scenarios.rows[i].reason;
    return n;
}

/* "ddp amp, 2 x l40s" */
static void put_job(char *text, size_t size, const struct msim_trace_row *row,
                    const char *platform)
{
    snprintf(text, size, "%.60s, %" PRId64 " x %.60s", row->kind, row->gpus,
             platform ? platform : "the traced GPU");
}

static void list_jobs(const struct msim_trace_rows *t, FILE *out)
{
    const char *why = NULL;

    msim_job_list_begin(out);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct msim_scenario_row *s = &t->scenarios.rows[i];
        char job[160];

        if (*s->reason && !why)
            why = s->reason;
        put_job(job, sizeof(job), &t->rows[i], s->settings.platform);
        msim_job_list_add(
            out, i + 1,
            &(struct msim_listed_job){job, s->reason, t->rows[i].step_ms,
                                      s->period.predicted, s->period.low,
                                      s->period.high, s->memory.peak / MSIM_GIB,
                                      s->memory.fits});
    }
    msim_job_list_end(out, predicted_of(t), t->n, why);
}

static enum msim_status write_text(const struct msim_trace_rows *t,
                                   const struct msim_judged_groups *g,
                                   FILE *out)
{
    list_jobs(t, out);
    MSIM_TRY(msim_judged_write(g, "trained by", NULL, NULL, NULL, out));
    msim_guard_text(&t->scenarios.marked, "predictions", true, out);
    return MSIM_OK;
}

enum msim_status msim_trace_rows_report(const struct msim_trace_rows *t,
                                        bool csv,
                                        const struct msim_judged_wish *wish,
                                        FILE *out, struct msim_error *err)
{
    struct msim_judged_groups g = {0};
    enum msim_status status = judge_all(&g, t);

    if (status == MSIM_OK && csv)
        write_csv(t, out);
    else if (status == MSIM_OK)
        status = write_text(t, &g, out);
    if (status == MSIM_OK)
        status = msim_guard_some(predicted_of(t), t->n, "jobs", err);
    if (status == MSIM_OK)
        status = msim_judged_grant(&g, wish, err);
    msim_judged_release(&g);
    return status;
}
