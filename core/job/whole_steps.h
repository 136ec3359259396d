/*
 * core/job/whole_steps.h - the steps of a job whose GPU work is recorded.
 */
#ifndef MSIM_CORE_JOB_WHOLE_STEPS_H
#define MSIM_CORE_JOB_WHOLE_STEPS_H
#include "core/job/job.h"

/*
 * Leave out the steps in which no rank began anything, and warn; unless all are
 * such. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_busy(struct msim_job *job);

/*
 * Leave out the steps in which more than one in twenty launches has no kernel
 * on some rank, or a graph's launch, and warn; unless no step is left on some
 * rank. What remains partial is noted (job->partial). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_whole(struct msim_job *job);

#endif
