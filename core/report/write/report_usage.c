/*
 * core/report/write/report_usage.c - what GPUs do over time, as text, JSON and
 * a panel of the chart.
 */
#include "core/base/print.h"
#include "core/report/write/chart.h"
#include "core/report/write/report_internal.h"

#include <math.h>
#include <string.h>

#define KEY(name, key) key,
static const char *const KEYS[MSIM_USAGES] = {MSIM_USAGE_MAP(KEY)};
#undef KEY

const char *msim_usage_key(enum msim_usage of)
{
    return KEYS[of];
}

void msim_usage_means(const struct msim_prediction *p,
                      double means[MSIM_USAGES])
{
    for (int i = 0; i < MSIM_USAGES; i++) {
        double sum = 0;

        for (uint32_t k = 0; k < p->n_usage; k++)
            sum += p->usage[k].of[i].mean;
        means[i] = p->n_usage ? sum / p->n_usage : (double)NAN;
    }
}

/* ---- text ---------------------------------------------------------------- */

static void add(char text[MSIM_USAGE_TEXT], const char *before,
                const char *figure, const char *after)
{
    size_t used = strlen(text);

    snprintf(text + used, MSIM_USAGE_TEXT - used, "%s%s%s%s", used ? ", " : "",
             before, figure, after);
}

static void add_share(char text[MSIM_USAGE_TEXT], const char *of, double share)
{
    char cell[MSIM_CELL];

    if (isnan(share))
        return;
    msim_format_share(cell, share);
    add(text, of, cell, "");
}

static void add_rate(char text[MSIM_USAGE_TEXT], double rate, const char *unit)
{
    char cell[MSIM_CELL];

    if (isnan(rate))
        return;
    msim_format_large(cell, rate);
    add(text, "", cell, unit);
}

void msim_usage_text(const double means[MSIM_USAGES],
                     char text[MSIM_USAGE_TEXT])
{
    char watts[MSIM_CELL];

    text[0] = '\0';
    add_share(text, "SMs busy ", means[MSIM_USAGE_SMS]);
    add_share(text, "warps held ", means[MSIM_USAGE_OCCUPANCY]);
    add_rate(text, means[MSIM_USAGE_MEMORY], "B/s");
    add_rate(text, means[MSIM_USAGE_FLOPS], "FLOP/s");
    snprintf(watts, sizeof(watts), "%.0f", means[MSIM_USAGE_POWER]);
    if (!isnan(means[MSIM_USAGE_POWER]))
        add(text, "", watts, " W");
}

void msim_page_usage(const struct msim_page *page)
{
    char text[MSIM_USAGE_TEXT];
    double means[MSIM_USAGES];

    if (!page->p->n_usage)
        return;
    msim_usage_means(page->p, means);
    msim_usage_text(means, text);
    if (*text)
        msim_page_line(page, "GPU use", "%s on average%s", text,
                       page->p->n_usage > 1 ? " of all" : "");
}

/* ---- JSON ---------------------------------------------------------------- */

/* Bins of a curve: enough for a picture. */
#define BINS 200

void msim_report_json_usage_means(struct msim_json *j, const char *key,
                                  const double means[MSIM_USAGES])
{
    msim_json_open(j, key, '{', false);
    for (int i = 0; i < MSIM_USAGES; i++)
        msim_json_number(j, KEYS[i], means[i]);
    msim_json_close(j);
}

/* Means over `BINS` equal parts of the time; NAN where it is not known. */
static void find_bins(const struct msim_usage_note *n, enum msim_usage of,
                      double bins[BINS])
{
    double all = (double)(n->end - n->begin), width = all / BINS;

    memset(bins, 0, BINS * sizeof(*bins));
    for (uint32_t i = 0; i < n->n_steps; i++) {
        msim_ps next = i + 1 < n->n_steps ? n->steps[i + 1].at : n->end;
        double at = (double)(n->steps[i].at - n->begin);
        double end = (double)(next - n->begin);

        for (int b = (int)(at / width); b < BINS && b * width < end; b++)
            bins[b] +=
                (double)n->steps[i].of[of] *
                fmax(0, fmin(end, (b + 1) * width) - fmax(at, b * width)) /
                width;
    }
}

static void json_figure(struct msim_json *j, const struct msim_usage_note *n,
                        enum msim_usage of)
{
    const struct msim_usage_figure *f = &n->of[of];
    double bins[BINS];

    msim_json_open(j, KEYS[of], '{', false);
    msim_json_number(j, "mean", f->mean);
    msim_json_number(j, "p10", f->p10);
    msim_json_number(j, "median", f->median);
    msim_json_number(j, "p90", f->p90);
    msim_json_number(j, "max", f->most);
    if (isnan(f->mean)) {
        msim_json_text(j, "curve", NULL);
        msim_json_close(j);
        return;
    }
    find_bins(n, of, bins);
    msim_json_open(j, "curve", '[', false);
    for (int i = 0; i < BINS; i++)
        msim_json_number(j, NULL, bins[i]);
    msim_json_close(j);
    msim_json_close(j);
}

