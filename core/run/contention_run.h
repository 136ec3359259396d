/*
 * core/run/contention_run.h - the shared part of a run: events in the order of
 * time.
 *
 * Private to the engine. Tasks that share nothing need no clock and never come
 * here. One that does is given when it could start (ready); it is let in at
 * once or held, and runs at the rate that its company leaves it. Every change
 * of company moves the ends of those it touches.
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
 * marks (may be NULL). start[task] is where a task's start will be put,
 * held_by[task] (may be NULL) who held it up; both one a task, the caller's.
 */
void msim_contention_run_begin(struct msim_contention_run *r,
                               const msim_ps *dur, const uint8_t *removed,
                               msim_ps *start, uint32_t *held_by);

/* The task of a demand could start at `at` as far as its predecessors go. */
void msim_contention_run_ready(struct msim_contention_run *r, uint32_t demand,
                               msim_ps at);

/* Let time pass until a task ends: that task, or NONE when nothing runs. */
uint32_t msim_contention_run_next(struct msim_contention_run *r);

/* What the task of a demand took; only once it has ended. */
msim_ps msim_contention_run_took(const struct msim_contention_run *r,
                                 uint32_t demand);

#endif
