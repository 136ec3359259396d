/*
 * predict/pipeline.h - from settings to a finished prediction.
 */
#ifndef MSIM_PREDICT_PIPELINE_H
#define MSIM_PREDICT_PIPELINE_H
#include "core/report/analyse/outcome.h"
#include "core/report/analyse/prediction.h"
#include "predict/cost.h"
#include "predict/inputs.h"
#include "predict/memory/rank_memory.h"

#include <stdio.h>

/* ---- describe run -------------------------------------------------------- */
/*
 * The texts that a prediction has from its settings and its target: GPU, host,
 * clock, links, network.
 */

/* Into `p`, in its arena. `planned`: the first rank has a launch plan, so that
 * its host is modelled. */
void msim_run_describe(struct msim_prediction *p,
                       const struct msim_predict_settings *s,
                       const struct msim_inputs *in,
                       const struct msim_target *to, bool planned);

/*
 * Take the measured figures out of a prediction. Model costs read no GPU time,
 * and a report under them holds none either: the same shapes give the same
 * bytes. (A step's own mark is host time, which stays: `marked`.) What was
 * scaled to another GPU was not measured there.
 */
void msim_run_drop_measured(struct msim_prediction *p, bool marked);

/* ---- explain ------------------------------------------------------------- */
/*
 * How the time of one operator comes about: which law, which inputs, which
 * rows.
 */

/*
 * Write to `out` the estimate of every distinct call of operator `op` on the
 * first rank, in the order of their first calls, as text or JSON (schema
 * mystique-sim/explanation/1). EUSAGE without a platform; EUNKNOWN where no
 * operator has this name, or where it launches nothing.
 */
MSIM_MUST_CHECK
enum msim_status msim_explain(const char *op,
                              const struct msim_predict_settings *s,
                              const struct msim_inputs *in,
                              const struct msim_target *to, bool json,
                              FILE *out, struct msim_error *err);

/* ---- measured step ------------------------------------------------------- */
/*
 * What measured jobs take, of traces that describe a job and were never run.
 *
 * The walk of a graph takes what its operators take with nothing else on the
 * machine. Of a described job more is known: measured jobs like it took so long
 * and held so much (plan/step, plan/memory). So of a described job there is one
 * answer: every duration of its walk is multiplied by one factor, and its
 * memory by another, such that the step and the peak are those that `plan`,
 * `validate --rows` and `whatif` of the description have. Where time goes, and
 * what a change does, are the walk's.
 *
 * A changed job is asked for as the job that the changes make of the described
 * one, so that it has the answer of traces that are written of that. Where no
 * description says what they make, and on another host or other numbers of
 * nodes or ranks, which measured jobs do not tell apart, it keeps the factors
 * of the described one.
 */

/* One step and the peak of the rank that needs most, with 90 % intervals. */
struct msim_measured_step {
    double us, low_us, high_us;
    double peak, low_peak, high_peak; /* bytes; 0: not known */
};

struct msim_step_factor {
    double us;        /* of every duration; 0: nothing is described */
    double low, high; /* of the step's interval, from it */
    double peak;      /* of memory; 0: not known */
    double low_peak, high_peak;
    double walk_us; /* the step without; 0: kept of the described job */
};

/* What is done to traces: other sizes, another way to train. */
struct msim_step_change {
    struct msim_trace *const *ranks; /* before it */
    struct msim_strtab *strings;
    const struct msim_reshape *reshape;
    const struct msim_rewrite *rewrite;
};

#define MSIM_STEP_FACTORS 8 /* GPUs of one question that are remembered */

/* Who knows of described jobs. `own` is handed to `ask`. */
struct msim_step_source {
    void *own;
    uint32_t ranks; /* of the job: the traced ones stand for all */
    uint32_t files; /* that were written; 0: not known */
    /* The job on that GPU, changed so; NULL: as it is. `out->us` 0: nothing is
     * known of it. Fails where the GPU cannot run it, as the description says;
     * ENOMEM, ELIMIT. */
    enum msim_status (*ask)(struct msim_measured_step *out, void *own,
                            const struct msim_step_change *change,
                            const struct msim_platform *on,
                            struct msim_error *err);
    /* Private: by GPU, the first that was asked for first. */
    struct {
        char platform[96];
        struct msim_step_factor is;
    } known[MSIM_STEP_FACTORS];
    uint32_t n_known;
};

/* Must the described job be asked for on this GPU before the one at hand? */
bool msim_step_wants_described(const struct msim_predict_settings *s,
                               const struct msim_inputs *in,
                               const struct msim_target *to);

/*
 * The factors of a job on its target, from its graph, costs and memory as they
 * are without them; all 0 where the settings have no source, or the target does
 * not price all work by models. Of a changed job they are those of the
 * described one on that GPU, which somebody must have asked for before; else on
 * another. A factor that no job explains is none, with a warning of the job.
 * ENOMEM, and what the source says of a GPU that cannot run it.
 */
MSIM_MUST_CHECK
enum msim_status msim_step_factor_find(
    struct msim_step_factor *out, const struct msim_predict_settings *s,
    const struct msim_inputs *in, const struct msim_target *to,
    const struct msim_graph *g, const struct msim_costs *c,
    const struct msim_rank_memory *m, struct msim_error *err);

/* What the graph takes by itself: the longest iteration of any rank, in the
 * middle run; us. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_graph_walk(double *us, const struct msim_graph *g,
                                 const struct msim_costs *c,
                                 struct msim_error *err);

/* Multiply durations, and memory. */
void msim_step_factor_apply(const struct msim_step_factor *f,
                            const struct msim_graph *g, struct msim_costs *c,
                            struct msim_rank_memory *m);

/* What ranks of `in` hold, of a described job that somebody asked for before,
 * or of one that is changed: by its factor of memory. As above. */
MSIM_MUST_CHECK
enum msim_status msim_step_factor_memory(const struct msim_predict_settings *s,
                                         const struct msim_inputs *in,
                                         const struct msim_platform *on,
                                         struct msim_rank_memory *m,
                                         struct msim_error *err);

/* ---- pipeline ------------------------------------------------------------ */
/*
 * A prediction from its settings to its figures.
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
