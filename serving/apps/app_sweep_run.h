/*
 * serving/apps/app_sweep_run.h - every point of a sweep, simulated.
 *
 * All points of one application see the same requests (common random numbers),
 * so that small differences between points are real. Points are numbered
 * application by application, then scheduler, platform, rate, replicas.
 *
 * A point that cannot be, because its model does not fit its GPUs or a word is
 * not known there, has a reason and no figures; one whose load is beyond its
 * capacity has the figures of its run, and is not feasible either.
 */
#ifndef MSIM_SERVING_APPS_APP_SWEEP_RUN_H
#define MSIM_SERVING_APPS_APP_SWEEP_RUN_H
#include "serving/app/app.h"
#include "serving/apps/app_sweep.h"

struct msim_app_sweep_stage {
    char *name;
    double critical_share, utilisation;
};

/* NAN: not known. */
struct msim_app_sweep_point {
    uint32_t app;
    uint64_t index; /* of the application's points */
    bool ran, feasible, pareto;
    bool cheapest;    /* of those that keep the promises at its rate */
    bool guessed;     /* another platform's price or power stands for its own */
    bool few;         /* requests for the percentiles that are given */
    double worst;     /* late requests over what the promises allow: up to 1 all
                         are kept; NAN: nothing was promised */
    char reason[512]; /* why it is not feasible; empty */
    double rate;      /* of what arrived */
    double p50_ms, p99_ms, goodput_rps, violations;
    double cost_per_1000, energy_wh_per_1000, gpus;
    struct msim_app_sweep_stage *stages;
    uint32_t n_stages;
};

struct msim_app_sweep_runs {
    const struct msim_suite *suite;
    const struct msim_app_sweep *sweep;
    struct msim_app_sweep_point *points;
    uint32_t n;
};

struct msim_recorder; /* serving/deploy/recorded.h */

struct msim_app_sweep_how {
    const char *data_dir;
    const struct msim_recorder *recorder; /* serving/deploy/deploy.h */
    uint64_t requests;                    /* that arrive at each point */
    uint64_t seed;
    uint32_t threads;
};

#define MSIM_APP_SWEEP_POINTS_MOST 1000000

/* On success `r` goes to msim_app_sweep_runs_release(); ENOMEM, EUSAGE where
 * there are too many points, EFORMAT, EUNKNOWN and EIO where a point asks for
 * what is no member, platform or file. */
MSIM_MUST_CHECK
enum msim_status msim_app_sweep_run(struct msim_app_sweep_runs *r,
                                    const struct msim_suite *suite,
                                    const struct msim_app_sweep *sweep,
                                    const struct msim_app_sweep_how *how,
                                    struct msim_error *err);
void msim_app_sweep_runs_release(struct msim_app_sweep_runs *r);

#endif
