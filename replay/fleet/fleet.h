/*
 * replay/fleet/fleet.h - many jobs, each reduced to the time of its devices by
 * kind of work.
 *
 * Every file is loaded by itself, reduced and released, so that a fleet takes
 * the memory of its largest trace, once a thread. Then files become jobs
 * (fleet_groups.h says how). A job weighs what its devices were traced for,
 * summed over ranks; or as much as every other job; or what a table says.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_H
#define MSIM_REPLAY_FLEET_FLEET_H
#include "replay/fleet/fleet_files.h"

struct msim_fleet_job {
    const char *name; /* its folder, where nothing else is in or below that;
                         its file; else FOLDER/rank-*.json */
    const char *const *paths; /* of its files, as found: ranks in order, then
                                 execution traces */
    uint32_t n_paths, ranks;  /* ranks: that have times */
    const char *gpu;          /* "" not known */
    struct msim_device_time time;
    double total_us;
    double share[MSIM_FAMILY_COUNT + 1]; /* of its own time by kind */
    double weight;                       /* its part of the fleet: sums to 1 */
};

struct msim_fleet {
    struct msim_arena arena;     /* owns all below */
    struct msim_fleet_job *jobs; /* longest first, equal ones by name */
    struct msim_fleet_left *left_out;
    uint32_t n_jobs, n_left_out;
    struct msim_file_info *files; /* what became of records; on the heap */
    uint32_t n_files;
    const char *weighed_by; /* "traced time", "job", or the table's path */
    double share[MSIM_FAMILY_COUNT + 1]; /* of the fleet's time by kind */
};

/*
 * Load the jobs of `n` files or directories, which are searched with their
 * sub-directories; they weigh their traced time. Their order does not matter.
 * A file that is found and cannot be read, or has no times, is left out; one
 * that `paths` name must be a trace. EFORMAT where no job is left. On success
 * release with msim_fleet_free(); on failure `*out` is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_fleet_load(struct msim_fleet **out,
                                 const char *const *paths, uint32_t n,
                                 const struct msim_fleet_options *opt,
                                 struct msim_error *err);
void msim_fleet_free(struct msim_fleet *fleet); /* accepts NULL */

/* Put the jobs, of which there are some, in order; they weigh their traced
 * time.
 */
void msim_fleet_weigh_traced(struct msim_fleet *fleet);

/* All jobs weigh the same. */
void msim_fleet_weigh_alike(struct msim_fleet *fleet);

/*
 * Jobs weigh what the table `path` says: CSV with the columns `job` (a name)
 * and `weight` (>= 0, in any unit). A job without a row weighs nothing.
 * EFORMAT for a name that no job has, a name twice, a weight that is none, and
 * where nothing is left.
 */
MSIM_MUST_CHECK
enum msim_status msim_fleet_weigh_by(struct msim_fleet *fleet, const char *path,
                                     struct msim_error *err);

#endif
