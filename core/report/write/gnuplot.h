/*
 * core/report/write/gnuplot.h - scripts for gnuplot: texts in them, and running
 * it.
 *
 * gnuplot runs commands of the shell where a script says so, and has no safe
 * mode: what keeps a name from being a command is how it is written.
 */
#ifndef MSIM_CORE_REPORT_WRITE_GNUPLOT_H
#define MSIM_CORE_REPORT_WRITE_GNUPLOT_H
#include "core/base/status.h"

#include <stdio.h>

/*
 * Run gnuplot, found on $PATH and without a shell, with `script` (a file open
 * for reading, read from its start) as its input. Waits for it; the `*n` bytes
 * of `*picture` are the caller's. On failure EIO, and `err` holds gnuplot's
 * last message, or what to install.
 */
MSIM_MUST_CHECK
enum msim_status msim_gnuplot_run(FILE *script, char **picture, size_t *n,
                                  struct msim_error *err);

/* The same, for a picture at `path`, which stays as it was on failure. */
MSIM_MUST_CHECK
enum msim_status msim_gnuplot_draw(FILE *script, const char *path,
                                   struct msim_error *err);

/*
 * Write what `fmt` says, in which each %s becomes a string with its quotes:
 *
 *     msim_gnuplot_print(script, "set title %s\n", title);
 *
 * It is one line, and what has a meaning in quotes stands there by its number;
 * so it ends no block of data either.
 */
void msim_gnuplot_print(FILE *script, const char *fmt, ...) MSIM_PRINTF(2, 3);

/* Write `text` as the label of the tic at `at`: gnuplot reads those as formats.
 */
void msim_gnuplot_tic(FILE *script, const char *text, double at);

/* A logarithmic axis, 'x' or 'y', that ends a factor of 1.3 beyond `low` and
 * `high`, with tics so far apart that some are there and all can be read.
 * `text` writes the label of one; NULL: %g. */
void msim_gnuplot_log_axis(FILE *script, char axis, double low, double high,
                           void (*text)(double at, char *text, size_t size));

#endif
