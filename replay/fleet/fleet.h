/*
 * replay/fleet/fleet.h - many jobs, each reduced to the time of its devices by
 * kind of work, and the few that stand for all.
 */
#ifndef MSIM_REPLAY_FLEET_FLEET_H
#define MSIM_REPLAY_FLEET_FLEET_H
#include "core/base/containers.h"
#include "core/job/job.h"
#include "core/job/job_files.h"
#include "core/read/reader.h"
#include "core/work/work.h"

#include <stdio.h>

/* ---- device time --------------------------------------------------------- */
/*
 * The time of the devices of a trace by kind of work: how long gemm, attention,
 * copies, collectives, ... and nothing ran.
 *
 * A GPU counts from its first activity to its last. Every instant belongs to
 * the work that runs in it; where several run at once they share it evenly,
 * and where none runs it is idle. So the kinds sum to the time of the device,
 * and those of several devices may be added. Example, two streams:
 *
 *     stream 7   gemm 0..10                 gemm 14..20
 *     stream 9          all-reduce 6..12
 *
 *     gemm 6 + 4/2 + 6 = 14, collective 4/2 + 2 = 4, idle 2; together 20
 *
 * The family of a kernel is that of the operator that launched it, or that of
 * its name where the operator does not tell. A rank that launches nothing on a
 * GPU has one device, the CPU. Its operators count without those that they
 * call, and what is not known of an operator follows from its caller.
 */

/* Families, and after them idle time. MSIM_FAMILY_BOUND is work of no known
 * family. */
#define MSIM_TIME_IDLE  ((uint32_t)MSIM_FAMILY_COUNT)
#define MSIM_TIME_KINDS ((uint32_t)MSIM_FAMILY_COUNT + 1)

/* "gemm", ..., "other", "idle". */
const char *msim_time_kind_text(uint32_t kind);

/* The kind of GPU activity `i`: its family, of msim_gpu_families(), or that of
 * its kernel's name where the operator does not tell. */
uint32_t msim_gpu_time_kind(const struct msim_trace *t, const uint8_t *family,
                            uint32_t i);

struct msim_device_time {
    double us[MSIM_FAMILY_COUNT + 1];
    uint32_t gpus, cpus;
};

/* Add the devices of `t`; ENOMEM, which adds nothing. A trace without times of
 * its devices has none: msim_device_time_absent() says why. */
MSIM_MUST_CHECK
enum msim_status msim_device_time_add(struct msim_device_time *sum,
                                      const struct msim_trace *t);

/* All kinds together. */
double msim_device_time_total(const struct msim_device_time *d);

/* Why a trace has no time of its devices, as the end of a sentence. */
const char *msim_device_time_absent(const struct msim_trace *t);

/* ---- fleet groups -------------------------------------------------------- */
/*
 * Which files of a fleet are one job; for fleet.c.
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

/* The name of the job that `leader` leads, of `n_own` files: "fleet". NULL:
 * out of memory. */
const char *msim_fleet_job_name(struct msim_arena *arena,
                                const struct msim_fleet_file *files, uint32_t n,
                                uint32_t leader);

/* ---- fleet files --------------------------------------------------------- */
/*
 * The traces of a fleet: found, and each reduced to the time of its devices,
 * several at a time.
 */

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

/* ---- fleet --------------------------------------------------------------- */
/*
 * Many jobs, each reduced to the time of its devices by kind of work.
 *
 * Every file is loaded by itself, reduced and released, so that a fleet takes
 * the memory of its largest trace, once a thread. Then files become jobs
 * ("fleet groups" says how). A job weighs what its devices were traced for,
 * summed over ranks; or as much as every other job; or what a table says.
 */

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

/* ---- fleet merge --------------------------------------------------------- */
/* One fleet of several, each of which is an answer of `select --json`. */

