/*
 * core/job/job.h - a job: the traces of all ranks that are there, loaded.
 *
 * Files and directories (searched with their sub-directories) become one job.
 * Formats are told apart by content. Files of one rank are linked; the rank
 * comes from the file, else from its name, as far as that is plausible
 * (core/job/rank_name.h). Two files of one kind that claim one rank are an
 * error that names both. Clocks of ranks on different hosts are aligned on
 * the ends of their matched collectives.
 */
#ifndef MSIM_CORE_JOB_JOB_H
#define MSIM_CORE_JOB_JOB_H
#include "core/read/format.h"
#include "core/trace/recorded_memory.h"
#include "core/trace/trace.h"

#include <stdio.h>

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

#endif
