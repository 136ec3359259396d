/*
 * core/base/files_read.h - the files and folders that this process has read.
 *
 * Whoever reads what an answer depends on notes it here, by device and inode:
 * no output replaces an input then, whatever it is called (write_file.h), and
 * what is kept of a run is known to be of the same inputs. The list is the
 * process's, and the only state that library code has: whoever asked for it,
 * what was read was read. main lets go of it when the verb is done. Any thread
 * may call these.
 */
#ifndef MSIM_CORE_BASE_FILES_READ_H
#define MSIM_CORE_BASE_FILES_READ_H
#include "core/base/status.h"

/*
 * Note a file or folder that is read; "-" is standard input. Nothing but plain
 * files and folders is noted. EUSAGE where standard output is that file.
 */
MSIM_MUST_CHECK
enum msim_status msim_files_read_note(const char *path, struct msim_error *err);

/* It will be brought up to date: from here on it may be written. */
void msim_files_read_forget(const char *path);

/* EUSAGE where `path` is one of them, or a link to it; or the file that
 * standard output goes to, which would be lost. */
MSIM_MUST_CHECK
enum msim_status msim_files_read_spare(const char *path,
                                       struct msim_error *err);

/* A hash of the names and contents of all files so far, in whatever order they
 * were read. EIO where one was changed meanwhile. */
MSIM_MUST_CHECK
enum msim_status msim_files_read_hash(uint64_t *hash, struct msim_error *err);

/* The run is over: none is noted any more. */
void msim_files_read_release(void);

#endif
