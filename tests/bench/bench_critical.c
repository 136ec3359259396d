/*
 * What it costs to say why: binding edges, slack, waits and the critical path
 * of a million tasks, each beside one walk of the engine over them.
 */
#include "core/report/analyse/analysis_internal.h"
#include "tests/bench/dressed.h"
#include "tests/bench/timing.h"
#include "tests/unit/engine_starts.h"

#include <stdio.h>
#include <stdlib.h>

#define TASKS  1000000u
#define REPEAT 5

/* Seconds of each step, the least of all repeats. */
struct costs {
    double binding, slack, waits, path;
};

static double least(double *sum, double begin)
{
    double t = now() - begin;

    *sum = *sum > 0 && *sum < t ? *sum : t;
    return now();
}

static void once(const struct msim_graph *g, const struct msim_run *run,
                 msim_ps *slack, struct costs *c)
{
    struct msim_binding b = {NULL, NULL};
    struct msim_path path = {0};
    struct msim_window_times times;
    struct msim_waits waits;
    double t = now();

    msim_window_bounds(g, run, &times);
    if (msim_binding_init(&b, g, run) != MSIM_OK)
        abort();
    t = least(&c->binding, t);
    if (msim_slack(g, run, &b, &times, slack) != MSIM_OK)
        abort();
    t = least(&c->slack, t);
    if (msim_waits_find(g, run, &b, &times, &waits) != MSIM_OK)
        abort();
    t = least(&c->waits, t);
    if (msim_path_find(&path, g, run, &b, 0, &times) != MSIM_OK)
        abort();
    least(&c->path, t);
    msim_path_release(&path);
    msim_binding_release(&b);
}

int main(void)
{
    struct dressed d;
    struct msim_scenario s;
    msim_ps *start = malloc(TASKS * sizeof(*start));
    msim_ps *slack = malloc(TASKS * sizeof(*slack));
    struct msim_run run = {.start = start};
    struct costs c = {0, 0, 0, 0};
    struct msim_engine *e;
    double walk = 0, begin;

    dressed_init(&d, TASKS);
    s = made_graph_scenario(&d.m);
    run.dur = d.m.dur;
    if (!start || !slack || msim_engine_new(&e, &d.m.g) != MSIM_OK)
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        begin = now();
        if (engine_starts(e, &s, start, NULL) != MSIM_OK)
            return 4;
        least(&walk, begin);
        once(&d.m.g, &run, slack, &c);
    }
    printf("%u tasks, %u edges; the least of %d, in ms\n", TASKS, d.m.g.n_edges,
           REPEAT);
    printf("engine %.0f, binding %.0f, slack %.0f, waits %.0f, path %.0f\n",
           1e3 * walk, 1e3 * c.binding, 1e3 * c.slack, 1e3 * c.waits,
           1e3 * c.path);
    msim_engine_free(e);
    free(start);
    free(slack);
    dressed_release(&d);
    return 0;
}
