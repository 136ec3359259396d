/*
 * How fast the engine walks a static graph: a million tasks on as many lanes
 * as a job of eight ranks has, against a bare hold model (the same queue, a
 * pop and a push an event, nothing else) in the same run.
 */
#include "core/evq.h"
#include "tests/unit/made_graph.h"

#include <stdio.h>
#include <time.h>

#define TASKS  1000000u
#define LANES  32u
#define REPEAT 7

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double walk(struct msim_engine *e, const struct msim_scenario *s,
                   msim_ps *start)
{
    double begin = now();

    if (msim_engine_run(e, s, start, NULL) != MSIM_OK)
        abort();
    return now() - begin;
}

static double hold(struct msim_evq *q, const msim_ps *dur)
{
    double begin = now();

    q->length = 0;
    for (uint32_t i = 0; i < LANES; i++)
        msim_evq_push(q, dur[i], i);
    for (uint32_t i = 0; i < TASKS; i++) {
        struct msim_event ev = msim_evq_pop(q);

        msim_evq_push(q, ev.time + dur[i], ev.seq);
    }
    return now() - begin;
}

int main(void)
{
    struct made_graph m = made_graph_new(TASKS, LANES, 42);
    struct msim_scenario s = made_graph_scenario(&m);
    msim_ps *start = malloc(TASKS * sizeof *start);
    double walks[REPEAT], holds[REPEAT];
    struct msim_engine *e;
    struct msim_evq q;

    if (!start || msim_engine_new(&e, &m.g) || msim_evq_init(&q, TASKS))
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        walks[i] = walk(e, &s, start);
        holds[i] = hold(&q, m.dur);
    }
    qsort(walks, REPEAT, sizeof *walks, compare);
    qsort(holds, REPEAT, sizeof *holds, compare);
    printf("engine: %.1f million tasks/s (median of %d; %u tasks, %u edges, "
           "%u lanes)\n",
           TASKS / walks[REPEAT / 2] / 1e6, REPEAT, TASKS, m.g.n_edges, LANES);
    printf("bare hold of the queue: %.1f million events/s; engine / hold "
           "%.2f\n",
           TASKS / holds[REPEAT / 2] / 1e6,
           holds[REPEAT / 2] / walks[REPEAT / 2]);
    msim_evq_release(&q);
    msim_engine_free(e);
    made_graph_free(&m);
    free(start);
    return 0;
}
