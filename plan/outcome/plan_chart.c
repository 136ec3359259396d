/*
 * plan/outcome/plan_chart.c - the charts of a plan, by gnuplot.
 */
#include "core/report/write/gnuplot.h"
#include "plan/outcome/plan_draw.h"
#include "plan/outcome/plan_line.h"

#include <inttypes.h>
#include <math.h>

#define GIB 1073741824.0

static const char *const COLORS[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                     "#66ccee", "#aa3377", "#bbbbbb"};
#define N_COLORS (sizeof(COLORS) / sizeof(COLORS[0]))

/* Days and cost where they are known, else seconds a step and GPU seconds. */
static double x_of(const struct msim_plan_point *p)
{
    return isnan(p->days) ? p->us / 1e6 : p->days;
}

static double y_of(const struct msim_plan_point *p)
{
    return isnan(p->cost) ? p->us / 1e6 * (double)p->strategy.gpus : p->cost;
}

static void name_axes(const struct msim_plan *plan, FILE *out)
{
    const struct msim_plan_point *p = &plan->points[0];

    fprintf(out, "set xlabel '%s'\nset ylabel '%s'\n",
            isnan(p->days) ? "a step, seconds" : "training, days",
            isnan(p->cost) ? "a step, GPU seconds" : "cost");
}

/* A block of data a platform: its feasible points. */
static void put_points(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        fprintf(out, "$p%u << MSIM_END\n", k);
        for (uint32_t i = 0; i < plan->n; i++)
            if (plan->points[i].platform == k)
                fprintf(out, "%.6g %.6g\n", x_of(&plan->points[i]),
                        y_of(&plan->points[i]));
        fputs("NaN NaN\nMSIM_END\n", out);
    }
    fputs("$frontier << MSIM_END\n", out);
    for (uint32_t i = 0; i < plan->n_frontier; i++) {
        const struct msim_plan_point *p = &plan->points[plan->frontier[i]];

        fprintf(out, "%.6g %.6g\n", x_of(p), y_of(p));
    }
    fputs("NaN NaN\nMSIM_END\n", out);
}

static enum msim_status draw_frontier(const struct msim_plan *plan,
                                      const struct msim_spec *spec,
                                      const char *path, struct msim_error *err)
{
    FILE *out = msim_plan_script(path, err);

    if (!out)
        return MSIM_EIO;
    msim_plan_script_begin(out, 460);
    put_points(plan, spec, out);
    name_axes(plan, out);
    fputs("set title 'Time and cost of every feasible way'\n"
          "set logscale xy\nset format xy '%.0s %c'\nplot ",
          out);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        fprintf(out,
                "$p%u using 1:2 with points pt 7 ps 0.5 lc rgb '%s' title ", k,
                COLORS[k % N_COLORS]);
        msim_gnuplot_quote(out, spec->platforms[k].name);
        fputs(", ", out);
    }
    fputs(
        "$frontier using 1:2 with linespoints pt 6 ps 1 lw 2 lc rgb '#222222' "
        "title 'frontier'\n",
        out);
    return msim_plan_script_draw(out, path, err);
}

/* The fastest feasible point of a platform with so many GPUs; NULL: none. */
static const struct msim_plan_point *fastest(const struct msim_plan *plan,
                                             uint32_t platform, int64_t gpus)
{
    const struct msim_plan_point *best = NULL;

    for (uint32_t i = 0; i < plan->n; i++) {
        const struct msim_plan_point *p = &plan->points[i];

        if (p->platform == platform && p->strategy.gpus == gpus &&
            (!best || p->us < best->us))
            best = p;
    }
    return best;
}

