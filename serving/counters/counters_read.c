/*
 * serving/counters/counters_read.c - counters, line by line.
 *
 * core/base/csv.h fills a buffer before it looks at a row, which would keep the
 * rows of a pipe back for minutes. getline() returns with the line's end.
 */
#include "serving/counters/counters_read.h"

#include "core/base/csv.h"
#include "core/base/files.h"
#include "core/base/texts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELDS_MAX 64 /* columns of a file */
#define NONE       UINT32_MAX
/* Nothing that is counted is more; sums and products stay exact numbers. */
#define COUNTER_MOST 1e12

struct msim_counters {
    FILE *file;
    const char *path;
    const char *const *stages;
    uint32_t n_stages;
    uint32_t n_fields, t_at, stage_at;
    uint32_t at[MSIM_COUNTERS]; /* field of each counter, or NONE */
    char *line;
    size_t room;
    uint64_t n_lines, rows, left_out, first_line;
    const char *first_reason;
    double t;                     /* of the last row */
    struct msim_metrics *metrics; /* NULL: it is csv; owned */
};

static const char *const COLUMNS[MSIM_COUNTERS + 1] = {
#define X(name, column) [MSIM_COUNTER_##name] = (column),
    MSIM_COUNTER_MAP(X)
#undef X
};

/* ---- lines ------------------------------------------------------- */

/* The next line without its end; false at the end of the file. */
static bool next_line(struct msim_counters *c, char **line)
{
    ssize_t n = getline(&c->line, &c->room, c->file);

    if (n < 0)
        return false;
    c->n_lines++;
    while (n > 0 && (c->line[n - 1] == '\n' || c->line[n - 1] == '\r'))
        n--;
    c->line[n] = '\0';
    *line = c->line;
    return true;
}

/* One field that begins at `at`, unquoted in place; what follows it, or NULL
 * where it is the last. */
static char *end_field(char *at, char **field)
{
    char *to = at;

    *field = at;
    if (*at == '"') {
        for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
            at += *at == '"';
            *to++ = *at;
        }
        at += *at == '"';
    }
    while (*at && *at != ',')
        *to++ = *at++;
    at = *at ? at + 1 : NULL;
    *to = '\0';
    return at;
}

/* Cut a line into at most FIELDS_MAX fields; their number, FIELDS_MAX + 1
 * where there are more. */
static uint32_t split(char *line, char *fields[FIELDS_MAX])
{
    uint32_t n = 0;

    for (char *at = line; at; n++) {
        if (n == FIELDS_MAX)
            return n + 1;
        at = end_field(at, &fields[n]);
    }
    return n;
}

static void leave_out(struct msim_counters *c, const char *reason)
{
    if (c->left_out++ == 0) {
        c->first_line = c->n_lines;
        c->first_reason = reason;
    }
}

/* ---- header ------------------------------------------------------ */

/* Errors of lines of metrics do not know where they are. */
static enum msim_status take_metrics_line(struct msim_counters *c, char *line,
                                          struct msim_error *err)
{
    struct msim_error why = {0};
    const char *reason;
    enum msim_status status =
        msim_metrics_line(c->metrics, line, &reason, &why);

    if (reason)
        leave_out(c, reason);
    if (status == MSIM_EFORMAT)
        return msim_fail(err, status, c->path, MSIM_OFFSET_NONE,
                         "line %llu: %s", (unsigned long long)c->n_lines,
                         why.text);
    return status;
}

static enum msim_status no_times(const struct msim_counters *c,
                                 struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                     "line %llu: metrics without a time, want a line '# at "
                     "SECONDS STAGE' before each scrape",
                     (unsigned long long)c->n_lines);
}

static uint32_t find(char *const *fields, uint32_t n, const char *name)
{
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(fields[i], name) == 0)
            return i;
    return NONE;
}

static enum msim_status header_error(const struct msim_counters *c,
                                     const char *column, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                     "line %llu: no column '%s', want t,stage,arrivals,queue,"
                     "busy,replicas,mean_ms,p99_ms,self_ms,wait_ms,...",
                     (unsigned long long)c->n_lines, column);
}

