/*
 * core/base/write_file.h - a file that is either complete or as it was before.
 *
 * Bytes go to a new file beside the wanted one, its draft, which reaches the
 * disk before it is renamed over that; a failure or an early stop leaves what
 * was there. Where the path names something that is not a plain file
 * (/dev/null, a pipe), it is written directly. A link is followed: what it
 * points to is replaced.
 *
 * What this process has read is not written (files_read.h). A process that is
 * killed leaves its drafts, FILE.partPID-N; the next one that writes FILE
 * removes them.
 */
#ifndef MSIM_CORE_BASE_WRITE_FILE_H
#define MSIM_CORE_BASE_WRITE_FILE_H
#include "core/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct msim_file; /* opaque */

/* Files that are renamed together once all are complete; all zero: none. */
struct msim_file_set {
    struct msim_vec waiting; /* what write_file.c keeps of a closed file */
};

struct msim_file_how {
    bool gzip;
    bool swept;   /* msim_file_sweep() has been there */
    bool passing; /* it may be lost with the power: it is not waited for */
    struct msim_file_set *set; /* NULL: renamed when it is closed */
};

/*
 * Begin to write `path`; `how` may be NULL. On success `*out` must go to
 * msim_file_close(); on failure it is NULL: EUSAGE for an input of this
 * process, EIO for a place that is not there or not to be written. All else
 * that fails, here and below, is EWRITE.
 */
MSIM_MUST_CHECK
enum msim_status msim_file_open(struct msim_file **out, const char *path,
                                const struct msim_file_how *how,
                                struct msim_error *err);

/* The sink of a struct msim_json; `file` is a struct msim_file. EWRITE; the
 * reason is kept for msim_file_close(). */
MSIM_MUST_CHECK
enum msim_status msim_file_write(void *file, const char *bytes, size_t n);

/*
 * Finish: with `status` OK the file is renamed, or waits for its set; else
 * what was written is thrown away, and `status` returned. Frees `f`, which may
 * be NULL, in any case.
 */
MSIM_MUST_CHECK
enum msim_status msim_file_close(struct msim_file *f, enum msim_status status,
                                 struct msim_error *err);

/* The bytes of a set's files are on the disk, whatever comes then. */
MSIM_MUST_CHECK
enum msim_status msim_file_set_sync(const struct msim_file_set *b,
                                    struct msim_error *err);

/* The end of a set, in the same way, of files that are closed: none is renamed
 * unless all are on the disk. What they replace goes before the first one
 * comes, so that no kill leaves files of two runs. */
MSIM_MUST_CHECK
enum msim_status msim_file_set_end(struct msim_file_set *b,
                                   enum msim_status status,
                                   struct msim_error *err);

/* All of that, of a file whose bytes are there. */
MSIM_MUST_CHECK
enum msim_status msim_file_save(const char *path, const char *bytes, size_t n,
                                const struct msim_file_how *how,
                                struct msim_error *err);

/* Would both be one file, be it there or not? */
bool msim_file_is_same(const char *a, const char *b);

/* Where the bytes are so far, for a program that reads them. What fails here
 * fails when it is closed. */
const char *msim_file_draft(struct msim_file *f);

/*
 * Remove from `folder` the drafts of processes that are gone, of files whose
 * names, `n` bytes long, are `wanted`.
 */
void msim_file_sweep(const char *folder,
                     bool (*wanted)(const void *ctx, const char *name,
                                    size_t n),
                     const void *ctx);

#endif
