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

/* Say what is odd about a file as a whole, before all else. */
void msim_import_warn_file(struct msim_job *job, const char *path,
                           const struct msim_read_result *read);

/* The rows of `log`, in the order of kinds, into the job's arena. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_keep(struct msim_job *job,
                                  const struct msim_import_log *log,
                                  struct msim_import *out);

/* Copies of `n` files that own all of what a report of their records has; what
 * else is known of a file is left out. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_copy(struct msim_arena *arena,
                                  const struct msim_file_info *files,
                                  uint32_t n, struct msim_file_info **out);

/* One warning a kind that is worth one, of all files. */
void msim_job_warn_import(struct msim_job *job);

#endif
