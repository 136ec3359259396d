/*
 * replay/run/run_plan.h - run a plan on a backend, which is a process of its
 * own (profilers/run_sequence.c has the lines).
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

/* How often it is run before it is timed, and how often then; `patience`: how
 * many seconds an iteration may take, and making the operands ready as many
 * more. */
struct msim_replay_how {
    uint32_t warm_up, iterations;
    double patience;
};

struct msim_replay_runs {
    struct msim_replay_round *rounds; /* owned */
    double *times;                    /* owned: of all rounds */
    uint32_t n, wanted, n_elements, warm_up;
    double patience;
    char counters_error[160]; /* ""; why the processor's counters are missing */
};

/*
 * Run the order, and end the child. What the backend cannot do after all is
 * replaced in the plan. Release `*out` in any case. EFORMAT: the backend
 * answers with something else, or more than it was asked; ENOMODEL: it knows no
 * sequences; else as msim_child_ask().
 */
MSIM_MUST_CHECK
enum msim_status
msim_replay_run(struct msim_replay_runs *out, struct msim_replay_plan *p,
                struct msim_child *child, const cJSON *greeting,
                const struct msim_replay_how *how, struct msim_error *err);
void msim_replay_runs_release(struct msim_replay_runs *r);

#endif
