/*
 * plan/outcome/plan_html.c - the report that a planner hands on.
 */
#include "plan/outcome/plan_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_text(const char *text, FILE *out)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            putc(*text, out);
        }
}

static void put_number(double v, const char *format, FILE *out)
{
    fputs("<td class=n>", out);
    if (isfinite(v))
        fprintf(out, format, v);
    else
        putc('-', out);
    fputs("</td>", out);
}

static void put_row(const struct msim_plan_point *p,
                    const struct msim_spec *spec, FILE *out)
{
    char strategy[160];

    msim_plan_strategy_text(&p->strategy, strategy, sizeof(strategy));
    fprintf(out, "<tr><td class=n>%" PRId64 "</td><td>", p->strategy.gpus);
    put_text(spec->platforms[p->platform].name, out);
    fputs("</td><td>", out);
    put_text(strategy, out);
    fputs("</td>", out);
    put_number(p->us / 1e6, "%.2f", out);
    fprintf(out, "<td class=n>%.2f to %.2f</td>", p->low_us / 1e6,
            p->high_us / 1e6);
    put_number(100 * p->mfu, "%.1f", out);
    put_number(p->days, "%.1f", out);
    put_number(p->cost, "%.4g", out);
    put_number(p->kwh / 1e3, "%.4g", out);
    fprintf(out, "<td class=n>%.1f</td><td>%s</td></tr>\n", p->peak_gib,
            msim_fits_text(p->fits));
}

static void put_style(FILE *out)
{
    fputs("<style>body{font:15px/1.5 sans-serif;max-width:62em;margin:2em auto;"
          "padding:0 1em;color:#222}table{border-collapse:collapse;"
          "font-size:13px}th,td{border-bottom:1px solid #ddd;padding:.25em "
          ".6em;text-align:left}.n{text-align:right}pre{background:#f6f6f6;"
          "padding:1em;overflow:auto;font-size:13px}figure{margin:1.5em 0}"
          "figure svg{max-width:100%;height:auto}"
          "@page{size:A4 landscape;margin:12mm}@media print{body{max-width:"
          "none;margin:0}pre{font-size:10px;white-space:pre-wrap}table{"
          "font-size:10px}figure{break-inside:avoid;"
          "margin:4mm 0}figure svg{max-height:78mm;max-width:none}}</style>\n",
          out);
}

static void put_answer(const struct msim_plan *plan,
                       const struct msim_spec *spec, FILE *out)
{
    char *text = NULL;
    size_t size;
    FILE *memory = open_memstream(&text, &size);

    if (!memory)
        return;
    msim_plan_text(plan, spec, memory);
    if (fclose(memory) == 0) {
        fputs("<h2>The answer</h2>\n<pre>", out);
        put_text(text, out);
        fputs("</pre>\n", out);
    }
    free(text);
}

static void put_assumptions(const struct msim_spec *spec, FILE *out)
{
    fputs("<h2>What it stands on</h2>\n<ul>\n<li>Times and peaks are "
          "predictions with 90 % intervals; nothing here was run. Constants of "
          "the step law are fitted to published jobs (docs/jobs.md names them, "
          "with the errors of models and sources that a fit did not see).</li>"
          "\n<li>Memory \"edge\": the GPU's memory lies inside the interval of "
          "the peak.</li>\n",
          out);
    for (uint32_t i = 0; i < spec->n_platforms; i++) {
        const struct msim_spec_platform *p = &spec->platforms[i];

        fputs("<li>", out);
        put_text(p->name, out);
        if (p->price > 0)
            fprintf(out, ": %.4g a GPU and hour", p->price);
        else
            fputs(": no price given", out);
        if (p->power_w > 0)
            fprintf(out, ", %.4g W a GPU", p->power_w);
        fputs(", network ", out);
        put_text(*p->network ? p->network : "of its usual server", out);
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

/*
 * Gnuplot's SVG says `currentColor` where the tag, or the one that uses the
 * symbol, has a `color`: not all readers know that. So a tag with a colour
 * names it outright, and a symbol has none of its own: it takes that of what
 * uses it.
 */
static void put_tag(const char *tag, size_t n, FILE *out)
{
    static const char CURRENT[] = "currentColor";
    const char *color = memmem(tag, n, " color=", 7), *at;
    size_t size = color ? strcspn(color + 8, "'\"") : 0, i = 0;

    while ((at = memmem(tag + i, n - i, CURRENT, sizeof(CURRENT) - 1))) {
        const char *end = at;

        while (!color && *end != ' ') /* the whole attribute */
            end--;
        fwrite(tag + i, 1, (size_t)(end - tag) - i, out);
        if (color)
            fwrite(color + 8, 1, size, out);
        i = (size_t)(at - tag) + sizeof(CURRENT) - 1 + !color;
    }
    fwrite(tag + i, 1, n - i, out);
}

static void put_svg(const char *svg, FILE *out)
{
    while (*svg) {
        size_t text = strcspn(svg, "<");
        const char *tag = svg + text;
        size_t n = strcspn(tag, ">");
        bool uses = !strncmp(tag, "<use ", 5);
        const char *color = uses ? memmem(tag, n, " color='", 8) : NULL;

        fwrite(svg, 1, text, out);
        if (color) {
            size_t size = strcspn(color + 8, "'");

            fwrite(tag, 1, (size_t)(color - tag), out);
            fprintf(out, " fill='%.*s' stroke='%.*s'", (int)size, color + 8,
                    (int)size, color + 8);
            fwrite(color + 9 + size, 1, n - (size_t)(color + 9 + size - tag),
                   out);
        } else {
            put_tag(tag, n, out);
        }
        svg = tag + n;
    }
}

void msim_plan_html(const struct msim_plan *plan, const struct msim_spec *spec,
                    const char *const *charts, uint32_t n_charts, FILE *out)
{
    fputs(
        "<!doctype html>\n<html lang=en><meta charset=utf-8>\n<title>Plan of ",
        out);
    put_text(spec->model.name, out);
    fputs("</title>\n", out);
    put_style(out);
    fputs("<h1>Plan of ", out);
    put_text(spec->model.name, out);
    fputs("</h1>\n", out);
    put_answer(plan, spec, out);
    for (uint32_t i = 0; i < n_charts; i++)
        if (charts[i]) {
            fputs("<figure>", out);
            put_svg(charts[i], out);
            fputs("</figure>\n", out);
        }
    fputs("<h2>Frontier</h2>\n<table><tr><th>GPUs<th>platform<th>strategy<th>"
          "step s<th>90 %<th>MFU %<th>days<th>cost<th>MWh<th>GiB<th>fits</tr>"
          "\n",
          out);
    for (uint32_t i = 0; i < plan->n_frontier; i++)
        put_row(&plan->points[plan->frontier[i]], spec, out);
    fputs("</table>\n", out);
    put_assumptions(spec, out);
    fputs("<p>mystique-sim " MSIM_VERSION "</p>\n</html>\n", out);
}
