/*
 * serving/log/request_log_read.c - a log from its file, in whichever format.
 */
#include "core/base/containers.h"
#include "core/stream/input.h"
#include "serving/log/request_log_internal.h"

#include <string.h>

/* The ends of the first line that is not blank; 0: there is none. */
struct ends {
    char first, last;
    bool over;
};

static void look(struct ends *e, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n && !e->over; i++) {
        e->over = e->first && bytes[i] == '\n';
        if (strchr(" \t\r\n", bytes[i]))
            continue;
        if (!e->first)
            e->first = bytes[i];
        e->last = bytes[i];
    }
}

static enum msim_status first_line(struct ends *e, const char *path,
                                   struct msim_error *err)
{
    enum msim_status status;
    struct msim_input *in;
    const char *bytes;
    size_t n = 0;

    MSIM_TRY(msim_input_open(&in, path, false, err));
    do {
        status = msim_input_next(in, &bytes, &n, err);
        if (status == MSIM_OK)
            look(e, bytes, n);
    } while (status == MSIM_OK && n && !e->over &&
             (!e->first || e->first == '{'));
    msim_input_close(in);
    return status;
}

static enum msim_status read(struct msim_request_log *log, const char *path,
                             struct msim_error *err)
{
    struct ends e = {0};

    if (strcmp(path, "-") != 0) /* which could not be read twice */
        MSIM_TRY(first_line(&e, path, err));
    MSIM_TRY(msim_strtab_new(&log->classes));
    if (e.first == '[' || (e.first == '{' && e.last != '}'))
        MSIM_TRY(msim_tool_results_read(log, path, err));
    else if (e.first == '{')
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
