/*
 * cli/session.h - one prediction from its options to its figures.
 *
 * The stages, each of which needs the one before: load the traces, choose
 * where durations come from, build the graph, estimate every task, simulate
 * with middle, low and high durations, read the figures off.
 */
#ifndef MSIM_CLI_SESSION_H
#define MSIM_CLI_SESSION_H
#include "cli/predict_options.h"
#include "core/report/analyse/outcome.h"
#include "predict/cost.h"

struct msim_session {
    const struct msim_predict_options *o;
    struct msim_job *job;
    struct msim_platform *platform;  /* NULL: as traced */
    struct msim_platform *source;    /* that was traced; NULL: not scaled */
    struct msim_job *source_job;     /* of --source-trace, or NULL */
    struct msim_ops *ops[2];         /* of --ops, for both jobs; or NULL */
    struct msim_correction *machine; /* learned from it, or NULL */
    struct msim_host *host;
    struct msim_network network; /* with a name: another than the platform's */
    uint32_t gpus_a_node;        /* 0: not said */
    struct msim_platform *links; /* of the network, where it was measured */
    const char *costs;           /* "measured", "scaled" or "model" */
    struct msim_plan **plans;    /* one a rank, NULL entries: from its events */
    struct msim_graph *graph;
    struct msim_costs *c;
    msim_ps *dur[2];          /* low and high scenario */
    struct msim_times run[3]; /* of middle, low and high */
    struct msim_outcome outcome;
    uint32_t iteration; /* index into graph->iterations, or UINT32_MAX: all */
    struct msim_prediction *prediction;
};

/*
 * Load and choose; enough for --explain. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_session_load(struct msim_session *s,
                                   const struct msim_predict_options *o,
                                   struct msim_error *err);

/* Build, estimate, simulate, analyse: fills `prediction` and `outcome`. */
MSIM_MUST_CHECK
enum msim_status msim_session_run(struct msim_session *s,
                                  struct msim_error *err);

/* Are the figures those of the traced run on the GPU that was traced? */
bool msim_session_replays(const struct msim_session *s);

/* GPUs of a node of the job that is predicted. */
uint32_t msim_session_gpus_a_node(const struct msim_session *s);

void msim_session_release(struct msim_session *s);

#endif
