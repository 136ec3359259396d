/*
 * serving/log/request_rows.c - rows of a log as they are read.
 */
#include "serving/log/request_log_internal.h"

#include "core/base/containers.h"
#include "core/base/texts.h"

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

/* A number of `digits` digits and the mark behind it, which is passed. */
static bool take_digits(const char **text, int digits, const char *marks,
                        int *value)
{
    for (*value = 0; digits > 0; digits--, ++*text) {
        if (**text < '0' || **text > '9')
            return false;
        *value = 10 * *value + (**text - '0');
    }
    return **text && strchr(marks, *(*text)++);
}

/* "15:46.68", of an hour; a zone may follow, that of Greenwich. */
static bool take_rest(const char *text, double *seconds)
{
    size_t n = strcspn(text, "Z+");
    double second;
    int minute;

    if (text[n] && strcmp(text + n, "Z") != 0 &&
        strcmp(text + n, "+00:00") != 0)
        return false;
    if (!take_digits(&text, 2, ":", &minute) || minute > 59 || n < 4 ||
        !msim_decimal_real(text, n - 3, &second) ||
        !(second >= 0 && second < 61))
        return false;
    *seconds = minute * 60 + second;
    return true;
}

bool msim_request_rows_date(const char *text, double *seconds)
{
    int year, month, day, hour;

    if (!take_digits(&text, 4, "-", &year) ||
        !take_digits(&text, 2, "-", &month) ||
        !take_digits(&text, 2, " T", &day) ||
        !take_digits(&text, 2, ":", &hour) || !take_rest(text, seconds))
        return false;
    *seconds += days_since_1970(year, month, day) * 86400 + hour * 3600.0;
    return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= 31 &&
           hour <= 23;
}
