/*
 * serving/apps/app_sweep_chart.c - cost against latency, by gnuplot.
 */
#include "core/report/write/chart.h"
#include "serving/apps/app_sweep.h"

#define HEIGHT 560

static const char *const COLORS[] = {"#4477aa", "#ee6677", "#228833",
                                     "#ccbb44", "#66ccee", "#aa3377"};
#define N_COLORS (sizeof(COLORS) / sizeof(COLORS[0]))

static void put_points(const struct msim_app_sweep_runs *r, uint32_t app,
                       bool pareto, FILE *out)
{
    msim_gnuplot_block(out, pareto ? "p%u" : "a%u", app);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct msim_app_sweep_point *p = &r->points[i];

        if (p->app == app && p->feasible && p->pareto == pareto &&
            p->p99_ms > 0 && p->cost_per_1000 > 0)
            msim_gnuplot_row(out, 6, (double[]){p->p99_ms, p->cost_per_1000},
                             2);
    }
    msim_gnuplot_block_end(out, 2);
}

static void put_script(const struct msim_app_sweep_runs *r, FILE *out)
{
    fputs(
        "set key right top\n"
        "set logscale xy\nset format x '%g'\nset format y '%g'\n"
        "set xlabel 'p99, ms'\nset ylabel 'cost of 1,000 requests'\n"
        "set title 'Cost and latency; full: beaten by no other at its rate'\n",
        out);
    for (uint32_t a = 0; a < r->suite->n; a++) {
        put_points(r, a, false, out);
        put_points(r, a, true, out);
    }
    fputs("plot ", out);
    for (uint32_t a = 0; a < r->suite->n; a++) {
        fputs(a ? ", " : "", out);
        msim_gnuplot_print(
            out,
            "$a%u using 1:2 with points pt 6 ps 0.8 lc rgb %s notitle, "
            "$p%u using 1:2 with points pt 7 ps 1.1 lc rgb %s title %s",
            a, COLORS[a % N_COLORS], a, COLORS[a % N_COLORS],
            r->suite->apps[a].name);
    }
    fputs("\n", out);
}

enum msim_status msim_app_sweep_chart(const struct msim_app_sweep_runs *r,
                                      const char *path, struct msim_error *err)
{
    struct msim_chart c;

    MSIM_TRY(msim_chart_open(&c, path, err));
    c.height = HEIGHT;
    msim_chart_plain(&c);
    put_script(r, c.out);
    return msim_chart_close(&c, path, err);
}
