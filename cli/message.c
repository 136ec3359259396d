/*
 * cli/message.c - what goes to standard error, and the exit codes.
 */
#include "cli/cmd.h"

#include "core/base/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void show(const char *kind, const char *fmt, va_list ap)
{
    char text[2048];

    /* In one piece: other processes may write to the same terminal. */
    msim_vprint_text(text, sizeof(text), fmt, ap);
    fprintf(stderr, "mystique-sim: %s%s\n", kind, text);
}

void msim_message(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    show("", fmt, ap);
    va_end(ap);
}

void msim_message_warning(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    show("warning: ", fmt, ap);
    va_end(ap);
}

void msim_message_warnings(const char *const *warnings, uint32_t n,
                           bool in_report)
{
    if (in_report && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO))
        return;
    for (uint32_t i = 0; i < n; i++)
        msim_message_warning("%s", warnings[i]);
}

/* What writes to standard output knows no reason; main() has it. */
static bool is_standard_output(enum msim_status status,
                               const struct msim_error *err)
{
    return status == MSIM_EWRITE && !(err && err->text[0]) && ferror(stdout);
}

int msim_message_error(enum msim_status status, const struct msim_error *err)
{
    char text[sizeof(err->file) + sizeof(err->text) + 32];

    if (is_standard_output(status, err))
        return MSIM_EXIT_INTERNAL;
    msim_error_sentence(text, sizeof(text), status, err);
    msim_message("%s", text);
    return msim_status_exit(status);
}
