/*
 * plan/outcome/plan_chart.c - the charts of a plan, by gnuplot.
 */
#include "core/report/write/chart.h"
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Days and cost where they are known, else seconds and GPU seconds of a step,
 * or of a million samples, where the batch of a step differs. */
static double x_of(const struct msim_spec *spec,
                   const struct msim_plan_point *p)
{
    if (spec->unit == MSIM_SPEC_UNIT_REQUESTS)
        return p->us * 1e-6;
    return !isnan(p->days)                ? p->days
           : msim_spec_batch_varies(spec) ? p->time
                                          : p->time * 1e-6;
}

static double y_of(const struct msim_spec *spec,
                   const struct msim_plan_point *p)
{
    return !isnan(p->cost)                ? p->cost
           : msim_spec_batch_varies(spec) ? p->gpu_us
                                          : p->gpu_us * 1e-6;
}

/* Before what is drawn: the axes, and a title. */
static void name_axes(const struct msim_plan *plan,
                      const struct msim_spec *spec, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[0];
    char of[48] = "a step", x[64], y[64];

    if (msim_spec_batch_varies(spec))
        snprintf(of, sizeof(of), "a million %s",
                 msim_spec_unit_text(spec->unit));
    if (spec->unit == MSIM_SPEC_UNIT_REQUESTS)
        snprintf(x, sizeof(x), "latency, seconds");
    else if (isnan(p->days))
        snprintf(x, sizeof(x), "%s, seconds", of);
    else
        snprintf(x, sizeof(x), "training, days");
    if (isnan(p->cost))
        snprintf(y, sizeof(y), "%s, GPU seconds", of);
    else
        snprintf(y, sizeof(y), "%s%s%s", msim_plan_cost_word(spec, p),
                 *spec->currency ? ", " : "", spec->currency);
    msim_gnuplot_print(out,
                       "set xlabel %s\nset ylabel %s\n"
                       "set title 'Time and cost of every feasible way'\nplot ",
                       x, y);
}

static void put_axis(char axis, double low, double high, FILE *out)
{
    msim_gnuplot_log_axis(out, axis, low, high, msim_plan_amount_text);
}

/* The chart as cells of about half a dot, on logarithmic axes: of the dots in
 * one cell the others are not seen, and a page of 15,000 dots is slow. */
#define CELLS_X 240
#define CELLS_Y 120

struct cells {
    double x_low, x_high, y_low, y_high;
    bool taken[CELLS_X][CELLS_Y];
};

static void set_range(struct cells *c, const struct msim_plan *plan,
                      const struct msim_spec *spec)
{
    c->x_low = c->y_low = INFINITY;
    c->x_high = c->y_high = -INFINITY;
    for (uint32_t i = 0; i < plan->n; i++) {
        double x = log(x_of(spec, &plan->points[i]));
        double y = log(y_of(spec, &plan->points[i]));

        c->x_low = fmin(c->x_low, x);
        c->x_high = fmax(c->x_high, x);
        c->y_low = fmin(c->y_low, y);
        c->y_high = fmax(c->y_high, y);
    }
}

static uint32_t cell(double value, double low, double high, uint32_t n)
{
    double at = high > low ? (log(value) - low) / (high - low) * n : 0;

    return at >= 0 ? at < n ? (uint32_t)at : n - 1 : 0;
}

/* Is it the first in its cell? */
static bool is_seen(struct cells *c, double x, double y)
{
    bool *taken = &c->taken[cell(x, c->x_low, c->x_high, CELLS_X)]
                           [cell(y, c->y_low, c->y_high, CELLS_Y)];
    bool seen = !*taken;

    *taken = true;
    return seen;
}

/* A block of data a platform: its feasible points. */
static enum msim_status put_points(const struct msim_plan *plan,
                                   const struct msim_spec *spec, FILE *out)
{
    struct cells *c = malloc(sizeof(*c));

    if (!c)
        return MSIM_ENOMEM;
    set_range(c, plan, spec);
    put_axis('x', exp(c->x_low), exp(c->x_high), out);
    put_axis('y', exp(c->y_low), exp(c->y_high), out);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        memset(c->taken, 0, sizeof(c->taken));
        msim_gnuplot_block(out, "p%u", k);
        for (uint32_t i = 0; i < plan->n; i++) {
            double x = x_of(spec, &plan->points[i]);
            double y = y_of(spec, &plan->points[i]);

            if (plan->points[i].platform == k && is_seen(c, x, y))
                msim_gnuplot_row(out, 6, (double[]){x, y}, 2);
        }
        msim_gnuplot_block_end(out, 2);
    }
    free(c);
    return MSIM_OK;
}

