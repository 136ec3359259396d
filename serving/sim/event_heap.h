/*
 * serving/sim/event_heap.h - what happens next in a simulation of requests.
 *
 * A 4-ary heap by (time, order): events at the same instant happen in the order
 * in which they were scheduled, so that queues stay first come, first served.
 * core/base/containers.h moves pending events and therefore keeps the place of
 * each, in an order of its own at equal times; nothing is moved here, and a
 * visit is one event after another.
 *
 * An event is one number of 128 bits, time, order and what, so that the least
 * of four children is found without a branch: which it is cannot be foreseen.
 */
#ifndef MSIM_SERVING_SIM_EVENT_HEAP_H
#define MSIM_SERVING_SIM_EVENT_HEAP_H
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdlib.h>

/* Times are from 0 on, so that their order is that of the unsigned number. */
typedef unsigned __int128 msim_heap_event;

struct msim_event_heap {
    msim_heap_event *at;
    uint32_t n, capacity, next;
};

static inline msim_ps msim_heap_time(msim_heap_event e)
{
    return (msim_ps)(e >> 64);
}

static inline uint32_t msim_heap_what(msim_heap_event e)
{
    return (uint32_t)e;
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

/* Place `e` at the hole `i` or above it. */
static inline void msim_heap_rise(msim_heap_event *at, uint32_t i,
                                  msim_heap_event e)
{
    while (i > 0 && e < at[(i - 1) / 4]) {
        at[i] = at[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    at[i] = e;
}

/* False where memory is out; nothing is scheduled then. */
static inline bool msim_heap_push(struct msim_event_heap *h, msim_ps time,
                                  uint32_t what)
{
    uint64_t low = (uint64_t)h->next++ << 32 | what;

    if (h->n == h->capacity && !msim_heap_grow(h))
        return false;
    msim_heap_rise(h->at, h->n++, (msim_heap_event)(uint64_t)time << 64 | low);
    return true;
}

/* The earliest, which is taken out; there must be one. The hole goes down to
 * the end, and what was last rises from there: it is late, and seldom does. */
static inline msim_heap_event msim_heap_pop(struct msim_event_heap *h)
{
    msim_heap_event *at = h->at, top = at[0], last = at[--h->n];
    uint32_t i = 0, n = h->n, c;

    while ((c = 4 * i + 1) + 3 < n) {
        uint32_t a = c + (at[c + 1] < at[c]);
        uint32_t b = c + 2 + (at[c + 3] < at[c + 2]);
        uint32_t least = at[b] < at[a] ? b : a;

        at[i] = at[least];
        i = least;
    }
    if (c < n) {
        uint32_t least = c;

        while (++c < n)
            least = at[c] < at[least] ? c : least;
        at[i] = at[least];
        i = least;
    }
    msim_heap_rise(at, i, last);
    return top;
}

#endif
