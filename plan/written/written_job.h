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
#include "plan/memory/peak_memory.h"
#include "plan/step/steps_file.h"
#include "plan/written/written_change.h"

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
