/*
 * core/run/contention_run.h - the shared part of a run: events in the order of
 * time.
 *
 * Private to the engine. Tasks that share nothing need no clock and never come
 * here. A task that shares is passed in when it could start (ready). It is let
 * in at once or held, and runs at the rate that the others leave it. Every
 * start and end moves the ends of the tasks that it affects.
 *
 * Not thread-safe. All memory is taken in msim_contention_run_new().
 */
#ifndef MSIM_CORE_RUN_CONTENTION_RUN_H
#define MSIM_CORE_RUN_CONTENTION_RUN_H
#include "core/graph/graph.h"

struct msim_contention_run; /* opaque */

/* On success `*out` is the caller's; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_contention_run_new(struct msim_contention_run **out,
                                         const struct msim_graph *g);
void msim_contention_run_free(struct msim_contention_run *r); /* accepts NULL */

/*
 * Begin a run with the durations `dur` and without the tasks that `removed`
 * marks (may be NULL). held_by[task] (may be NULL) will get the task that held
 * a task up; all have one entry a task and are the caller's.
 */
void msim_contention_run_begin(struct msim_contention_run *r,
                               const msim_ps *dur, const uint8_t *removed,
                               uint32_t *held_by);

/* All predecessors of a demand's task let it start at `at`. */
void msim_contention_run_ready(struct msim_contention_run *r, uint32_t demand,
                               msim_ps at);

/* Let time pass until a task ends. Returns its demand, or NONE when nothing
 * runs; `*end`: when that is. */
uint32_t msim_contention_run_next(struct msim_contention_run *r, msim_ps *end);

/* The time that the task of a demand took; only once it has ended. */
msim_ps msim_contention_run_took(const struct msim_contention_run *r,
                                 uint32_t demand);

#endif
