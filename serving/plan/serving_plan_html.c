/*
 * serving/plan/serving_plan_html.c - a plan of serving as one page, and its
 * chart.
 */
#include "core/base/print.h"
#include "core/base/units.h"
#include "core/report/page/page.h"
#include "core/report/write/chart.h"
#include "plan/outcome/plan_report.h"
#include "serving/plan/serving_choice.h"

#include <math.h>
#include <string.h>

/* ---- the chart ----------------------------------------------------------- */

/* What the points cost; false: there is none. */
static bool find_range(const struct msim_serving_choice *c, double *low,
                       double *high)
{
    const struct msim_fleet_point *p;
    uint32_t at = 0;

    *low = INFINITY;
    *high = 0;
    while ((p = msim_serving_choice_next(c, &at))) {
        double price = msim_serving_choice_price(c, p);

        if (!isfinite(price))
            continue;
        *low = fmin(*low, price);
        *high = fmax(*high, price);
    }
    return *low > 0 && *low <= *high;
}

static void put_data(const struct msim_serving_choice *c, FILE *script)
{
    for (uint32_t g = 0; g < c->spec->n_platforms; g++) {
        const struct msim_fleet_point *p;
        uint32_t at = 0;

        msim_gnuplot_block(script, "g%u", g);
        while ((p = msim_serving_choice_next(c, &at))) {
            double price = msim_serving_choice_price(c, p);

            if (msim_serving_spec_platform(c->spec, p->config) == g &&
                isfinite(price))
                msim_gnuplot_row(script, 6,
                                 (double[]){price, 100 * p->of_limit.middle,
                                            100 * p->of_limit.low,
                                            100 * p->of_limit.high},
                                 4);
        }
        msim_gnuplot_block_end(script, 4);
    }
}

enum msim_status msim_serving_plan_chart(const struct msim_serving_choice *c,
                                         char **svg, struct msim_error *err)
{
    FILE *script = msim_plan_script(err);
    double low, high;
    char label[64];

    if (!script)
        return MSIM_EWRITE;
    msim_plan_script_begin(script, 480);
    snprintf(label, sizeof(label), "%.20s an hour", c->spec->currency);
    msim_gnuplot_print(script, "set xlabel %s\n", c->priced ? label : "GPUs");
    if (find_range(c, &low, &high))
        msim_gnuplot_log_axis(script, 'x', low, high, msim_plan_amount_text);
    /* Near the knee the end of an interval is many times the promise. */
    fputs("set ylabel '% of what is promised'\nset logscale y\n"
          "set yrange [10:1000]\n"
          "set ytics (10, 20, 50, 100, 200, 500, 1000)\n",
          script);
    put_data(c, script);
    fputs("plot 100 with lines lw 2 lc rgb '#aa3377' title 'promised'", script);
    for (uint32_t g = 0; g < c->spec->n_platforms; g++)
        msim_gnuplot_print(script,
                           ", $g%u with yerrorbars pt 7 ps 0.8 title %s", g,
                           c->spec->platforms[g].name);
    fputs("\n", script);
    return msim_plan_script_draw(script, svg, err);
}

/* ---- the page ------------------------------------------------------------ */

static void put_answer(const struct msim_serving_choice *c, FILE *out)
{
    const struct msim_fleet_point *p = c->best;
    char text[800];

    msim_serving_question_text(c, text, sizeof(text));
    msim_html_print(out, "<p class=soft>%s</p>\n", text);
    if (!p) {
        msim_serving_none_text(c, text, sizeof(text));
        msim_html_print(out, "<p class=answer>%s</p>\n", text);
        return;
    }
    msim_serving_config_text(c->spec, p->config, text, sizeof(text));
    msim_html_print(out, "<p class=answer>%lld &times; %s: %.0f GPU%s</p>\n",
                    (long long)p->replicas, text, p->gpus,
                    p->gpus > 1 ? "s" : "");
    if (!c->sure)
        fputs("<p>Not sure: it keeps the promises as predicted; nothing does "
              "where steps take as long as the end of their interval "
              "says.</p>\n",
              out);
}

static void put_cards(const struct msim_serving_choice *c, FILE *out)
{
    const struct msim_fleet_point *p = c->best;
    const struct msim_served_fleet *f = &c->fleets[p->config];
    char what[200];

    fputs("<div class=cards>\n", out);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        msim_serving_promise_text(c, i, what, sizeof(what));
        msim_html_print(out,
                        "<div class=card><span>%s, of %.6g ms</span><b>%.4g "
                        "ms</b><span>90 %%: %.4g to %.4g</span></div>\n",
                        what, c->app.promises[i].limit_ms,
                        p->promised[i].middle, p->promised[i].low,
                        p->promised[i].high);
    }
    if (!isnan(p->cost_per_hour))
        msim_html_print(out,
                        "<div class=card><span>cost an hour</span><b>%.5g "
                        "%s</b><span>%.3g for 1,000 requests, %.3g for a "
                        "million output tokens</span></div>\n",
                        p->cost_per_hour, c->spec->currency, p->cost_per_1000,
                        p->cost_per_million_tokens);
    if (!isnan(p->power_kw))
        msim_html_print(out,
                        "<div class=card><span>power</span><b>%.4g "
                        "kW</b></div>\n",
                        p->power_kw);
    msim_html_print(out,
                    "<div class=card><span>a replica bears</span><b>%.4g/s</b>"
                    "<span>90 %%: %.4g to %.4g; %.0f %% is used</span></div>\n"
                    "<div class=card><span>memory of a GPU</span><b>%.1f "
                    "GiB</b><span>and a KV cache of %lld tokens a "
                    "replica</span></div>\n</div>\n",
                    f->capacity.middle, f->capacity.low, f->capacity.high,
                    100 * p->load,
                    (f->memory.weights + f->memory.workspace) / MSIM_GIB,
                    (long long)f->memory.kv_tokens);
}

