/*
 * predict/rows/trace_rows.c - reading a table of jobs as changes of a trace.
 */
#include "predict/rows/trace_rows.h"

#include "core/base/containers.h"
#include "core/base/texts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ------------------------------------------------------------- */

static enum msim_status unknown_column(const struct msim_trace_rows *t,
                                       const char *name)
{
    const char *near =
        msim_nearest_word(name, msim_trace_column_names, MSIM_TRACE_COLUMNS);
    char all[512] = "";
    size_t used = 0;

    if (near && strcmp(near, name) == 0)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "column '%.64s' is there twice", name);
    if (near)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "column '%.64s' is not known, did you mean '%s'?",
                         name, near);
    for (uint32_t i = 0; i < MSIM_TRACE_COLUMNS; i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, " %s",
                                 msim_trace_column_names[i]);
    return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                     "column '%.64s' is not known beside --trace, want some "
                     "of:%s",
                     name, all);
}

static const char *copy_of(struct msim_trace_rows *t, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = msim_arena_alloc(&t->scenarios.arena, size);

    return copy ? memcpy(copy, text, size) : NULL;
}

static enum msim_status copy_all(struct msim_trace_rows *t,
                                 const char *const **out,
                                 const char *const *fields)
{
    const char **texts = msim_arena_alloc(
        &t->scenarios.arena, ((size_t)t->n_columns + 1) * sizeof(*texts));

    if (!texts)
        return MSIM_ENOMEM;
    for (uint32_t i = 0; i < t->n_columns; i++) {
        texts[i] = copy_of(t, fields[i]);
        if (!texts[i])
            return MSIM_ENOMEM;
    }
    *out = texts;
    return MSIM_OK;
}

static enum msim_status read_header(struct msim_trace_rows *t)
{
    const char *names[256];

    t->n_columns = msim_csv_columns(t->csv);
    if (t->n_columns > 256)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "there are %u columns, want 256 at most",
                         t->n_columns);
    for (uint32_t i = 0; i < MSIM_TRACE_COLUMNS; i++)
        t->column[i] = msim_csv_find(t->csv, msim_trace_column_names[i]);
    for (uint32_t c = 0; c < t->n_columns; c++) {
        uint32_t i = 0;

        names[c] = msim_csv_header(t->csv, c);
        while (i < MSIM_TRACE_COLUMNS &&
               strcmp(msim_trace_column_names[i], names[c]) != 0)
            i++;
        if (i == MSIM_TRACE_COLUMNS)
            return unknown_column(t, names[c]);
    }
    return copy_all(t, &t->columns, names);
}

static enum msim_status read_fields(struct msim_trace_rows *t)
{
    char *const *fields;

    for (;;) {
        struct msim_trace_row *row;

        MSIM_TRY(msim_csv_next(t->csv, &fields, t->err));
        if (!fields)
            return MSIM_OK;
        MSIM_TRY(msim_grow((void **)&t->rows, &t->cap, t->n, sizeof(*t->rows)));
        row = &t->rows[t->n++];
        *row = (struct msim_trace_row){.kind = "", .defaults = ""};
        MSIM_TRY(copy_all(t, &row->fields, (const char *const *)fields));
    }
}

/* ---- all rows ------------------------------------------------------------ */

static double measured(const struct msim_trace_job *job,
                       enum msim_trace_column a, enum msim_trace_column b)
{
    const char *text = job->field[msim_trace_job_either(job, a, b)];
    double v;

    return text && msim_decimal_real(text, strlen(text), &v) && v > 0 &&
                   isfinite(v)
               ? v
               : 0;
}

/* A run that failed measured nothing. */
static void read_measured(const struct msim_trace_job *job,
                          struct msim_trace_row *row)
{
    const char *status = job->field[MSIM_TRACE_COLUMN_status];

    if (status && *status && strcmp(status, "ok") != 0)
        return;
    row->step_ms = measured(job, MSIM_TRACE_COLUMN_step_ms,
                            MSIM_TRACE_COLUMN_iteration_ms);
    row->memory_gib = measured(job, MSIM_TRACE_COLUMN_peak_memory_gb,
                               MSIM_TRACE_COLUMN_memory_gib);
}

static enum msim_status read_row(struct msim_trace_rows *t, uint32_t i)
{
    struct msim_trace_row *row = &t->rows[i];
    struct msim_change_reader to = {.all = &t->scenarios};
    struct msim_trace_job job = {.defaults = ""};
    char name[24];

    snprintf(name, sizeof(name), "row %u", i + 1);
    MSIM_TRY(msim_change_begin(&to, i, name));
    for (uint32_t c = 0; c < MSIM_TRACE_COLUMNS; c++)
        if (t->column[c] != UINT32_MAX)
            job.field[c] = row->fields[t->column[c]];
    msim_trace_job_read(&job, &to);
    read_measured(&job, row);
    row->gpus = job.gpus;
    row->kind = copy_of(t, job.kind);
    row->defaults = copy_of(t, job.defaults);
    return row->kind && row->defaults ? MSIM_OK : MSIM_ENOMEM;
}

/* The base is predicted, too, for a GPU that is there. */
static void choose_base(struct msim_trace_rows *t)
{
    struct msim_predict_settings *base = &t->scenarios.base.settings;

    for (uint32_t i = 0; i < t->n && !base->platform; i++)
        base->platform = t->scenarios.rows[i].settings.platform;
}

static enum msim_status read_all(struct msim_trace_rows *t,
                                 const struct msim_predict_settings *s)
{
    struct msim_change_reader to = {.all = &t->scenarios};

    MSIM_TRY(msim_csv_open(&t->csv, t->path, t->err));
    MSIM_TRY(read_header(t));
    MSIM_TRY(read_fields(t));
    if (t->n == 0)
        return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                         "there is a header alone, want rows");
    MSIM_TRY(msim_change_rows(&to, t->n, s));
    t->scenarios.own_hosts = true;
    for (uint32_t i = 0; i < t->n; i++)
        MSIM_TRY(read_row(t, i));
    choose_base(t);
    return MSIM_OK;
}

enum msim_status msim_trace_rows_read(struct msim_trace_rows *t,
                                      const char *path,
                                      const struct msim_predict_settings *s,
                                      struct msim_error *err)
{
    *t = (struct msim_trace_rows){.path = path, .err = err};
    msim_arena_init(&t->scenarios.arena);
    return read_all(t, s);
}

void msim_trace_rows_release(struct msim_trace_rows *t)
{
    msim_csv_close(t->csv);
    free(t->rows);
    msim_scenarios_release(&t->scenarios);
    *t = (struct msim_trace_rows){0};
}
