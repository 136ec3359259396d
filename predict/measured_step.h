/*
 * predict/measured_step.h - what measured jobs take, of traces that describe a
 * job and were never run.
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
#ifndef MSIM_PREDICT_MEASURED_STEP_H
#define MSIM_PREDICT_MEASURED_STEP_H
#include "predict/cost.h"
#include "predict/inputs.h"
#include "predict/memory/rank_memory.h"
#include "predict/target.h"

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

#endif
