/*
 * core/report/write/gnuplot.c - run gnuplot on a script.
 */
#include "core/report/write/gnuplot.h"

#include "core/base/write_file.h"
#include "core/report/write/run_program.h"

void msim_gnuplot_quote(FILE *script, const char *text)
{
    fputc('\'', script);
    for (const char *s = text; *s; s++) {
        if (*s == '\'')
            fputc('\'', script);
        fputc(*s == '\n' || *s == '\r' ? ' ' : *s, script);
    }
    fputc('\'', script);
}

enum msim_status msim_gnuplot_run(FILE *script, const char *output,
                                  struct msim_error *err)
{
    /* Without -d the reader's own start-up file could change the chart. */
    char program[] = "gnuplot", defaults[] = "-d", input[] = "-";
    char *argv[] = {program, defaults, input, NULL};

    return msim_program_run(
        &(struct msim_run_program){
            .argv = argv,
            .input = script,
            .output = output,
            .advice = "charts need it, install it (Debian: apt install "
                      "gnuplot-nox)",
            .failed = "gnuplot could not draw the chart"},
        err);
}

enum msim_status msim_gnuplot_draw(FILE *script, const char *path,
                                   struct msim_error *err)
{
    struct msim_file *file;
    enum msim_status status;

    MSIM_TRY(msim_file_open(&file, path, false, err));
    status = msim_gnuplot_run(script, msim_file_draft(file), err);
    if (status == MSIM_OK)
        return msim_file_commit(file, err);
    msim_file_abandon(file);
    return status;
}
