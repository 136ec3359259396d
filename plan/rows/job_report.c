/*
 * plan/rows/job_report.c - answering tables of jobs.
 */
#include "plan/rows/job_rows.h"

#include "core/base/print.h"
#include "core/base/units.h"
#include "core/record/record.h"
#include "core/report/compare/compare.h"
#include "plan/memory/job_memory.h"
#include "plan/rows/job_marks.h"
#include "plan/simulate/job_graph.h"
#include "plan/step/step_law.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The peak of one rank, and whether it fits. */
struct peak {
    double gib, low_gib, high_gib;
    enum msim_fits fits;
    char would_fit[MSIM_MEMORY_WAYS_TEXT]; /* of a table that is written */
};

struct report {
    const struct msim_job_report_options *o;
    struct msim_job_rows table;
    struct msim_job_prices prices;
    struct msim_step_fit fit;
    struct msim_memory_fit memory;
    struct msim_job_marks marks;
    struct msim_job_graph graph; /* of the row at hand, where it is asked for */
    FILE *out;
    struct msim_judged_groups judged;
    uint64_t rows, predicted;
    /* Runs that ran, and that failed, by what they were called. */
    uint64_t called[2][3];
    char first_reason[256];
};

/* ---- CSV ----------------------------------------------------------------- */

static void write_header(const struct report *r)
{
    for (uint32_t i = 0; i < msim_csv_columns(r->table.csv); i++)
        msim_csv_print(r->out, "%s,", msim_csv_header(r->table.csv, i));
    msim_job_answer_head(r->out);
    if (r->o->would_fit)
        msim_csv_add(r->out, "would_fit");
    if (r->o->simulate)
        msim_csv_print(r->out, ",simulated_ms,simulated_memory_gib");
    msim_csv_print(r->out, ",guards\n");
}

static void write_row(const struct report *r, char *const *fields,
                      const struct msim_job_row *row,
                      const struct msim_step_estimate *e,
                      const struct peak *peak, const char *defaults, FILE *out)
{
    bool uses = row->source && msim_step_fit_uses(&r->fit, row->source);

    msim_record_csv_fields(out, (const char *const *)fields,
                           msim_csv_columns(r->table.csv));
    putc(',', out);
    msim_job_answer_csv(
        out, &(struct msim_job_answer){.ms = e->us / 1e3,
                                       .low_ms = e->low_us / 1e3,
                                       .high_ms = e->high_us / 1e3,
                                       .gib = peak->gib,
                                       .fits = msim_fits_text(peak->fits),
                                       .uses_rows = uses ? "1" : "0",
                                       .defaults = defaults,
                                       .reason = row->reason});
    if (r->o->would_fit)
        msim_csv_add(out, *row->reason ? "" : peak->would_fit);
    if (!r->o->simulate)
        return;
    msim_csv_add_number(out, r->graph.us / 1e3);
    msim_csv_add_number(out, r->graph.peak / MSIM_GIB);
}

/* The row as text, which waits until its marks are known. */
static enum msim_status add_row(struct report *r, char *const *fields,
                                const struct msim_job_row *row,
                                const struct msim_job_priced *priced,
                                const struct msim_step_estimate *e,
                                const struct peak *peak)
{
    char *text = NULL;
    size_t size;
    FILE *out = r->o->csv ? open_memstream(&text, &size) : NULL;

    if (r->o->csv && !out)
        return MSIM_ENOMEM;
    if (out) {
        write_row(r, fields, row, e, peak, priced->defaults, out);
        if (fclose(out) != 0) {
            free(text);
            return MSIM_ENOMEM;
        }
    }
    return msim_job_marks_add(&r->marks, text, row,
                              *row->reason ? NULL : priced, e);
}

/* ---- errors by source ---------------------------------------------------- */

static const char *source_of(const struct msim_job_row *row)
{
    return row->source ? row->source : "(none)";
}

static const char *fitted_on(const void *ctx, const char *source)
{
    const struct report *r = ctx;

    return msim_step_fit_uses(&r->fit, source) ? "fitted on" : "not seen";
}

static enum msim_status judge(struct report *r, const struct msim_job_row *row,
                              const struct msim_step_estimate *e,
                              const struct peak *peak)
{
    MSIM_TRY(msim_judged_add(&r->judged, source_of(row), MSIM_JUDGED_STEP,
                             row->step_ms, e->us / 1e3, e->low_us / 1e3,
                             e->high_us / 1e3));
    return msim_judged_add(&r->judged, source_of(row), MSIM_JUDGED_MEMORY,
                           row->memory_gib, peak->gib, peak->low_gib,
                           peak->high_gib);
}

static void write_fits(const struct report *r)
{
    static const char *const RUNS[] = {"ran", "failed"};

    fputs("\nin the GPU's memory      fits   edge     no\n", r->out);
    for (int failed = 0; failed < 2; failed++) {
        const uint64_t *n = r->called[failed];

        if (n[0] + n[1] + n[2] > 0)
            msim_print(r->out, "jobs that %-12s %6llu %6llu %6llu\n",
                       RUNS[failed], (unsigned long long)n[MSIM_FITS_YES],
                       (unsigned long long)n[MSIM_FITS_EDGE],
                       (unsigned long long)n[MSIM_FITS_NO]);
    }
}

