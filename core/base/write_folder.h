/*
 * core/base/write_folder.h - a folder that this program fills with its files.
 *
 * The user names the folder, and not what is in it. So a file that is there and
 * not of this program's making is never replaced: a mark in its first or last
 * bytes tells. New files take the place of those of an earlier run together,
 * when all are complete, and one process after the other; what an earlier run
 * wrote and this one did not is removed, so that all is of one run.
 */
#ifndef MSIM_CORE_BASE_WRITE_FOLDER_H
#define MSIM_CORE_BASE_WRITE_FOLDER_H
#include "core/base/write_file.h"

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
