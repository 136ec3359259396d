/*
 * plan/outcome/plan_pdf.c - the page of a plan on paper.
 *
 * WeasyPrint's own program takes along whatever files and addresses a page
 * names. So its library is asked, which lets us refuse: a report loads nothing.
 */
#include "plan/outcome/plan_report.h"

#include "core/base/write_file.h"
#include "core/report/write/run_program.h"

#include <stdlib.h>

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
    "page.write_pdf(sys.argv[2])\n";

enum msim_status msim_plan_pdf(const char *html, const char *pdf,
                               struct msim_error *err)
{
    const char *python = getenv("MSIM_PYTHON");
    char program[4096], command[] = "-c", script[sizeof(SCRIPT)];
    char from[4096], to[4096];
    char *argv[] = {program, command, script, from, to, NULL};
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, pdf, false, err));
    snprintf(program, sizeof(program), "%s",
             python && *python ? python : "python3");
    snprintf(script, sizeof(script), "%s", SCRIPT);
    snprintf(from, sizeof(from), "%s", html);
    snprintf(to, sizeof(to), "%s", msim_file_draft(file));
    status = msim_program_run(
        &(struct msim_run_program){
            .argv = argv,
            .advice = "WeasyPrint makes the PDF, install it (Debian: apt "
                      "install weasyprint)",
            .failed = "WeasyPrint could not make the PDF"},
        err);
    if (status == MSIM_OK)
        return msim_file_commit(file, err);
    msim_file_abandon(file);
    return status;
}
