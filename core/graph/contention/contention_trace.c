/*
 * core/graph/contention/contention_trace.c - what each task would have taken
 * alone.
 *
 * The traced run is replayed in the order of time with the rates that the
 * engine will use. A task's work is its rate over the time that it ran. The
 * engine does the same work again, so a task takes the same time in the same
 * company.
 */
#include "core/graph/contention/graph_contention_internal.h"

#include <stdlib.h>

struct sweep {
    struct msim_contention_builder *b;
    /* Work so far of a demand that always ran, one of each kind a device: those
     * of a kind have one rate. And what it was when each demand began. */
    double (*work)[MSIM_DEMAND_KINDS], *entered;
    msim_ps *at; /* until when each device's work has been counted */
    struct msim_contention_load *load;
};

static void pass(struct sweep *w, uint32_t device, msim_ps now)
{
    double ps = (double)(now - w->at[device]);

    for (int k = 0; k < MSIM_DEMAND_KINDS; k++)
        if (w->load[device].n[k])
            w->work[device][k] +=
                ps * msim_contention_rate(w->b->s, device,
                                          (enum msim_demand_kind)k,
                                          &w->load[device]);
    w->at[device] = now;
}

static void enter(struct sweep *w, uint32_t d)
{
    const struct msim_demand *demand = &w->b->s->demands[d];

    w->load[demand->device].n[demand->kind]++;
    w->entered[d] = w->work[demand->device][demand->kind];
}

static void leave(struct sweep *w, uint32_t d)
{
    struct msim_demand *demand = &w->b->s->demands[d];
    const struct msim_interval_ps *ran = &w->b->ran[d];
    double done = w->work[demand->device][demand->kind] - w->entered[d];

    w->load[demand->device].n[demand->kind]--;
    if (done > 0)
        demand->alone = done / (double)(ran->end - ran->begin);
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

    for (uint32_t i = 0; i < n; i++) {
        uint32_t d = marks[i].index / 2;

        pass(w, s->demands[d].device, marks[i].key);
        if (marks[i].index % 2)
            leave(w, d);
        else
            enter(w, d);
    }
}

enum msim_status msim_contention_alone(struct msim_contention_builder *b)
{
    size_t n = (size_t)b->s->n_demands + 1, m = (size_t)b->s->n_devices + 1;
    struct msim_keyed *marks = malloc(2 * n * sizeof(*marks));
    struct sweep w = {.b = b,
                      .work = calloc(m, sizeof(*w.work)),
                      .entered = malloc(n * sizeof(*w.entered)),
                      .at = calloc(m, sizeof(*w.at)),
                      .load = calloc(m, sizeof(*w.load))};
    enum msim_status status = MSIM_ENOMEM;

    if (marks && w.work && w.entered && w.at && w.load) {
        run(&w, marks, collect(b, marks));
        status = MSIM_OK;
    }
    free(marks);
    free(w.work);
    free(w.entered);
    free(w.at);
    free(w.load);
    return status;
}
