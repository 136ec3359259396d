/*
 * serving/log/request_log_csv.c - request logs of comma-separated values.
 */
#include "core/base/csv.h"
#include "core/base/hash.h"
#include "core/base/texts.h"
#include "serving/log/request_log_internal.h"

#include <math.h>
#include <string.h>

#define MOST_MS 1e12

enum column {
    TIME,
    TIME_MS,
    DATE,
    CLASS,
    INPUT,
    OUTPUT,
    PREFIX,
    BLOCKS,
    QUEUED,
    TTFT,
    E2E,
    COLUMNS
};

/* Names of a column, the first that is there. */
static const char *const NAMES[COLUMNS][3] = {
    [TIME] = {"t_s"},
    [TIME_MS] = {"timestamp"},
    [DATE] = {"TIMESTAMP"},
    [CLASS] = {"class"},
    [INPUT] = {"input_tokens", "input_length", "ContextTokens"},
    [OUTPUT] = {"output_tokens", "output_length", "GeneratedTokens"},
    [PREFIX] = {"prefix_id"},
    [BLOCKS] = {"blocks", "hash_ids"},
    [QUEUED] = {"queued_ms"},
    [TTFT] = {"ttft_ms"},
    [E2E] = {"e2e_ms"},
};

struct table {
    struct msim_request_log *log;
    struct msim_csv *csv;
    const char *path;
    uint32_t at[COLUMNS];
    char *const *fields;
    double first_date;
    struct msim_error *err;
};

static enum msim_status find_columns(struct table *t)
{
    for (int c = 0; c < COLUMNS; c++) {
        t->at[c] = UINT32_MAX;
        for (int i = 0; i < 3 && NAMES[c][i] && t->at[c] == UINT32_MAX; i++)
            t->at[c] = msim_csv_find(t->csv, NAMES[c][i]);
    }
    if (t->at[TIME] != UINT32_MAX || t->at[TIME_MS] != UINT32_MAX ||
        t->at[DATE] != UINT32_MAX)
        return MSIM_OK;
    return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                     "no column 't_s', want a log of requests: t_s, class, "
                     "input_tokens, output_tokens, prefix_id or blocks");
}

/* NULL where the table has no such column, or the field is empty. */
static const char *field(const struct table *t, enum column c)
{
    const char *text = t->at[c] == UINT32_MAX ? NULL : t->fields[t->at[c]];

    return text && *text ? text : NULL;
}

static enum msim_status refuse(const struct table *t, enum column c,
                               const char *want)
{
    return msim_fail(t->err, MSIM_EFORMAT, t->path, MSIM_OFFSET_NONE,
                     "line %llu: %s is '%.40s', want %s",
                     (unsigned long long)msim_csv_line(t->csv),
                     msim_csv_header(t->csv, t->at[c]), t->fields[t->at[c]],
                     want);
}

static enum msim_status read_number(const struct table *t, enum column c,
                                    double least, double most, double *value)
{
    const char *text = field(t, c);

    if (!text)
        return MSIM_OK;
    if (!msim_decimal_real(text, strlen(text), value) || !(*value >= least) ||
        *value > most)
        return refuse(t, c, least > -INFINITY ? "a number from 0" : "a number");
    return MSIM_OK;
}

static enum msim_status read_tokens(const struct table *t, enum column c,
                                    uint32_t *tokens)
{
    double n = 0;

    MSIM_TRY(read_number(t, c, 0, 1e9, &n));
    if (n != floor(n))
        return refuse(t, c, "a whole number");
    /* A request without any is taken to have one: engines make no fewer. */
    *tokens = field(t, c) ? n < 1 ? 1 : (uint32_t)n : 0;
    return MSIM_OK;
}

/* Dates are read from the first one on. */
static enum msim_status read_time(struct table *t, double *t_s)
{
    double ms = NAN;

    if (t->at[TIME] != UINT32_MAX)
        return read_number(t, TIME, -INFINITY, INFINITY, t_s);
    if (t->at[TIME_MS] != UINT32_MAX) {
        MSIM_TRY(read_number(t, TIME_MS, -INFINITY, INFINITY, &ms));
        *t_s = ms / 1000;
        return MSIM_OK;
    }
    if (!msim_request_rows_date(t->fields[t->at[DATE]], t_s))
        return refuse(t, DATE, "a date such as 2023-11-16 18:15:46.68");
    if (t->log->n == 0)
        t->first_date = *t_s;
    *t_s -= t->first_date;
    return MSIM_OK;
}

static enum msim_status read_blocks(const struct table *t,
                                    struct msim_logged *row)
{
    const char *text = field(t, BLOCKS);

    for (size_t n; text && *text; text += n) {
        int64_t hash;

        n = strcspn(text, " ");
        if (n && !msim_decimal_int(text, n, &hash))
            return refuse(t, BLOCKS, "whole numbers, a space between them");
        if (n)
            MSIM_TRY(msim_request_rows_block(t->log, row, (uint64_t)hash));
        n += strspn(text + n, " ");
    }
    return MSIM_OK;
}

static enum msim_status read_row(struct table *t)
{
    struct msim_logged row = msim_request_rows_empty(t->log);
    const char *text = field(t, PREFIX);

    MSIM_TRY(read_time(t, &row.t_s));
    MSIM_TRY(read_tokens(t, INPUT, &row.input_tokens));
    MSIM_TRY(read_tokens(t, OUTPUT, &row.output_tokens));
    MSIM_TRY(read_number(t, QUEUED, 0, MOST_MS, &row.queued_ms));
    MSIM_TRY(read_number(t, TTFT, 0, MOST_MS, &row.ttft_ms));
    MSIM_TRY(read_number(t, E2E, 0, MOST_MS, &row.e2e_ms));
    MSIM_TRY(read_blocks(t, &row));
    if (text)
        row.prefix = msim_hash_mix(msim_hash_text(MSIM_HASH_START, text), 0);
    text = field(t, CLASS);
    if (text)
        MSIM_TRY(msim_request_rows_class(t->log, &row, text));
    return msim_request_rows_add(t->log, &row, t->path, msim_csv_line(t->csv),
                                 t->err);
}

static enum msim_status read_rows(struct table *t)
{
    MSIM_TRY(find_columns(t));
    for (;;) {
        MSIM_TRY(msim_csv_next(t->csv, &t->fields, t->err));
        if (!t->fields)
            return MSIM_OK;
        MSIM_TRY(read_row(t));
    }
}

enum msim_status msim_request_rows_csv(struct msim_request_log *log,
                                       const char *path, struct msim_error *err)
{
    struct table t = {.log = log, .path = path, .err = err};
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&t.csv, path, err));
    status = read_rows(&t);
    msim_csv_close(t.csv);
    return status;
}
