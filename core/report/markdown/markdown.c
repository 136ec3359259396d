/*
 * core/report/markdown/markdown.c - texts in Markdown.
 */
#include "core/report/markdown/markdown.h"

#include "core/base/print.h"

#include <string.h>

static bool is_word(const char *text, size_t n)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,%+-()";

    for (size_t i = 0; i < n; i++)
        if (!text[i] || !strchr(PLAIN, text[i]))
            return false;
    return true;
}

/* Between backticks nothing has a meaning but a backtick, and in a table '|'.
 */
static const char *in_code(char c)
{
    return c == '`'                 ? "'"
           : c == '|'               ? "\\|"
           : c == '\n' || c == '\t' ? " "
                                    : NULL;
}

static void put_text(const struct msim_printer *p, const char *text, size_t n)
{
    if (is_word(text, n)) {
        p->bytes(p->ctx, text, n);
        return;
    }
    p->bytes(p->ctx, "`", 1);
    msim_print_clean(p, text, n, in_code);
    p->bytes(p->ctx, "`", 1);
}

void msim_markdown_print(FILE *out, const char *fmt, ...)
{
    const struct msim_printer p = {out, msim_print_to_file, put_text};
    va_list args;

    va_start(args, fmt);
    (void)msim_vprint(&p, fmt, args);
    va_end(args);
}
