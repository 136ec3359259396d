/*
 * replay/fleet/fleet_groups.h - which files of a fleet are one job; for
 * fleet.c.
 *
 * The folder of a file is the one that it lies in, or the one above where that
 * is called `et` or `kineto`. One job are, in this order,
 *
 *   - files beside each other whose names differ in the rank alone:
 *     kineto/rank-0.json, kineto/rank-1.json
 *   - files beside each other whose names say no rank, while they themselves
 *     say different ranks of equally many: host-a.123.json, host-b.456.json
 *   - traces with times and execution traces of one folder whose names agree
 *     but for ranks and suffixes, or which are the only ones in it:
 *     kineto/rank-*.json and et/rank-*.json
 *
 * Every other file is a job by itself.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_GROUPS_H
#define MSIM_REPLAY_FLEET_FLEET_GROUPS_H
#include "core/job/job_files.h"
#include "replay/fleet/device_time.h"

/* One file and what was found in it; text is the fleet's. */
struct msim_fleet_file {
    const char *path, *gpu;
    bool named;        /* by the user, not found in a directory */
    bool et;           /* an execution trace without times */
    int64_t rank;      /* -1 unknown */
    uint32_t ranks;    /* several, where processes were merged into it */
    uint32_t world;    /* ranks of its job, 0 unknown */
    const char *empty; /* why it has no time; NULL: it has some */
    struct msim_device_time time;

    /* Filled in by msim_fleet_group(). */
    const char *dir, *folder;   /* that it lies in; of its job */
    const char *pattern;        /* its name without suffix, `*` for the rank */
    struct msim_rank_name name; /* its rank: that its name says, or -1 */
    uint32_t leader;            /* first file of its job: may be itself */
    uint32_t twin;              /* a file that is the same rank, or NONE: then
                                   this one is part of no job */
};

/* Sort `files` by path and find the leaders; ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_fleet_group(struct msim_arena *arena,
                                  struct msim_fleet_file *files, uint32_t n);

/* The name of the job that `leader` leads, of `n_own` files: fleet.h. NULL:
 * out of memory. */
const char *msim_fleet_job_name(struct msim_arena *arena,
                                const struct msim_fleet_file *files, uint32_t n,
                                uint32_t leader);

#endif
