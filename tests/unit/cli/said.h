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

static inline char *said_read(FILE *file)
{
    size_t size = fseek(file, 0, SEEK_END) == 0 ? (size_t)ftell(file) : 0;
    char *text = calloc(1, size + 1);

    rewind(file);
    if (!text || fread(text, 1, size, file) != size)
        abort();
    fclose(file);
    return text;
}

/* As said_end(); all of the output, however long, is the caller's. */
static inline char *said_end_whole(struct said *s)
{
    char *texts[2];

    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        dup2(said_kept[i], i + 1);
        close(said_kept[i]);
        texts[i] = said_read(said_to[i]);
    }
    snprintf(s->out, sizeof(s->out), "%s", texts[0]);
    snprintf(s->err, sizeof(s->err), "%s", texts[1]);
    free(texts[1]);
    return texts[0];
}

static inline void said_end(struct said *s)
{
    free(said_end_whole(s));
}

#endif
