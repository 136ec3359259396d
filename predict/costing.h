/*
 * predict/costing.h - what the files that estimate durations share. Private to
 * predict/cost*.c.
 */
#ifndef MSIM_PREDICT_COSTING_H
#define MSIM_PREDICT_COSTING_H
#include "core/work/kernel/infer.h"
#include "models/estimate/model.h"
#include "predict/cost.h"

/* An operator's estimate and what it computes. */
struct msim_demand_estimate {
    struct msim_estimate e;
    double flops;
    struct msim_limits limits;
};

struct msim_costing {
    struct msim_costs *c;
    const struct msim_graph *g;
    const struct msim_cost_options *opt;
    struct msim_error *err;
    struct msim_estimate_cache cache;        /* on the platform */
    struct msim_estimate_cache cache_source; /* on the one that was traced */
    struct msim_infer infer; /* of the rank at hand; t NULL: not yet */
    uint32_t *task_of;       /* of each GPU event of the rank at hand */
    uint32_t rank;
    bool alone; /* msim_costs_alone() */
};

/* A share of limits. */
struct msim_limits msim_limits_share(const struct msim_limits *l, double share);
/* Microseconds as picoseconds, at least 0. */
msim_ps msim_costing_ps(double us);
/* A duration times a factor. */
msim_ps msim_costing_times(msim_ps ps, double factor);
/* Set the duration of a task: `share` of an estimate. */
void msim_costing_set(struct msim_costing *k, uint32_t task,
                      const struct msim_demand_estimate *d, double share);
/* Add `e` to `sum`, whose family and source become those of the largest
 * part. */
void msim_costing_add(struct msim_estimate *sum, const struct msim_estimate *e);

/* GPU tasks of rank `k->rank`, whose GPU events are in the trace. */
MSIM_MUST_CHECK
enum msim_status msim_cost_rank(struct msim_costing *k);
/* A task of a planned rank: one work of one operator. */
MSIM_MUST_CHECK
enum msim_status msim_cost_planned(struct msim_costing *k, uint32_t task);

/* Apply all of `--scale`. */
MSIM_MUST_CHECK
enum msim_status msim_cost_scale(struct msim_costs *c,
                                 const struct msim_graph *g,
                                 const struct msim_scale *scales, uint32_t n);

/* The work as it is priced: sizes that somebody asked for, or that the traced
 * GPU has room for, were not misread. */
struct msim_work msim_costing_work(const struct msim_costing *k,
                                   const struct msim_work *w);

#endif
