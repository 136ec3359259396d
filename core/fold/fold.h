/*
 * core/fold/fold.h - the ranks of a job as they are read, as long as all of
 * them are equal: then one trace is kept for all.
 *
 * Recordings of two runs are never equal. Those of a workload that was
 * generated are, or of ranks that somebody repeats to see what more of them
 * would do; then a job of thousands takes the memory of one.
 */
#ifndef MSIM_CORE_FOLD_FOLD_H
#define MSIM_CORE_FOLD_FOLD_H
#include "core/trace/trace.h"

/* ---- twin ---------------------------------------------------------------- */
/*
 * Traces of two ranks that are equal in all but the rank's number: one of them
 * says what there is to say of both.
 */

/*
 * Is all equal but the ranks' numbers, and what became of the records of their
 * files? Texts have the numbers of one table. Call it before ranks are linked:
 * neither has an `et`.
 */
bool msim_traces_equal(const struct msim_trace *a, const struct msim_trace *b);

/*
 * Does nothing but the trace say what its rank does? Not where it sends or
 * receives, or where which ranks are in a group hangs on its number, since no
 * list is whole. Nor with an execution trace: the memory that it tells of is
 * also for who is in the rank's node.
 */
bool msim_trace_is_any_rank(const struct msim_trace *t);

/* Are both on the lists of the same groups? Of traces that are equal. */
bool msim_traces_listed_alike(const struct msim_trace *a,
                              const struct msim_trace *b);

/* A trace of its own that is `t`, of another rank. On success `*out` is the
 * caller's (msim_trace_free()), on failure NULL. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_trace_copy(struct msim_trace **out,
                                 const struct msim_trace *t, int64_t rank);

/* ---- fold ---------------------------------------------------------------- */

/* Equal traces are of two kinds where one rank is on a list of a group's ranks
 * and another is not. Of more kinds than these nothing is kept once. */
#define MSIM_FOLD_KINDS 4

struct msim_fold_kind {
    struct msim_trace *trace;   /* of the first that was read; the caller's */
    struct msim_import_log log; /* of it, as it was read */
};

struct msim_rank_fold { /* all zero: nothing was read */
    struct msim_fold_kind kinds[MSIM_FOLD_KINDS];
    uint32_t n;
};

/*
 * The kind of `t`, whose rank is set. It is the first of a new one where
 * kinds[i].trace is `t`; else that one says all that `t` does. MSIM_NONE where
 * `t` is not equal to what was read before, or not any rank: the ranks cannot
 * be kept once.
 */
uint32_t msim_fold_kind_of(struct msim_rank_fold *f, struct msim_trace *t);

/* What became of the records of a file, in the room of what there is. */
struct msim_fold_records {
    uint64_t records, read;
    uint32_t n;
    struct msim_fold_count {
        uint32_t row; /* of the log */
        struct msim_import_count count;
    } rows[];
};

/* `*out` is the caller's (free()); on failure it is NULL. ENOMEM. */
MSIM_MUST_CHECK
enum msim_status msim_fold_records_new(struct msim_fold_records **out,
                                       const struct msim_import_log *log);
struct msim_import_log msim_fold_as_read(const struct msim_fold_records *r);

/* What would have become of the records of a file that was read with `as_read`,
 * had all happened to its trace since then that has to that of its kind. */
struct msim_import_log msim_fold_log(const struct msim_fold_kind *kind,
                                     const struct msim_fold_records *as_read);

#endif