static void put_cheaper(const struct msim_serving_choice *c, FILE *out)
{
    const struct msim_fleet_point *p = c->cheaper;
    char text[300];

    if (!p)
        return;
    msim_serving_config_text(c->spec, p->config, text, sizeof(text));
    msim_html_print(
        out,
        "<p>Cheaper? %lld &times; %s (%.0f GPUs) keeps the promises as "
        "predicted, and not where steps take as long as the end of their 90 %% "
        "interval says.</p>\n",
        (long long)p->replicas, text, p->gpus);
}

static void put_head(const struct msim_serving_choice *c, FILE *out)
{
    char what[200];

    fputs("<div class=scroll><table>\n<tr><th>configuration<th "
          "class=n>replicas<th "
          "class=n>GPUs<th class=n>cost an hour<th class=n>load",
          out);
    for (uint32_t i = 0; i < c->app.n_promises; i++) {
        msim_serving_promise_text(c, i, what, sizeof(what));
        msim_html_print(out, "<th class=n>%s, ms", what);
    }
    fputs("<th>sure</tr>\n", out);
}

static void put_row(const struct msim_serving_choice *c,
                    const struct msim_fleet_point *p, FILE *out)
{
    char text[300];

    msim_serving_config_text(c->spec, p->config, text, sizeof(text));
    msim_html_print(out,
                    "<tr><td>%s<td class=n>%lld<td class=n>%.0f<td class=n>",
                    text, (long long)p->replicas, p->gpus);
    if (isnan(p->cost_per_hour))
        fputs("-", out);
    else
        msim_html_print(out, "%.5g", p->cost_per_hour);
    msim_html_print(out, "<td class=n>%.0f %%", 100 * p->load);
    for (uint32_t i = 0; i < c->app.n_promises; i++)
        msim_html_print(
            out, "<td class=n>%.4g <span class=soft>%.4g to %.4g</span>",
            p->promised[i].middle, p->promised[i].low, p->promised[i].high);
    msim_html_print(out, "<td>%s</tr>\n", p->of_limit.high <= 1 ? "yes" : "");
}

static void put_table(const struct msim_serving_choice *c, bool frontier,
                      FILE *out)
{
    const struct msim_fleet_point *p;
    uint32_t at = 0;

    msim_html_print(out, "<section><h2>%s</h2>\n",
                    frontier ? "The frontier" : "All that keep the promises");
    put_head(c, out);
    while ((p = msim_serving_choice_next(c, &at)))
        if (!frontier || p->frontier)
            put_row(c, p, out);
    fputs("</table></div></section>\n", out);
}

static void put_left_out(const struct msim_serving_choice *c, FILE *out)
{
    char text[300];
    bool any = false;

    for (uint32_t i = 0; i < c->n; i++) {
        if (!*c->fleets[i].why)
            continue;
        if (!any)
            fputs("<section><h2>Left out</h2>\n<div class=scroll><table>\n",
                  out);
        any = true;
        msim_serving_config_text(c->spec, i, text, sizeof(text));
        msim_html_print(out, "<tr><td>%s<td>%s</tr>\n", text, c->fleets[i].why);
    }
    if (any)
        fputs("</table></div></section>\n", out);
}

static void put_basis(const struct msim_serving_choice *c, FILE *out)
{
    fputs("<section><h2>What it stands on</h2>\n<p>Each figure is of a "
          "simulated replica under its share of the requests; replicas share "
          "nothing, and requests are routed at random. Intervals are those of "
          "the predicted step times. Sure: the promises are kept also where "
          "steps take as long as the end of the 90 % interval says. The "
          "frontier: nothing is cheaper and further below what is "
          "promised.</p>\n<dl>\n",
          out);
    for (uint32_t i = 0; i < c->app.n_assumed; i++) {
        const struct msim_assumed *a = &c->app.assumed[i];
        const char *member = strrchr(a->path, '.');

        if (strncmp(a->path, "stages.", 7) == 0 && member)
            msim_html_print(out, "<dt>%s</dt><dd>%s (%s)</dd>\n", member + 1,
                            a->value, a->why);
    }
    fputs("</dl></section>\n", out);
}

void msim_serving_plan_html(const struct msim_serving_choice *c,
                            const char *chart, FILE *out)
{
    const char *svg = chart ? strstr(chart, "<svg") : NULL;

    msim_html_begin(c->spec->model, out);
    put_answer(c, out);
    if (c->best) {
        put_cards(c, out);
        put_cheaper(c, out);
    }
    if (svg) {
        fputs("<figure>", out);
        msim_html_svg(svg, out);
        fputs("<figcaption>Cost, and the largest share of a limit that is "
              "used, with its interval.</figcaption></figure>\n",
              out);
    }
    put_table(c, true, out);
    put_table(c, false, out);
    put_left_out(c, out);
    put_basis(c, out);
    fputs("<p class=soft>mystique-sim " MSIM_VERSION "</p>\n</html>\n", out);
}
