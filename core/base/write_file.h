/*
 * core/base/write_file.h - a file that is either complete or as it was before.
 *
 * Bytes go to a new file beside the wanted one, which is renamed over it at
 * the end; a failure or an early stop leaves what was there. Where the path
 * names something that is not a plain file (/dev/null, a pipe), it is written
 * directly. A link is followed: what it points to is replaced.
 */
#ifndef MSIM_CORE_BASE_WRITE_FILE_H
#define MSIM_CORE_BASE_WRITE_FILE_H
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct msim_file; /* opaque */

/*
 * Begin to write `path`, through gzip with `gzip`. On success `*out` must go
 * to msim_file_commit() or msim_file_abandon(); on failure it is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_file_open(struct msim_file **out, const char *path,
                                bool gzip, struct msim_error *err);

/* The sink of a struct msim_json; `file` is a struct msim_file. */
MSIM_MUST_CHECK
enum msim_status msim_file_write(void *file, const char *bytes, size_t n);

/* Finish and rename. Frees `f` whether it succeeds or not. */
MSIM_MUST_CHECK
enum msim_status msim_file_commit(struct msim_file *f, struct msim_error *err);

/* Throw away what was written. Accepts NULL. */
void msim_file_abandon(struct msim_file *f);

/* Where the bytes go until the commit, for a program that writes them. */
const char *msim_file_draft(const struct msim_file *f);

#endif
