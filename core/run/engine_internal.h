/*
 * core/run/engine_internal.h - what the files of core/run share; no other room
 * includes it.
 */
#ifndef MSIM_CORE_RUN_ENGINE_INTERNAL_H
#define MSIM_CORE_RUN_ENGINE_INTERNAL_H
#include "core/graph/graph.h"

/* ---- chains -------------------------------------------------------------- */
/*
 * Tasks that only follow each other, as one.
 *
 * Most of a host's tasks lead to the next one alone, in program order and
 * without a latency, and that one waits for nothing else: five of six, as a
 * rule. A run need not look at each of them. It walks over chains of them:
 *
 *     a chain       tasks first[c] .. first[c + 1] - 1
 *     its start     that of its first task, which all edges to it lead to
 *     its end       that of its last task, which all edges from it leave
 *
 * Every task is in one chain; a task that shares a device, or that may not
 * start before an instant, is the first of one, and what shares is alone.
 *
 * Private to the engine.
 */

/* From one chain to another: `to` is a chain. */
struct msim_chain_edge {
    msim_ps lag;
    uint32_t to;
    uint8_t kind; /* as msim_graph.edge_kind */
};

struct msim_chains {
    uint32_t n;
    uint32_t *of_task; /* one a task: its chain */
    uint32_t *first;   /* n + 1 */
    uint32_t *n_preds; /* one a chain */
    uint32_t *demand;  /* likewise: index of g->sharing->demands, or NONE */
    uint32_t *roots;   /* those of no preds, ascending: n_roots */
    uint32_t n_roots;
    uint32_t *edge_begin; /* n + 1, into edges */
    struct msim_chain_edge *edges;
    uint32_t *of_demand;  /* one a demand of g->sharing: its chain */
    uint32_t *of_release; /* one a release of g: likewise */
};

/* Those of `g`. Release in any case; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_chains_find(struct msim_chains *c,
                                  const struct msim_graph *g);
void msim_chains_release(struct msim_chains *c);

/* ---- contention run ------------------------------------------------------ */
/*
 * The shared part of a run: events in the order of time.
 *
 * Private to the engine. Tasks that share nothing need no clock and never come
 * here. A task that shares is passed in when it could start (ready). It is let
 * in at once or held, and runs at the rate that the others leave it. Every
 * start and end moves the ends of the tasks that it affects.
 *
 * Not thread-safe. All memory is taken in msim_contention_run_new().
 */

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
