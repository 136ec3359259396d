/*
 * tests/unit/core/run/replicas.h - a job of many equal ranks, simulated rank by
 * rank.
 *
 * A job of R x T ranks of which T are traced: every traced rank stands for R,
 * its replicas. Collectives that all T ranks meet in gather all R x T; smaller
 * groups exist R times, once a replica of the T. Folded, the T ranks alone are
 * simulated: their replicas do the same work, so each arrives wherever it
 * arrives at the same instant, and the maximum over R equal arrivals is the
 * arrival itself. This run does not assume that: it keeps a start and a count
 * of every task of every replica, on one graph. It is the check of folding,
 * and the way to let replicas differ (a straggler):
 *
 *     2 replicas; rank A takes 10 us to the collective, its replica 15:
 *     folded 10; here all four ranks go on at 15.
 *
 * Durations are those of the scenario: tasks that share a device (contention.h)
 * are given what they took. Not thread-safe; no allocation while it runs.
 */
#ifndef MSIM_TESTS_UNIT_CORE_RUN_REPLICAS_H
#define MSIM_TESTS_UNIT_CORE_RUN_REPLICAS_H
#include "core/run/engine.h"

struct msim_replicas; /* opaque: the workspace of one thread */

/*
 * Takes all memory that runs of `n` (> 0) replicas of `g` need; `*out` is the
 * caller's. ELIMIT where there are 2^32 predecessors of one collective.
 */
MSIM_MUST_CHECK
enum msim_status msim_replicas_new(struct msim_replicas **out,
                                   const struct msim_graph *g, uint32_t n);
void msim_replicas_free(struct msim_replicas *r); /* accepts NULL */

/*
 * Simulate. `dur` has the durations of each replica (which may share arrays),
 * `lag` is as in msim_scenario. ECYCLE if some tasks never became ready.
 */
MSIM_MUST_CHECK
enum msim_status msim_replicas_run(struct msim_replicas *r,
                                   const msim_ps *const *dur,
                                   const msim_ps lag[MSIM_EDGE_KINDS],
                                   struct msim_error *err);

/* After a run: the start of every task of one replica, in ps. */
const msim_ps *msim_replicas_start(const struct msim_replicas *r,
                                   uint32_t replica);

/* Bytes that the workspace takes, without the graph. */
size_t msim_replicas_bytes(const struct msim_replicas *r);

#endif
