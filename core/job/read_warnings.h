/*
 * core/job/read_warnings.h - what of a file was put right, left out or not
 * read, as warnings of its job.
 */
#ifndef MSIM_CORE_JOB_READ_WARNINGS_H
#define MSIM_CORE_JOB_READ_WARNINGS_H
#include "core/job/job.h"
#include "core/job/read_file.h"

/* One warning a kind: how many, and where the first one is. */
void msim_job_warn_read(struct msim_job *job, const char *path,
                        const struct msim_read_result *read);

#endif
