/*
 * plan/outcome/plan_pdf.c - the page of a plan on paper.
 *
 * WeasyPrint's own program takes along whatever files and addresses a page
 * names. So its library is asked, which lets us refuse: a report loads nothing.
 */
#include "plan/outcome/plan_report.h"

#include "core/report/write/chart.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Without the folder that the user happens to be in: what lies there may be
 * called like a module. */
static const char SCRIPT[] =
    "import sys\n"
    "sys.path = [folder for folder in sys.path if folder]\n"
    "try:\n"
    "    from weasyprint import HTML, urls\n"
    "except ImportError as why:\n"
    "    sys.exit(f'{why} (Debian: apt install weasyprint)')\n"
    "class Nothing(getattr(urls, 'URLFetcher', object)):\n"
    "    def __call__(self, url, *args, **options):\n"
    "        raise ValueError('a report loads nothing')\n"
    "    fetch = __call__\n"
    "with open(sys.argv[1], encoding='utf-8') as page:\n"
    "    page = HTML(string=page.read(), url_fetcher=Nothing())\n"
    "sys.stdout.buffer.write(page.write_pdf())\n";

/* It ends so, white space aside, where nothing is missing. */
static bool is_whole(const char *pdf, size_t n)
{
    static const char END[] = "%%EOF";
    const size_t length = sizeof(END) - 1;

    while (n && isspace((unsigned char)pdf[n - 1]))
        n--;
    return n >= length && memcmp(pdf + n - length, END, length) == 0;
}

enum msim_status msim_plan_pdf(const char *html, char **pdf, size_t *n,
                               struct msim_error *err)
{
    const char *python = getenv("MSIM_PYTHON");
    char program[4096], command[] = "-c", script[sizeof(SCRIPT)], from[4096];
    char *argv[] = {program, command, script, from, NULL};

    snprintf(program, sizeof(program), "%s",
             python && *python ? python : "python3");
    snprintf(script, sizeof(script), "%s", SCRIPT);
    snprintf(from, sizeof(from), "%s", html);
    MSIM_TRY(msim_program_run(
        pdf, n,
        &(struct msim_run_program){
            .argv = argv,
            .advice = "WeasyPrint makes the PDF, install it (Debian: apt "
                      "install weasyprint)",
            .failed = "WeasyPrint could not make the PDF"},
        err));
    if (is_whole(*pdf, *n))
        return MSIM_OK;
    free(*pdf);
    *pdf = NULL;
    return msim_fail(err, MSIM_EIO, NULL, MSIM_OFFSET_NONE,
                     "WeasyPrint's PDF has no end, after %zu bytes", *n);
}
