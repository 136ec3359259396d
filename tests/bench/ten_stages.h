/*
 * tests/bench/ten_stages.h - an application of ten stages of eight workers
 * each, three quarters busy, one after another.
 */
#ifndef MSIM_TESTS_BENCH_TEN_STAGES_H
#define MSIM_TESTS_BENCH_TEN_STAGES_H
#include "serving/app/app.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEN_STAGES 10

static inline void ten_stages_write(FILE *f)
{
    fputs(
        "{\"schema\": \"mystique-sim/app/1\", \"name\": \"ten\", \"arrivals\": "
        "{\"process\": \"poisson\", \"rate\": 1000}, \"stages\": {",
        f);
    for (int i = 0; i < TEN_STAGES; i++)
        fprintf(f,
                "%s\"s%d\": {\"kind\": \"measured\", \"workers\": 8, \"call\": "
                "\"queue\", \"service\": {\"exponential\": 6}}",
                i ? ", " : "", i);
    fputs("}, \"flow\": {\"start\": \"s0\", \"edges\": [", f);
    for (int i = 1; i < TEN_STAGES; i++)
        fprintf(f, "%s{\"from\": \"s%d\", \"to\": \"s%d\"}", i > 1 ? ", " : "",
                i - 1, i);
    fputs("]}}", f);
}

/* Release with msim_app_release(). Ends the program where it cannot be. */
static inline void ten_stages_init(struct msim_app *app)
{
    char path[] = P_tmpdir "/msim-bench-XXXXXX.json";
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f)
        abort();
    ten_stages_write(f);
    fclose(f);
    if (msim_app_read(app, path, NULL))
        abort();
    unlink(path);
}

#endif
