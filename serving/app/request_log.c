/*
 * serving/app/request_log.c - a log as a whole.
 */
#include "serving/app/request_log.h"

#include "core/base/strtab.h"
#include "core/stream/input.h"
#include "serving/app/request_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first byte that is no white space; 0: there is none. */
static enum msim_status first_byte(char *first, const char *path,
                                   struct msim_error *err)
{
    enum msim_status status;
    struct msim_input *in;
    const char *bytes;
    size_t n = 0;

    *first = 0;
    MSIM_TRY(msim_input_open(&in, path, false, err));
    do {
        status = msim_input_next(in, &bytes, &n, err);
        for (size_t i = 0; status == MSIM_OK && i < n && !*first; i++)
            if (!strchr(" \t\r\n", bytes[i]))
                *first = bytes[i];
    } while (status == MSIM_OK && n && !*first);
    msim_input_close(in);
    return status;
}

static enum msim_status read(struct msim_request_log *log, const char *path,
                             struct msim_error *err)
{
    char first = 0;

    if (strcmp(path, "-") != 0) /* which could not be read twice */
        MSIM_TRY(first_byte(&first, path, err));
    MSIM_TRY(msim_strtab_new(&log->classes));
    if (first == '{')
        MSIM_TRY(msim_request_rows_jsonl(log, path, err));
    else
        MSIM_TRY(msim_request_rows_csv(log, path, err));
    return log->n ? MSIM_OK
                  : msim_fail(err, MSIM_EFORMAT, path, MSIM_OFFSET_NONE,
                              "no requests in it");
}

enum msim_status msim_request_log_read(struct msim_request_log *log,
                                       const char *path, struct msim_error *err)
{
    enum msim_status status;

    memset(log, 0, sizeof(*log));
    status = read(log, path, err);
    if (status != MSIM_OK)
        msim_request_log_release(log);
    return status;
}

void msim_request_log_release(struct msim_request_log *log)
{
    free(log->rows);
    free(log->blocks);
    msim_strtab_free(log->classes);
    memset(log, 0, sizeof(*log));
}

const char *msim_request_log_class(const struct msim_request_log *log,
                                   uint32_t cls)
{
    return msim_strtab_text(log->classes, cls);
}

double msim_request_log_seconds(const struct msim_request_log *log)
{
    return log->n ? log->rows[log->n - 1].t_s - log->rows[0].t_s : 0;
}

double msim_request_log_rate(const struct msim_request_log *log)
{
    double seconds = msim_request_log_seconds(log);

    return seconds > 0 ? (log->n - 1) / seconds : NAN;
}
