/*
 * core/evq.h - the pending-event queue of one simulation.
 *
 * A 4-ary heap ordered by (time, seq): `seq` is the task's number, so two
 * events at the same instant fire in a fixed order and a run is reproducible
 * bit for bit. Four children share a cache line, which halves the misses of a
 * binary heap.
 *
 * Not thread-safe. All memory is taken in msim_evq_init(); push and pop never
 * allocate.
 */
#ifndef MSIM_CORE_EVQ_H
#define MSIM_CORE_EVQ_H
#include "core/trace.h"

struct msim_event {
    msim_ps time;
    uint32_t seq;
};

struct msim_evq {
    struct msim_event *heap;
    uint32_t length, capacity;
};

/* Room for `capacity` pending events; release with msim_evq_release(). */
MSIM_MUST_CHECK
enum msim_status msim_evq_init(struct msim_evq *q, uint32_t capacity);
void msim_evq_release(struct msim_evq *q);

/* The caller keeps length below capacity. */
void msim_evq_push(struct msim_evq *q, msim_ps time, uint32_t seq);

/* Remove and return the earliest event; the queue must not be empty. */
struct msim_event msim_evq_pop(struct msim_evq *q);

#endif
