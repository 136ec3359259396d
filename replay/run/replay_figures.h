/*
 * replay/run/replay_figures.h - what came of a replay, as figures.
 *
 * Times of parts are means over the iterations, so that they add up; the whole
 * step has its median and first and last decile.
 */
#ifndef MSIM_REPLAY_RUN_REPLAY_FIGURES_H
#define MSIM_REPLAY_RUN_REPLAY_FIGURES_H
#include "replay/run/run_plan.h"

struct msim_replay_time {
    double us, low_us, high_us;
};

struct msim_replay_part {
    uint32_t ops;
    double us;
};

#define MSIM_REPLAY_SYSTEM 24

struct msim_replay_figures {
    struct msim_replay_time step; /* median */
    double sum_us, gap_us;        /* all elements, between them: means */
    double together_us;           /* mean, all in a row; 0: not known */
    struct msim_replay_part how[MSIM_RUN_HOWS];
    struct msim_replay_part family[MSIM_FAMILY_COUNT];
    struct msim_replay_time *ops; /* owned: mean, of each of the plan's */
    /* What the backend tells of the machine, means over the iterations. */
    struct msim_replay_metric {
        const char *name; /* points into the runs */
        double value;
    } system[MSIM_REPLAY_SYSTEM];
    uint32_t n_system;
    double utilization; /* processor time over time, of all cores; NAN */
};

/* ENOMEM; release it in any case. */
MSIM_MUST_CHECK
enum msim_status msim_replay_figures_make(struct msim_replay_figures *f,
                                          const struct msim_replay_plan *p,
                                          const struct msim_replay_runs *r,
                                          const cJSON *greeting);
void msim_replay_figures_release(struct msim_replay_figures *f);

/* The metric of that name; NAN. */
double msim_replay_metric(const struct msim_replay_figures *f,
                          const char *name);

#endif
