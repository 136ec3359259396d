/*
 * core/job/job.h - a job: the traces of all ranks that are there, loaded and
 * linked; what became of its records, and what a recording has lost.
 */
#ifndef MSIM_CORE_JOB_JOB_H
#define MSIM_CORE_JOB_JOB_H
#include "core/read/reader.h"
#include "core/trace/trace.h"
#include "core/trace/trace_columns.h"

#include <stdio.h>

/* ---- job ----------------------------------------------------------------- */
/*
 * A job: the traces of all ranks that are there, loaded.
 *
 * Files and directories (searched with their sub-directories) become one job.
 * Formats are told apart by content. Files of one rank are linked; the rank
 * comes from the file, else from its name, as far as that is plausible
 * (core/job/job_files.h). Two files of one kind that claim one rank are an
 * error that names both. Clocks of ranks on different hosts are aligned on
 * the ends of their matched collectives.
 */

/* Records of a file with one fate, of one kind or of one name of it. */
struct msim_import_row {
    const struct msim_import_kind_info *kind;
    const char *name, *example; /* "" none */
    uint64_t n, us;             /* us: that they last */
    uint64_t byte;              /* see msim_import_count */
    bool has_byte;
};

/* What became of the records of a file: core/trace/import_log.h. */
struct msim_import {
    uint64_t read;
    const struct msim_import_row *rows;
    uint32_t n;
};

/* One input file as it was found; what `info` shows. */
struct msim_file_info {
    const char *path; /* in the job's arena; "-" is standard input */
    enum msim_format format;
    const char *version; /* schema of an ET, schemaVersion of a Kineto file */
    int64_t rank;        /* -1 unknown */
    const char *gpu;     /* "" unknown */
    uint64_t events;     /* every entry of traceEvents, or every node */
    uint32_t gpus;       /* that its process drives */
    uint64_t ops, kernels, collectives, steps;
    double linked; /* share of GPU activities linked to a launch; an ET beside
                      a Kineto file: of Kineto operators with their node;
                      NAN: nothing to link */
    bool further;  /* one more process of a file that is there already */
    bool salvaged; /* it was cut or broken, and --salvage kept a part */
    struct msim_import import;
    struct msim_recorded_list memory; /* as measured, in all of the file */
};

/* A rank that was read: its trace is that of ranks[of], but for its number. */
struct msim_job_member {
    int64_t rank;
    uint32_t of;
};

struct msim_job {
    struct msim_arena arena;
    struct msim_strtab *strings;
    struct msim_trace **ranks; /* by rank number, unknown first */
    uint32_t n_ranks;
    /* With msim_load_options.fold, where all ranks are equal: those that were
     * read, by number, of which `ranks` has but one of each kind, the first.
     * NULL: each has a trace of its own. */
    struct msim_job_member *members;
    uint32_t n_members;
    uint32_t *alike; /* of each of `ranks`, how many members */
    struct msim_file_info *files;
    uint32_t n_files;
    bool partial;    /* launches or kernels in its iterations are not recorded:
                        what it waits for is not known */
    bool unrecorded; /* a rank launches kernels, and not one of its GPU
                        activities is recorded */
    const char **warnings; /* whole sentences, without `warning: ` */
    uint32_t n_warnings, cap_warnings;
};

/*
 * Load `n` files or directories. On success `*out` is owned by the caller;
 * release with msim_job_free(). On failure `*out` is NULL, and `err` has the
 * file, the offset, what was found and what was wanted.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_load(struct msim_job **out, const char *const *paths,
                               uint32_t n, const struct msim_load_options *opt,
                               struct msim_error *err);

/* How many ranks were read. */
static inline uint32_t msim_job_traced(const struct msim_job *job)
{
    return job->members ? job->n_members : job->n_ranks;
}

/* Number `i` of those. */
static inline struct msim_job_member msim_job_member(const struct msim_job *job,
                                                     uint32_t i)
{
    return job->members ? job->members[i]
                        : (struct msim_job_member){job->ranks[i]->rank, i};
}

/* How many of those ranks[rank] is the trace of. */
static inline uint32_t msim_job_alike(const struct msim_job *job, uint32_t rank)
{
    return job->alike ? job->alike[rank] : 1;
}

/* The ranks of the job, whether traced or known of by those that are. */
uint32_t msim_job_world(const struct msim_job *job);

/* A file in memory: `len` bytes, so called. */
struct msim_job_text {
    const char *name;
    const void *bytes;
    size_t len;
};

/* The same from memory: `n` files of one job. */
MSIM_MUST_CHECK
enum msim_status msim_job_load_texts(struct msim_job **out,
                                     const struct msim_job_text *texts,
                                     uint32_t n,
                                     const struct msim_load_options *opt,
                                     struct msim_error *err);

/* Of one file. */
MSIM_MUST_CHECK
static inline enum msim_status
msim_job_load_memory(struct msim_job **out, const char *name, const void *bytes,
                     size_t len, const struct msim_load_options *opt,
                     struct msim_error *err)
{
    const struct msim_job_text text = {name, bytes, len};

