/*
 * profilers/ask/shell.h - command lines of the shell: words in them, and asking
 * whether one succeeds.
 *
 * A backend is a line of the shell, because a user may name one. It is the only
 * place where this project meets a shell: other programs are run without one.
 */
#ifndef MSIM_PROFILERS_ASK_SHELL_H
#define MSIM_PROFILERS_ASK_SHELL_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Write what `fmt` says into `to`, in which each %s becomes one word, whatever
 * is in it: "exec %s -n %d". False where it does not fit; then `to` is empty,
 * since half a command is another one.
 */
bool msim_shell_print(char *to, size_t size, const char *fmt, ...)
    MSIM_PRINTF(3, 4);

/* Does `command` end with exit code 0, with nothing to read? It says nothing.
 */
bool msim_shell_succeeds(const char *command);

#endif
