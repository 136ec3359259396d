/*
 * calibrate/programs/program_end.h - how a program that fits ends.
 */
#ifndef MSIM_CALIBRATE_PROGRAMS_PROGRAM_END_H
#define MSIM_CALIBRATE_PROGRAMS_PROGRAM_END_H
#include "core/base/print.h"

/* What it ends with: 0, or 3 with a line in `out` that says what failed. */
static inline int msim_program_end(FILE *out, const char *program,
                                   enum msim_status status,
                                   const struct msim_error *err)
{
    if (status == MSIM_OK)
        return 0;
    msim_print(out, "%s: %s%s%s\n", program, err->file, *err->file ? ": " : "",
               *err->text ? err->text : msim_status_text(status));
    return 3;
}

#endif
