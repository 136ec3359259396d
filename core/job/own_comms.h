/*
 * core/job/own_comms.h - kernels that a user's patterns name as communication.
 */
#ifndef MSIM_CORE_JOB_OWN_COMMS_H
#define MSIM_CORE_JOB_OWN_COMMS_H
#include "core/job/job.h"

/*
 * Count as communication the kernels of all ranks whose names match a pattern
 * of `opt` (`*`, `?`, `[...]` as in a shell). What waits in them cannot be told
 * from what they transfer. A pattern that matches no kernel is a warning of the
 * job.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_own_comms(struct msim_job *job,
                                    const struct msim_load_options *opt);

#endif
