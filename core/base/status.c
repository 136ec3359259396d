/*
 * core/base/status.c - what went wrong, as a code for programs and a sentence
 * for people.
 */
#include "core/base/status.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

const char *msim_status_text(enum msim_status status)
{
    switch (status) {
#define X(name, value, code, sentence)                                         \
    case MSIM_##name:                                                          \
        return sentence;
        MSIM_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

int msim_status_exit(enum msim_status status)
{
    switch (status) {
#define X(name, value, code, sentence)                                         \
    case MSIM_##name:                                                          \
        return MSIM_EXIT_##code;
        MSIM_STATUS_MAP(X)
#undef X
    }
    return MSIM_EXIT_INTERNAL;
}

enum msim_status msim_fail(struct msim_error *err, enum msim_status status,
                           const char *file, uint64_t offset, const char *fmt,
                           ...)
{
    va_list ap;

    if (!err || err->status != MSIM_OK)
        return status;
    err->status = status;
    err->offset = offset;
    snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return status;
}

void msim_error_sentence(char *out, size_t size, enum msim_status status,
                         const struct msim_error *err)
{
    const char *text =
        err && err->text[0] ? err->text : msim_status_text(status);

    if (!err || !err->file[0])
        snprintf(out, size, "%s", text);
    else if (err->offset == MSIM_OFFSET_NONE)
        snprintf(out, size, "%s: %s", err->file, text);
    else
        snprintf(out, size, "%s:%" PRIu64 ": %s", err->file, err->offset, text);
}
