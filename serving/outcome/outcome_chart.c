/*
 * serving/outcome/outcome_chart.c - latency by percentile beside what was
 * promised, by gnuplot.
 *
 * The axis of percentiles is that of nines: as much room from 90 to 99 as from
 * 99 to 99.9, since promises are about the last requests.
 */
#include "core/base/quantile.h"
#include "core/report/write/chart.h"
#include "serving/outcome/serving_outcome_internal.h"

#include <math.h>
#include <stdlib.h>

#define HEIGHT 520
#define POINTS 160
#define NINES  3.0 /* of the axis: to 99.9 */

static const char *const COLORS[] = {"#4477aa", "#ee6677", "#228833",
                                     "#ccbb44", "#66ccee", "#aa3377"};
#define N_COLORS (sizeof(COLORS) / sizeof(COLORS[0]))

static double nines(double p)
{
    return -log10(1 - p);
}

static void put_head(const struct msim_serving_outcome *o, FILE *out)
{
    static const double TICS[] = {0, 50, 90, 99, 99.9};

    fputs("set key left top\n"
          "set xlabel 'percentile of requests'\nset ylabel 'end to end, ms'\n"
          "set yrange [0:*]\nset xtics ()\n",
          out);
    for (size_t i = 0; i < sizeof(TICS) / sizeof(TICS[0]); i++)
        fprintf(out, "set xtics add ('%g' %.6f)\n", TICS[i],
                nines(TICS[i] / 100));
    msim_gnuplot_print(out, "set title %s\n",
                       o->saturated
                           ? "Latency and promises (overloaded: of this run)"
                           : "Latency and promises");
}

static void put_curve(const struct msim_serving_outcome *o, uint32_t cls,
                      double *values, FILE *out)
{
    uint64_t n = msim_serving_latencies(&o->run, cls, values);

    msim_gnuplot_block(out, "c%u", cls);
    for (int i = 0; i <= POINTS && n > 0 && n <= UINT32_MAX; i++) {
        double x = NINES * i / POINTS;

        msim_gnuplot_row(
            out, 6,
            (double[]){
                x, msim_quantile_between(values, (uint32_t)n, 1 - pow(10, -x))},
            2);
    }
    msim_gnuplot_block_end(out, 2);
}

static void put_promises(const struct msim_serving_outcome *o, FILE *out)
{
    msim_gnuplot_block(out, "promises");
    for (uint32_t i = 0; i < o->app->n_promises; i++) {
        const struct msim_promise *p = &o->app->promises[i];

        if (p->metric == MSIM_PROMISE_E2E)
            msim_gnuplot_row(
                out, 6, (double[]){nines(p->percentile / 100), p->limit_ms}, 2);
    }
    msim_gnuplot_block_end(out, 2);
}

static void put_script(const struct msim_serving_outcome *o, double *values,
                       FILE *out)
{
    put_head(o, out);
    for (uint32_t i = 0; i < o->app->n_classes; i++)
        put_curve(o, i, values, out);
    put_promises(o, out);
    fputs("plot ", out);
    for (uint32_t i = 0; i < o->app->n_classes; i++)
        msim_gnuplot_print(out,
                           "$c%u using 1:2 with lines lw 2 lc rgb %s title "
                           "%s, ",
                           i, COLORS[i % N_COLORS], o->classes[i].name);
    fputs("$promises using 1:2 with points pt 7 ps 1.2 lc rgb '#222222' title "
          "'promised'\n",
          out);
}

enum msim_status msim_serving_chart(const struct msim_serving_outcome *o,
                                    const char *path, struct msim_error *err)
{
    double *values = malloc((o->run.n_requests + 1) * sizeof(*values));
    struct msim_chart c;
    enum msim_status status =
        values ? msim_chart_open(&c, path, err) : MSIM_ENOMEM;

    if (status == MSIM_OK) {
        c.height = HEIGHT;
        msim_chart_plain(&c);
        put_script(o, values, c.out);
        status = msim_chart_close(&c, path, err);
    }
    free(values);
    return status;
}
