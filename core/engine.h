/*
 * core/engine.h - walk a graph with given durations.
 *
 * A graph in which nothing is shared needs no clock: each task starts at the
 * maximum that graph.h defines, so tasks are visited in any topological order
 * and the times are the same. No allocation while it runs.
 */
#ifndef MSIM_CORE_ENGINE_H
#define MSIM_CORE_ENGINE_H
#include "core/graph.h"

/* Durations of one scenario; the arrays are the caller's. */
struct msim_scenario {
    const msim_ps *dur; /* one a task, >= 0 */
    /* Lag of every edge of a kind, or -1: as the graph has it. */
    msim_ps lag[MSIM_EDGE_KINDS];
    /*
     * One a task, or NULL. Where it is not 0 the task is taken out: it has no
     * duration, nothing delays it (edges to it have no lag, its releases do
     * not hold) and it waits for no other rank (COLLECTIVE, POINT_TO_POINT).
     * What passes through it, program and stream order, still does.
     */
    const uint8_t *out;
};

struct msim_engine; /* opaque: the workspace of one thread */

/* Takes all memory that runs over `g` need; `*out` is the caller's. */
MSIM_MUST_CHECK
enum msim_status msim_engine_new(struct msim_engine **out,
                                 const struct msim_graph *g);
void msim_engine_free(struct msim_engine *e); /* accepts NULL */

/*
 * Simulate. `start` (one a task) receives every task's start in ps. ECYCLE
 * if some tasks never became ready; `err` names up to three of them.
 */
MSIM_MUST_CHECK
enum msim_status msim_engine_run(struct msim_engine *e,
                                 const struct msim_scenario *s, msim_ps *start,
                                 struct msim_error *err);

#endif
