/*
 * replay/run/run_plan.h - run a plan on a backend, which is a process of its
 * own (profilers/run_sequence.h has the lines).
 */
#ifndef MSIM_REPLAY_RUN_RUN_PLAN_H
#define MSIM_REPLAY_RUN_RUN_PLAN_H
#include "profilers/ask/backend_child.h"
#include "replay/run/replay_plan.h"

/* One iteration. */
struct msim_replay_round {
    double us;                     /* from the first element to the last */
    const double *at_us, *time_us; /* of each element */
    cJSON *line; /* the answer without the times of elements; owned */
};

struct msim_replay_runs {
    struct msim_replay_round *rounds; /* owned */
    double *times;                    /* owned: of all rounds */
    uint32_t n, wanted, n_elements, warm_up;
    char counters_error[160]; /* ""; why the processor's counters are missing */
};

/*
 * Run the order `warm_up` times, and `iterations` times more. What the backend
 * cannot do after all is replaced in the plan. Release `*out` in any case.
 * EFORMAT: the backend answers with something else, or knows no sequences.
 */
MSIM_MUST_CHECK
enum msim_status msim_replay_run(struct msim_replay_runs *out,
                                 struct msim_replay_plan *p,
                                 struct msim_child *child,
                                 const cJSON *greeting, uint32_t warm_up,
                                 uint32_t iterations, struct msim_error *err);
void msim_replay_runs_release(struct msim_replay_runs *r);

#endif
