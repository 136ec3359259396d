/*
 * plan/outcome/plan_html.c - the report that a planner hands on.
 */
#include "plan/outcome/plan_page.h"
#include "plan/outcome/plan_report.h"

#include <string.h>

static void put_style(FILE *out)
{
    fputs(
        "<style>\n"
        "body{font:15px/1.5 sans-serif;max-width:66em;margin:2em "
        "auto;padding:0 1em;color:#222}\n"
        "h1{margin-bottom:.2em}h2{margin-top:1.6em}\n"
        ".question{color:#555}.answer{font-size:1.7em;margin:.2em 0}\n"
        ".cards{display:flex;flex-wrap:wrap;gap:.6em;margin:1em 0}\n"
        ".card{border:1px solid #ccd;border-radius:6px;background:#f7f8fb;"
        "padding:.5em .9em;min-width:9.5em}\n"
        ".card span{display:block;font-size:.8em;color:#555}"
        ".card b{font-size:1.3em}\n"
        "table{border-collapse:collapse;font-size:13px;width:100%}\n"
        "th,td{border-bottom:1px solid #ddd;padding:.3em .6em;text-align:left;"
        "vertical-align:top}\n"
        ".n{text-align:right;white-space:nowrap}td i{font-style:normal;"
        "font-size:.85em;color:#777}\n"
        ".note{font-size:.85em;color:#555}figure{margin:1.5em 0}\n"
        "figcaption{font-size:.9em;color:#555}\n"
        "figure svg{max-width:100%;height:auto}\n"
        "dt{font-weight:bold;float:left;clear:left;width:12em}"
        "dd{margin:0 0 .3em 12em}\n"
        "@page{size:A4 landscape;margin:12mm}\n"
        "@media print{body{max-width:none;margin:0;font-size:12px}"
        "table{font-size:9.5px}tr,figure,section,.card{break-inside:avoid}"
        "h2,h3{break-after:avoid}figure{margin:3mm 0}"
        "figure svg{max-height:76mm;max-width:none}}\n"
        "</style>\n",
        out);
}

static void put_charts(const char *const *charts, FILE *out)
{
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
}

void msim_plan_html(const struct msim_plan *plan, const struct msim_spec *spec,
                    const char *const *charts, FILE *out)
{
    /* Should a text ever become more than that: nothing runs, nothing loads. */
    msim_html_print(
        out,
        "<!doctype html>\n<html lang=en><meta "
        "charset=utf-8>\n" MSIM_PLAN_HTML_MARK
        "\n<meta http-equiv=Content-Security-Policy content=\"default-"
        "src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>Plan of %s</title>\n",
        spec->name);
    put_style(out);
    msim_html_print(out, "<h1>Plan of %s</h1>\n", spec->name);
    msim_plan_page_answer(plan, spec, out);
    msim_plan_page_platforms(plan, spec, out);
    msim_plan_page_simulated(plan, spec, out);
    put_charts(charts, out);
    msim_plan_page_frontier(plan, spec, out);
    msim_plan_page_basis(plan, spec, out);
    msim_plan_page_words(spec, out);
    fputs("<p class=note>mystique-sim " MSIM_VERSION ". points.csv has all "
          "feasible points, plan.json what this page says.</p>\n</html>\n",
          out);
}
