/*
 * plan/outcome/plan_tables.c - the tables of the report.
 */
#include "plan/outcome/plan_page.h"

#include <inttypes.h>
#include <math.h>

static void put_head(const struct msim_spec *spec, FILE *out)
{
    msim_html_print(
        out,
        "<table><thead><tr><th class=n>GPUs<th>platform<th>strategy<th "
        "class=n>%s<th class=n>%s/s<th class=n>MFU, %%<th class=n>days<th "
        "class=n>%s<th class=n>kWh<th class=n>GiB<th class=n>limits "
        "kept</tr></thead>\n<tbody>",
        msim_plan_step_word(spec), msim_spec_unit_text(spec->unit),
        msim_spec_is_hourly(spec) ? "cost an hour" : "cost");
}

/* A figure above its interval. */
static void put_interval(const char *middle, const char *low, const char *high,
                         FILE *out)
{
    msim_html_print(out, "<td class=n>%s<br><i>%s to %s</i></td>", middle, low,
                    high);
}

/* With one decimal, and what stands behind it. */
static void put_cell(struct msim_plan_figure f, const char *mark, FILE *out)
{
    char middle[48], low[48], high[48];

    if (isnan(f.middle)) {
        fputs("<td class=n>-</td>", out);
        return;
    }
    snprintf(middle, sizeof(middle), "%.1f%s", f.middle, mark);
    snprintf(low, sizeof(low), "%.1f%s", f.low, mark);
    snprintf(high, sizeof(high), "%.1f%s", f.high, mark);
    put_interval(middle, low, high, out);
}

static void put_amount_cell(struct msim_plan_figure f, FILE *out)
{
    char middle[32], low[32], high[32];

    msim_plan_amount_text(f.middle, middle, sizeof(middle));
    msim_plan_amount_text(f.low, low, sizeof(low));
    msim_plan_amount_text(f.high, high, sizeof(high));
    if (isnan(f.middle))
        fputs("<td class=n>-</td>", out);
    else
        put_interval(middle, low, high, out);
}

static void put_days_cell(struct msim_plan_figure f, FILE *out)
{
    char middle[32], low[32], high[32];

    msim_plan_days_text(f.middle, middle, sizeof(middle));
    msim_plan_days_text(f.low, low, sizeof(low));
    msim_plan_days_text(f.high, high, sizeof(high));
    if (isnan(f.middle))
        fputs("<td class=n>-</td>", out);
    else
        put_interval(middle, low, high, out);
}

static void put_time_cell(const struct msim_plan_point *p, FILE *out)
{
    char middle[32], low[32], high[32];

    msim_plan_time_text(p->us, middle, sizeof(middle));
    msim_plan_time_text(p->low_us, low, sizeof(low));
    msim_plan_time_text(p->high_us, high, sizeof(high));
    put_interval(middle, low, high, out);
}

/* Cost and energy: of an hour they are sure. */
static void put_cost_cells(const struct msim_plan_point *p,
                           const struct msim_spec *spec, FILE *out)
{
    const double amounts[] = {p->cost, p->kwh};
    char text[32];

    for (int i = 0; i < 2; i++) {
        if (!msim_spec_is_hourly(spec)) {
            put_amount_cell(msim_plan_figure_of(p, amounts[i]), out);
            continue;
        }
        msim_plan_amount_text(amounts[i], text, sizeof(text));
        msim_html_print(out, "<td class=n>%s</td>", text);
    }
}

static void put_row(const struct msim_plan_point *p,
                    const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT], chance[24] = "-";
    struct msim_plan_figure mfu = msim_plan_figure_of(p, 1);

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_html_print(
        out, "<tr><td class=n>%" PRId64 "</td><td>%s</td><td>%s</td>",
        p->strategy.gpus, spec->platforms[p->platform].name, strategy);
    put_time_cell(p, out);
    put_amount_cell((struct msim_plan_figure){p->rate, p->rate / mfu.high,
                                              p->rate / mfu.low},
                    out);
    put_cell((struct msim_plan_figure){100 * p->mfu, 100 * p->mfu / mfu.high,
                                       100 * p->mfu / mfu.low},
             "", out);
    put_days_cell(msim_plan_figure_of(p, p->days), out);
    put_cost_cells(p, spec, out);
    put_cell((struct msim_plan_figure){p->peak_gib, p->low_gib, p->high_gib},
             p->fits == MSIM_FITS_EDGE ? "?" : "", out);
    if (!isnan(p->chance))
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
    msim_html_print(out, "<td class=n>%s</td></tr>\n", chance);
}

void msim_plan_page_platforms(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out)
{
    if (plan->best == UINT32_MAX)
        return;
    fputs("<section><h2>The best on each GPU</h2>\n", out);
    put_head(spec, out);
    for (uint32_t i = 0; i < spec->n_platforms; i++) {
        if (plan->best_of[i] != UINT32_MAX) {
            put_row(&plan->points[plan->best_of[i]], spec, out);
            continue;
        }
        msim_html_print(out,
                        "<tr><td class=n>-</td><td>%s</td><td colspan=9>%s"
                        "</td></tr>\n",
                        spec->platforms[i].name,
                        plan->priced && spec->platforms[i].price <= 0
                            ? "it has no price, and others have: not compared"
                            : "no way fits and keeps the limits");
    }
    fputs("</tbody></table>\n<p class=note>Small figures: the 90 % interval. "
          "\"limits kept\": the chance that the limits of time and cost are "
          "kept. \"?\": the GPU's memory lies inside the interval of the "
          "peak.</p></section>\n",
          out);
}

void msim_plan_page_frontier(const struct msim_plan *plan,
                             const struct msim_spec *spec, FILE *out)
{
    if (plan->n_frontier == 0)
        return;
    fputs("<section><h2>Frontier: what no other way beats in both time and "
          "cost</h2>\n",
          out);
    put_head(spec, out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        put_row(&plan->points[plan->frontier[i]], spec, out);
    fputs("</tbody></table></section>\n", out);
}