static void list_row(const struct report *r, const struct msim_job_row *row,
                     const struct msim_step_estimate *e,
                     const struct peak *peak)
{
    const char *on = row->platform ? row->platform : r->o->platform;
    const char *model = row->model ? row->model->name : row->named;
    char job[160];

    if (row->strategy.gpus > 0)
        snprintf(job, sizeof(job), "%.24s, %" PRId64 " x %.40s", model,
                 row->strategy.gpus, on ? on : "");
    else
        snprintf(job, sizeof(job), "%.24s, %.40s", model, on ? on : "");
    if (!r->o->csv)
        msim_job_list_add(
            r->out, r->rows,
            &(struct msim_listed_job){job, row->reason, row->step_ms, e->us,
                                      e->low_us, e->high_us, peak->gib,
                                      msim_fits_text(peak->fits)});
}

static enum msim_status write_text(struct report *r)
{
    msim_job_list_end(r->out, r->predicted, r->rows, r->first_reason);
    MSIM_TRY(msim_judged_write(&r->judged, "source", "constants", fitted_on, r,
                               r->out));
    write_fits(r);
    msim_guard_text(&r->marks.count, "jobs", true, r->out);
    return MSIM_OK;
}

/* ---- all of it ----------------------------------------------------------- */

static struct peak peak_of(struct report *r, const struct msim_job_row *row,
                           const struct msim_memory_gpu *gpu)
{
    struct msim_job_memory m = msim_job_memory_given(
        row->model, &row->strategy, row->given, &r->memory, gpu);
    struct peak p = {.gib = m.at.most / MSIM_GIB,
                     .low_gib = m.low / MSIM_GIB,
                     .high_gib = m.high / MSIM_GIB,
                     .fits = m.fits};

    r->called[row->failed][p.fits]++;
    return p;
}

static void find_ways(const struct report *r, const struct msim_job_row *row,
                      const struct msim_memory_gpu *gpu, struct peak *peak)
{
    const struct msim_memory_asked asked = {row->model, &row->strategy,
                                            &r->memory, *gpu};
    struct msim_memory_ways ways;

    if (peak->fits != MSIM_FITS_NO)
        return;
    msim_memory_ways_find(&ways, &asked);
    msim_memory_ways_text(&ways, peak->would_fit);
}

static enum msim_status find_graph(struct report *r,
                                   const struct msim_job_row *row,
                                   struct msim_error *err)
{
    r->graph = (struct msim_job_graph){.us = NAN, .peak = NAN};
    if (!r->o->simulate || *row->reason)
        return MSIM_OK;
    return msim_job_graph_find(
        &r->graph,
        &(struct msim_job_graph_ask){
            .model = row->model,
            .strategy = &row->strategy,
            .data = r->o->data_dir,
            .platform = row->platform ? row->platform : r->o->platform},
        err);
}

static enum msim_status answer(struct report *r, struct msim_job_row *row,
                               char *const *fields, struct msim_error *err)
{
    struct msim_job_priced priced;
    struct msim_step_estimate e = {0};
    struct peak peak = {0};

    MSIM_TRY(msim_job_price(&r->prices, row, r->o->platform, &priced));
    MSIM_TRY(find_graph(r, row, err));
    r->rows++;
    if (*row->reason) {
        if (!*r->first_reason)
            memcpy(r->first_reason, row->reason, sizeof(r->first_reason));
    } else {
        r->predicted++;
        e = msim_step_predict(&priced.terms, &r->fit);
        peak = peak_of(r, row, &priced.gpu);
        if (r->o->would_fit)
            find_ways(r, row, &priced.gpu, &peak);
        if (!row->failed)
            MSIM_TRY(judge(r, row, &e, &peak));
    }
    list_row(r, row, &e, &peak);
    return add_row(r, fields, row, &priced, &e, &peak);
}

static enum msim_status answer_all(struct report *r, const char *path,
                                   struct msim_error *err)
{
    struct msim_job_row row;
    char *const *fields;

    MSIM_TRY(msim_job_rows_open(&r->table, path, r->o->data_dir, err));
    if (r->o->csv)
        write_header(r);
    else
        msim_job_list_begin(r->out);
    r->marks.out = r->o->csv ? r->out : NULL;
    for (;;) {
        MSIM_TRY(msim_job_rows_next(&r->table, &row, &fields, err));
        if (!fields)
            break;
        MSIM_TRY(answer(r, &row, fields, err));
    }
    MSIM_TRY(msim_job_marks_flush(&r->marks));
    if (!r->o->csv)
        MSIM_TRY(write_text(r));
    MSIM_TRY(msim_guard_some(r->predicted, r->rows, "jobs", err));
    return msim_judged_grant(&r->judged, &r->o->wish, err);
}

enum msim_status msim_job_report(const struct msim_job_report_options *o,
                                 const char *path, FILE *out,
                                 struct msim_error *err)
{
    struct report r = {.o = o, .out = out, .prices = {.data_dir = o->data_dir}};
    enum msim_status status =
        msim_steps_read(&r.fit, &r.memory, o->data_dir, o->without, err);

    if (status == MSIM_OK)
        status = answer_all(&r, path, err);
    msim_job_rows_release(&r.table);
    msim_job_prices_release(&r.prices);
    msim_step_fit_release(&r.fit);
    msim_judged_release(&r.judged);
    msim_job_marks_release(&r.marks);
    return status;
}
