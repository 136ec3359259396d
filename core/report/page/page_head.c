/*
 * core/report/page/page_head.c - how every page begins.
 */
#include "core/report/page/page.h"

#include "core/report/page/page_internal.h"

#define STYLE msim_page_css /* as it was when the program was built */

void msim_page_head(const char *title, const char *of, bool is_drawn, FILE *out)
{
    msim_html_print(out,
                    "<!doctype html>\n<html lang=\"en\"><meta "
                    "charset=\"utf-8\">\n" MSIM_PAGE_MARK("%s") "\n",
                    of);
    /* Should a text ever become more than that: nothing runs, nothing loads. */
    fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
          "'none'; style-src ",
          out);
    if (is_drawn)
        msim_html_print(out, "'sha256-%s'; script-src 'sha256-%s'",
                        msim_page_css_sha256, msim_page_js_sha256);
    else
        fputs("'unsafe-inline'", out); /* widths of bars, gnuplot's pictures */
    msim_html_print(
        out,
        "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
        "<title>%s</title>\n<style>",
        title);
    fputs(STYLE, out);
    fputs("</style>\n", out);
}
