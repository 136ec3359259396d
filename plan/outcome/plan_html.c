/*
 * plan/outcome/plan_html.c - the report that a planner hands on.
 */
#include "plan/outcome/plan_report_internal.h"

#include <string.h>

static void put_charts(const char *const *charts, FILE *out)
{
    fputs("<div class=charts>\n", out);
    for (uint32_t i = 0; i < MSIM_PLAN_CHARTS; i++) {
        /* HTML does not want the header of XML. */
        const char *svg = charts[i] ? strstr(charts[i], "<svg") : NULL;

        if (!svg)
            continue;
        fputs("<figure>", out);
        msim_html_svg(svg, out);
        msim_html_print(out, "<figcaption>%s</figcaption></figure>\n",
                        msim_plan_charts[i].caption);
    }
    fputs("</div>\n", out);
}

void msim_plan_html(const struct msim_plan *plan, const struct msim_spec *spec,
                    const char *const *charts, FILE *out)
{
    msim_html_begin(spec->name, out);
    msim_plan_page_answer(plan, spec, out);
    msim_plan_page_platforms(plan, spec, out);
    msim_plan_page_steps(plan, spec, out);
    msim_plan_page_memory(plan, spec, out);
    put_charts(charts, out);
    msim_plan_page_frontier(plan, spec, out);
    msim_plan_page_simulated(plan, spec, out);
    msim_plan_page_basis(plan, spec, out);
    msim_plan_page_words(spec, out);
    fputs("<p class=soft>mystique-sim " MSIM_VERSION ". points.csv has all "
          "feasible points, plan.json what this page says.</p>\n</html>\n",
          out);
}
