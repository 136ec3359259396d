/*
 * cli/message.h - what goes to standard error, and the exit codes.
 *
 * Every line starts with `mystique-sim: `, so that it can be told from the
 * output of the program beside it in a pipe. Control characters (a file name
 * may hold any) are shown as '?'.
 */
#ifndef MSIM_CLI_MESSAGE_H
#define MSIM_CLI_MESSAGE_H
#include "core/base/status.h"

#include <stdbool.h>

enum msim_exit {
    MSIM_EXIT_OK = 0,
    MSIM_EXIT_CHECK = 1,
    MSIM_EXIT_USAGE = 2,
    MSIM_EXIT_INPUT = 3,
    MSIM_EXIT_INTERNAL = 4
};

/* The exit code that stands for `status`. */
int msim_message_exit_code(enum msim_status status);

/* `mystique-sim: TEXT` */
void msim_message(const char *fmt, ...) MSIM_PRINTF(1, 2);

/* `mystique-sim: warning: TEXT` */
void msim_message_warning(const char *fmt, ...) MSIM_PRINTF(1, 2);

/*
 * Show `n` warnings. Those that stand `in_report` are left out where standard
 * output is the same terminal: nobody wants to read them twice.
 */
void msim_message_warnings(const char *const *warnings, uint32_t n,
                           bool in_report);

/*
 * Say what went wrong, `FILE:OFFSET: TEXT` as far as known, and return the
 * exit code for it. `err` may be NULL or empty: then the status's own
 * sentence is shown.
 */
int msim_message_error(enum msim_status status, const struct msim_error *err);

#endif
