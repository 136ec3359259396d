/*
 * core/base/status.c - what went wrong, as a code for programs and a sentence
 * for people.
 */
#include "core/base/status.h"

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
