/*
 * tests/unit/fake_gnuplot.h - a program in the place of gnuplot, which answers
 * with the script that it is given: what charts ask for is text then.
 *
 * Nothing but it is found on $PATH from its begin on.
 */
#ifndef MSIM_TESTS_UNIT_FAKE_GNUPLOT_H
#define MSIM_TESTS_UNIT_FAKE_GNUPLOT_H
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FAKE_GNUPLOT_END "</svg>\n" /* behind the script: a whole picture */

static char fake_gnuplot_folder[] = P_tmpdir "/msim-gnuplot-XXXXXX";
static char fake_gnuplot_program[64];

static inline bool fake_gnuplot_begin(void)
{
    FILE *f = NULL;

    if (mkdtemp(fake_gnuplot_folder)) {
        snprintf(fake_gnuplot_program, sizeof(fake_gnuplot_program),
                 "%s/gnuplot", fake_gnuplot_folder);
        f = fopen(fake_gnuplot_program, "w");
    }
    if (!CHECK(f != NULL))
        return false;
    fputs("#!/bin/sh\n/bin/cat\necho '</svg>'\n", f);
    fclose(f);
    return CHECK(chmod(fake_gnuplot_program, 0700) == 0) &&
           CHECK(setenv("PATH", fake_gnuplot_folder, 1) == 0);
}

static inline void fake_gnuplot_end(void)
{
    CHECK(unlink(fake_gnuplot_program) == 0 && rmdir(fake_gnuplot_folder) == 0);
}

#endif
