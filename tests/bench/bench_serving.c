/*
 * How fast requests are simulated: a million through ten stages of eight
 * workers each, three quarters busy, one after another.
 */
#include "serving/sim/serving_run.h"
#include "tests/bench/ten_stages.h"
#include "tests/bench/timing.h"

#include <stdio.h>

#define REQUESTS 1000000u
#define REPEAT   5

int main(void)
{
    struct msim_serving_how how = {.requests = REQUESTS,
                                   .keep = MSIM_KEEP_VISITS};
    struct msim_serving_result r = {0};
    struct msim_error err = {0};
    struct msim_serving *s;
    struct msim_app app;
    double seconds[REPEAT];

    ten_stages_init(&app);
    if (msim_serving_new(&s, &app, &err))
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        double begin = now();

        if (msim_serving_run(s, &how, &r, &err))
            return 4;
        seconds[i] = now() - begin;
    }
    printf("%u requests, %d stages; median of %d: %.2f s, %.1f million "
           "events/s\n",
           REQUESTS, TEN_STAGES, REPEAT, median(seconds, REPEAT),
           (double)r.events / seconds[REPEAT / 2] / 1e6);
    msim_serving_free(s);
    msim_app_release(&app);
    return 0;
}
