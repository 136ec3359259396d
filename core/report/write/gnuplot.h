/*
 * core/report/write/gnuplot.h - run gnuplot on a script.
 */
#ifndef MSIM_CORE_REPORT_WRITE_GNUPLOT_H
#define MSIM_CORE_REPORT_WRITE_GNUPLOT_H
#include "core/base/status.h"

#include <stdio.h>

/*
 * Run gnuplot, found on $PATH and without a shell, with `script` (a file open
 * for reading, read from its start) as its input and the file `output` as its
 * standard output. Waits for it. On failure EIO, and `err` holds gnuplot's
 * last message, or what to install.
 */
MSIM_MUST_CHECK
enum msim_status msim_gnuplot_run(FILE *script, const char *output,
                                  struct msim_error *err);

/* The same, for a picture at `path`, which stays as it was on failure. */
MSIM_MUST_CHECK
enum msim_status msim_gnuplot_draw(FILE *script, const char *path,
                                   struct msim_error *err);

/*
 * Write `text` as a gnuplot string: in single quotes nothing but the quote
 * itself has a meaning, and that is doubled. Line ends become spaces.
 */
void msim_gnuplot_quote(FILE *script, const char *text);

#endif
