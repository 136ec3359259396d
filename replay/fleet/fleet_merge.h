/*
 * replay/fleet/fleet_merge.h - one fleet of several, each of which is an answer
 * of `select --json`.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_MERGE_H
#define MSIM_REPLAY_FLEET_FLEET_MERGE_H
#include "replay/fleet/fleet.h"

/*
 * The jobs of `n` files of schema mystique-sim/selection/1, as if their traces
 * had been loaded at once: their times and shares are read back as they were.
 * Every job must lie in one part; what is in two is refused. Jobs weigh their
 * traced time, whatever they weighed in the parts, whose order does not matter.
 * On success release with msim_fleet_free(); on failure `*out` is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_fleet_merge(struct msim_fleet **out,
                                  const char *const *paths, uint32_t n,
                                  struct msim_error *err);

#endif