static void json_gpu(struct msim_json *j, const struct msim_usage_note *n)
{
    msim_json_open(j, NULL, '{', true);
    if (n->rank < 0)
        msim_json_text(j, "rank", NULL);
    else
        msim_json_integer(j, "rank", n->rank);
    msim_json_integer(j, "gpu", n->device);
    msim_json_time(j, "begin_us", n->begin);
    msim_json_time(j, "end_us", n->end);
    msim_json_number(j, "memory_bandwidth", n->bandwidth);
    msim_json_number(j, "power_limit_w", n->power_watts);
    for (int i = 0; i < MSIM_USAGES; i++)
        json_figure(j, n, (enum msim_usage)i);
    msim_json_close(j);
}

void msim_report_json_usage(struct msim_json *j,
                            const struct msim_prediction *p)
{
    double means[MSIM_USAGES];

    msim_usage_means(p, means);
    msim_json_open(j, "usage", '{', true);
    msim_report_json_usage_means(j, "mean", means);
    msim_json_open(j, "gpus", '[', true);
    for (uint32_t i = 0; i < p->n_usage; i++)
        json_gpu(j, &p->usage[i]);
    msim_json_close(j);
    msim_json_close(j);
}

/* ---- a panel of the chart ------------------------------------------------ */

#define PLOT 200 /* pixels */

/* Curves in per cent of what there is; of arithmetic nothing is known that it
 * could be a share of. */
static const struct {
    enum msim_usage of;
    const char *name, *color;
} CURVES[] = {{MSIM_USAGE_SMS, "SMs busy", "#4477aa"},
              {MSIM_USAGE_OCCUPANCY, "warps held", "#66ccee"},
              {MSIM_USAGE_MEMORY, "memory bandwidth", "#228833"},
              {MSIM_USAGE_POWER, "power", "#ee8866"}};
#define N_CURVES (sizeof(CURVES) / sizeof(CURVES[0]))

int msim_chart_usage_height(const struct msim_prediction *p)
{
    return p->n_usage ? MSIM_CHART_TOP + PLOT + MSIM_CHART_AXIS : 0;
}

/* The GPU of the rank that takes longest. */
static const struct msim_usage_note *shown(const struct msim_prediction *p)
{
    for (uint32_t i = 0; i < p->n_usage; i++)
        if (p->usage[i].rank == p->period.rank)
            return &p->usage[i];
    return &p->usage[0];
}

static double whole(const struct msim_usage_note *n, enum msim_usage of)
{
    return of == MSIM_USAGE_MEMORY  ? n->bandwidth
           : of == MSIM_USAGE_POWER ? n->power_watts
                                    : 1;
}

/* Columns: the begin of a bin, and the curves in per cent. */
static void put_data(const struct msim_chart *c,
                     const struct msim_usage_note *n)
{
    double bins[N_CURVES][BINS];
    double us = (double)(n->end - n->begin) / MSIM_PS_PER_US;
    double unit = msim_unit_for(us)->us;

    for (size_t k = 0; k < N_CURVES; k++)
        find_bins(n, CURVES[k].of, bins[k]);
    msim_gnuplot_block(c->out, "usage");
    for (int i = 0; i <= BINS; i++) {
        double v[1 + N_CURVES] = {i * us / BINS / unit};

        for (size_t k = 0; k < N_CURVES; k++)
            v[1 + k] =
                100 * bins[k][i < BINS ? i : BINS - 1] / whole(n, CURVES[k].of);
        msim_gnuplot_row(c->out, 9, v, 1 + N_CURVES);
    }
    msim_gnuplot_block_end(c->out, 0);
}

void msim_chart_usage(const struct msim_chart *c,
                      const struct msim_prediction *p, int top)
{
    const struct msim_usage_note *n = shown(p);
    double us = (double)(n->end - n->begin) / MSIM_PS_PER_US;
    char heading[120], of[48] = "";
    struct msim_chart_key key = msim_chart_key_begin(top);

    if (n->rank >= 0 && p->n_usage > 1)
        snprintf(of, sizeof(of), " of rank %lld", (long long)n->rank);
    snprintf(heading, sizeof(heading), "What the GPU%s does over time", of);
    put_data(c, n);
    msim_chart_area(c, top, PLOT, heading, us, "of all iterations", 105, "%");
    for (size_t k = 0; k < N_CURVES; k++)
        if (!isnan(n->of[CURVES[k].of].mean))
            msim_chart_key_color(c, &key, CURVES[k].color, CURVES[k].name);
    fputs("plot NaN notitle", c->out);
    for (size_t k = 0; k < N_CURVES; k++)
        if (!isnan(n->of[CURVES[k].of].mean))
            msim_gnuplot_print(
                c->out, ", $usage using 1:%zu with steps lc rgb %s lw 1.4",
                k + 2, CURVES[k].color);
    fputs("\nunset label\nunset object\nunset arrow\nunset ytics\nunset "
          "ylabel\n",
          c->out);
}
