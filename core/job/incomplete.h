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

/* Kernels without their launch, launches without their kernel. */
void msim_warn_lost_events(struct msim_job *job);

#endif
