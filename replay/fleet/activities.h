/*
 * replay/fleet/activities.h - the columns of traces as a table for other
 * programs: a row for each operator, label, call and activity of a GPU.
 */
#ifndef MSIM_REPLAY_FLEET_ACTIVITIES_H
#define MSIM_REPLAY_FLEET_ACTIVITIES_H
#include "core/job/job.h"

/*
 * CSV of all ranks of a job, with a header; docs/fleet.md has the columns.
 * Families are those by which select sums (device_time.h). ENOMEM, EWRITE.
 */
MSIM_MUST_CHECK
enum msim_status msim_activities_csv(const struct msim_job *job, FILE *out);

#endif
