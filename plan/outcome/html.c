/*
 * plan/outcome/html.c - text and pictures inside an HTML page.
 */
#include "plan/outcome/html.h"

#include "core/base/print.h"
#include "plan/outcome/plan_report.h"

#include <stdbool.h>
#include <string.h>

static const char *as_entity(char c)
{
    return c == '<'    ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '&'  ? "&amp;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
           : c == '\n' ? "\n"
                       : NULL;
}

static void put_text(const struct msim_printer *p, const char *text, size_t n)
{
    msim_print_clean(p, text, n, as_entity);
}

void msim_html_print(FILE *out, const char *fmt, ...)
{
    const struct msim_printer p = {out, msim_print_to_file, put_text};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&p, fmt, args);
    va_end(args);
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

void msim_html_svg(const char *svg, FILE *out)
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
            msim_html_print(out, " fill='%.*s' stroke='%.*s'", (int)size,
                            color + 8, (int)size, color + 8);
            fwrite(color + 9 + size, 1, n - (size_t)(color + 9 + size - tag),
                   out);
        } else {
            put_tag(tag, n, out);
        }
        svg = tag + n;
    }
}

/* ---- a plan's page --------------------------------------------------------
 */

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
