/*
 * plan/outcome/plan_frame.c - how the page of a plan begins.
 */
#include "plan/outcome/plan_report.h"

#include "core/report/page/page.h"

/* Beside the style of all pages. */
static void put_style(FILE *out)
{
    fputs(
        "<style>\n"
        ".answer{font-size:1.6rem;margin:.2em 0}td .soft{font-size:.85em}"
        "td .soft{white-space:nowrap}td:first-child .soft{white-space:normal}\n"
        "td:not(.n){white-space:normal}td:first-child{min-width:12rem}"
        ".bar{width:6rem}\n"
        ".bars{margin:.7rem 0 .1rem}.bars+.stack{height:1.1rem}\n"
        ".stack{position:relative}.stack u,.stack s{position:absolute}\n"
        ".stack u{top:45%;height:2px;background:var(--ink)}"
        ".stack s{top:0;bottom:0;width:3px;background:var(--mark)}\n"
        ".charts{display:flex;flex-wrap:wrap;gap:1rem;margin:1.2rem 0}"
        "figure{flex:1 1 26rem;min-width:0;margin:0}\n"
        "figure svg{max-width:42rem}"
        "figcaption{font-size:.87rem;color:var(--soft)}\n"
        "dt{font-weight:600;float:left;clear:left;width:13.5rem}"
        "dd{margin:0 0 .3em 13.5rem}pre{white-space:pre-wrap}\n"
        "@media "
        "(max-width:40rem){td:first-child{min-width:9rem}dt{float:none}dd{"
        "margin-left:1rem}"
        "figure{flex-basis:100%}}\n"
        "@page{size:A4}\n"
        "@media print{figure{flex-basis:45%;break-inside:avoid}"
        "h3{break-after:avoid}}\n"
        "</style>\n",
        out);
}

void msim_html_begin(const char *name, FILE *out)
{
    char title[512];

    snprintf(title, sizeof(title), "Plan of %s", name);
    msim_page_head(title, "plan", false, out);
    put_style(out);
    msim_html_print(out, "<body><h1>%s</h1>\n", title);
}
