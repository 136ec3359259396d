/*
 * core/report/compare/judged_wish.c - predicted against measured, as a picture,
 * and the limit of a mean error.
 *
 * Both axes are logarithmic and alike: the same distance from the line is the
 * same error, for a step of milliseconds as for one of minutes.
 */
#include "core/report/compare/compare.h"

#include "core/report/write/chart.h"

#include <math.h>

/* ---- the picture --------------------------------------------------------- */

#define HEAD  104 /* pixels, above the first panel */
#define GAP   40  /* above the next */
#define PANEL 420 /* a square */
#define LEFT  90
#define FOOT  60

/* Groups with a colour of their own; the last one is that of the rest. */
static const char *const COLORS[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                     "#66ccee", "#aa3377", "#994455", "#999933",
                                     "#225555", "#bbbbbb"};
#define N_COLORS ((uint32_t)(sizeof(COLORS) / sizeof(*COLORS)))

static const struct panel {
    const char *heading, *x, *y;
    double unit; /* of the axes, in that of the judged figure */
} PANELS[] = {
    [MSIM_JUDGED_STEP] = {"Optimizer steps", "measured, s", "predicted, s",
                          1e3},
    [MSIM_JUDGED_MEMORY] = {"Peak memory of a GPU", "measured, GiB",
                            "predicted, GiB", 1},
};
#define FIGURES 2

static uint32_t color_of(const struct msim_judged *j)
{
    return j->group < N_COLORS ? j->group : N_COLORS - 1;
}

/* Of both axes, which hold all bars; false: nothing is measured. */
static bool find_range(const struct msim_judged_groups *g,
                       enum msim_judged_figure figure, double *from, double *to)
{
    *from = INFINITY;
    *to = 0;
    for (uint32_t i = 0; i < g->n; i++) {
        const struct msim_judged *j = &g->all[i];

        if (j->figure != figure || !(j->predicted > 0))
            continue;
        *from = fmin(*from, fmin(j->measured, j->low));
        *to = fmax(*to, fmax(j->measured, j->high));
    }
    *from /= PANELS[figure].unit;
    *to /= PANELS[figure].unit;
    return *to > 0;
}

/* A block of data a colour. */
static void put_data(const struct msim_chart *c,
                     const struct msim_judged_groups *g,
                     enum msim_judged_figure figure)
{
    double unit = PANELS[figure].unit;

    for (uint32_t color = 0; color < N_COLORS; color++) {
        msim_gnuplot_block(c->out, "jobs%u", color);
        for (uint32_t i = 0; i < g->n; i++) {
            const struct msim_judged *j = &g->all[i];

            if (j->figure == figure && color_of(j) == color && j->predicted > 0)
                msim_gnuplot_row(c->out, 6,
                                 (double[]){j->measured / unit,
                                            j->predicted / unit, j->low / unit,
                                            j->high / unit},
                                 4);
        }
        msim_gnuplot_block_end(c->out, 4);
    }
}

static void put_axes(const struct msim_chart *c, const struct panel *p, int top,
                     double from, double to)
{
    double bottom = 1 - (double)(top + PANEL) / c->height;

    fprintf(c->out,
            "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
            "set tmargin at screen %.5f\nset bmargin at screen %.5f\n"
            "set border 3\nset ytics nomirror out scale 0.5 tc "
            "rgb '#333333'\nset grid xtics ytics\n",
            (double)LEFT / MSIM_CHART_WIDTH,
            (double)(LEFT + PANEL) / MSIM_CHART_WIDTH,
            1 - (double)top / c->height, bottom);
    msim_gnuplot_log_axis(c->out, 'x', from, to, NULL);
    msim_gnuplot_log_axis(c->out, 'y', from, to, NULL);
    msim_gnuplot_print(c->out,
                       "set title %s\nset xlabel %s\nset ylabel %s\n"
                       "set key at screen %.5f, screen %.5f left top Left "
                       "reverse noenhanced\n",
                       p->heading, p->x, p->y,
                       (double)(LEFT + PANEL + 30) / MSIM_CHART_WIDTH,
                       1 - (double)top / c->height);
}

static void put_plot(const struct msim_chart *c,
                     const struct msim_judged_groups *g)
{
    fputs("plot x with lines lc rgb '#222222' lw 1 title 'equal'", c->out);
    for (uint32_t i = 0; i < g->n_names && i < N_COLORS; i++) {
        bool rest = i == N_COLORS - 1 && g->n_names > N_COLORS;

        msim_gnuplot_print(c->out,
                           ", $jobs%u using 1:2:3:4 with yerrorbars pt 7 ps "
                           "0.7 lw 1.2 lc rgb %s title %s",
                           i, COLORS[i], rest ? "others" : g->names[i]);
    }
    fputs("\nunset label\n", c->out);
}

static void put_script(struct msim_chart *c, const struct msim_judged_groups *g)
{
    double from[FIGURES], to[FIGURES];
    int top = HEAD, panels = 0;
    bool is[FIGURES];

    for (int f = 0; f < FIGURES; f++)
        panels += is[f] =
            find_range(g, (enum msim_judged_figure)f, &from[f], &to[f]);
    c->height = HEAD - GAP + panels * (GAP + PANEL + FOOT);
    msim_chart_begin(c);
    msim_chart_text(c, 28, 16, "Predicted against measured");
    msim_chart_text(c, 50, 12,
                    "Bars: 90 % intervals. Above the line: "
                    "predicted to take more than it did.");
    for (int f = 0; f < FIGURES; f++) {
        if (!is[f])
            continue;
        put_data(c, g, (enum msim_judged_figure)f);
        put_axes(c, &PANELS[f], top, from[f], to[f]);
        put_plot(c, g);
        top += PANEL + FOOT + GAP;
    }
    fputs("unset multiplot\n", c->out);
}

static enum msim_status draw(const struct msim_judged_groups *g,
                             const char *path, struct msim_error *err)
{
    struct msim_chart c;

    if (g->n == 0)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "no job has a measured time or peak, which a chart "
                         "could show beside the predicted one");
    MSIM_TRY(msim_chart_open(&c, path, err));
    put_script(&c, g);
    return msim_chart_close(&c, path, err);
}

/* ---- a limit ------------------------------------------------------------- */

static enum msim_status hold(const struct msim_judged_groups *g, double limit,
                             struct msim_error *err)
{
    double sum = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++)
        if (g->all[i].figure == MSIM_JUDGED_STEP) {
            sum += msim_judged_error(&g->all[i]);
            n++;
        }
    if (n == 0)
        return msim_fail(err, MSIM_EFORMAT, NULL, MSIM_OFFSET_NONE,
                         "no job has a measured time of a step, which an error "
                         "could be held to");
    if (sum / n <= limit)
        return MSIM_OK;
    return msim_fail(err, MSIM_ECHECK, NULL, MSIM_OFFSET_NONE,
                     "steps were predicted %.1f %% from what they took, the "
                     "mean of %u jobs, want at most %g %%",
                     sum / n, n, limit);
}

enum msim_status msim_judged_grant(const struct msim_judged_groups *g,
                                   const struct msim_judged_wish *wish,
                                   struct msim_error *err)
{
    if (wish->chart)
        MSIM_TRY(draw(g, wish->chart, err));
    return wish->limit > 0 ? hold(g, wish->limit, err) : MSIM_OK;
}
