/*
 * predict/cost.h - a duration, with its interval, for every task of a graph.
 *
 * GPU work comes from the trace (measured), from a platform's models by shapes
 * alone (model), or from both (scaled): the trace's times, multiplied by the
 * ratio of the models of two GPUs. Host work comes from the trace, or from a
 * host file. The two are chosen apart. Model costs read names, launch
 * configurations and order of GPU activities, never their times.
 */
#ifndef MSIM_PREDICT_COST_H
#define MSIM_PREDICT_COST_H
#include "core/report/analyse/outcome.h"
#include "core/run/engine.h"
#include "core/run/scale.h"
#include "core/trace/trace_steps.h"
#include "core/work/opmap/opmap.h"
#include "models/estimate/model.h"
#include "models/host/host.h"
#include "models/platform/platform.h"
#include "predict/groups/task_groups.h"
#include "predict/learn/learn.h"

struct msim_cost_options {
    const struct msim_platform *platform;   /* NULL: as traced */
    struct msim_works *const *works;        /* one a rank; not read as traced */
    struct msim_works *const *works_traced; /* those that took the traced times,
                                               operator by operator; NULL:
                                               `works`, nothing is reshaped */
    const struct msim_platform *source;     /* scaled: the trace's own GPU times
                                               are those of this GPU; NULL: they
                                               are not read under a platform */
    const struct msim_correction *correction; /* of the models, from
                                                 another trace; NULL: none */
    bool recorded; /* the job is made of operators of that trace: those whose
                      works stayed take what they took there */
    const struct msim_host *host; /* never NULL: for what the trace
                                     does not have */
    bool host_modelled;     /* use `host` also where the trace has times */
    bool asked;             /* somebody wants these sizes: none is misread */
    double recorded_memory; /* bytes of the GPU that was traced: what it has
                               room for was not misread, either; 0: unknown */
    bool strict;            /* a work without a model is an error */
    uint32_t ranks;         /* of the job, of which those in the graph stand for
                               all; 0: there are no others */
    uint32_t gpus_a_node;   /* 0: MSIM_GPUS_A_NODE */
    const struct msim_task_groups *groups; /* NULL: no selection names one */
    const struct msim_scale *scales;
    uint32_t n_scales;
};

/* What made a task's duration: a family, or one of these. */
#define MSIM_COST_TRACED ((uint8_t)MSIM_FAMILY_COUNT)       /* as measured */
#define MSIM_COST_HOST   ((uint8_t)(MSIM_FAMILY_COUNT + 1)) /* host model */
/* by the kernel's class */
#define MSIM_COST_CLASS ((uint8_t)(MSIM_FAMILY_COUNT + 2))
#define MSIM_COST_COUNT (MSIM_FAMILY_COUNT + 3)

#define MSIM_COST_BOUNDED_MAX 8

struct msim_costs {
    msim_ps *mid, *low, *high;  /* one a task */
    uint8_t *removed;           /* scaled by 0, or not chosen (msim_scenario) */
    uint8_t *source;            /* msim_source */
    uint8_t *made_by;           /* msim_family or MSIM_COST_* */
    float *flops;               /* of GPU tasks, 0 elsewhere */
    struct msim_limits *limits; /* likewise, by the data sheet */
    double bandwidth;           /* of its device memory, bytes/s; NAN: none */
    uint32_t emulated; /* bits of enum msim_emulation: types that the platform
                          lacks */
    const struct msim_task_groups *groups; /* not its own; NULL: not known */
    /* Of all kernels together, on top of low..high; 1 and 1: as traced. */
    struct msim_whole_job_machine machine;
    /* Where measured jobs tell what a step takes (predict/pipeline.h):
     * what all durations were multiplied by, and the step's interval as
     * factors; 0: they do not. */
    struct msim_step_scale {
        double factor, low, high;
    } step;
    msim_ps lag[MSIM_EDGE_KINDS]; /* for msim_scenario */
    msim_guard_marks marks;       /* MEMORY: a work needs more than there is */
    /* Operators, or kernels without one, whose estimates could not be true
     * (models/estimate/plausible.c); `n_bounded` counts those that are not
     * listed, too. */
    struct msim_cost_bounded {
        const char *name;
        enum msim_bounded why;
        uint32_t times;
    } bounded[MSIM_COST_BOUNDED_MAX];
    uint32_t n_bounded;
    /* Transfers of which no rank records the size, and the first of them. */
    uint32_t n_unsized;
    const char *unsized;
};

