/*
 * plan/outcome/plan_tables.c - the tables of the report.
 */
#include "plan/outcome/plan_report_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum column { STEP, RATE, MFU, DAYS, COST, ENERGY, MEMORY, CHANCE, COLUMNS };

/* A figure and its interval as texts; "": not known, or none. */
struct cell {
    char middle[48], low[48], high[48];
};

typedef void as_text(double v, char *text, size_t size);

static void set(struct cell *c, struct msim_plan_figure f, as_text *text)
{
    if (isnan(f.middle))
        return;
    text(f.middle, c->middle, sizeof(c->middle));
    text(f.low, c->low, sizeof(c->low));
    text(f.high, c->high, sizeof(c->high));
}

static void percent_text(double v, char *text, size_t size)
{
    snprintf(text, size, "%.1f %%", 100 * v);
}

/* Of an hour they are sure. */
static void set_cost(struct cell *c, const struct msim_plan_point *p, double v,
                     const struct msim_spec *spec, as_text *text)
{
    set(c, msim_plan_figure_of(p, v), text);
    if (msim_spec_is_hourly(spec))
        c->low[0] = c->high[0] = '\0';
}

static struct cell cell_of(enum column column, const struct msim_plan_point *p,
                           const struct msim_spec *spec)
{
    struct cell c = {"", "", ""};

    switch (column) {
    case STEP:
        set(&c, msim_plan_figure_of(p, p->us), msim_plan_time_text);
        break;
    case RATE:
        set(&c, msim_plan_inverse_of(p, p->rate), msim_plan_amount_text);
        break;
    case MFU:
        set(&c, msim_plan_inverse_of(p, p->mfu), percent_text);
        break;
    case DAYS:
        set(&c, msim_plan_figure_of(p, p->days), msim_plan_days_text);
        break;
    case COST:
        set_cost(&c, p, p->cost, spec, msim_plan_amount_text);
        break;
    case ENERGY:
        set_cost(&c, p, p->kwh, spec, msim_plan_energy_text);
        break;
    case MEMORY:
        set(&c, (struct msim_plan_figure){p->peak_gib, p->low_gib, p->high_gib},
            msim_plan_memory_text);
        if (*c.middle && p->fits == MSIM_FITS_EDGE)
            snprintf(c.middle + strlen(c.middle),
                     sizeof(c.middle) - strlen(c.middle), "?");
        break;
    case CHANCE:
        if (!isnan(p->chance))
            msim_plan_chance_text(p->chance, c.middle, sizeof(c.middle));
        break;
    case COLUMNS:
        break;
    }
    return c;
}

/* What a table has: the columns in which a figure is known. */
struct shape {
    bool has[COLUMNS];
    double most; /* the end of the longest bar of cost; 0: no bars */
};

static double cost_end(const struct msim_plan_point *p,
                       const struct msim_spec *spec)
{
    return p->cost * (msim_spec_is_hourly(spec) ? 1 : p->high_us / p->us);
}

static void add_shape(struct shape *t, const struct msim_plan_point *p,
                      const struct msim_spec *spec)
{
    for (int c = 0; c < COLUMNS; c++)
        t->has[c] |= *cell_of((enum column)c, p, spec).middle != '\0';
    t->most = fmax(t->most, cost_end(p, spec));
}

static void put_name(enum column column, const struct msim_spec *spec,
                     FILE *out)
{
    char cost[48];

    snprintf(cost, sizeof(cost), "cost%s%s%s",
             msim_spec_is_hourly(spec) ? " an hour" : "",
             *spec->currency ? ", " : "", spec->currency);
    if (column == RATE)
        msim_html_print(out, "<th class=n>%s/s",
                        msim_spec_unit_text(spec->unit));
    else
        msim_html_print(
            out, "<th class=n>%s",
            (const char *const[]){[STEP] = msim_plan_step_word(spec),
                                  [MFU] = "MFU",
                                  [DAYS] = "days",
                                  [COST] = cost,
                                  [ENERGY] = "energy",
                                  [MEMORY] = "memory a GPU",
                                  [CHANCE] = "limits kept"}[column]);
}

static void put_head(const char *title, const struct shape *t,
                     const struct msim_spec *spec, FILE *out)
{
    msim_html_print(out,
                    "<section><h2>%s</h2>\n"
                    "<div class=scroll><table><thead><tr><th>way",
                    title);
    for (int c = 0; c < COLUMNS; c++)
        if (t->has[c])
            put_name((enum column)c, spec, out);
    fputs("</tr></thead>\n<tbody>", out);
}

