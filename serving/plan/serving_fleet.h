/*
 * serving/plan/serving_fleet.h - one configuration of a plan of serving: how
 * many replicas of it keep the promises, and how late requests are then.
 *
 * Replicas share nothing, and a router that knows no loads (at random) gives
 * each its share of the requests: one replica under the N-th part of the rate
 * stands for all N. Of a Poisson stream that part is one again; of another it
 * has the squared coefficient of variation 1 + (cv^2 - 1) / N between requests
 * (a thinned renewal process: its first two moments). A router that knows loads
 * does no worse.
 *
 * Step times have an interval. A replica whose steps all take f times as long,
 * under the rate r, is the same run on a clock f times as slow: what a run
 * under r f takes, times f. So a promise at the end of the interval needs no
 * other engine.
 */
#ifndef MSIM_SERVING_PLAN_SERVING_FLEET_H
#define MSIM_SERVING_PLAN_SERVING_FLEET_H
#include "serving/llm/llm_setup.h"
#include "serving/plan/serving_spec.h"

struct msim_fleet_figure {
    double middle, low, high; /* 90 % */
};

/* So many replicas of one configuration. */
struct msim_fleet_point {
    uint32_t config;
    int64_t replicas; /* 0: none keeps the promises */
    double gpus;
    double load; /* share of what the replicas bear */
    /* What is promised at that percentile, one a promise, ms. */
    struct msim_fleet_figure promised[MSIM_SERVING_PROMISES];
    /* The largest of them over its limit: up to 1 all promises are kept. */
    struct msim_fleet_figure of_limit;
    double cost_per_hour, cost_per_1000, cost_per_million_tokens; /* NAN */
    double power_kw;                                              /* NAN */
    bool within_limits; /* of the spec: GPUs, cost */
    bool frontier;      /* none is cheaper and nearer to no time at all */
};

enum msim_fleet_kind {
    MSIM_FLEET_MIDDLE, /* the fewest that keep the promises as predicted */
    MSIM_FLEET_SURE,   /* ... where steps take as long as their interval says */
    MSIM_FLEET_ROOMY,  /* half as many again */
    MSIM_FLEET_KINDS
};

struct msim_served_fleet {
    char why[512]; /* no number of replicas keeps the promises; "": some does */
    bool fits;     /* the model its GPUs, and can be split so */
    double gpus;   /* of one replica */
    struct msim_llm_memory memory;     /* where it fits */
    double half;                       /* of the logarithm of step times */
    struct msim_fleet_figure capacity; /* of one replica, requests a second */
    struct msim_fleet_figure tokens;   /* ... output tokens a second */
    double alone_ms[MSIM_SERVING_PROMISES]; /* promised, of a lone request */
    double alone; /* the largest over its limit; NAN: does not fit */
    struct msim_fleet_point points[MSIM_FLEET_KINDS];
};

/* Simulate. What stands in the way of this configuration alone is `why`;
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_served_fleet_find(struct msim_served_fleet *f,
                                        const struct msim_serving_spec *s,
                                        uint32_t config, const char *data_dir);

#endif