static void put_best(const struct msim_plan *plan, const struct msim_spec *spec,
                     FILE *out)
{
    msim_gnuplot_block(out, "frontier");
    for (uint32_t i = 0; i < plan->n_frontier; i++) {
        const struct msim_plan_point *p = &plan->points[plan->frontier[i]];

        msim_gnuplot_row(out, 6, (double[]){x_of(spec, p), y_of(spec, p)}, 2);
    }
    msim_gnuplot_block_end(out, 2);
}

static enum msim_status draw_frontier(const struct msim_plan *plan,
                                      const struct msim_spec *spec, char **svg,
                                      struct msim_error *err)
{
    char name[MSIM_PLAN_PLATFORM_TEXT];
    FILE *out = msim_plan_script(err);
    enum msim_status status;

    if (!out)
        return MSIM_EWRITE;
    msim_plan_script_begin(out, 460);
    status = put_points(plan, spec, out);
    put_best(plan, spec, out);
    name_axes(plan, spec, out);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        msim_plan_platform_text(spec, k, name, sizeof(name));
        msim_gnuplot_print(
            out, "$p%u using 1:2 with points pt 7 ps 0.5 lc rgb %s title %s, ",
            k, msim_plan_color(k), name);
    }
    fputs(
        "$frontier using 1:2 with linespoints pt 6 ps 1 lw 2 lc rgb '#222222' "
        "title 'frontier'\n",
        out);
    if (status == MSIM_OK)
        return msim_plan_script_draw(out, svg, err);
    fclose(out);
    return status;
}

/* The fastest feasible point of a platform with so many GPUs; NULL: none. */
static const struct msim_plan_point *fastest(const struct msim_plan *plan,
                                             uint32_t platform, int64_t gpus)
{
    const struct msim_plan_point *best = NULL;

    for (uint32_t i = 0; i < plan->n; i++) {
        const struct msim_plan_point *p = &plan->points[i];

        if (p->platform == platform && p->strategy.gpus == gpus &&
            (!best || p->time < best->time))
            best = p;
    }
    return best;
}

/* A block of data a platform; false: all points have one number of GPUs. */
static bool put_scaling(const struct msim_plan *plan,
                        const struct msim_spec *spec, FILE *out)
{
    const struct msim_spec_values *gpus = msim_spec_gpus(spec);
    double low = INFINITY, high = 0, few = INFINITY, many = 0;

    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        msim_gnuplot_block(out, "p%u", k);
        for (uint32_t i = 0; i < gpus->n; i++) {
            const struct msim_plan_point *p = fastest(plan, k, gpus->v[i]);
            struct msim_plan_figure rate;

            if (!p)
                continue;
            rate = msim_plan_inverse_of(p, p->rate);
            msim_gnuplot_row(out, 6,
                             (double[]){(double)gpus->v[i], rate.middle,
                                        rate.low, rate.high},
                             4);
            low = fmin(low, rate.low);
            high = fmax(high, rate.high);
            few = fmin(few, (double)gpus->v[i]);
            many = fmax(many, (double)gpus->v[i]);
        }
        msim_gnuplot_block_end(out, 4);
    }
    if (!(few < many))
        return false;
    put_axis('y', low, high, out);
    fprintf(out, "set logscale x\nset xrange [%.6g:%.6g]\nset xtics (",
            few / 1.3, many * 1.3);
    for (uint32_t i = 0; i < gpus->n; i++)
        fprintf(out, i + 1 < gpus->n ? "%" PRId64 ", " : "%" PRId64 ")\n",
                gpus->v[i]);
    return true;
}

static enum msim_status draw_scaling(const struct msim_plan *plan,
                                     const struct msim_spec *spec, char **svg,
                                     struct msim_error *err)
{
    char name[MSIM_PLAN_PLATFORM_TEXT], rate[64];
    FILE *out = msim_plan_script(err);

