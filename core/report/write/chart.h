/*
 * core/report/write/chart.h - charts, drawn by gnuplot.
 */
#ifndef MSIM_CORE_REPORT_WRITE_CHART_H
#define MSIM_CORE_REPORT_WRITE_CHART_H
#include "core/base/status.h"
#include "core/report/analyse/prediction.h"
#include "core/report/write/report.h"

#include <stdio.h>

/* ---- run program --------------------------------------------------------- */
/* Run another program and wait for it. */

struct msim_run_program {
    char *const *argv;  /* ended by NULL; argv[0] is found on $PATH, without a
                           shell */
    FILE *input;        /* read from its start; NULL: nothing */
    const char *advice; /* where it cannot be run: what to install */
    const char *failed; /* where it fails, before its own last message */
};

/*
 * EIO where it cannot be run or fails. On success the `*n` bytes that it wrote
 * to its standard output are in `*output`, with a zero behind them, which is
 * the caller's, NULL where there are none: whoever writes them to a file
 * notices that a disk is full, as few programs do.
 */
MSIM_MUST_CHECK
enum msim_status msim_program_run(char **output, size_t *n,
                                  const struct msim_run_program *p,
                                  struct msim_error *err);

/* ---- gnuplot ------------------------------------------------------------- */
/*
 * Scripts for gnuplot: texts in them, and running it.
 *
 * gnuplot runs commands of the shell where a script says so, and has no safe
 * mode: what keeps a name from being a command is how it is written.
 */

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

/*
 * A block of data, whose name is what `name` says behind a `$`; rows, each of
 * `n` numbers with so many significant digits; and its end. What is not finite
 * leaves a point out. An end with `columns` has a row of such: gnuplot refuses
 * a block that may have no other.
 */
void msim_gnuplot_block(FILE *script, const char *name, ...) MSIM_PRINTF(2, 3);
void msim_gnuplot_row(FILE *script, int digits, const double *v, size_t n);
void msim_gnuplot_block_end(FILE *script, int columns);

/* Write `text` as the label of the tic at `at`: gnuplot reads those as formats.
 */
void msim_gnuplot_tic(FILE *script, const char *text, double at);

/* A logarithmic axis, 'x' or 'y', that ends a factor of 1.3 beyond `low` and
 * `high`, with tics so far apart that some are there and all can be read.
 * `text` writes the label of one; NULL: %g. */
void msim_gnuplot_log_axis(FILE *script, char axis, double low, double high,
                           void (*text)(double at, char *text, size_t size));

/* ---- chart --------------------------------------------------------------- */
/*
 * The pieces of a chart, as gnuplot commands: text, a key, rows of bars with a
 * name before and a figure after.
 *
 * Lengths are pixels from the top left corner; gnuplot wants fractions from the
 * bottom left. Names are drawn as labels, because gnuplot reads labels of tics
 * as format strings.
 */

#define MSIM_CHART_WIDTH 1000
#define MSIM_CHART_HEAD  98 /* title and totals */
#define MSIM_CHART_TOP   56 /* of a panel: heading and key */
#define MSIM_CHART_ROW   24
#define MSIM_CHART_AXIS  64 /* below a panel */

struct msim_chart {
    FILE *out;
    int height;
    bool png; /* else SVG */
};

/* Where the next entry of a key stands. */
struct msim_chart_key {
    int x, y;
};

/* A script for a picture at `path`, whose suffix says whether it is PNG or SVG;
 * `c` is overwritten. After success msim_chart_close() draws the script and
 * lets go of it. EWRITE. */
MSIM_MUST_CHECK
enum msim_status msim_chart_open(struct msim_chart *c, const char *path,
                                 struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_chart_close(struct msim_chart *c, const char *path,
                                  struct msim_error *err);

/* The terminal of a picture that has axes and a key of gnuplot's own, and what
 * all of those have. */
void msim_chart_plain(const struct msim_chart *c);

/* Terminal, colours and axes, for a picture of `c->height`. */
void msim_chart_begin(const struct msim_chart *c);

/* A line of text at the left margin, `size` pixels high. */
void msim_chart_text(const struct msim_chart *c, int y, int size,
                     const char *text);

/* A row's name before the plot and its figure after it; rows count from 1. */
void msim_chart_row(const struct msim_chart *c, uint32_t row, const char *name,
                    const char *figure);

void msim_chart_key_color(const struct msim_chart *c,
                          struct msim_chart_key *key, const char *color,
                          const char *text);

/* The marks of `known`: its `high` and `measured`, if they are not NaN. */
void msim_chart_key_marks(const struct msim_chart *c,
                          struct msim_chart_key *key,
                          const struct msim_figure *known);

/* Heading and axes of a panel, which is `longest` wide in the unit `label`;
 * plots follow. */
void msim_chart_axis(const struct msim_chart *c, int top, uint32_t rows,
                     const char *heading, double longest, const char *label);

/* The same for `longest` microseconds, in the unit that suits them. */
void msim_chart_panel(const struct msim_chart *c, int top, uint32_t rows,
                      const char *heading, double longest);

/* A panel of curves, `height` high, over `end` microseconds, `of` whose clock,
 * and up to `most` of `unit`; plots follow. */
void msim_chart_area(const struct msim_chart *c, int top, int height,
                     const char *heading, double end, const char *of,
                     double most, const char *unit);

/* The panel of a memory's time line, and its height; 0 where there is none. */
int msim_chart_memory_height(const struct msim_memory_note *m);
void msim_chart_memory(const struct msim_chart *c,
                       const struct msim_memory_note *m, int top);

/* The panel of what a GPU does over time, and its height; 0 where nobody asked
 * for that. */
int msim_chart_usage_height(const struct msim_prediction *p);
void msim_chart_usage(const struct msim_chart *c,
                      const struct msim_prediction *p, int top);

/* An arrow at the right edge of a panel, `edge` of its unit wide: the interval
 * of a row goes on beyond it. */
void msim_chart_beyond(const struct msim_chart *c, uint32_t row, double edge);

/* The key of a panel begins here. */
struct msim_chart_key msim_chart_key_begin(int top);

/*
 * The end of a plot command: marks from the columns `column` on of the block
 * $rows, which hold predicted, low, high and measured. Forgets the panel's
 * text.
 */
void msim_chart_marks(const struct msim_chart *c, int column);

#endif