static enum msim_status draw_scaling(const struct msim_plan *plan,
                                     const struct msim_spec *spec,
                                     const char *path, struct msim_error *err)
{
    const struct msim_spec_values *gpus = &spec->values[MSIM_SPEC_GPUS];
    FILE *out = msim_plan_script(path, err);

    if (!out)
        return MSIM_EIO;
    msim_plan_script_begin(out, 420);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        fprintf(out, "$p%u << MSIM_END\n", k);
        for (uint32_t i = 0; i < gpus->n; i++) {
            const struct msim_plan_point *p = fastest(plan, k, gpus->v[i]);
            double tokens = (double)(spec->global_batch * spec->sequence) * 1e6;

            if (p)
                fprintf(out, "%" PRId64 " %.6g %.6g %.6g\n", gpus->v[i],
                        tokens / p->us, tokens / p->high_us,
                        tokens / p->low_us);
        }
        fputs("NaN NaN NaN NaN\nMSIM_END\n", out);
    }
    fputs("set title 'Fastest strategy by number of GPUs, with 90 % "
          "intervals'\nset xlabel 'GPUs'\nset ylabel 'tokens a second'\n"
          "set logscale xy\nset format y '%.0s %c'\nplot ",
          out);
    for (uint32_t k = 0; k < spec->n_platforms; k++) {
        fprintf(out,
                "%s$p%u using 1:2:3:4 with yerrorlines pt 7 ps 0.8 lw 1.5 lc "
                "rgb '%s' title ",
                k ? ", " : "", k, COLORS[k % N_COLORS]);
        msim_gnuplot_quote(out, spec->platforms[k].name);
    }
    fputs("\n", out);
    return msim_plan_script_draw(out, path, err);
}

static enum msim_status draw_breakdown(const struct msim_plan *plan,
                                       const struct msim_spec *spec,
                                       const char *path, struct msim_error *err)
{
    static const char *const NAMES[] = {
        "compute", "host",      "tensor parallel", "context, experts",
        "bubble",  "gradients", "optimizer"};
    uint32_t most = plan->n_frontier < 12 ? plan->n_frontier : 12;
    FILE *out = msim_plan_script(path, err);

    if (!out)
        return MSIM_EIO;
    msim_plan_script_begin(out, 420);
    fputs("$rows << MSIM_END\n", out);
    for (uint32_t i = 0; i < most; i++) {
        const struct msim_plan_point *p = &plan->points[plan->frontier[i]];

        fprintf(out, "\"%" PRId64 " %s\" %.4g %.4g %.4g %.4g %.4g %.4g %.4g\n",
                p->strategy.gpus, spec->platforms[p->platform].name,
                100 * p->parts.compute / p->us, 100 * p->parts.host / p->us,
                100 * p->parts.tp / p->us,
                100 * (p->parts.cp + p->parts.ep) / p->us,
                100 * p->parts.bubble / p->us, 100 * p->parts.gradients / p->us,
                100 * p->parts.optimizer / p->us);
    }
    fputs("MSIM_END\nset title 'Where a step goes, along the frontier'\n"
          "set ylabel 'share of a step, %'\nset yrange [0:100]\n"
          "set style data histograms\nset style histogram rowstacked\n"
          "set style fill solid 1 noborder\nset boxwidth 0.7\n"
          "set xtics rotate by -30\nplot ",
          out);
    for (uint32_t i = 0; i < N_COLORS; i++)
        fprintf(out, "%s$rows using %u:xtic(1) lc rgb '%s' title '%s'",
                i ? ", " : "", i + 2, COLORS[i], NAMES[i]);
    fputs("\n", out);
    return msim_plan_script_draw(out, path, err);
}

/* ---- memory -------------------------------------------------------------- */

/* A row of bars: the peak by what it is for, the peak with its interval, the
 * memory of the GPU; GiB. */
static void put_memory(const struct msim_plan *plan,
                       const struct msim_spec *spec,
                       const struct msim_plan_point *p, FILE *out)
{
    struct msim_memory m =
        msim_memory_of(&spec->model, &p->strategy, &plan->basis.memory);
    bool backward = m.activations + m.loss >= m.temporary;
    double capacity = plan->basis.platforms[p->platform].memory;
    const double parts[] = {m.parameters,          m.gradients,
                            m.optimizer,           backward ? m.activations : 0,
                            backward ? m.loss : 0, backward ? 0 : m.temporary};
    double rest = m.peak;

    fprintf(out, "\"%" PRId64 " %s\"", p->strategy.gpus,
            spec->platforms[p->platform].name);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        fprintf(out, " %.5g", parts[i] / GIB);
        rest -= parts[i];
    }
    fprintf(out, " %.5g %.5g %.5g %.5g %.5g\n", fmax(rest, 0) / GIB,
            p->peak_gib, p->low_gib, p->high_gib, capacity / GIB);
}

