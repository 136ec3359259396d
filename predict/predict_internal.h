/*
 * predict/predict_internal.h - what the files of predict share; no other room
 * includes it.
 */
#ifndef MSIM_PREDICT_PREDICT_INTERNAL_H
#define MSIM_PREDICT_PREDICT_INTERNAL_H
#include "core/report/analyse/outcome.h"
#include "core/report/analyse/prediction.h"
#include "core/work/kernel/infer.h"
#include "models/estimate/model.h"
#include "predict/cost.h"
#include "predict/inputs.h"

/* ---- costing ------------------------------------------------------------- */
/* What the files that estimate durations share. */

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

/* ---- run usage ----------------------------------------------------------- */
/* What every GPU of a run does over time. */

/* Fill in `p->usage` of the outcome over one iteration (or UINT32_MAX: all):
 * core/report/usage/usage.h. Works are made again, since a basis keeps none. */
MSIM_MUST_CHECK
enum msim_status
msim_run_usage(struct msim_prediction *p, const struct msim_outcome *o,
               uint32_t iteration, const struct msim_predict_settings *s,
               const struct msim_inputs *in, const struct msim_target *to,
               struct msim_error *err);

/* ---- run warnings -------------------------------------------------------- */
/*
 * What a prediction's figures rest on that its reader should know: whose times
 * they are, at which clock, on which ranks, and what makes the traces doubtful.
 */

/* Add the warnings of a prediction over `g` to the job of the inputs. */
void msim_run_warnings_add(const struct msim_predict_settings *s,
                           const struct msim_inputs *in,
                           const struct msim_target *to,
                           const struct msim_graph *g);

/* Say which types the platform lacks and how their works are priced. */
void msim_warn_emulated(struct msim_job *job, const struct msim_platform *p,
                        const struct msim_costs *c);

/*
 * What a prediction keeps (core/guard/guard.h): its marks, and warnings of them
 * in `job`, unless that is NULL. An MFU above 1 is left out; it is a mark
 * unless convolutions explain it.
 */
void msim_run_guard(struct msim_job *job, const struct msim_graph *g,
                    const struct msim_costs *c, struct msim_prediction *p);

/* Add one for each operator whose estimate could not be true, the first
 * MSIM_COST_BOUNDED_MAX of them. */
void msim_run_warnings_bounded(struct msim_job *job,
                               const struct msim_costs *c);

/* ---- scenarios ----------------------------------------------------------- */
/*
 * The durations of a short and of a long run, whose results are the 90 %
 * interval of the prediction.
 *
 * In a scenario all tasks deviate at once. Deviations of one family go
 * together, those of different families do not, and the whole GPU deviates by
 * itself; so the deviation of a sum is less than the sum of the deviations:
 *
 *     share = root of the sum of squares / sum    over families and the GPU
 *     duration = middle + share * (deviation of its family + of the GPU)
 *
 * Where measured jobs tell how long the whole step may take (costs.step), all
 * tasks deviate as the step does.
 *
 * Example: two families of 30 and 40 us beyond the middle are together
 * sqrt(30^2 + 40^2) = 50 us long, not 70: each task deviates by 5/7 of its own.
 */

/*
 * The durations of the tasks of `g` in the long (`high`) or the short scenario.
 * On success the caller frees `*out`; on failure (ENOMEM) it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_scenario_durations(msim_ps **out,
                                         const struct msim_graph *g,
                                         const struct msim_costs *c, bool high);

/*
 * What waits that no trace explains are multiplied by in that scenario, on
 * another GPU than the trace's: those for absent ranks and delays without a
 * cause. In the middle they are as traced. Whoever is waited for works on a GPU
 * of the same kind, or on a host that has not changed. So a wait may go with
 * the GPU's work (kernels and copies), or grow by all that this rank saves:
 *
 *     short: min(1, work / traced)
 *     long:  max(1, work / traced, 1 + work saved / waits)
 *
 * `stretch`: one a kind of edge, as msim_scenario has it.
 */
void msim_scenario_stretch(double *stretch, const struct msim_graph *g,
                           const struct msim_costs *c, bool high);

#endif
