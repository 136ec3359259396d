/*
 * models/estimate/whole_job.h - intervals of sums over the kernels of a whole
 * job.
 *
 * An estimate's own interval is that of one operator, as rows of tables judge
 * it. In a job all operators of a family also share a deviation, and all
 * kernels that of the machine (models/platform/job_spread.h). A prediction of a
 * job widens its estimates by the first, and its sums by the second.
 */
#ifndef MSIM_MODELS_ESTIMATE_WHOLE_JOB_H
#define MSIM_MODELS_ESTIMATE_WHOLE_JOB_H
#include "core/work/estimate.h"

struct msim_platform; /* models/platform/platform.h */

/* The 90 % interval, as factors from 1 on, of all kernels' time over the
 * prediction: up to `slower` times, and down to 1 / `faster`. */
struct msim_whole_job_machine {
    double slower, faster;
};

/* That of a machine with this GPU; where no file of spreads is, and on a CPU,
 * the data sheet's trace_factor both ways. */
struct msim_whole_job_machine
msim_whole_job_machine_of(const struct msim_platform *p);

/* Widen the estimate of an operator of a job by what its family shares there. A
 * time of a user's table stays. */
void msim_whole_job_widen(const struct msim_platform *p,
                          struct msim_estimate *e);

#endif
