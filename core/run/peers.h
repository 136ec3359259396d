/*
 * core/run/peers.h - ranks whose traces are absent, and that follow this one.
 *
 * How long after this rank an absent one arrives is what the rank waited when
 * the traced run is replayed, not what a difference of two traced times says:
 * those are off by whatever the replay is. So a run without any change is the
 * same to the picosecond, whether absent ranks keep their times or follow.
 */
#ifndef MSIM_CORE_RUN_PEERS_H
#define MSIM_CORE_RUN_PEERS_H
#include "core/run/engine.h"

/*
 * Set the lags of absent ranks in a graph with MSIM_PEERS_FOLLOW: one run, as
 * traced, in which they arrive when they did. Does nothing where the graph has
 * none. `err` says why a run failed.
 */
MSIM_MUST_CHECK
enum msim_status msim_peers_follow(struct msim_graph *g,
                                   struct msim_error *err);

#endif