/* Cost as a bar, a line across it its interval. */
static void put_bar(const struct shape *t, const struct msim_plan_point *p,
                    const struct msim_spec *spec, FILE *out)
{
    double low = p->cost * p->low_us / p->us;

    if (isnan(p->cost))
        return;
    if (msim_spec_is_hourly(spec))
        msim_html_print(
            out, "<br><span class=bar><i style=\"width:%.1f%%\"></i></span>",
            100 * p->cost / t->most);
    else
        msim_html_print(out,
                        "<br><span class=bar><i style=\"width:%.1f%%\"></i>"
                        "<u style=\"left:%.1f%%;width:%.1f%%\"></u></span>",
                        100 * p->cost / t->most, 100 * low / t->most,
                        100 * (cost_end(p, spec) - low) / t->most);
}

static void put_row(const struct shape *t, const struct msim_plan_point *p,
                    const struct msim_spec *spec, FILE *out)
{
    char strategy[MSIM_PLAN_STRATEGY_TEXT];

    msim_plan_strategy_text(spec, p, strategy, sizeof(strategy));
    msim_html_print(out,
                    "<tr><td>%" PRId64 " &times; %s<br><span class=soft>%s"
                    "</span>",
                    p->strategy.gpus, spec->platforms[p->platform].name,
                    strategy);
    for (int c = 0; c < COLUMNS; c++) {
        struct cell cell = cell_of((enum column)c, p, spec);

        if (!t->has[c])
            continue;
        msim_html_print(out, "</td><td class=n>%s",
                        *cell.middle ? cell.middle : "-");
        if (*cell.low)
            msim_html_print(out, "<br><span class=soft>%s to %s</span>",
                            cell.low, cell.high);
        if (c == COST && t->most > 0)
            put_bar(t, p, spec, out);
    }
    fputs("</td></tr>\n", out);
}

static uint32_t columns_of(const struct shape *t)
{
    uint32_t n = 0;

    for (int c = 0; c < COLUMNS; c++)
        n += t->has[c];
    return n;
}

/* Why a GPU has no row. */
static void put_none(const struct shape *t, const struct msim_plan *plan,
                     const struct msim_spec *spec, uint32_t i, FILE *out)
{
    msim_html_print(out, "<tr><td>%s</td><td colspan=%u>%s</td></tr>\n",
                    spec->platforms[i].name, columns_of(t),
                    plan->priced && spec->platforms[i].price <= 0
                        ? "it has no price, and others have: not compared"
                        : "no way fits and keeps the limits");
}

void msim_plan_page_platforms(const struct msim_plan *plan,
                              const struct msim_spec *spec, FILE *out)
{
    struct shape t = {{false}, 0};

    if (plan->best == UINT32_MAX || spec->n_platforms < 2)
        return;
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        if (plan->best_of[i] != UINT32_MAX)
            add_shape(&t, &plan->points[plan->best_of[i]], spec);
    put_head("The best on each GPU", &t, spec, out);
    for (uint32_t i = 0; i < spec->n_platforms; i++)
        if (plan->best_of[i] != UINT32_MAX)
            put_row(&t, &plan->points[plan->best_of[i]], spec, out);
        else
            put_none(&t, plan, spec, i, out);
    fputs("</tbody></table></div></section>\n", out);
}

#define LEGEND                                                                 \
    "</tbody></table></div>\n<p class=soft>Small figures: the 90 % interval. " \
    "\"?\": the GPU's memory lies inside the interval of the peak."

void msim_plan_page_frontier(const struct msim_plan *plan,
                             const struct msim_spec *spec, FILE *out)
{
    struct shape t = {{false}, 0};

    if (plan->n_frontier == 0)
        return;
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        add_shape(&t, &plan->points[plan->frontier[i]], spec);
    t.most = 0;
    put_head("Frontier: what no other way beats in both time and cost", &t,
             spec, out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        put_row(&t, &plan->points[plan->frontier[i]], spec, out);
    fputs(t.has[CHANCE] ? LEGEND
              " \"limits kept\": the chance that the limits of time "
              "and cost are kept.</p></section>\n"
                        : LEGEND "</p></section>\n",
          out);
}
