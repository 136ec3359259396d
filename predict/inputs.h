/*
 * predict/inputs.h - what a prediction is made of: settings, the files they
 * name, and the target.
 */
#ifndef MSIM_PREDICT_INPUTS_H
#define MSIM_PREDICT_INPUTS_H
#include "core/graph/graph.h"
#include "core/job/job.h"
#include "core/reshape/reshape.h"
#include "core/rewrite/rewrite.h"
#include "core/run/scale.h"
#include "core/trace/trace_steps.h"
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/ops_file.h"
#include "models/host/host.h"
#include "models/platform/platform.h"
#include "models/platform/sm_clock.h"
#include "predict/learn/learn.h"

/* ---- settings ------------------------------------------------------------ */
/*
 * What was chosen for a prediction: which traces, what is predicted for, and
 * how.
 *
 * A plain record that its reader fills in; whoever offers a command line parses
 * it into one. Nothing here is owned: what is pointed to must live as long as
 * what was made with the settings. `{0}` with `data`, `paths`, `n_paths`,
 * `peers` and `iteration` set is a prediction with every default.
 */

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
struct msim_step_source; /* predict/pipeline.h */

struct msim_predict_settings {
    const char *data; /* the folder that holds platforms/, hosts/, networks/ */
    struct msim_shelf *shelf; /* "shelf", of many runs; NULL: none */

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

/* ---- inputs -------------------------------------------------------------- */
/*
 * The traces of a prediction, loaded once for any number of targets and runs.
 */

/* What the traces of a job were made of: those of another, changed so. */
struct msim_origin {
    struct msim_trace *const *ranks;
    struct msim_reshape reshape;
    struct msim_rewrite rewrite;
};

struct msim_inputs {
    struct msim_job *job;         /* NULL: not loaded */
    struct msim_job *source_job;  /* of settings.source_trace, or NULL */
    struct msim_ops *ops[2];      /* of settings.ops, for both; or NULL */
    struct msim_trace **captured; /* by rank: a capture of a CPU whose form on a
                                     GPU stands in the job; NULL: none */
    const struct msim_origin *origin; /* of the job's traces; NULL: they were
                                         read */
};

/*
 * Load the traces, and the user's table of operators for them. On failure `err`
 * says which file and why. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_inputs_load(struct msim_inputs *in,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err);
void msim_inputs_release(struct msim_inputs *in);

/* Memory of the smallest GPU that a rank ran on: what reads or writes more was
 * misread. Without a GPU the recording says what somebody asks for: INFINITY;
 * of one that the trace does not know nothing is known: 0. */
double msim_inputs_memory(const struct msim_inputs *in);

/* Does what is asked of a device need the memory that the traced run needed? */
bool msim_inputs_as_traced(const struct msim_inputs *in,
                           const struct msim_predict_settings *s);

/*
 * The index of the iteration that the settings ask for, or UINT32_MAX: all. A
 * number is the one that the files mark; where they mark none such it counts
 * the iterations from 0. EUSAGE where there is no such iteration, or where
 * that of the number was left out of the run: the error says why.
 */
struct msim_graph;
MSIM_MUST_CHECK
enum msim_status msim_iteration_find(uint32_t *index,
                                     const struct msim_predict_settings *s,
                                     const struct msim_job *job,
                                     const struct msim_graph *g,
                                     struct msim_error *err);

/*
 * Let the job be what a GPU runs (core/rewrite/gpu_form.c), or, without
 * `gpu_form`, what was captured, which is what a target is chosen by. ENOMEM,
 * ELIMIT.
 */
MSIM_MUST_CHECK
enum msim_status msim_inputs_place(struct msim_inputs *in, bool gpu_form);

/* Is `in` what was captured, some of which has another form on a GPU? */
bool msim_inputs_are_captured(const struct msim_inputs *in);

/* The inputs `in` as a GPU runs them, in a job of their own, `job`; all else is
 * that of `in`, which stays as it is and must outlive them. Release in any
 * case. ENOMEM, ELIMIT. */
MSIM_MUST_CHECK
enum msim_status msim_inputs_formed(struct msim_inputs *out,
                                    struct msim_job *job,
                                    const struct msim_inputs *in);
void msim_inputs_formed_release(struct msim_inputs *formed);

/*
 * What the operators of a job ask of a device, each array one a rank: plans,
 * durations and memory read it.
 */
struct msim_asked {
    struct msim_trace **views;        /* as reshaped; NULL: nothing is */
    struct msim_works **works;        /* of the views, else of the traces */
    struct msim_works **works_traced; /* those that took the traced times; NULL:
                                         `works`, nothing is reshaped */
    uint32_t n;
};

/* The views alone; then the works, of a CPU (`on_cpu`) or a GPU. EUSAGE where
 * no trace has what is reshaped; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_asked_views(struct msim_asked *out,
                                  const struct msim_inputs *in,
                                  const struct msim_reshape *reshape,
                                  struct msim_error *err);
MSIM_MUST_CHECK
enum msim_status msim_asked_works(struct msim_asked *a,
                                  const struct msim_inputs *in, bool on_cpu);
/* The traces as they are asked: the views, or the job's own. */
struct msim_trace *const *msim_asked_ranks(const struct msim_asked *a,
                                           const struct msim_inputs *in);
void msim_asked_drop_works(struct msim_asked *a);
void msim_asked_release(struct msim_asked *a);

/* ---- target -------------------------------------------------------------- */
/*
 * What is predicted for: GPU, host and network, and where durations come from.
 *
 * A target is made in two steps. What has a name is loaded first, so that a
 * mistyped one is found before a trace is read, which may take long. Then the
 * traces decide what the settings leave open:
 *
 *     costs        auto: measured where source and target are the same GPU at
 *                  the same clock, scaled where the traces have times and say
 *                  of which GPU, else model
 *     platform     the GPU that the traces name
 *     source       the GPU that the traces name; where it is not known, the
 *                  nearest by what they record of it
 *     SM clock     that at which the machine of another trace seems to run
 */

struct msim_target {
    enum msim_cost_mode costs; /* AUTO until it is chosen */
    const char *traced; /* platform of the GPU that all traces (or those whose
                           times are scaled) name, or NULL */
    struct msim_platform *platform;   /* NULL: as traced */
    struct msim_platform *source;     /* that was traced; NULL: not scaled */
    const struct msim_trace *unknown; /* whose GPU is not known: `source` is the
                                         nearest to it; else NULL */
    struct msim_correction *correction; /* learned from settings.source_trace,
                                           or NULL */
    bool shares_correction;             /* it is the shelf's */
    struct msim_host *host;
    struct msim_network network; /* with a name: another than the platform's */
    struct msim_platform *links; /* of the network, where it was measured */
    uint32_t gpus_a_node;        /* of the job that is predicted */
    bool reshaped; /* operators are given other sizes or types than traced */
};

/*
 * Load the host, the network and the platforms that the settings name. On
 * failure `err` says which and what is known. Release in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_target_load(struct msim_target *t,
                                  const struct msim_predict_settings *s,
                                  struct msim_error *err);

/*
 * Choose what the settings leave open, by what the traces hold; once, on a
 * target that is loaded. EUSAGE or EFORMAT where the settings ask for what the
 * traces do not have.
 */
MSIM_MUST_CHECK
enum msim_status msim_target_choose(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    const struct msim_inputs *in,
                                    struct msim_error *err);

/* The same where the job may have another form already: a target is chosen by
 * what was captured, and then the job has the form that it runs there. */
MSIM_MUST_CHECK
enum msim_status msim_target_settle(struct msim_target *t,
                                    const struct msim_predict_settings *s,
                                    struct msim_inputs *in,
                                    struct msim_error *err);
void msim_target_release(struct msim_target *t);

/* Is a GPU time of the job itself read? Not under model costs, nor where the
 * times of another trace correct the models. */
bool msim_target_reads_gpu_times(const struct msim_target *t);

/* Are the durations those of the traced run on the GPU that was traced? */
bool msim_target_replays(const struct msim_target *t);

/* Is the target a CPU, which computes what a GPU would be sent? */
bool msim_target_is_host(const struct msim_target *t);
/* Are both on one host? Hosts of two GPUs can be of other years. */
bool msim_target_is_one_host(const struct msim_target *a,
                             const struct msim_target *b);
/* Whether a capture of a CPU is predicted for a GPU, from models. */
bool msim_target_forms_gpu(const struct msim_target *t);

/* Do the GPU tasks of this rank come from a plan of what its operators launch,
 * since its trace has none? */
bool msim_target_plans(const struct msim_target *t,
                       const struct msim_trace *rank);

/* Do the traces of all ranks hold times? */
bool msim_all_have_times(const struct msim_job *job);

/* Likewise times of GPU activities: one recorded on a CPU has times, too. */
bool msim_all_have_gpu_times(const struct msim_job *job);

/* ---- shelf --------------------------------------------------------------- */
/*
 * What many runs of one job need, made once: platforms, which of them was
 * traced, and what the job's own times teach of its GPU.
 */

/* Zero it at the start, and let `job` be the one whose correction is kept
 * (NULL: none). Not thread-safe. */
struct msim_shelf {
    struct msim_shelf_entry *platforms;
    uint32_t n_platforms, cap_platforms;
    const struct msim_job *job;
    struct msim_correction *correction; /* by the first source that asked */
    const struct msim_job *traced_job;  /* whose platform `traced` is; NULL */
    const char *traced;
};

/*
 * As msim_platform_load(), but read only the first time that the shelf is asked
 * for the name. What is taken is the caller's, to set and to free, while the
 * shelf lives. `s` NULL: it is loaded.
 */
MSIM_MUST_CHECK
enum msim_status msim_shelf_platform(struct msim_shelf *s,
                                     struct msim_platform **out,
                                     const char *data_dir, const char *name,
                                     struct msim_error *err);

/*
 * As msim_correction_new(), or the one that is kept of this job and platform,
 * which stays the shelf's: then `*is_kept` is true. `s` may be NULL. All calls
 * with one shelf have the same table `user`.
 */
MSIM_MUST_CHECK
enum msim_status
msim_shelf_correction(struct msim_shelf *s, struct msim_correction **out,
                      bool *is_kept, const struct msim_job *job,
                      const struct msim_ops *user, struct msim_platform *p,
                      struct msim_error *err);

/*
 * The name of the platform in `data_dir` that every rank of `job` ran on, NULL
 * where that is not one or not known; the shelf remembers that of one job. `s`
 * may be NULL. The text is the job's.
 */
const char *msim_shelf_traced(struct msim_shelf *s, struct msim_job *job,
                              const char *data_dir);

void msim_shelf_release(struct msim_shelf *s);

#endif
