/*
 * plan/outcome/plan_frame.c - how the page of a plan begins.
 */
#include "plan/outcome/plan_frame.h"

#include "core/report/page/html.h"
#include "plan/outcome/plan_report.h"

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

void msim_html_begin(const char *name, FILE *out)
{
    /* Should a text ever become more than that: nothing runs, nothing loads. */
    msim_html_print(
        out,
        "<!doctype html>\n<html lang=en><meta "
        "charset=utf-8>\n" MSIM_PLAN_HTML_MARK
        "\n<meta http-equiv=Content-Security-Policy content=\"default-"
        "src 'none'; style-src 'unsafe-inline'\">\n"
        "<title>Plan of %s</title>\n",
        name);
    put_style(out);
    msim_html_print(out, "<h1>Plan of %s</h1>\n", name);
}
