/*
 * replay/fleet/fleet_files.h - the traces of a fleet: found, and each reduced
 * to the time of its devices, several at a time.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_FILES_H
#define MSIM_REPLAY_FLEET_FLEET_FILES_H
#include "core/base/containers.h"
#include "core/read/reader.h"
#include "replay/fleet/fleet_groups.h"

struct msim_file_info;

/* What was found and cannot be weighed. */
struct msim_fleet_left {
    const char *path, *reason;
};

struct msim_fleet_files {
    struct msim_arena *arena;    /* texts are in it, as is all but two lists */
    struct msim_fleet_file *all; /* traces, by path; on the heap */
    struct msim_fleet_left *left_out;
    uint32_t n, n_left_out, n_found; /* found: traces or not */
    /* What became of the records of `all`; on the heap. */
    struct msim_file_info *imports;
    uint32_t n_imports, cap_imports;
};

struct msim_fleet_options {
    struct msim_load_options load;
    /* Before file `i` of `n` is read, by one thread at a time; NULL: silence.
     */
    void (*before)(void *ctx, uint32_t i, uint32_t n);
    void *ctx;
};

/*
 * Read the traces among `n` files or directories, by up to opt->load.threads
 * threads: what comes of them does not hang on how many there are. A file that
 * is found and cannot be read is left out; one that `paths` name must be a
 * trace. out->left_out has room for every file, and for every job of them.
 * Release with msim_fleet_files_release(), after a failure, too.
 */
MSIM_MUST_CHECK
enum msim_status msim_fleet_files_read(struct msim_fleet_files *out,
                                       struct msim_arena *arena,
                                       const char *const *paths, uint32_t n,
                                       const struct msim_fleet_options *opt,
                                       struct msim_error *err);
void msim_fleet_files_release(struct msim_fleet_files *files);

/* Note a path that cannot be weighed, and why. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_fleet_leave_out(struct msim_fleet_files *files,
                                      const char *path, const char *fmt, ...)
    MSIM_PRINTF(3, 4);

#endif