static enum msim_status draw_memory(const struct msim_plan *plan,
                                    const struct msim_spec *spec,
                                    const char *path, struct msim_error *err)
{
    static const char *const NAMES[] = {
        "parameters", "gradients",          "optimizer", "activations",
        "loss",       "step's temporaries", "all else"};
    uint32_t most = plan->n_frontier < 12 ? plan->n_frontier : 12;
    FILE *out = msim_plan_script(path, err);

    if (!out)
        return MSIM_EIO;
    msim_plan_script_begin(out, 420);
    fputs("$rows << MSIM_END\n", out);
    for (uint32_t i = 0; i < most; i++)
        put_memory(plan, spec, &plan->points[plan->frontier[i]], out);
    fputs("MSIM_END\nset title 'Memory of a GPU at its peak, along the "
          "frontier'\nset ylabel 'GiB'\nset yrange [0:]\n"
          "set style data histograms\nset style histogram rowstacked\n"
          "set style fill solid 1 noborder\nset boxwidth 0.7\n"
          "set xtics rotate by -30\nplot ",
          out);
    for (uint32_t i = 0; i < N_COLORS; i++)
        fprintf(out, "$rows using %u:xtic(1) lc rgb '%s' title \"%s\", ", i + 2,
                COLORS[i], NAMES[i]);
    fputs("$rows using 0:9:10:11 with yerrorbars lc rgb '#222222' lw 1.5 pt 0 "
          "title '90 %', $rows using 0:12:(0.42) with xerrorbars lc rgb "
          "'#cc3311' lw 2.5 pt 0 title 'the GPU has'\n",
          out);
    return msim_plan_script_draw(out, path, err);
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
                                      const struct msim_spec *spec,
                                      const char *path, struct msim_error *err)
{
    const struct msim_step_fit *fit = &plan->basis.fit;
    uint32_t bins[BINS] = {0};
    FILE *out = msim_plan_script(path, err);

    (void)spec;
    if (!out)
        return MSIM_EIO;
    count_jobs(fit, bins);
    msim_plan_script_begin(out, 360);
    fputs("$jobs << MSIM_END\n", out);
    for (int i = 0; i < BINS; i++)
        fprintf(out, "%.4f %u\n", exp((i - BINS / 2) * BIN), bins[i]);
    fprintf(out,
            "MSIM_END\nset title 'Measured over predicted time of %u published "
            "training jobs'\nset xlabel 'measured / predicted'\nset ylabel "
            "'jobs'\nset logscale x\nset xtics (0.5,0.7,0.8,0.9,1,1.1,1.25,"
            "1.5,2)\nset xrange [0.5:2]\nset style fill solid 1 noborder\n"
            "unset key\n"
            "plot $jobs using 1:2:($1*%.4f):($1*%.4f):(0):2 with boxxyerror "
            "lc rgb '%s'\n",
            fit->n_rows, exp(-0.45 * BIN), exp(0.45 * BIN), COLORS[0]);
    return msim_plan_script_draw(out, path, err);
}

const struct msim_plan_chart msim_plan_charts[MSIM_PLAN_CHARTS] = {
    {"frontier.svg",
     "Each dot is one feasible way. Those on the black line are the frontier: "
     "no other way is both faster and cheaper.",
     draw_frontier},
    {"scaling.svg",
     "The fastest way with so many GPUs. Bars: 90 % intervals. A steeper line "
     "scales better.",
     draw_scaling},
    {"breakdown.svg",
     "Where the time of a step goes, for the ways of the frontier, fastest "
     "first.",
     draw_breakdown},
    {"memory.svg",
     "What a GPU holds at its peak, for the ways of the frontier. Red: the "
     "memory that it has. An interval that reaches the red line is not sure to "
     "fit.",
     draw_memory},
    {"timeline.svg",
     "What it holds while a step runs, by formula: each forward pass adds "
     "activations, each backward pass gives them back. Of more than 32 micro "
     "batches those in the middle are left out.",
     msim_plan_line_draw},
    {"measured.svg",
     "How far predictions were off for jobs that were measured, each predicted "
     "without itself among the jobs like it; the law's constants saw all of "
     "them. Left of 1: faster than predicted.",
     draw_measured},
};
