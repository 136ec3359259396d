/*
 * models/platform/job_spread.h - what the kernels of one whole job have in
 * common beyond what rows of a table show.
 *
 * Two things go wrong for all kernels of a job at once. The machine takes
 * longer than the one that the tables were timed on: it is throttled, shared or
 * its caches are cold. And the law of a family is off for the sizes that this
 * job has. Both were found between jobs, by real traces that were grouped by
 * the program that they ran (scripts/accuracy/job_spread.py).
 * data/laws/jobs.json has them. They are standard deviations of logarithms,
 * that of the machine one for each side, since a job can hardly be faster than
 * an idle GPU.
 */
#ifndef MSIM_MODELS_PLATFORM_JOB_SPREAD_H
#define MSIM_MODELS_PLATFORM_JOB_SPREAD_H
#include "core/base/status.h"
#include "core/work/work.h"

struct msim_job_spread {
    bool known;            /* false: no file, all others are 0 */
    double slower, faster; /* of the whole machine */
    double family[MSIM_FAMILY_COUNT];
};

/* Read a file of spreads. One that does not exist leaves `known` false.
 * EFORMAT or ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_job_spread_read(struct msim_job_spread *s,
                                      const char *file, struct msim_error *err);

#endif
