/*
 * replay/validate/report_validation_chart.c - a validation as one picture: for
 * each row a mark of every time, on a logarithmic axis. There the same distance
 * is the same error, in a family of microseconds as in the whole step.
 */
#include "core/report/write/chart.h"
#include "replay/validate/validation.h"

#include <math.h>

#define TOP             74 /* of the panel: below two lines of text */
#define COLOR_MEASURED  "#222222"
#define COLOR_REPLAYED  "#4477aa"
#define COLOR_PREDICTED "#ee6677"

/* Microseconds; empty where it was widened by nothing. */
struct range {
    double from, to;
};

static void widen(struct range *r, double us)
{
    if (!(us > 0) || !isfinite(us))
        return;
    r->from = fmin(r->from, us);
    r->to = fmax(r->to, us);
}

static struct range range_of(const struct msim_validation_row *rows, uint32_t n)
{
    struct range r = {INFINITY, 0};

    for (uint32_t i = 0; i < n; i++) {
        widen(&r, rows[i].measured);
        widen(&r, rows[i].replayed);
        widen(&r, rows[i].predicted);
    }
    return r;
}

/* A logarithm has no place for a time of 0. */
static double in_unit(double us, double unit)
{
    return us > 0 ? us / unit : (double)NAN;
}

static void put_data(const struct msim_chart *c,
                     const struct msim_validation *v, double unit)
{
    msim_gnuplot_block(c->out, "rows");
    for (uint32_t i = 0; i < v->n; i++) {
        const struct msim_validation_row *r = &v->rows[i];
        struct range all = range_of(r, 1);

        msim_gnuplot_row(c->out, 9,
                         (double[]){i + 1, in_unit(r->measured, unit),
                                    in_unit(r->replayed, unit),
                                    in_unit(r->predicted, unit),
                                    in_unit(all.to > 0 ? all.from : NAN, unit),
                                    in_unit(all.to - all.from, unit)},
                         6);
    }
    msim_gnuplot_block_end(c->out, 0);
}

static void share_text(char *text, size_t size, double share)
{
    if (isfinite(share))
        snprintf(text, size, "%+.1f %%", 100 * share);
    else
        snprintf(text, size, "-");
}

static void put_names(const struct msim_chart *c,
                      const struct msim_validation *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        char replay[32], prediction[32], figure[80];

        share_text(replay, sizeof(replay), msim_replay_error(&v->rows[i]));
        share_text(prediction, sizeof(prediction),
                   msim_prediction_error(&v->rows[i]));
        snprintf(figure, sizeof(figure), v->platform ? "%s, %s" : "%s", replay,
                 prediction);
        msim_chart_row(c, i + 1, v->rows[i].name, figure);
    }
}

/* Whole decades, so that at least two of them have a number. */
static void put_scale(const struct msim_chart *c, struct range r, double unit)
{
    double from = r.to > 0 ? floor(log10(r.from / unit)) : 0;
    double to = r.to > 0 ? ceil(log10(r.to / unit)) : 1;

    fprintf(c->out, "set logscale x 10\nset xrange [1e%.0f:1e%.0f]\n", from,
            fmax(to, from + 1));
}

static void put_key(const struct msim_chart *c, const struct msim_validation *v)
{
    struct msim_chart_key key = msim_chart_key_begin(TOP);

    msim_chart_key_color(c, &key, COLOR_MEASURED, "measured in the trace");
    msim_chart_key_color(c, &key, COLOR_REPLAYED, "replayed");
    if (v->platform)
        msim_chart_key_color(c, &key, COLOR_PREDICTED, "predicted");
}

/* Below the marks a line from the first to the last of a row. */
static void put_marks(const struct msim_chart *c,
                      const struct msim_validation *v)
{
    msim_gnuplot_print(
        c->out,
        "plot $rows using 5:1:6:(0) with vectors nohead lw 2 lc rgb "
        "'#bbbbbb', $rows using 2:1 with points pt 7 ps 1.1 lc rgb %s, "
        "$rows using 3:1 with points pt 5 ps 1 lc rgb %s",
        COLOR_MEASURED, COLOR_REPLAYED);
    if (v->platform)
        msim_gnuplot_print(
            c->out, ", $rows using 4:1 with points pt 9 ps 1.3 lc rgb %s",
            COLOR_PREDICTED);
    fputs("\nunset multiplot\n", c->out);
}

static void put_script(struct msim_chart *c, const struct msim_validation *v)
{
    struct range r = range_of(v->rows, v->n);
    double unit = msim_unit_for(r.to)->us;
    char title[256];

    c->height =
        TOP + MSIM_CHART_TOP + (int)v->n * MSIM_CHART_ROW + MSIM_CHART_AXIS;
    msim_chart_begin(c);
    snprintf(title, sizeof(title), "A step as measured, replayed%s%s",
             v->platform ? " and predicted for " : "",
             v->platform ? v->platform : "");
    msim_chart_text(c, 24, 16, title);
    msim_chart_text(c, 52, 12,
                    v->platform ? "At the right: replayed against measured, "
                                  "predicted against replayed"
                                : "At the right: replayed against measured");
    put_data(c, v, unit);
    msim_chart_panel(c, TOP, v->n, "Time by family", r.to);
    put_scale(c, r, unit);
    put_names(c, v);
    put_key(c, v);
    put_marks(c, v);
}

enum msim_status msim_validation_chart(const struct msim_validation *v,
                                       const char *path, struct msim_error *err)
{
    struct msim_chart c;

    MSIM_TRY(msim_chart_open(&c, path, err));
    put_script(&c, v);
    return msim_chart_close(&c, path, err);
}
