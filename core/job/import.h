/*
 * core/job/import.h - what became of the records of a file, as texts and
 * numbers that outlive its trace, and as warnings.
 */
#ifndef MSIM_CORE_JOB_IMPORT_H
#define MSIM_CORE_JOB_IMPORT_H
#include "core/job/job.h"
#include "core/read/reader.h"

/* What reading the file as a whole adds to the log of its trace. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_of_file(const struct msim_read_result *read,
                                     struct msim_strtab *strings,
                                     struct msim_import_log *log);

/* The rows of `log`, in the order of kinds, into the job's arena. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_keep(struct msim_job *job,
                                  const struct msim_import_log *log,
                                  struct msim_import *out);

/* One warning a kind that is worth one, of all files. */
void msim_job_warn_import(struct msim_job *job);

#endif
