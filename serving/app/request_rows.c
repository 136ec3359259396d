/*
 * serving/app/request_rows.c - rows of a log as they are read.
 */
#include "serving/app/request_rows.h"

#include "core/base/strtab.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_SECONDS                                                           \
    1e9 /* thirty years; sums of picoseconds end at 106 days                   \
         */

struct msim_logged msim_request_rows_empty(const struct msim_request_log *log)
{
    return (struct msim_logged){.t_s = NAN,
                                .first_block = log->n_blocks,
                                .queued_ms = NAN,
                                .ttft_ms = NAN,
                                .e2e_ms = NAN};
}

static enum msim_status refuse(const char *path, uint64_t line,
                               const char *text, struct msim_error *err)
{
    return msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE, "line %llu: %s",
                     (unsigned long long)line, text);
}

enum msim_status msim_request_rows_add(struct msim_request_log *log,
                                       const struct msim_logged *row,
                                       const char *path, uint64_t line,
                                       struct msim_error *err)
{
    double before = log->n ? log->rows[log->n - 1].t_s : 0;
    char text[160];

    if (!(row->t_s >= 0 && row->t_s <= MOST_SECONDS)) {
        snprintf(text, sizeof(text),
                 "the time is %.10g s, want a number from 0 to 1e9", row->t_s);
        return refuse(path, line, text, err);
    }
    if (row->t_s < before) {
        snprintf(text, sizeof(text),
                 "the time is %.10g s and the line before has %.10g s, want "
                 "times that do not go back",
                 row->t_s, before);
        return refuse(path, line, text, err);
    }
    MSIM_TRY(
        msim_grow((void **)&log->rows, &log->cap, log->n, sizeof(*log->rows)));
    log->rows[log->n++] = *row;
    return MSIM_OK;
}

enum msim_status msim_request_rows_block(struct msim_request_log *log,
                                         struct msim_logged *row, uint64_t hash)
{
    MSIM_TRY(msim_grow((void **)&log->blocks, &log->cap_blocks, log->n_blocks,
                       sizeof(*log->blocks)));
    log->blocks[log->n_blocks++] = hash;
    row->n_blocks++;
    return MSIM_OK;
}

enum msim_status msim_request_rows_class(struct msim_request_log *log,
                                         struct msim_logged *row,
                                         const char *name)
{
    return msim_strtab_add(log->classes, name, strlen(name), &row->cls);
}

/* Days since 1970 of a date of the Gregorian calendar. The year begins in
 * March, so that the odd day is its last (Richards, 2013, "Calendars", ch. 15
 * of the Explanatory Supplement to the Astronomical Almanac). */
static double days_since_1970(int year, int month, int day)
{
    int months = (month + 9) % 12;
    int years = year - (month < 3);

    return 365.0 * years + years / 4 - years / 100 + years / 400 +
           (months * 306 + 5) / 10 + day - 1 - 719468;
}

bool msim_request_rows_date(const char *text, double *seconds)
{
    int year, month, day, hour, minute, used = 0;
    double second;
    char between;

    if (sscanf(text, "%4d-%2d-%2d%c%2d:%2d:%lf%n", &year, &month, &day,
               &between, &hour, &minute, &second, &used) != 7)
        return false;
    text += used;
    if (*text && strcmp(text, "Z") != 0 && strcmp(text, "+00:00") != 0)
        return false;
    if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31 ||
        hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
        !(second >= 0 && second < 61))
        return false;
    *seconds = days_since_1970(year, month, day) * 86400 + hour * 3600.0 +
               minute * 60.0 + second;
    return between == ' ' || between == 'T';
}