/* The first line of scrapes, or the header of csv. */
static enum msim_status read_header(struct msim_counters *c,
                                    const struct msim_metrics_how *how,
                                    struct msim_error *err)
{
    char *fields[FIELDS_MAX];
    char *line;

    do {
        if (!next_line(c, &line))
            return ferror(c->file)
                       ? msim_fail(err, MSIM_EIO, c->path, MSIM_OFFSET_NONE,
                                   "cannot be read: %s", strerror(errno))
                       : msim_fail(err, MSIM_ETRUNCATED, c->path,
                                   MSIM_OFFSET_NONE,
                                   "empty, want counters: a header with t, "
                                   "stage");
        if (how && msim_metrics_begin(line)) {
            MSIM_TRY(msim_metrics_new(&c->metrics, how, err));
            return take_metrics_line(c, line, err);
        }
    } while (!*line || *line == '#');
    if (how && line[strcspn(line, "{, ")] == '{')
        return no_times(c, err);
    if (strncmp(line, "\xef\xbb\xbf", 3) == 0)
        line += 3;
    c->n_fields = split(line, fields);
    if (c->n_fields > FIELDS_MAX)
        return msim_fail(err, MSIM_ELIMIT, c->path, MSIM_OFFSET_NONE,
                         "line %llu: more than %d columns",
                         (unsigned long long)c->n_lines, FIELDS_MAX);
    c->t_at = find(fields, c->n_fields, "t");
    if (c->t_at == NONE)
        return header_error(c, "t", err);
    c->stage_at = find(fields, c->n_fields, "stage");
    if (c->stage_at == NONE)
        return header_error(c, "stage", err);
    for (uint32_t i = 0; i < MSIM_COUNTERS; i++)
        c->at[i] = find(fields, c->n_fields, COLUMNS[i]);
    if (c->at[MSIM_COUNTER_P99_MS] == NONE)
        return header_error(c, "p99_ms", err);
    return MSIM_OK;
}

/* ---- rows -------------------------------------------------------- */

/* A number that fills its field; an empty field is NAN. */
static bool read_number(const char *text, double *out)
{
    char *end;

    *out = NAN;
    if (!*text)
        return true;
    *out = strtod(text, &end);
    return end > text && !end[strspn(end, " \t")];
}

static enum msim_status find_stage(const struct msim_counters *c,
                                   const char *name, uint32_t *stage,
                                   struct msim_error *err)
{
    const char *near;

    *stage = c->n_stages;
    if (strcmp(name, MSIM_COUNTER_E2E) == 0)
        return MSIM_OK;
    for (*stage = 0; *stage < c->n_stages; ++*stage)
        if (strcmp(name, c->stages[*stage]) == 0)
            return MSIM_OK;
    near = msim_nearest_word(name, c->stages, c->n_stages);
    return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                     "line %llu: the application has no stage '%s'%s%s%s",
                     (unsigned long long)c->n_lines, name,
                     near ? ", is it '" : "", near ? near : "",
                     near ? "'?" : "");
}

/* Why a line is no row, or NULL where `row` has its time and its counters. */
static const char *read_values(const struct msim_counters *c, char **fields,
                               uint32_t n, struct msim_counters_row *row)
{
    if (n != c->n_fields)
        return "not as many fields as columns";
    if (!read_number(fields[c->t_at], &row->t) ||
        !(row->t >= 0 && row->t <= COUNTER_MOST))
        return "t is no time";
    for (uint32_t i = 0; i < MSIM_COUNTERS; i++) {
        row->v[i] = NAN;
        if (c->at[i] == NONE)
            continue;
        if (!read_number(fields[c->at[i]], &row->v[i]))
            return "a counter is no number";
        if (!(row->v[i] >= 0 && row->v[i] <= COUNTER_MOST))
            row->v[i] = NAN;
    }
    return NULL;
}

static enum msim_status at_end(const struct msim_counters *c,
                               struct msim_error *err)
{
    if (ferror(c->file))
        return msim_fail(err, MSIM_EIO, c->path, MSIM_OFFSET_NONE,
                         "cannot be read");
    if (c->rows == 0)
        return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                         "no row of counters in %llu lines%s%s",
                         (unsigned long long)c->n_lines,
                         c->first_reason ? "; the first: " : "",
                         c->first_reason ? c->first_reason : "");
    return MSIM_OK;
}

