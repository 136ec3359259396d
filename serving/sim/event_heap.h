/*
 * serving/sim/event_heap.h - what happens next in a simulation of requests.
 *
 * A 4-ary heap by (time, order): events at the same instant happen in the order
 * in which they were scheduled, so that queues stay first come, first served.
 * core/base/evq.h moves pending events and therefore keeps the place of each,
 * in an order of its own at equal times; nothing is moved here, and a visit is
 * one event after another.
 */
#ifndef MSIM_SERVING_SIM_EVENT_HEAP_H
#define MSIM_SERVING_SIM_EVENT_HEAP_H
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdlib.h>

struct msim_heap_event {
    msim_ps time;
    uint32_t order; /* of scheduling; goes round */
    uint32_t what;
};

struct msim_event_heap {
    struct msim_heap_event *at;
    uint32_t n, capacity, next;
};

static inline bool msim_heap_before(struct msim_heap_event a,
                                    struct msim_heap_event b)
{
    return a.time != b.time ? a.time < b.time
                            : (int32_t)(a.order - b.order) < 0;
}

/* False where memory is out, or there are too many. */
static inline bool msim_heap_grow(struct msim_event_heap *h)
{
    uint32_t wanted = h->capacity ? 2 * h->capacity : 1024;
    void *more = h->capacity < UINT32_MAX / 2
                     ? realloc(h->at, wanted * sizeof(*h->at))
                     : NULL;

    if (!more)
        return false;
    h->at = more;
    h->capacity = wanted;
    return true;
}

/* False where memory is out; nothing is scheduled then. */
static inline bool msim_heap_push(struct msim_event_heap *h, msim_ps time,
                                  uint32_t what)
{
    struct msim_heap_event e = {time, h->next++, what};
    uint32_t i = h->n;

    if (i == h->capacity && !msim_heap_grow(h))
        return false;
    h->n++;
    while (i > 0 && msim_heap_before(e, h->at[(i - 1) / 4])) {
        h->at[i] = h->at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    h->at[i] = e;
    return true;
}

/* The earliest, which is taken out; there must be one. */
static inline struct msim_heap_event msim_heap_pop(struct msim_event_heap *h)
{
    struct msim_heap_event top = h->at[0], last = h->at[--h->n];
    uint32_t i = 0, child;

    while ((child = 4 * i + 1) < h->n) {
        uint32_t end = child + 4 < h->n ? child + 4 : h->n;

        for (uint32_t c = child + 1; c < end; c++)
            if (msim_heap_before(h->at[c], h->at[child]))
                child = c;
        if (!msim_heap_before(h->at[child], last))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = last;
    return top;
}

#endif
