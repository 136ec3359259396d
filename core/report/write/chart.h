/*
 * core/report/write/chart.h - the pieces of a chart, as gnuplot commands: text,
 * a key, rows of bars with a name before and a figure after.
 *
 * Lengths are pixels from the top left corner; gnuplot wants fractions from the
 * bottom left. Names are drawn as labels, because gnuplot reads labels of tics
 * as format strings.
 */
#ifndef MSIM_CORE_REPORT_WRITE_CHART_H
#define MSIM_CORE_REPORT_WRITE_CHART_H
#include "core/report/analyse/prediction.h"
#include "core/report/write/report_format.h"

#include <stdio.h>

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

/* Terminal, colours and axes, for a picture of `c->height`. */
void msim_chart_begin(const struct msim_chart *c);

/* ` 1.5`, or ` NaN`, which leaves a point out. */
void msim_chart_number(const struct msim_chart *c, double value);

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

/* Does a picture at `path` become a PNG, rather than SVG? */
bool msim_chart_is_png(const char *path);

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
