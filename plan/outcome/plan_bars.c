/*
 * plan/outcome/plan_bars.c - bars of the report: where a step goes, and what a
 * GPU holds at its peak, of what is recommended and along the frontier.
 */
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>

#define MOST_ROWS 12
#define SEEN      0.005 /* a share that is named */

/* The points of the bars, the recommended one first. */
struct rows {
    const struct msim_plan_point *of[MOST_ROWS];
    uint32_t n;
};

static struct rows rows_of(const struct msim_plan *plan)
{
    struct rows r = {.n = 0};

    if (plan->best != UINT32_MAX)
        r.of[r.n++] = &plan->points[plan->best];
    for (uint32_t i = 0; i < plan->n_frontier && r.n < MOST_ROWS; i++)
        if (plan->frontier[i] != plan->best)
            r.of[r.n++] = &plan->points[plan->frontier[i]];
    return r;
}

/* The interval of a peak, and the room where it is on the axis. */
static void put_marks(const struct msim_plan_point *p, double axis, FILE *out)
{
    msim_html_print(out, "<u style=\"left:%.2f%%;width:%.2f%%\"></u>",
                    100 * p->low_gib / axis,
                    100 * (p->high_gib - p->low_gib) / axis);
    if (p->room_gib < axis)
        msim_html_print(out, "<s style=\"left:%.2f%%\"></s>",
                        100 * p->room_gib / axis);
}

/* A point's bar: `values` of the parts, out of `whole`; `axis`: above 0
 * that of memory, with marks of its peak. */
static void put_bar(const struct msim_plan_point *p,
                    const struct msim_spec *spec, const char *figure,
                    const char *const *names, const double *values,
                    double whole, double axis, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_html_print(out,
                    "<p class=bars><b>%" PRId64
                    " &times; %s: %s</b> <span class=soft>%s</span></p>"
                    "<div class=stack>",
                    p->strategy.gpus, spec->platforms[p->platform].name, figure,
                    strategy);
    for (uint32_t i = 0; names[i]; i++) {
        double percent = 100 * (values[i] / whole);

        if (percent > 0)
            msim_html_print(out,
                            "<i title=\"%s, %.1f %%\" "
                            "style=\"width:%.2f%%;background:%s\"></i>",
                            names[i], percent, percent, msim_plan_color(i));
    }
    if (axis > 0)
        put_marks(p, axis, out);
    fputs("</div>\n", out);
}

/* Names of the parts that some row shows, with the figures of the first, in a
 * paragraph that goes on. */
static void put_key(const struct rows *r, const char *const *names,
                    double (*share)(const struct msim_plan_point *p,
                                    uint32_t part),
                    void (*text)(const struct msim_plan_point *p, uint32_t part,
                                 char *text, size_t size),
                    FILE *out)
{
    char figure[32];

    fputs("<p class=key>", out);
    for (uint32_t i = 0; names[i]; i++) {
        bool seen = false;

        for (uint32_t k = 0; k < r->n; k++)
            seen |= share(r->of[k], i) >= SEEN;
        if (!seen)
            continue;
        text(r->of[0], i, figure, sizeof(figure));
        msim_html_print(out,
                        "<span><i style=\"background:%s\"></i>%s %s</span>\n",
                        msim_plan_color(i), names[i], figure);
    }
}

static const char *whose(const struct rows *r)
{
    return r->n > 1 ? " Figures in the key are those of the first bar." : "";
}

/* ---- where a step goes ----------------------------------------------------
 */

static double step_share(const struct msim_plan_point *p, uint32_t part)
{
    return p->part_us[part] / p->us;
}

static void step_text(const struct msim_plan_point *p, uint32_t part,
                      char *text, size_t size)
{
    snprintf(text, size, "%.3g %%", 100 * step_share(p, part));
}

void msim_plan_page_steps(const struct msim_plan *plan,
                          const struct msim_spec *spec, FILE *out)
{
    struct rows r = rows_of(plan);
    char time[32], exchange[MSIM_PLAN_EXCHANGE_TEXT];

    if (!r.n)
        return;
    fputs("<section><h2>Where a step goes</h2>\n", out);
    for (uint32_t k = 0; k < r.n; k++) {
        msim_plan_time_text(r.of[k]->us, time, sizeof(time));
        put_bar(r.of[k], spec, time, plan->step_parts, r.of[k]->part_us,
                r.of[k]->us, 0, out);
    }
    put_key(&r, plan->step_parts, step_share, step_text, out);
    msim_plan_exchange_text(spec, r.of[0], exchange, sizeof(exchange));
    msim_html_print(out,
                    *exchange ? "</p><p>Exchange of the first bar: %s.</p>\n"
                              : "</p>%s",
                    exchange);
    msim_html_print(
        out, "<p class=soft>The recommended way%s.%s</p></section>\n",
        r.n > 1 ? ", then the others of the frontier" : "", whose(&r));
}

/* ---- memory ---------------------------------------------------------------
 */

static double memory_share(const struct msim_plan_point *p, uint32_t part)
{
    return isnan(p->peak_gib) ? 0 : p->part_gib[part] / p->peak_gib;
}

static void memory_text(const struct msim_plan_point *p, uint32_t part,
                        char *text, size_t size)
{
    msim_plan_memory_text(p->part_gib[part], text, size);
}

/* The end of the axis: all intervals, and the room where that is not far. */
static double axis_of(const struct rows *r)
{
    double most = 0, room = 0;

    for (uint32_t k = 0; k < r->n; k++) {
        most = fmax(most, r->of[k]->high_gib);
        room = fmax(room, r->of[k]->room_gib);
    }
    return 1.02 * (room < 2 * most ? fmax(room, most) : most);
}

void msim_plan_page_memory(const struct msim_plan *plan,
                           const struct msim_spec *spec, FILE *out)
{
    struct rows r = rows_of(plan);
    double axis = axis_of(&r);
    char figure[96], peak[32];

    if (!r.n || isnan(r.of[0]->peak_gib))
        return;
    fputs("<section><h2>Memory of a GPU at its peak</h2>\n", out);
    for (uint32_t k = 0; k < r.n; k++) {
        const struct msim_plan_point *p = r.of[k];

        if (isnan(p->peak_gib))
            continue;
        msim_plan_memory_text(p->peak_gib, peak, sizeof(peak));
        snprintf(figure, sizeof(figure), "%s of %.1f GiB%s", peak, p->room_gib,
                 p->fits == MSIM_FITS_EDGE ? "?" : "");
        put_bar(p, spec, figure, plan->memory_parts, p->part_gib, axis, axis,
                out);
    }
    put_key(&r, plan->memory_parts, memory_share, memory_text, out);
    msim_html_print(
        out,
        "</p><p class=soft>The line across a bar is the 90 %% interval of the "
        "peak%s. Where that reaches what the GPU has, it is not sure to "
        "fit (?).%s</p></section>\n",
        r.of[0]->room_gib < axis
            ? "; red is what CUDA's context and NCCL's buffers leave of the GPU"
            : "",
        whose(&r));
}
