/*
 * tests/bench/hold.h - the bare hold model that engines are measured against.
 *
 * A plain 4-ary heap with a pop and a push an event, and nothing else: what a
 * simulator that has a queue of events cannot do without.
 */
#ifndef MSIM_TESTS_BENCH_HOLD_H
#define MSIM_TESTS_BENCH_HOLD_H
#include "core/base/units.h"

#include <stdbool.h>
#include <stdint.h>

struct hold_event {
    msim_ps time;
    uint32_t seq;
};

/* `at` is the caller's, with room for one event more than are pending. */
struct hold {
    struct hold_event *at;
    uint32_t length;
};

static inline bool hold_before(struct hold_event a, struct hold_event b)
{
    return a.time != b.time ? a.time < b.time : a.seq < b.seq;
}

static inline void hold_push(struct hold *h, struct hold_event e)
{
    uint32_t i = h->length++;

    while (i > 0 && hold_before(e, h->at[(i - 1) / 4])) {
        h->at[i] = h->at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->at[i] = e;
}

static inline struct hold_event hold_pop(struct hold *h)
{
    struct hold_event top = h->at[0], last = h->at[--h->length];
    uint32_t i = 0, child;

    while ((child = 4 * i + 1) < h->length) {
        uint32_t end = child + 4 < h->length ? child + 4 : h->length;

        for (uint32_t c = child + 1; c < end; c++)
            if (hold_before(h->at[c], h->at[child]))
                child = c;
        if (!hold_before(h->at[child], last))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

/* `events` of `pending` at a time, each as long after the one before of its
 * kind as `dur` says. */
static inline void hold_run(struct hold *h, const msim_ps *dur,
                            uint32_t pending, uint32_t events)
{
    h->length = 0;
    for (uint32_t i = 0; i < pending; i++)
        hold_push(h, (struct hold_event){dur[i], i});
    for (uint32_t i = 0; i < events; i++) {
        struct hold_event e = hold_pop(h);

        hold_push(h, (struct hold_event){e.time + dur[i], e.seq});
    }
}

#endif
