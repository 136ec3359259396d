/*
 * models/estimate/whole_job.h - intervals of sums over the kernels of a whole
 * job.
 *
 * An estimate's own interval is that of one operator, as rows of tables judge
 * it. What whole jobs deviate by was seen on two kinds of them.
 *
 * A job that was traced on GPUs ran with all that goes with that: input, other
 * streams and ranks, a machine that may be throttled. All operators of a family
 * share a deviation there, and all kernels that of the machine
 * (models/platform/job_spread.h): a prediction widens its estimates by the
 * first, and its sums by the second.
 *
 * A program that runs alone on one GPU, again and again, is what an execution
 * trace without GPU activities describes. Its estimates have the intervals that
 * whole programs had by kind of work, and its sums what all kernels of a
 * program shared on that GPU (models/factor/program_spread.h).
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

/* That of a job, or of a program that runs `alone`, on this GPU. Where no file
 * of spreads is, and on a CPU, the data sheet's trace_factor both ways. */
struct msim_whole_job_machine
msim_whole_job_machine_of(const struct msim_platform *p, bool alone);

/* Give the estimate of a work of a job, or of a program that runs `alone`, the
 * interval that it has there. A time of a user's table stays. */
void msim_whole_job_widen(const struct msim_platform *p,
                          const struct msim_work *w, bool alone,
                          struct msim_estimate *e);

#endif
