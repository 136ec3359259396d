/*
 * How long 512 ranks take, folded and one by one, and how many bytes a task is
 * stored in. `bench_ranks [FOLDER [RANKS]]`: a job of Kineto traces, by default
 * dlrm-8xv100 of the real traces.
 */
#include "core/graph/build/graph_build.h"
#include "tests/bench/timing.h"
#include "tests/unit/core/run/replicas.h"
#include "tests/unit/engine_starts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REPEAT 7

/* Columns of the graph; names are in the traces. */
static size_t graph_bytes(const struct msim_graph *g)
{
    size_t task = sizeof(*g->kind) + sizeof(*g->lane) + sizeof(*g->window) +
                  sizeof(*g->n_preds) + sizeof(*g->edge_begin) +
                  sizeof(*g->traced) + sizeof(*g->refs);
    size_t edge = sizeof(*g->edges) + sizeof(*g->edge_kind);

    return g->n_tasks * task + g->n_edges * edge +
           g->n_releases * sizeof(*g->releases);
}

/* Starts, and the engine's counts and stack. */
static size_t run_bytes(const struct msim_graph *g)
{
    return g->n_tasks * (2 * sizeof(msim_ps) + 2 * sizeof(uint32_t));
}

static double time_folded(const struct msim_graph *g,
                          const struct msim_scenario *s, msim_ps *start)
{
    double seconds[REPEAT];
    struct msim_engine *e;

    if (msim_engine_new(&e, g) != MSIM_OK)
        abort();
    for (int i = 0; i < REPEAT; i++) {
        double begin = now();

        if (engine_starts(e, s, start, NULL) != MSIM_OK)
            abort();
        seconds[i] = now() - begin;
    }
    msim_engine_free(e);
    return median(seconds, REPEAT);
}

static double time_unfolded(struct msim_replicas *r,
                            const struct msim_scenario *s, uint32_t n)
{
    const msim_ps **dur = malloc(n * sizeof(*dur));
    double seconds[REPEAT];

    for (uint32_t i = 0; dur && i < n; i++)
        dur[i] = s->dur;
    for (int i = 0; i < REPEAT; i++) {
        double begin = now();

        if (!dur || msim_replicas_run(r, dur, s->lag, NULL) != MSIM_OK)
            abort();
        seconds[i] = now() - begin;
    }
    free(dur);
    return median(seconds, REPEAT);
}

static void report(const struct msim_graph *g, uint32_t ranks)
{
    uint32_t n = ranks / g->job->n_ranks;
    msim_ps *dur = malloc(((size_t)g->n_tasks + 1) * sizeof(*dur));
    msim_ps *start = malloc(((size_t)g->n_tasks + 1) * sizeof(*start));
    struct msim_scenario s = {.dur = dur};
    struct msim_replicas *r;
    double tasks = g->n_tasks, all = tasks * n, folded, unfolded;

    if (!dur || !start || msim_replicas_new(&r, g, n) != MSIM_OK)
        abort();
    memset(s.lag, 0xff, sizeof(s.lag)); /* -1: as the graph has it */
    for (uint32_t t = 0; t < g->n_tasks; t++)
        dur[t] = g->traced[t] > 0 ? g->traced[t] : 0;
    folded = time_folded(g, &s, start);
    unfolded = time_unfolded(r, &s, n);
    printf("%u ranks of %u traced: %.0f tasks, %u edges\n"
           "folded: %.4f s; one by one: %.0f tasks in %.4f s, %.1f million "
           "tasks/s\n",
           ranks, g->job->n_ranks, tasks, g->n_edges, folded, all, unfolded,
           all / unfolded / 1e6);
    printf("bytes a task beyond names: graph %.1f, a run of it %.1f; "
           "of the %u ranks: folded %.2f, one by one %.2f\n",
           (double)graph_bytes(g) / tasks, (double)run_bytes(g) / tasks, ranks,
           (double)(graph_bytes(g) + run_bytes(g)) / all,
           (double)(graph_bytes(g) + msim_replicas_bytes(r)) / all);
    for (uint32_t i = 0; i < n; i++)
        if (memcmp(start, msim_replicas_start(r, i),
                   g->n_tasks * sizeof(*start)) != 0)
            printf("replica %u starts at other times\n", i);
    msim_replicas_free(r);
    free(dur);
    free(start);
}

int main(int argc, char **argv)
{
    const char *path =
        argc > 1 ? argv[1] : MSIM_TRACES "/traces/dlrm-8xv100/kineto";
    long ranks = argc > 2 ? strtol(argv[2], NULL, 10) : 512;
    struct msim_error err = {0};
    struct msim_job *job;
    struct msim_graph *g;
    const struct msim_launch_plan **plans;

    if (argc < 2 && MSIM_TRACES[0] == '\0')
        return 77;
    if (msim_job_load(&job, &path, 1, &(struct msim_load_options){.threads = 1},
                      &err) != MSIM_OK) {
        fprintf(stderr, "%s: %s\n", err.file, err.text);
        return 3;
    }
    plans = calloc(job->n_ranks, sizeof(*plans));
    if (!plans || msim_graph_build(&g, job,
                                   &(struct msim_graph_options){
                                       .launch_plans = plans,
                                       .device_times = true,
                                       .peers = MSIM_PEERS_FIXED,
                                   },
                                   &err) != MSIM_OK)
        return 4;
    msim_sharing_free(g->sharing); /* static durations */
    g->sharing = NULL;
    if (ranks >= job->n_ranks)
        report(g, (uint32_t)ranks);
    msim_graph_free(g);
    free(plans);
    msim_job_free(job);
    return 0;
}
