/* serving/explore/explore_rows.c - answers of an explorer, with mistrust. */
#include "serving/explore/explore_internal.h"

#include "core/base/csv.h"
#include "core/base/texts.h"
#include "core/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A latency and a wait are rounded each by itself. */
#define ROUNDING_MS 0.01

enum column { T, CLASS, LATENCY, WAIT, BATCH, SIZE, N_COLUMNS };

static const char *const NAMES[N_COLUMNS] = {"t_s",     "class", "latency_ms",
                                             "wait_ms", "batch", "size"};

struct reader {
    struct msim_csv *csv;
    const char *path;
    const struct msim_visit_limits *limits;
    uint32_t at[N_COLUMNS]; /* UINT32_MAX: missing */
    char *const *fields;
    struct msim_error *err;
};

static enum msim_status refuse(const struct reader *r, enum column c,
                               const char *want)
{
    return msim_fail(r->err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                     "line %" PRIu64 ": %s is '%s', want %s",
                     msim_csv_line(r->csv), NAMES[c], r->fields[r->at[c]],
                     want);
}

/* The number of column `c`, `missing` where there is none. */
static enum msim_status take(const struct reader *r, enum column c,
                             double missing, double least, const char *want,
                             double *out)
{
    const char *text;

    *out = missing;
    if (r->at[c] == UINT32_MAX)
        return MSIM_OK;
    text = r->fields[r->at[c]];
    if (!*text && isnan(missing))
        return MSIM_OK;
    if (!msim_decimal_real(text, strlen(text), out) || !isfinite(*out) ||
        *out < least)
        return refuse(r, c, want);
    return MSIM_OK;
}

static enum msim_status take_class(const struct reader *r, uint32_t *cls)
{
    *cls = 0;
    if (r->at[CLASS] == UINT32_MAX)
        return MSIM_OK;
    for (uint32_t i = 0; i < r->limits->n_classes; i++)
        if (!strcmp(r->fields[r->at[CLASS]], r->limits->classes[i])) {
            *cls = i;
            return MSIM_OK;
        }
    return refuse(r, CLASS, "a class of the application");
}

#define WANT_BATCH "a whole number from 1 to 1000000"

static enum msim_status take_row(const struct reader *r,
                                 struct msim_visit_row *row)
{
    double batch;

    MSIM_TRY(take(r, T, 0, 0, "seconds from 0", &row->t_s));
    MSIM_TRY(take(r, LATENCY, 0, 0, "milliseconds from 0", &row->latency_ms));
    MSIM_TRY(take(r, WAIT, NAN, 0, "milliseconds from 0", &row->wait_ms));
    MSIM_TRY(take(r, SIZE, NAN, 1e-9, "a number above 0", &row->size));
    MSIM_TRY(take(r, BATCH, 0, 1, WANT_BATCH, &batch));
    MSIM_TRY(take_class(r, &row->cls));
    if (batch > 1e6 || batch != floor(batch))
        return refuse(r, BATCH, WANT_BATCH);
    if (row->wait_ms > row->latency_ms + ROUNDING_MS)
        return refuse(r, WAIT, "at most latency_ms");
    if (r->limits->seconds > 0 && row->t_s > r->limits->seconds + 1)
        return refuse(r, T, "a time within the seconds that were asked for");
    row->batch = (uint32_t)batch;
    row->run = r->limits->run;
    return MSIM_OK;
}

static enum msim_status find_columns(struct reader *r)
{
    for (int c = 0; c < N_COLUMNS; c++)
        r->at[c] = msim_csv_find(r->csv, NAMES[c]);
    for (int c = 0; c < N_COLUMNS; c++)
        if (r->at[c] == UINT32_MAX && (c == T || c == LATENCY))
            return msim_fail(r->err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                             "no column '%s': an explorer prints "
                             "t_s,class,latency_ms,wait_ms,batch,size",
                             NAMES[c]);
    return MSIM_OK;
}

static enum msim_status read_rows(struct reader *r, struct msim_vec *rows)
{
    uint32_t before = rows->n;

    MSIM_TRY(find_columns(r));
    for (;;) {
        struct msim_visit_row row, *room;

        MSIM_TRY(msim_csv_next(r->csv, &r->fields, r->err));
        if (!r->fields)
            return MSIM_OK;
        MSIM_TRY(take_row(r, &row));
        if (r->limits->most_rows > 0 && rows->n - before > r->limits->most_rows)
            return msim_fail(r->err, MSIM_EFORMAT, r->path, MSIM_OFFSET_NONE,
                             "line %" PRIu64
                             ": more visits than were asked for",
                             msim_csv_line(r->csv));
        room = msim_vec_add(rows, sizeof(*room));
        if (!room)
            return MSIM_ENOMEM;
        *room = row;
    }
}

enum msim_status msim_visit_rows_read(struct msim_vec *rows, const char *path,
                                      const struct msim_visit_limits *limits,
                                      struct msim_error *err)
{
    struct reader r = {.path = path, .limits = limits, .err = err};
    enum msim_status status;

    MSIM_TRY(msim_csv_open(&r.csv, path, err));
    status = read_rows(&r, rows);
    msim_csv_close(r.csv);
    return status;
}
