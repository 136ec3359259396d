/*
 * How fast requests are simulated: a million through ten stages of eight
 * workers each, three quarters busy, one after another.
 */
#include "serving/sim/serving_run.h"
#include "tests/bench/timing.h"

#include <stdio.h>
#include <unistd.h>

#define REQUESTS 1000000u
#define STAGES   10
#define REPEAT   5

static void write_app(FILE *f)
{
    fputs(
        "{\"schema\": \"mystique-sim/app/1\", \"name\": \"ten\", \"arrivals\": "
        "{\"process\": \"poisson\", \"rate\": 1000}, \"stages\": {",
        f);
    for (int i = 0; i < STAGES; i++)
        fprintf(f,
                "%s\"s%d\": {\"kind\": \"measured\", \"workers\": 8, \"call\": "
                "\"queue\", \"service\": {\"exponential\": 6}}",
                i ? ", " : "", i);
    fputs("}, \"flow\": {\"start\": \"s0\", \"edges\": [", f);
    for (int i = 1; i < STAGES; i++)
        fprintf(f, "%s{\"from\": \"s%d\", \"to\": \"s%d\"}", i > 1 ? ", " : "",
                i - 1, i);
    fputs("]}}", f);
}

int main(void)
{
    char path[] = P_tmpdir "/msim-bench-XXXXXX.json";
    struct msim_serving_how how = {.requests = REQUESTS,
                                   .keep = MSIM_KEEP_VISITS};
    struct msim_serving_result r = {0};
    struct msim_error err = {0};
    struct msim_serving *s;
    struct msim_app app;
    double seconds[REPEAT];
    int fd = mkstemps(path, 5);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f)
        return 4;
    write_app(f);
    fclose(f);
    if (msim_app_read(&app, path, &err) || msim_serving_new(&s, &app, &err))
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        double begin = now();

        if (msim_serving_run(s, &how, &r, &err))
            return 4;
        seconds[i] = now() - begin;
    }
    printf("%u requests, %d stages; median of %d: %.2f s, %.1f million "
           "events/s\n",
           REQUESTS, STAGES, REPEAT, median(seconds, REPEAT),
           (double)r.events / seconds[REPEAT / 2] / 1e6);
    msim_serving_free(s);
    msim_app_release(&app);
    unlink(path);
    return 0;
}