    if (!out)
        return MSIM_EWRITE;
    msim_plan_script_begin(out, 460);
    if (!put_scaling(plan, spec, out)) {
        fclose(out);
        return MSIM_OK;
    }
    snprintf(rate, sizeof(rate), "%s a second",
             msim_spec_unit_text(spec->unit));
    msim_gnuplot_print(out,
                       "set title 'Fastest way by number of GPUs'\n"
                       "set xlabel 'GPUs'\nset ylabel %s\nplot ",
                       rate);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        msim_plan_platform_text(spec, k, name, sizeof(name));
        msim_gnuplot_print(
            out,
            k + 1 < spec->n_platforms
                ? "$p%u using 1:2:3:4 with yerrorlines pt 7 ps 0.8 lw 1.5 lc "
                  "rgb %s title %s, "
                : "$p%u using 1:2:3:4 with yerrorlines pt 7 ps 0.8 lw 1.5 lc "
                  "rgb %s title %s\n",
            k, msim_plan_color(k), name);
    }
    return msim_plan_script_draw(out, svg, err);
}

/* ---- measured jobs ------------------------------------------------------- */

#define BIN  0.04 /* of the natural logarithm of measured / predicted */
#define BINS 41   /* an odd number: the middle one is around 1 */

/* How many measured jobs there are in each bin, each predicted without itself
 * among its neighbours. */
static void count_jobs(const struct msim_step_fit *fit, uint32_t *bins)
{
    for (uint32_t i = 0; i < fit->n_rows; i++) {
        const struct msim_neighbour *row = &fit->rows[i];
        double left = row->residual - msim_neighbour_correction(
                                          row, fit->rows, fit->n_rows, row);
        long at = lround(left / BIN) + BINS / 2;

        bins[at < 0 ? 0 : at >= BINS ? BINS - 1 : at]++;
    }
}

static enum msim_status draw_measured(const struct msim_plan *plan,
                                      const struct msim_spec *spec, char **svg,
                                      struct msim_error *err)
{
    const struct msim_step_fit *fit = &plan->basis.fit;
    uint32_t bins[BINS] = {0};
    FILE *out = msim_plan_script(err);

    (void)spec;
    if (!out)
        return MSIM_EWRITE;
    count_jobs(fit, bins);
    msim_plan_script_begin(out, 360);
    msim_gnuplot_block(out, "jobs");
    for (int i = 0; i < BINS; i++)
        fprintf(out, "%.4f %u\n", exp((i - BINS / 2) * BIN), bins[i]);
    msim_gnuplot_print(
        out,
        "MSIM_END\nset title 'Measured over predicted, %u published jobs'\nset "
        "xlabel 'measured / predicted'\nset ylabel "
        "'jobs'\nset logscale x\nset xtics (0.5,0.7,0.8,0.9,1,1.1,1.25,"
        "1.5,2)\nset xrange [0.5:2]\nset style fill solid 1 noborder\n"
        "unset key\n"
        "plot $jobs using 1:2:($1*%.4f):($1*%.4f):(0):2 with boxxyerror "
        "lc rgb %s\n",
        fit->n_rows, exp(-0.45 * BIN), exp(0.45 * BIN), msim_plan_color(0));
    return msim_plan_script_draw(out, svg, err);
}

const struct msim_plan_chart msim_plan_charts[MSIM_PLAN_CHARTS] = {
    {"frontier.svg",
     "Each dot is one feasible way. Those on the black line are the frontier: "
     "no other way is both faster and cheaper.",
     draw_frontier, false},
    {"scaling.svg",
     "The fastest way with so many GPUs. Bars: 90 % intervals. A steeper line "
     "scales better.",
     draw_scaling, false},
    {"timeline.svg",
     "What it holds while a step runs, by formula: each forward pass adds "
     "activations, each backward pass gives them back. Of more than 32 micro "
     "batches those in the middle are left out.",
     msim_plan_line_draw, true},
    {"measured.svg",
     "How far predictions were off for jobs that were measured, each predicted "
     "without itself among the jobs like it; the law's constants saw all of "
     "them. Left of 1: faster than predicted.",
     draw_measured, true},
};
