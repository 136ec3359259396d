/*
 * plan/outcome/plan_pdf.c - the page of a plan on paper.
 */
#include "plan/outcome/plan_report.h"

#include "core/base/write_file.h"
#include "core/report/write/run_program.h"

enum msim_status msim_plan_pdf(const char *html, const char *pdf,
                               struct msim_error *err)
{
    char program[] = "weasyprint", quiet[] = "--quiet";
    char from[4096], to[4096];
    char *argv[] = {program, quiet, from, to, NULL};
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, pdf, false, err));
    snprintf(from, sizeof(from), "%s", html);
    snprintf(to, sizeof(to), "%s", msim_file_draft(file));
    status = msim_program_run(
        &(struct msim_run_program){
            .argv = argv,
            .advice = "it makes the PDF, install it (Debian: apt install "
                      "weasyprint)",
            .failed = "weasyprint could not make the PDF"},
        err);
    if (status == MSIM_OK)
        return msim_file_commit(file, err);
    msim_file_abandon(file);
    return status;
}