    return msim_job_load_texts(out, &text, 1, opt, err);
}

/* Accepts NULL. */
void msim_job_free(struct msim_job *job);

/* Add a formatted warning. Drops it silently when out of memory. */
void msim_job_warn(struct msim_job *job, const char *fmt, ...)
    MSIM_PRINTF(2, 3);

/* ---- link ---------------------------------------------------------------- */
/*
 * Several ranks into one job: their groups, their steps, and their clocks
 * aligned. For job_load.c.
 */

/*
 * Names and sizes of process groups across the job: addresses become "pg N" in
 * order of appearance; a size that no file has follows from the job.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_name_groups(struct msim_job *job);

/*
 * Leave out of all ranks the steps that not all of those with steps recorded,
 * with a warning. Ranks that have none in common keep theirs: see
 * msim_job_check_steps() ("incomplete"). Before clocks are aligned.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_common_steps(struct msim_job *job);

/* Where a trace's time 0 lies on its writer's clock. */
struct msim_trace_clock {
    bool known;
    int64_t us;
    int32_t ps;
};

/* Number calls of groups of which a rank lost some (core/match/lost_comms.h);
 * `clocks` as below. Before clocks are aligned. */
MSIM_MUST_CHECK
enum msim_status msim_job_match_lost(struct msim_job *job,
                                     const struct msim_trace_clock *clocks);

/* On one host single ends of collectives differ by up to 4 ms, but their
 * medians by less than 0.1 ms in real traces. A larger median than this shows a
 * clock that is off. */
#define MSIM_CLOCKS_AGREE ((msim_ps)1000 * MSIM_PS_PER_US)

/*
 * Shift the times of all ranks to one origin, the earliest event near 0.
 * Ranks whose clocks do not agree (other hosts, or collectives that end far
 * apart) are aligned on the ends of their matched collectives. `clocks` has
 * one entry a rank of the job.
 */
MSIM_MUST_CHECK
enum msim_status msim_clock_align(struct msim_job *job,
                                  const struct msim_trace_clock *clocks);

/* ---- import -------------------------------------------------------------- */
/*
 * What became of the records of a file, as texts and numbers that outlive its
 * trace, and as warnings.
 */

/* What reading the file as a whole adds to the log of its trace. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_of_file(const struct msim_read_result *read,
                                     struct msim_strtab *strings,
                                     struct msim_import_log *log);

/* Say what is odd about a file as a whole, before all else. */
void msim_import_warn_file(struct msim_job *job, const char *path,
                           const struct msim_read_result *read);

/* The rows of `log`, in the order of kinds, into the job's arena. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_keep(struct msim_job *job,
                                  const struct msim_import_log *log,
                                  struct msim_import *out);

/* Copies of `n` files that own all of what a report of their records has; what
 * else is known of a file is left out. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_import_copy(struct msim_arena *arena,
                                  const struct msim_file_info *files,
                                  uint32_t n, struct msim_file_info **out);

/* One warning a kind that is worth one, of all files. */
void msim_job_warn_import(struct msim_job *job);

/* ---- incomplete ---------------------------------------------------------- */
/*
 * What a recording has lost, with the evidence.
 *
 * A simulation of a run that was recorded in part describes that part alone,
 * and the reader of its figures has to know it. Each finding is a warning of
 * the job that begins with "incomplete trace:".
 */

/* Warn where Kineto trace `k` and execution trace `e` of one rank mark steps,
 * of which none is in both. */
void msim_job_warn_other_steps(struct msim_job *job, const char *k_path,
                               const struct msim_trace *k, const char *e_path,
                               const struct msim_trace *e);

/*
 * EFORMAT where no rank holds an operator, a call or a GPU activity: there is
 * nothing to simulate. `err` says what the files do hold, and how to record.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_check_work(const struct msim_job *job,
                                     struct msim_error *err);

/* EFORMAT where ranks that marked steps have no step in common. */
MSIM_MUST_CHECK
enum msim_status msim_job_check_steps(const struct msim_job *job,
                                      struct msim_error *err);

/* EFORMAT where ranks record jobs of other sizes. Before any is inferred. */
MSIM_MUST_CHECK
enum msim_status msim_job_check_worlds(const struct msim_job *job,
                                       struct msim_error *err);

/* Ranks without a trace, of those that others know, unless the traced ones
 * stand for all; ranks that call collectives of groups without them. */
void msim_warn_missing_ranks(struct msim_job *job, bool stand_for_all);

/* Kernels without their launch, launches without their kernel, ends that cannot
 * be. */
void msim_warn_lost_events(struct msim_job *job);

/*
 * Do an execution trace and a Kineto trace show one run, `linked` of whose
 * `total` operators found their node? EFORMAT where they cannot; a warning
 * where it is not sure, and of what a broken one lacks.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_check_pair(struct msim_job *job,
                                     const struct msim_file_info *kineto,
                                     const struct msim_file_info *et,
                                     uint64_t linked, uint64_t total,
                                     struct msim_error *err);

#endif
