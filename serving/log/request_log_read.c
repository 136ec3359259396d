/*
 * serving/log/request_log_read.c - a log from its file, in whichever format.
 */
#include "core/base/strtab.h"
#include "core/stream/input.h"
#include "serving/log/request_rows.h"

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
