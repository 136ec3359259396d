/*
 * replay/fleet/selection.h - the few jobs of a fleet that stand for it.
 *
 * Points are the jobs' shares of time by kind of work, masses their weights
 * (replay/fleet/subset.h). A chosen job has a weight, its part in the mixture
 * that comes nearest to the fleet, and stands for the jobs that are nearest to
 * it, itself among them.
 */
#ifndef MSIM_REPLAY_FLEET_SELECTION_H
#define MSIM_REPLAY_FLEET_SELECTION_H
#include "replay/fleet/fleet.h"

struct msim_chosen {
    uint32_t job;      /* of the fleet */
    double weight;     /* they sum to 1 */
    double stands_for; /* part of the fleet: they sum to 1 */
    uint32_t jobs;     /* that it stands for */
};

struct msim_selection {
    const struct msim_fleet *fleet; /* must outlive the selection */
    struct msim_chosen *chosen;     /* what stands for most first */
    uint32_t n;
    uint32_t *stood_for_by; /* of each job: which of `chosen` */
    double *distance;       /* of each job, to that: of its shares */
    double share[MSIM_FAMILY_COUNT + 1]; /* of the weighted chosen, by kind */
    uint32_t worst;                      /* kind that differs most */
    double largest;                      /* by that much: >= 0 */
};

/* Choose `k` jobs, 1 to the fleet's; ENOMEM. On success release with
 * msim_selection_free(); on failure `*out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_selection_new(struct msim_selection **out,
                                    const struct msim_fleet *fleet, uint32_t k,
                                    uint32_t threads);
void msim_selection_free(struct msim_selection *s); /* accepts NULL */

#endif
