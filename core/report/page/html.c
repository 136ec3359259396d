/*
 * core/report/page/html.c - text and pictures inside an HTML page.
 */
#include "core/report/page/page.h"

#include "core/base/print.h"

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
