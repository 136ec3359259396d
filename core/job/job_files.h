/*
 * core/job/job_files.h - which files a job is made of; for job_load.c
 * and for whoever has many jobs to tell apart.
 */
#ifndef MSIM_CORE_JOB_JOB_FILES_H
#define MSIM_CORE_JOB_JOB_FILES_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct msim_job_file {
    char *path;
    bool named; /* given by the user, not found in a directory */
};

struct msim_job_files {
    struct msim_job_file *all;
    uint32_t n, cap;
};

/*
 * The files of `paths`; directories are searched with their sub-directories,
 * in order of name. Hidden entries are skipped, links to directories are not
 * followed. EIO where a path does not exist or cannot be read.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_files_find(struct msim_job_files *files,
                                     const char *const *paths, uint32_t n,
                                     struct msim_error *err);
void msim_job_files_release(struct msim_job_files *files);

/* The length of a name without .gz or .zst and .json or .et; 0 if it has
 * neither .json nor .et. */
size_t msim_job_stem(const char *name);

/* Does the name look like a trace's: .json or .et, each also with .gz or
 * .zst? */
bool msim_job_looks_like_trace(const char *path);

#endif
