/*
 * cli/message.h - what goes to standard error, and the exit codes.
 *
 * Every line starts with `mystique-sim: `, so that it can be told from the
 * output of other programs in a pipe. Texts are written as core/base/print.h
 * says, since the name of a file may hold anything.
 */
#ifndef MSIM_CLI_MESSAGE_H
#define MSIM_CLI_MESSAGE_H
#include "core/base/status.h"

#include <stdbool.h>

/* `mystique-sim: TEXT` */
void msim_message(const char *fmt, ...) MSIM_PRINTF(1, 2);

/* `mystique-sim: warning: TEXT` */
void msim_message_warning(const char *fmt, ...) MSIM_PRINTF(1, 2);

/*
 * Show `n` warnings. Where the report holds them, too (`in_report`), and goes
 * to the same terminal, they are not shown a second time.
 */
void msim_message_warnings(const char *const *warnings, uint32_t n,
                           bool in_report);

/*
 * Show the error as `FILE:OFFSET: TEXT`, as far as these are known, and return
 * its exit code. Where `err` is NULL or empty the sentence of the status is
 * shown. A failure of standard output is left to main().
 */
int msim_message_error(enum msim_status status, const struct msim_error *err);

#endif
