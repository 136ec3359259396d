/*
 * core/base/files.h - files and folders of this process: what it has read, and
 * what it writes whole or not at all.
 */
#ifndef MSIM_CORE_BASE_FILES_H
#define MSIM_CORE_BASE_FILES_H
#include "core/base/containers.h"
#include "core/base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- files read ---------------------------------------------------------- */
/*
 * The files and folders that this process has read.
 *
 * Whoever reads what an answer depends on notes it here, by device and inode:
 * no output replaces an input then, whatever it is called ("write file"), and
 * what is kept of a run is known to be of the same inputs. The list is the
 * process's, and the only state that library code has: whoever asked for it,
 * what was read was read. main lets go of it when the verb is done. Any thread
 * may call these.
 */

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

/* ---- write file ---------------------------------------------------------- */
/*
 * A file that is either complete or as it was before.
 *
 * Bytes go to a new file beside the wanted one, its draft, which reaches the
 * disk before it is renamed over that; a failure or an early stop leaves what
 * was there. Where the path names something that is not a plain file
 * (/dev/null, a pipe), it is written directly. A link is followed: what it
 * points to is replaced.
 *
 * What this process has read is not written ("files read"). A process that is
 * killed leaves its drafts, FILE.partPID-N; the next one that writes FILE
 * removes them.
 */

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

/* ---- write folder -------------------------------------------------------- */
/*
 * A folder that this program fills with its files.
 *
 * The user names the folder, and not what is in it. So a file that is there and
 * not of this program's making is never replaced: a mark in its first or last
 * bytes tells. New files take the place of those of an earlier run together,
 * when all are complete, and one process after the other; what an earlier run
 * wrote and this one did not is removed, so that all is of one run.
 */

/* Files of one kind: in a name `#` stands for a number. */
struct msim_folder_kind {
    const char *name, *mark;
};

/* What a verb writes into its folder. */
struct msim_folder_kinds {
    const struct msim_folder_kind *of;
    uint32_t n;
};

/* What is begun is ended. */
struct msim_folder {
    char *path; /* owned */
    const struct msim_folder_kinds *kinds;
    int lock;
    struct msim_file_set set;
    struct msim_vec names; /* char *, owned: of files that were begun */
};

/*
 * Look into a folder, which need not be there: EUSAGE where a file of one of
 * these names is not ours or an input, or the folder is. Drafts of processes
 * that are gone are removed.
 */
MSIM_MUST_CHECK
enum msim_status msim_folder_look(const char *path,
                                  const struct msim_folder_kinds *kinds,
                                  struct msim_error *err);

/* Make the folder unless it is there; EIO. */
MSIM_MUST_CHECK
enum msim_status msim_folder_make(const char *path, struct msim_error *err);

/* Look, make, and wait until no other process fills it; `kinds` lives as long.
 */
MSIM_MUST_CHECK
enum msim_status msim_folder_begin(struct msim_folder *f, const char *path,
                                   const struct msim_folder_kinds *kinds,
                                   struct msim_error *err);

/* Begin a file of the folder, which goes to msim_file_close() like others. */
MSIM_MUST_CHECK
enum msim_status msim_folder_file(struct msim_file **out, struct msim_folder *f,
                                  const char *name, struct msim_error *err);

/* With `status` OK all closed files get their names; else none. */
MSIM_MUST_CHECK
enum msim_status msim_folder_end(struct msim_folder *f, enum msim_status status,
                                 struct msim_error *err);

/*
 * The same of a file with a name of its own, that this program made up beside
 * what the user named (OUT.0.et of OUT.et): EUSAGE where it is an input, or
 * there and not ours.
 */
MSIM_MUST_CHECK
enum msim_status msim_folder_spare(const char *path, const char *mark,
                                   struct msim_error *err);

/* Is `path`, which need not be there, `folder` or in it, however deep? False
 * where `folder` is none. */
bool msim_folder_is_within(const char *path, const char *folder);

/* Does a file hold this mark? Packed files (gzip) are unpacked for it. */
bool msim_folder_is_marked(const char *path, const char *mark);

/* Is it the name of such a file? */
bool msim_folder_matches(const char *pattern, const char *name, size_t n);

#endif
