/*
 * core/base/evq.h - the pending-event queue of one simulation.
 *
 * A 4-ary heap ordered by (time, seq): `seq` is the number of what the event
 * is about, so two events at the same instant fire in a fixed order and a run
 * is reproducible bit for bit. A seq has at most one pending event, and the
 * queue knows where, so that an event can be moved when rates change.
 *
 * What is popped leaves a hole at the top, which the next event that is pushed
 * fills: an event brings forth another as a rule, and both then take one way
 * down. Behind the last event stand four that are later than any, so that the
 * least of four children is found without a look at how many there are.
 *
 * Not thread-safe. All memory is taken in msim_evq_init(); nothing else
 * allocates.
 */
#ifndef MSIM_CORE_BASE_EVQ_H
#define MSIM_CORE_BASE_EVQ_H
#include "core/base/status.h"
#include "core/base/units.h"

#include <stdbool.h>

struct msim_event {
    msim_ps time;
    uint32_t seq;
};

struct msim_evq {
    struct msim_event *slots; /* the heap, and what stands behind it */
    uint32_t *place;          /* of each seq in the heap, or NONE */
    uint32_t length;          /* events that are pending */
    uint32_t capacity;
    bool hole; /* the top has been popped: slots[0] is earlier than any */
};

/* Events of seq 0 .. capacity - 1; release with msim_evq_release(). */
MSIM_MUST_CHECK
enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity);
void msim_evq_release(struct msim_evq *q);
void msim_evq_clear(struct msim_evq *q);

/* Let the event of `seq` be at `time`, whether it is pending yet or not. */
void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq);

/* Forget the event of `seq`, if one is pending. */
void msim_evq_drop(struct msim_evq *q, uint32_t seq);

/* The earliest event, which stays; the queue must not be empty. */
struct msim_event msim_evq_first(const struct msim_evq *q);

/* Remove and return the earliest event; the queue must not be empty. */
struct msim_event msim_evq_pop(struct msim_evq *q);

#endif
