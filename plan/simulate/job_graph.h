/*
 * plan/simulate/job_graph.h - the graph of a described job, simulated, and what
 * a plan recommends.
 */
#ifndef MSIM_PLAN_SIMULATE_JOB_GRAPH_H
#define MSIM_PLAN_SIMULATE_JOB_GRAPH_H
#include "plan/describe/strategy.h"
#include "plan/search/plan.h"
#include "plan/search/spec.h"

/* ---- job graph ----------------------------------------------------------- */
/*
 * The graph of a described job, simulated.
 *
 * The traces that `synth` writes of a job (msim_synth_make()) stay in memory
 * here, are priced by models and run by the engine: what `predict` of the
 * folder calls what "the graph takes by itself", and holds by itself. It knows
 * no measured job; the step law (plan/step) does.
 *
 * Long steps repeat themselves, so that shorter ones tell what they take. Of n
 * micro batches and L layers a step takes, once pipelines are full,
 *
 *     T(n, L) = a + b n + c L + d n L
 *
 * and four graphs with fewer of both say what a, b, c, d are. The peak does
 * not grow with n then. Example: 80 layers and 128 micro batches on one stage
 * are graphs of 2 and 3 layers, each of 2 and 3 micro batches.
 *
 * Thread-safe.
 */

struct msim_job_graph_ask {
    const struct msim_described *model;
    const struct msim_strategy *strategy; /* complete */
    const char *data;                     /* the data folder */
    const char *platform;                 /* a name, or a file */
    const char *network; /* likewise; NULL or "": the platform's own */
    bool whole;          /* all layers and micro batches in one graph */
};

#define MSIM_JOB_GRAPH_WHY 256

struct msim_job_graph {
    bool known; /* else `why` says why it was not simulated */
    char why[MSIM_JOB_GRAPH_WHY];
    double us;       /* of a step, by itself */
    double peak;     /* bytes of the rank that needs most; NAN: not known */
    uint32_t graphs; /* that were simulated: 1, 2 or 4 */
};

/* What cannot be written as a trace, or is too long, is not known. ENOMEM,
 * EUNKNOWN of a name. */
MSIM_MUST_CHECK
enum msim_status msim_job_graph_find(struct msim_job_graph *out,
                                     const struct msim_job_graph_ask *ask,
                                     struct msim_error *err);

/* ---- plan simulate ------------------------------------------------------- */
/*
 * What a plan recommends, simulated.
 *
 * The law ranks thousands of points a millisecond; the few at the top are run
 * by the engine as well, as `synth` and `predict` would ("job graph").
 */

/* Fill in plan->simulated, on `threads` threads; nothing of a traced step,
 * whose points are simulations. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_plan_simulate(struct msim_plan *plan,
                                    const struct msim_spec *spec,
                                    const char *data_dir, uint32_t threads,
                                    struct msim_error *err);

#endif
