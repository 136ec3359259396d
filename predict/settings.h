/*
 * predict/settings.h - what was chosen for a prediction: which traces, what is
 * predicted for, and how.
 *
 * A plain record that its reader fills in; whoever offers a command line parses
 * it into one. Nothing here is owned: what is pointed to must live as long as
 * what was made with the settings. `{0}` with `data`, `paths`, `n_paths`,
 * `peers` and `iteration` set is a prediction with every default.
 */
#ifndef MSIM_PREDICT_SETTINGS_H
#define MSIM_PREDICT_SETTINGS_H
#include "core/graph/graph.h"
#include "core/job/job.h"
#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "core/run/scale.h"
#include "core/trace/trace_steps.h"
#include "models/platform/sm_clock.h"

/* Where durations of GPU work come from. */
enum msim_cost_mode {
    MSIM_COSTS_AUTO,     /* the best of the others that traces and platform
                            allow; never what a target was made with */
    MSIM_COSTS_MEASURED, /* the trace's own times */
    MSIM_COSTS_MODEL,    /* the platform's models, from shapes or launches */
    MSIM_COSTS_SCALED,   /* the trace's times, carried to the platform */
};

/* "auto", "measured", "model" or "scaled". */
const char *msim_cost_mode_text(enum msim_cost_mode mode);

#define MSIM_ITERATION_ALL (-1)

struct msim_shelf;
struct msim_step_source; /* predict/measured_step.h */

struct msim_predict_settings {
    const char *data; /* the folder that holds platforms/, hosts/, networks/ */
    struct msim_shelf *shelf; /* predict/shelf.h, of many runs; NULL: none */

    /* The inputs. */
    const char *const *paths; /* traces and directories of one job */
    uint32_t n_paths;
    const struct msim_job_text *texts; /* the traces of one job, in memory, that
                                          the one path names; NULL: the paths
                                          are read */
    uint32_t n_texts;
    const char *source_trace; /* whose times are scaled; NULL: the job's */
    const char *ops;          /* the user's table of operators; NULL: none */
    struct msim_load_options load;
    struct msim_step_source *described; /* what is known of a job that the
                                           traces describe; NULL: they were
                                           recorded */

    /* The target. */
    const char *platform;        /* name or file; NULL: from the trace */
    const char *source_platform; /* that the trace ran on; NULL: likewise */
    const char *host; /* name or file; NULL: the trace's own, else generic */
    const char *host_gpu; /* the GPU that a host without recorded times is as
                             old as; NULL: the platform. Where GPUs are
                             compared, all have one host */
    const char *network;  /* name or file; NULL: the platform's own */
    enum msim_cost_mode costs;
    struct msim_clock_wish clock;
    double index_skew; /* of look-ups into tables; 0: uniform */
    uint32_t ranks;    /* that the traced ones stand for; 0: themselves */
    uint32_t nodes;    /* that the job is spread over; 0: as many as it needs */
    uint32_t gpus_a_node; /* linked without a network; 0: as the platform's
                             servers (described jobs), or MSIM_GPUS_A_NODE */
    struct msim_reshape reshape; /* of what operators are given; {0}: nothing */
    struct msim_rewrite rewrite; /* of what training does, after that; {0}:
                                    nothing. Scenarios alone read it */

    /* The run. */
    const struct msim_scale *scales; /* applied in this order */
    uint32_t n_scales;
    bool groups; /* later runs from the same basis may select by family, link
                    or part of the host */
    bool shapes; /* operators by shape are asked for, too */
    struct msim_choice choice; /* of work that takes time; {0}: all of it */
    enum msim_peers peers;     /* FIXED or FOLLOW; of measured costs alone */
    int64_t iteration; /* n of ProfilerStep#n or an index, or ITERATION_ALL */
    bool strict;       /* work without a model is an error */
    bool totals_only;  /* no causes, path, kernels, operators: many scenarios */
    bool kernels;      /* but kernels by name */
    bool usage;        /* what every GPU does over time */
};

#endif
