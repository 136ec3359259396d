/*
 * core/job/incomplete.h - what a recording has lost, with the evidence.
 *
 * A simulation of a run that was recorded in part describes that part alone,
 * and the reader of its figures has to know it. Each finding is a warning of
 * the job that begins with "incomplete trace:".
 */
#ifndef MSIM_CORE_JOB_INCOMPLETE_H
#define MSIM_CORE_JOB_INCOMPLETE_H
#include "core/job/job.h"

/* Warn where Kineto trace `k` and execution trace `e` of one rank mark steps,
 * of which none is in both. */
void msim_job_warn_other_steps(struct msim_job *job, const char *k_path,
                               const struct msim_trace *k, const char *e_path,
                               const struct msim_trace *e);

/*
 * EFORMAT where no rank holds an operator, a call or a GPU activity: there is
 * nothing to simulate. `err` says what the files do hold, and how to record.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_check_work(const struct msim_job *job,
                                     struct msim_error *err);

/* EFORMAT where ranks that marked steps have no step in common. */
MSIM_MUST_CHECK
enum msim_status msim_job_check_steps(const struct msim_job *job,
                                      struct msim_error *err);

/* EFORMAT where ranks record jobs of other sizes. Before any is inferred. */
MSIM_MUST_CHECK
enum msim_status msim_job_check_worlds(const struct msim_job *job,
                                       struct msim_error *err);

/* Ranks without a trace, of those that others know, unless the traced ones
 * stand for all; ranks that call collectives of groups without them. */
void msim_warn_missing_ranks(struct msim_job *job, bool stand_for_all);

/* Kernels without their launch, launches without their kernel, ends that cannot
 * be. */
void msim_warn_lost_events(struct msim_job *job);

/*
 * Do an execution trace and a Kineto trace show one run, `linked` of whose
 * `total` operators found their node? EFORMAT where they cannot; a warning
 * where it is not sure, and of what a broken one lacks.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_check_pair(struct msim_job *job,
                                     const struct msim_file_info *kineto,
                                     const struct msim_file_info *et,
                                     uint64_t linked, uint64_t total,
                                     struct msim_error *err);

#endif
