/*
 * predict/pipeline.h - a prediction from its settings to its figures.
 *
 * The stages, each of which needs the one before: load what has a name and the
 * traces, choose where durations come from, build the graph, estimate every
 * task, simulate with middle, short and long durations, read the figures off.
 *
 * Traces are loaded once and predicted from as often as wanted: for another GPU
 * make another target from the same inputs, for other factors or another
 * iteration predict again from the same basis.
 *
 *     struct msim_inputs in;
 *     struct msim_target to;
 *     struct msim_prediction_run run = {0};
 *
 *     status = msim_predict_load(&in, &to, &settings, err);
 *     if (status == MSIM_OK)
 *         status = msim_predict(&run, &settings, &in, &to, err);
 *     ... run.prediction ...
 *     msim_prediction_run_release(&run);
 *     msim_target_release(&to);
 *     msim_inputs_release(&in);
 *
 * Not thread-safe on shared inputs: a run takes memory from the job's arena.
 * Nothing is printed; warnings are in the prediction.
 */
#ifndef MSIM_PREDICT_PIPELINE_H
#define MSIM_PREDICT_PIPELINE_H
#include "core/report/analyse/outcome.h"
#include "predict/cost.h"
#include "predict/measured_step.h"
#include "predict/memory/fit_ways.h"
#include "predict/memory/rank_memory.h"
#include "predict/target.h"

struct msim_course; /* core/run/engine.h */

/*
 * What all scenarios of a job on one target share: its graph, and the durations
 * of tasks before `--scale`. Inputs and target must live as long.
 */
struct msim_basis {
    struct msim_launch_plan *
        *plans; /* one a rank; NULL entries: from its events */
    uint32_t n_ranks;
    struct msim_graph *graph;
    struct msim_task_groups *groups;  /* NULL: no selection names one */
    const struct msim_course *course; /* of it, the caller's; or NULL */
    bool borrows_graph; /* and groups: they are another basis's, which
                           lives as long */
    struct msim_costs *costs;
    const char **warnings; /* of the graph; texts are the job's */
    uint32_t n_warnings;
    struct msim_rank_memory memory;
    struct msim_step_factor factor; /* in costs and memory; 0: none is */
    bool borrows_memory;            /* likewise */
    struct msim_fit_ways ways;      /* none where the job fits */
};

/* One prediction and what it was read off. Do not copy: `outcome` points into
 * it. Inputs, target and basis must live as long. */
struct msim_prediction_run {
    const struct msim_basis *basis;
    struct msim_basis *own_basis;   /* the same, or NULL: the caller's */
    const struct msim_graph *graph; /* of the basis */
    const struct msim_costs *costs; /* of the basis, or the next */
    struct msim_costs *own_costs;   /* with `--scale`; NULL: without */
    bool exact; /* nothing deviates: low and high are the middle run */
    msim_ps *short_dur, *long_dur; /* one a task; the middle is the costs' */
    uint8_t
        *states; /* a copy of those of iterations that were given, or NULL */
    struct msim_times mid, low, high;
    const char *made_by_names[MSIM_COST_COUNT];
    const char *source_names[MSIM_SOURCE_COUNT];
    struct msim_outcome outcome;
    uint32_t iteration; /* index into graph->iterations, or UINT32_MAX: all */
    struct msim_prediction *prediction;
};

/*
 * Load names, then traces, then choose: what msim_predict() needs, and enough
 * for msim_explain(). Release both in any case; `in->job` is NULL where no
 * trace could be read.
 */
MSIM_MUST_CHECK
enum msim_status msim_predict_load(struct msim_inputs *in,
                                   struct msim_target *to,
                                   const struct msim_predict_settings *s,
                                   struct msim_error *err);

/* Build the graph and estimate every task. On success `*out` is owned by the
 * caller; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_basis_new(struct msim_basis **out,
                                const struct msim_predict_settings *s,
                                const struct msim_inputs *in,
                                const struct msim_target *to,
                                struct msim_error *err);
void msim_basis_free(struct msim_basis *b); /* accepts NULL */

/*
 * `--scale`, simulate, analyse: fills in `run`, whose `prediction` has the
 * warnings of the traces and of the basis. `states`: which iterations count
 * for the period (core/report/analyse/outcome.h), or NULL. EUSAGE where there
 * is no such iteration. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_predict_from(struct msim_prediction_run *run,
                                   const struct msim_basis *basis,
                                   const struct msim_predict_settings *s,
                                   const struct msim_inputs *in,
                                   const struct msim_target *to,
                                   const uint8_t *states,
                                   struct msim_error *err);

/* Both, on a basis of its own. */
MSIM_MUST_CHECK
enum msim_status msim_predict(struct msim_prediction_run *run,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to,
                              struct msim_error *err);
void msim_prediction_run_release(struct msim_prediction_run *run);

#endif