static enum msim_status next_of_metrics(struct msim_counters *c,
                                        struct msim_counters_row *row,
                                        bool *found, struct msim_error *err)
{
    char *line = c->line;

    while (!msim_metrics_take(c->metrics, row)) {
        if (!line) /* the end was taken, too */
            return at_end(c, err);
        if (!next_line(c, &line))
            line = NULL;
        MSIM_TRY(take_metrics_line(c, line, err));
    }
    c->rows++;
    *found = true;
    return MSIM_OK;
}

enum msim_status msim_counters_next(struct msim_counters *c,
                                    struct msim_counters_row *row, bool *found,
                                    struct msim_error *err)
{
    char *fields[FIELDS_MAX];
    const char *reason;
    char *line;
    uint32_t n;

    *found = false;
    if (c->metrics)
        return next_of_metrics(c, row, found, err);
    for (;;) {
        if (!next_line(c, &line))
            return at_end(c, err);
        if (!*line || *line == '#')
            continue;
        n = split(line, fields);
        reason = read_values(c, fields, n, row);
        if (!reason)
            break;
        leave_out(c, reason);
    }
    msim_csv_unguard(fields[c->stage_at]);
    MSIM_TRY(find_stage(c, fields[c->stage_at], &row->stage, err));
    if (row->t < c->t)
        return msim_fail(err, MSIM_EFORMAT, c->path, MSIM_OFFSET_NONE,
                         "line %llu: t goes back from %g to %g s",
                         (unsigned long long)c->n_lines, c->t, row->t);
    c->t = row->t;
    c->rows++;
    *found = true;
    return MSIM_OK;
}

/* ---- opening ----------------------------------------------------- */

static enum msim_status open_file(struct msim_counters *c,
                                  struct msim_error *err)
{
    int fd;

    errno = 0;
    if (strcmp(c->path, "-") == 0) {
        fd = dup(STDIN_FILENO);
        c->file = fd >= 0 ? fdopen(fd, "r") : NULL;
        if (!c->file && fd >= 0)
            close(fd);
    } else {
        c->file = fopen(c->path, "r");
    }
    if (!c->file)
        return msim_fail(err, MSIM_EIO, c->path, MSIM_OFFSET_NONE,
                         "cannot be opened: %s",
                         errno ? strerror(errno) : "out of memory");
    return msim_files_read_note(c->path, err);
}

static enum msim_status open_counters(struct msim_counters **out,
                                      const char *path,
                                      const char *const *stages, uint32_t n,
                                      const struct msim_metrics_how *how,
                                      struct msim_error *err)
{
    struct msim_counters *c = calloc(1, sizeof(*c));
    enum msim_status status;

    *out = NULL;
    if (!c)
        return MSIM_ENOMEM;
    c->path = path;
    c->stages = stages;
    c->n_stages = n;
    status = open_file(c, err);
    if (status == MSIM_OK)
        status = read_header(c, how, err);
    if (status != MSIM_OK) {
        msim_counters_close(c);
        return status;
    }
    *out = c;
    return MSIM_OK;
}

enum msim_status msim_counters_open(struct msim_counters **out,
                                    const char *path, const char *const *stages,
                                    uint32_t n, struct msim_error *err)
{
    return open_counters(out, path, stages, n, NULL, err);
}

enum msim_status msim_counters_open_any(struct msim_counters **out,
                                        const char *path,
                                        const struct msim_metrics_how *how,
                                        struct msim_error *err)
{
    return open_counters(out, path, how->stages, how->n_stages, how, err);
}

bool msim_counters_are_metrics(const struct msim_counters *c)
{
    return c->metrics != NULL;
}

void msim_counters_close(struct msim_counters *c)
{
    if (!c)
        return;
    if (c->file)
        fclose(c->file);
    msim_metrics_free(c->metrics);
    free(c->line);
    free(c);
}

uint64_t msim_counters_left_out(const struct msim_counters *c)
{
    return c->left_out;
}

uint64_t msim_counters_first_line(const struct msim_counters *c)
{
    return c->first_line;
}

const char *msim_counters_first_reason(const struct msim_counters *c)
{
    return c->first_reason;
}
