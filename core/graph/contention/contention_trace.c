/*
 * core/graph/contention/contention_trace.c - what each task would have taken
 * alone.
 *
 * The traced run is replayed in the order of time with the rates that the
 * engine will use. A task's work is its rate over the time that it ran. The
 * engine does the same work again, so a task takes the same time in the same
 * company.
 */
#include "core/graph/contention/contention_builder.h"

#include <stdlib.h>

struct sweep {
    struct msim_contention_builder *b;
    double *done;      /* work of each demand so far */
    uint32_t *next;    /* the next demand that runs on its device, or NONE */
    uint32_t *running; /* first of each device */
    msim_ps *at;       /* until when each device's work has been counted */
    struct msim_contention_load *load;
};

static void pass(struct sweep *w, uint32_t device, msim_ps now)
{
    const struct msim_sharing *s = w->b->s;
    double ps = (double)(now - w->at[device]);

    for (uint32_t d = w->running[device]; d != MSIM_NONE; d = w->next[d])
        w->done[d] +=
            ps * msim_contention_rate(s, device,
                                      (enum msim_demand_kind)s->demands[d].kind,
                                      &w->load[device]);
    w->at[device] = now;
}

static void enter(struct sweep *w, uint32_t d)
{
    const struct msim_demand *demand = &w->b->s->demands[d];

    w->load[demand->device].n[demand->kind]++;
    w->next[d] = w->running[demand->device];
    w->running[demand->device] = d;
}

static void leave(struct sweep *w, uint32_t d)
{
    const struct msim_demand *demand = &w->b->s->demands[d];
    uint32_t *link = &w->running[demand->device];

    w->load[demand->device].n[demand->kind]--;
    while (*link != d)
        link = &w->next[*link];
    *link = w->next[d];
}

/* Begins and ends of all demands that took time: index is 2 d, 2 d + 1. */
static uint32_t collect(const struct msim_contention_builder *b,
                        struct msim_keyed *marks)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < b->s->n_demands; d++) {
        if (b->ran[d].begin == MSIM_TIME_NONE ||
            b->ran[d].begin >= b->ran[d].end)
            continue;
        marks[n++] = (struct msim_keyed){b->ran[d].begin, 2 * d};
        marks[n++] = (struct msim_keyed){b->ran[d].end, 2 * d + 1};
    }
    msim_keyed_sort(marks, n);
    return n;
}

static void run(struct sweep *w, const struct msim_keyed *marks, uint32_t n)
{
    struct msim_sharing *s = w->b->s;

    for (uint32_t i = 0; i < s->n_devices; i++)
        w->running[i] = MSIM_NONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = marks[i].index / 2;

        pass(w, s->demands[d].device, marks[i].key);
        if (marks[i].index % 2)
            leave(w, d);
        else
            enter(w, d);
    }
    for (uint32_t d = 0; d < s->n_demands; d++)
        if (w->done[d] > 0)
            s->demands[d].alone =
                w->done[d] / (double)(w->b->ran[d].end - w->b->ran[d].begin);
}

enum msim_status msim_contention_alone(struct msim_contention_builder *b)
{
    size_t n = (size_t)b->s->n_demands + 1, m = (size_t)b->s->n_devices + 1;
    struct msim_keyed *marks = malloc(2 * n * sizeof(*marks));
    struct sweep w = {.b = b,
                      .done = calloc(n, sizeof(*w.done)),
                      .next = malloc(n * sizeof(*w.next)),
                      .running = malloc(m * sizeof(*w.running)),
                      .at = calloc(m, sizeof(*w.at)),
                      .load = calloc(m, sizeof(*w.load))};
    enum msim_status status = MSIM_ENOMEM;

    if (marks && w.done && w.next && w.running && w.at && w.load) {
        run(&w, marks, collect(b, marks));
        status = MSIM_OK;
    }
    free(marks);
    free(w.done);
    free(w.next);
    free(w.running);
    free(w.at);
    free(w.load);
    return status;
}
