/*
 * tests/unit/cli/said.h - what a call says to standard output and to standard
 * error, for the tests of cli.
 *
 *     said_begin();
 *     msim_message("no such file");
 *     said_end(&said);
 *     CHECK_STR(said.err, "mystique-sim: no such file\n");
 *
 * Checks stand behind said_end(): what they print goes where it always does.
 */
#ifndef MSIM_TESTS_UNIT_CLI_SAID_H
#define MSIM_TESTS_UNIT_CLI_SAID_H
#include "tests/check.h"

#include <stdlib.h>
#include <unistd.h>

struct said {
    char out[8192], err[4096];
};

static int said_kept[2];
static FILE *said_to[2];

static inline void said_begin(void)
{
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        said_kept[i] = dup(i + 1);
        said_to[i] = tmpfile();
        if (said_kept[i] < 0 || !said_to[i] ||
            dup2(fileno(said_to[i]), i + 1) < 0)
            abort();
    }
}

static inline void said_end(struct said *s)
{
    memset(s, 0, sizeof(*s));
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(said_kept[i], i + 1);
        close(said_kept[i]);
        rewind(said_to[i]);
        if (fread(i ? s->err : s->out, 1,
                  (i ? sizeof(s->err) : sizeof(s->out)) - 1, said_to[i]) == 0)
            clearerr(said_to[i]); /* it said nothing */
        fclose(said_to[i]);
    }
}

#endif
