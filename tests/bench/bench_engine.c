/*
 * How fast the engine walks a static graph: a million tasks on as many lanes
 * as a job of eight ranks has, against a bare hold model (a plain 4-ary heap,
 * a pop and a push an event, nothing else) in the same run.
 */
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

/* The plain heap that the engine is measured against. */
struct event {
    msim_ps time;
    uint32_t seq;
};

struct heap {
    struct event *at;
    uint32_t length;
};

static bool before(struct event a, struct event b)
{
    return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

static void push(struct heap *h, struct event e)
{
    uint32_t i = h->length++;

    while (i > 0 && before(e, h->at[(i - 1) / 4])) {
        h->at[i] = h->at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->at[i] = e;
}

static struct event pop(struct heap *h)
{
    struct event top = h->at[0], last = h->at[--h->length];
    uint32_t i = 0, child;

    while ((child = 4 * i + 1) < h->length) {
        uint32_t end = child + 4 < h->length ? child + 4 : h->length;

        for (uint32_t c = child + 1; c < end; c++)
            if (before(h->at[c], h->at[child]))
                child = c;
        if (!before(h->at[child], last))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

static double hold(struct heap *h, const msim_ps *dur)
{
    double begin = now();

    h->length = 0;
    for (uint32_t i = 0; i < LANES; i++)
        push(h, (struct event){dur[i], i});
    for (uint32_t i = 0; i < TASKS; i++) {
        struct event e = pop(h);

        push(h, (struct event){e.time + dur[i], e.seq});
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
    struct heap h = {malloc((LANES + 1) * sizeof *h.at), 0};

    if (!start || !h.at || msim_engine_new(&e, &m.g))
        return 4;
    for (int i = 0; i < REPEAT; i++) {
        walks[i] = walk(e, &s, start);
        holds[i] = hold(&h, m.dur);
    }
    qsort(walks, REPEAT, sizeof *walks, compare);
    qsort(holds, REPEAT, sizeof *holds, compare);
    printf("engine: %.1f million tasks/s (median of %d; %u tasks, %u edges, "
           "%u lanes)\n",
           TASKS / walks[REPEAT / 2] / 1e6, REPEAT, TASKS, m.g.n_edges, LANES);
    printf("bare hold of a 4-ary heap: %.1f million events/s; engine / hold "
           "%.2f\n",
           TASKS / holds[REPEAT / 2] / 1e6,
           holds[REPEAT / 2] / walks[REPEAT / 2]);
    free(h.at);
    msim_engine_free(e);
    made_graph_free(&m);
    free(start);
    return 0;
}
