/*
 * plan/written/written_job.h - the described job that traces were written of.
 *
 * synth.json beside the traces has the model and the strategy as they were
 * given, and how the model was changed since. What measured jobs like it took
 * is known of them (plan/step, plan/memory), so that a prediction of the traces
 * has the answer of `plan` and `validate --rows` (predict/pipeline.h).
 */
#ifndef MSIM_PLAN_WRITTEN_WRITTEN_JOB_H
#define MSIM_PLAN_WRITTEN_WRITTEN_JOB_H
#include "plan/describe/describe.h"
#include "plan/describe/strategy.h"
#include "plan/memory/job_memory.h"
#include "plan/step/step_law.h"
#include "predict/pipeline.h"

/* ---- written change ------------------------------------------------------ */
/*
 * The described job that traces become by changes of them.
 *
 *     "hidden": 1536 on the traces of a model of width 768
 *                          the description with hidden 1536, MLPs and heads as
 *                          plan/describe/describe.h says
 *     "parallel": {"dp": 8}
 *                          its strategy on eight times as many GPUs
 *
 * Sizes of tensor parallel traces are shares: where each of 8 ranks has 6,400
 * rows of a table, 12,800 are a vocabulary of 102,400.
 */

#define MSIM_WRITTEN_NODE 8 /* GPUs, where no GPU is named yet */

/* What a file says of a job. */
struct msim_written_is {
    struct msim_described model;
    struct msim_strategy strategy; /* as given, not complete */
    uint64_t given;
};

/*
 * The job that the changes make of `job`, by which sizes of its model. `*is` is
 * false where no description says what they make: types, operators, buckets.
 * Then nothing is known of the changed job. ENOMEM, ELIMIT, and what counting
 * blocks of layers says.
 */
MSIM_MUST_CHECK
enum msim_status msim_written_change_make(struct msim_written_is *out,
                                          struct msim_job_model *sizes,
                                          bool *is,
                                          const struct msim_written_is *job,
                                          const struct msim_step_change *by,
                                          struct msim_error *err);

/* ---- written job --------------------------------------------------------- */

#define MSIM_WRITTEN_CHANGES 16

struct msim_written_job {
    struct msim_written_is is;
    char *file; /* of the model's file: JSON on one line */
    struct msim_job_model changes[MSIM_WRITTEN_CHANGES]; /* of that one */
    uint32_t n_changes;
    struct msim_step_fit fit;
    struct msim_memory_fit memory;
    struct msim_step_source source;
    uint32_t gpus_a_node; /* as given; 0: as the platform's servers have */
};

/*
 * The job of the folder `path`. `*is` is false where it holds no synth.json, or
 * one of an older version or of a DLRM, of which no job was measured; then
 * there is nothing to be released. `job` must not move while its `source` is
 * used. EFORMAT, ESYNTAX, EIO: what stands there cannot be read.
 */
MSIM_MUST_CHECK
enum msim_status msim_written_job_open(struct msim_written_job *job, bool *is,
                                       const char *path, const char *data_dir,
                                       struct msim_error *err);
void msim_written_job_release(struct msim_written_job *job);

/*
 * Where the settings name one folder of written traces, let them know it. `job`
 * must live, and stay where it is, as long as the settings are used; release it
 * in any case.
 */
struct msim_predict_settings; /* predict/inputs.h */
MSIM_MUST_CHECK
enum msim_status msim_written_job_let_know(struct msim_written_job *job,
                                           struct msim_predict_settings *s,
                                           const char *data_dir,
                                           struct msim_error *err);

struct msim_folder; /* core/base/files.h */
/*
 * Write the synth.json of what the changes `by` make of the traces, `files` of
 * them, into the folder; none where no description says what that is, or what
 * it is made by is too long. What msim_written_change_make() and
 * msim_synth_manifest() say.
 */
MSIM_MUST_CHECK
enum msim_status msim_written_job_write(const struct msim_written_job *job,
                                        struct msim_folder *folder,
                                        const struct msim_step_change *by,
                                        uint32_t files, struct msim_error *err);

#endif