/*
 * The jobs of `n` files of schema mystique-sim/selection/1, as if their traces
 * had been loaded at once: their times and shares are read back as they were.
 * Every job must lie in one part; what is in two is refused. Jobs weigh their
 * traced time, whatever they weighed in the parts, whose order does not matter.
 * On success release with msim_fleet_free(); on failure `*out` is NULL.
 */
MSIM_MUST_CHECK
enum msim_status msim_fleet_merge(struct msim_fleet **out,
                                  const char *const *paths, uint32_t n,
                                  struct msim_error *err);

/* ---- selection ----------------------------------------------------------- */
/*
 * The few jobs of a fleet that stand for it.
 *
 * Points are the jobs' shares of time by kind of work, masses their weights
 * (replay/fleet/subset.c). A chosen job has a weight, its part in the mixture
 * that comes nearest to the fleet, and stands for the jobs that are nearest to
 * it, itself among them.
 */

struct msim_chosen {
    uint32_t job;      /* of the fleet */
    double weight;     /* they sum to 1 */
    double stands_for; /* part of the fleet: they sum to 1 */
    uint32_t jobs;     /* that it stands for */
};

struct msim_selection {
    const struct msim_fleet *fleet; /* must outlive the selection */
    struct msim_chosen *chosen;     /* what stands for most first */
    uint32_t n;
    uint32_t *stood_for_by; /* of each job: which of `chosen` */
    double *distance;       /* of each job, to that: of its shares */
    double share[MSIM_FAMILY_COUNT + 1]; /* of the weighted chosen, by kind */
    uint32_t worst;                      /* kind that differs most */
    double largest;                      /* by that much: >= 0 */
};

/* Choose `k` jobs, 1 to the fleet's; ENOMEM. On success release with
 * msim_selection_free(); on failure `*out` is NULL. */
MSIM_MUST_CHECK
enum msim_status msim_selection_new(struct msim_selection **out,
                                    const struct msim_fleet *fleet, uint32_t k,
                                    uint32_t threads);
void msim_selection_free(struct msim_selection *s); /* accepts NULL */

/* ---- report selection ---------------------------------------------------- */
/*
 * A selection as text, JSON, CSV and a chart.
 *
 * docs/json.md has the fields of the schema mystique-sim/selection/1. CSV has
 * a row a job; its columns `job` and `weight` are those of a table of weights
 * (msim_fleet_weigh_by()), so that one makes the other.
 */

MSIM_MUST_CHECK
enum msim_status msim_selection_text(const struct msim_selection *s, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_selection_json(const struct msim_selection *s, FILE *out);
MSIM_MUST_CHECK
enum msim_status msim_selection_csv(const struct msim_selection *s, FILE *out);

/* Shares of the fleet beside those of the selection, drawn by gnuplot into
 * `path`: PNG where it ends in .png, else SVG. */
MSIM_MUST_CHECK
enum msim_status msim_selection_chart(const struct msim_selection *s,
                                      const char *path, struct msim_error *err);

/* A kind of time in a report. */
struct msim_kind_row {
    uint32_t kind;
    double fleet, selection; /* shares */
};

/* The kinds that either side has, largest of the fleet first; how many. */
uint32_t msim_selection_kinds(const struct msim_selection *s,
                              struct msim_kind_row rows[MSIM_FAMILY_COUNT + 1]);

/* "these 4 of 38 jobs stand for the fleet: shares within 1.2 points" */
void msim_selection_verdict(const struct msim_selection *s, char *text,
                            size_t size);

/* ---- activities ---------------------------------------------------------- */
/*
 * The columns of traces as a table for other programs: a row for each operator,
 * label, call and activity of a GPU.
 */

/*
 * CSV of all ranks of a job, with a header; docs/fleet.md has the columns.
 * Families are those by which select sums ("device time"). ENOMEM, EWRITE.
 */
MSIM_MUST_CHECK
enum msim_status msim_activities_csv(const struct msim_job *job, FILE *out);

#endif
