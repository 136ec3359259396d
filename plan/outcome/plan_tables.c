/*
 * plan/outcome/plan_tables.c - the tables of the report.
 */
#include "plan/outcome/plan_page.h"

#include <inttypes.h>
#include <math.h>

static const char HEAD[] =
    "<table><thead><tr><th class=n>GPUs<th>platform<th>strategy<th "
    "class=n>step, s"
    "<th class=n>MFU, %<th class=n>days<th class=n>cost<th class=n>MWh<th "
    "class=n>GiB<th class=n>limits kept</tr></thead>\n<tbody>";

/* A figure above its interval. */
static void put_cell(struct msim_plan_figure f, const char *format, FILE *out)
{
    fputs("<td class=n>", out);
    if (isnan(f.middle)) {
        fputs("-</td>", out);
        return;
    }
    fprintf(out, format, f.middle);
    fputs("<br><i>", out);
    fprintf(out, format, f.low);
    fputs(" to ", out);
    fprintf(out, format, f.high);
    fputs("</i></td>", out);
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
        fprintf(out, "<td class=n>%s<br><i>%s to %s</i></td>", middle, low,
                high);
}

static void put_row(const struct msim_plan_point *p,
                    const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT], chance[24] = "-";
    struct msim_plan_figure mfu = msim_plan_figure_of(p, 1);

    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    fprintf(out, "<tr><td class=n>%" PRId64 "</td><td>", p->strategy.gpus);
    msim_html_text(spec->platforms[p->platform].name, out);
    fputs("</td><td>", out);
    msim_html_text(strategy, out);
    fputs("</td>", out);
    put_cell(msim_plan_figure_of(p, p->us / 1e6), "%.2f", out);
    put_cell((struct msim_plan_figure){100 * p->mfu, 100 * p->mfu / mfu.high,
                                       100 * p->mfu / mfu.low},
             "%.1f", out);
    put_cell(msim_plan_figure_of(p, p->days), "%.1f", out);
    put_amount_cell(msim_plan_figure_of(p, p->cost), out);
    put_cell(msim_plan_figure_of(p, p->kwh / 1e3), "%.0f", out);
    put_cell((struct msim_plan_figure){p->peak_gib, p->low_gib, p->high_gib},
             p->fits == MSIM_FITS_EDGE ? "%.1f?" : "%.1f", out);
    if (!isnan(p->chance))
        msim_plan_chance_text(p->chance, chance, sizeof(chance));
    fprintf(out, "<td class=n>%s</td></tr>\n", chance);
}

void msim_plan_page_platforms(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out)
{
    if (plan->best == UINT32_MAX)
        return;
    fputs("<section><h2>The best on each GPU</h2>\n", out);
    fputs(HEAD, out);
    for (uint32_t i = 0; i < spec->n_platforms; i++) {
        if (plan->best_of[i] != UINT32_MAX) {
            put_row(&plan->points[plan->best_of[i]], spec, out);
            continue;
        }
        fputs("<tr><td class=n>-</td><td>", out);
        msim_html_text(spec->platforms[i].name, out);
        fputs("</td><td colspan=8>no way fits and keeps the limits</td></tr>\n",
              out);
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
    fputs(HEAD, out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        put_row(&plan->points[plan->frontier[i]], spec, out);
    fputs("</tbody></table></section>\n", out);
}
