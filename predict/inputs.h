/*
 * predict/inputs.h - the traces of a prediction, loaded once for any number of
 * targets and runs.
 */
#ifndef MSIM_PREDICT_INPUTS_H
#define MSIM_PREDICT_INPUTS_H
#include "core/rewrite/rewrite.h"
#include "core/work/opmap/opmap.h"
#include "core/work/opmap/ops_file.h"
#include "predict/settings.h"

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

#endif
