/*
 * core/job/comm_groups.h - the ranks of process groups, as generators of Chakra
 * workloads write them beside these: a JSON object that has a list of ranks for
 * the name of each group, {"0": [0, 1, 2, 3], "1": [0, 1]}.
 */
#ifndef MSIM_CORE_JOB_COMM_GROUPS_H
#define MSIM_CORE_JOB_COMM_GROUPS_H
#include "core/job/job.h"

/* Is the file at `path` such an object? What cannot be read is none. */
bool msim_comm_groups_is(const char *path);

/*
 * Let groups of Chakra traces that list no ranks have those of such a file:
 * `named`, or, where that is NULL, the only one in the folder of the traces.
 * Several there are none, which is said. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_comm_groups_take(struct msim_job *job, const char *named);

#endif
