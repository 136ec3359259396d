/*
 * replay/fleet/report_selection_chart.c - a selection as one picture: for each
 * kind of time a bar of the fleet and one of the selection.
 */
#include "core/report/write/chart.h"
#include "replay/fleet/fleet.h"

#include <math.h>
#include <stdlib.h>

#define TOP             48 /* of the panel: below the verdict */
#define COLOR_FLEET     "#4477aa"
#define COLOR_SELECTION "#ee8866"

static void put_data(const struct msim_chart *c,
                     const struct msim_kind_row *rows, uint32_t n)
{
    msim_gnuplot_block(c->out, "kinds");
    for (uint32_t i = 0; i < n; i++)
        msim_gnuplot_row(
            c->out, 9,
            (double[]){i + 1, 100 * rows[i].fleet, 100 * rows[i].selection}, 3);
    msim_gnuplot_block_end(c->out, 0);
}

static void put_rows(const struct msim_chart *c,
                     const struct msim_kind_row *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        char figure[64];

        snprintf(figure, sizeof(figure), "%.1f %%, %.1f %%",
                 100 * rows[i].fleet, 100 * rows[i].selection);
        msim_chart_row(c, i + 1, msim_time_kind_text(rows[i].kind), figure);
    }
}

static void put_bars(const struct msim_chart *c)
{
    struct msim_chart_key key = msim_chart_key_begin(TOP);

    msim_chart_key_color(c, &key, COLOR_FLEET, "fleet");
    msim_chart_key_color(c, &key, COLOR_SELECTION, "selection, weighted");
    msim_gnuplot_print(c->out,
                       "plot $kinds using (0):1:(0):2:($1-0.36):($1-0.02) with "
                       "boxxyerror fill solid 1 noborder lc rgb %s, "
                       "$kinds using (0):1:(0):3:($1+0.02):($1+0.36) with "
                       "boxxyerror fill solid 1 noborder lc rgb %s\n",
                       COLOR_FLEET, COLOR_SELECTION);
}

static void put_script(struct msim_chart *c, const struct msim_selection *s)
{
    struct msim_kind_row rows[MSIM_FAMILY_COUNT + 1];
    uint32_t n = msim_selection_kinds(s, rows);
    double largest = 0;
    char verdict[256];

    for (uint32_t i = 0; i < n; i++)
        largest = fmax(largest, fmax(rows[i].fleet, rows[i].selection));
    c->height =
        TOP + MSIM_CHART_TOP + (int)n * MSIM_CHART_ROW + MSIM_CHART_AXIS;
    msim_chart_begin(c);
    msim_selection_verdict(s, verdict, sizeof(verdict));
    msim_chart_text(c, 24, 16, verdict);
    put_data(c, rows, n);
    msim_chart_axis(c, TOP, n, "Time of devices by kind of work", 104 * largest,
                    "percent");
    put_rows(c, rows, n);
    put_bars(c);
    fputs("unset multiplot\n", c->out);
}

enum msim_status msim_selection_chart(const struct msim_selection *s,
                                      const char *path, struct msim_error *err)
{
    struct msim_chart c;

    MSIM_TRY(msim_chart_open(&c, path, err));
    put_script(&c, s);
    return msim_chart_close(&c, path, err);
}
