/*
 * core/job/job_parts.h - the traces of a job's files, before they become ranks
 * or parts of one, and what is done to all of them then. For job_load.c.
 *
 * With msim_load_options.fold a trace that is equal to another is let go as it
 * comes (core/fold/fold.h); where one comes that is not, all have one again.
 */
#ifndef MSIM_CORE_JOB_JOB_PARTS_H
#define MSIM_CORE_JOB_JOB_PARTS_H
#include "core/fold/fold.h"
#include "core/job/job.h"
#include "core/job/link.h"
#include "core/read/reader.h"

struct msim_job_part {
    struct msim_trace *trace; /* NULL: that of its kind is equal to it */
    struct msim_trace_clock clock;
    struct msim_file_info info;
    bool taken;                    /* the trace is the job's */
    uint32_t kind;                 /* of those that are kept once, or NONE */
    struct msim_fold_records *log; /* without a trace: as it was read */
};

struct msim_job_parts {
    struct msim_job_part *all;
    uint32_t n, cap;
    bool folds; /* all ranks are equal so far */
    struct msim_rank_fold fold;
};

/* Add a trace of the file at `path`; `*trace`, of what was read, becomes the
 * part's. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_job_parts_add(struct msim_job_parts *parts,
                                    struct msim_job *job,
                                    const struct msim_read_result *read,
                                    struct msim_trace **trace,
                                    const char *path);

/* Frees the traces that are not taken. */
void msim_job_parts_release(struct msim_job_parts *parts);

/* Has not each part a trace? Once all are read. */
static inline bool msim_job_parts_are_folded(const struct msim_job_parts *parts)
{
    return parts->folds && parts->fold.n < parts->n;
}

/* What says all of a part: its trace, or the one that is equal. */
static inline struct msim_trace *
msim_job_part_trace(const struct msim_job_parts *parts,
                    const struct msim_job_part *p)
{
    return p->trace ? p->trace : parts->fold.kinds[p->kind].trace;
}

/* What became of the records of a part's file, as of now. */
struct msim_import_log msim_job_part_log(const struct msim_job_parts *parts,
                                         const struct msim_job_part *p);

/* ---- kernels that a user's patterns name as communication ---------------- */

/*
 * Count as communication the kernels of all ranks whose names match a pattern
 * of `opt` (`*`, `?`, `[...]` as in a shell). What waits in them cannot be told
 * from what they transfer. A pattern that matches no kernel is a warning of the
 * job.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_own_comms(struct msim_job *job,
                                    const struct msim_load_options *opt);

/* ---- steps whose GPU work is recorded ------------------------------------ */

/*
 * Leave out the steps in which no rank began anything, and warn; unless all are
 * such. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_busy(struct msim_job *job);

/*
 * Leave out the steps in which more than one in twenty launches has no kernel
 * on some rank, or a graph's launch, and warn; unless no step is left on some
 * rank. What remains partial is noted (job->partial). ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_keep_whole(struct msim_job *job);

#endif
