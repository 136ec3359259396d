/*
 * core/job/link.h - several ranks into one job: their groups, their steps, and
 * their clocks aligned. For job_load.c.
 */
#ifndef MSIM_CORE_JOB_LINK_H
#define MSIM_CORE_JOB_LINK_H
#include "core/job/job.h"

/*
 * Names and sizes of process groups across the job: addresses become "pg N" in
 * order of appearance; a size that no file has follows from the job.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_name_groups(struct msim_job *job);

/*
 * Leave out of all ranks the steps that not all of those with steps recorded,
 * with a warning. Ranks that have none in common keep theirs: see
 * msim_job_check_steps() (core/job/incomplete.h). Before clocks are aligned.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_common_steps(struct msim_job *job);

/* Where a trace's time 0 lies on its writer's clock. */
struct msim_trace_clock {
    bool known;
    int64_t us;
    int32_t ps;
};

/* Number calls of groups of which a rank lost some (core/match/lost_comms.h);
 * `clocks` as below. Before clocks are aligned. */
MSIM_MUST_CHECK
enum msim_status msim_job_match_lost(struct msim_job *job,
                                     const struct msim_trace_clock *clocks);

/* On one host single ends of collectives differ by up to 4 ms, but their
 * medians by less than 0.1 ms in real traces. A larger median than this shows a
 * clock that is off. */
#define MSIM_CLOCKS_AGREE ((msim_ps)1000 * MSIM_PS_PER_US)

/*
 * Shift the times of all ranks to one origin, the earliest event near 0.
 * Ranks whose clocks do not agree (other hosts, or collectives that end far
 * apart) are aligned on the ends of their matched collectives. `clocks` has
 * one entry a rank of the job.
 */
MSIM_MUST_CHECK
enum msim_status msim_clock_align(struct msim_job *job,
                                  const struct msim_trace_clock *clocks);

#endif