/* Is the job one rank of which no GPU activity is recorded? Such a trace says
 * what a program computes, and the prediction is that of the program by itself
 * (models/estimate/model.h). */
bool msim_costs_alone(const struct msim_graph *g);

/* On success `*out` is owned by the caller; on failure it is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_costs_new(struct msim_costs **out,
                                const struct msim_graph *g,
                                const struct msim_cost_options *opt,
                                struct msim_error *err);
/* How many tasks a selection has. Names of operators match in full or as
 * reports show them. The costs must know groups where the selection names
 * one. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_scale_count(uint32_t *n, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g);
/* The family of the GPU work of a task, as --scale sees it; NO_GROUP for
 * others, and where groups are not known. */
uint8_t msim_costs_family(const struct msim_costs *c, uint32_t task);

/* How long all of a selection takes in all iterations, on all ranks; the same
 * of each rank, `by_rank[i]`. */
MSIM_MUST_CHECK
enum msim_status msim_scale_time(msim_ps *time, const struct msim_scale *s,
                                 const struct msim_costs *c,
                                 const struct msim_graph *g);
MSIM_MUST_CHECK
enum msim_status msim_scale_times(msim_ps *by_rank, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g);

/* One byte a task, 1: it is selected. On success the caller frees `*marks`;
 * ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_scale_marks(uint8_t **marks, const struct msim_scale *s,
                                  const struct msim_costs *c,
                                  const struct msim_graph *g);

/* One more work, as the GPU runs it: a type that it lacks is emulated. */
void msim_limits_add(struct msim_limits *sum, const struct msim_platform *p,
                     const struct msim_work *w);

/* The duration of a task that an overlay inserts. */
struct msim_cost_added {
    msim_ps mid, low, high;
    uint8_t source, made_by;
    float flops;
    struct msim_limits limits;
};

/*
 * The costs of a graph of `n` tasks that an overlay makes of one of `n_base`
 * tasks: `from` as msim_graph_overlaid() gives it, `added` of inserted tasks.
 * On success `*out` is owned by the caller; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_costs_overlaid(struct msim_costs **out,
                                     const struct msim_costs *base,
                                     uint32_t n_base,
                                     const struct msim_cost_added *added,
                                     const uint32_t *from, uint32_t n);
/* Collectives whose transfers are removed are waited for no more. */
void msim_cost_take_out_joins(struct msim_costs *c, const struct msim_graph *g);

/*
 * A copy of the costs of `g` with durations multiplied by `scales`, in their
 * order. On success `*out` is owned by the caller; ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_costs_scaled(struct msim_costs **out,
                                   const struct msim_costs *base,
                                   const struct msim_graph *g,
                                   const struct msim_scale *scales,
                                   uint32_t n_scales);

/*
 * Remove from the costs of `g` what is not chosen. Activities of a GPU are of
 * the kind that reports count them as; the host's time is of its operator's
 * kind, and where a stretch has several operators it is theirs in equal parts.
 * ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_costs_choose(struct msim_costs *c,
                                   const struct msim_graph *g,
                                   const struct msim_choice *choice);
/* How many tasks are chosen. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_choice_count(uint32_t *n,
                                   const struct msim_choice *choice,
                                   const struct msim_graph *g);
void msim_costs_free(struct msim_costs *c); /* accepts NULL */

/* The word for `made_by` in reports. */
const char *msim_costs_text(uint8_t made_by);

/*
 * What a rank without GPU events launches, or, with `on_host`, what its host
 * computes itself, by the works of its operators. `*out` is owned by the
 * caller; release with msim_launch_plan_free(). EFORMAT, which names `path`,
 * where no operator has shapes: a device that does nothing is no answer.
 */
MSIM_MUST_CHECK
enum msim_status msim_launch_plan_new(struct msim_launch_plan **out,
                                      const struct msim_works *works,
                                      bool on_host, const char *path,
                                      struct msim_error *err);
void msim_launch_plan_free(struct msim_launch_plan *p); /* accepts NULL */

#endif
