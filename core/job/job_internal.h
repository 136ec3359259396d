/*
 * core/job/job_internal.h - what the files of core/job share; no other room
 * includes it.
 */
#ifndef MSIM_CORE_JOB_JOB_INTERNAL_H
#define MSIM_CORE_JOB_JOB_INTERNAL_H
#include "core/fold/fold.h"
#include "core/job/job.h"
#include "core/read/reader.h"
#include "core/stream/input.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- comm groups --------------------------------------------------------- */
/*
 * The ranks of process groups, as generators of Chakra workloads write them
 * beside these: a JSON object that has a list of ranks for the name of each
 * group, {"0": [0, 1, 2, 3], "1": [0, 1]}.
 */

/* Is the file at `path` such an object? What cannot be read is none. */
bool msim_comm_groups_is(const char *path);

/*
 * Let groups of Chakra traces that list no ranks have those of such a file:
 * `named`, or, where that is NULL, the only one in the folder of the traces.
 * Several there are none, which is said. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_comm_groups_take(struct msim_job *job, const char *named);

/* ---- job inputs ---------------------------------------------------------- */
/* The files of a job: as bytes, and all of them read, several at a time. */

/*
 * Open a file, or the bytes that it has: as they are, or what a database
 * becomes. `*text` is what the input stands on, or NULL: the caller frees it
 * after closing the input.
 */
MSIM_MUST_CHECK
enum msim_status msim_open_input(struct msim_input **out, char **text,
                                 const struct msim_job_text *from,
                                 const struct msim_load_options *opt,
                                 struct msim_error *err);

/*
 * Input `i` was read, as msim_read_file() says: `status` and `err` of that, and
 * what was found, with its texts in the table of all. Traces that it keeps it
 * sets to NULL in `read`.
 */
typedef enum msim_status msim_take_input(void *ctx, uint32_t i,
                                         enum msim_status status,
                                         struct msim_read_result *read,
                                         struct msim_error *err);

/*
 * Read `n` inputs by up to opt->threads threads, and hand them to `take` in
 * their order, one at a time. Each is read with a table of texts of its own,
 * which then join `strings` in order: so numbers of texts, and all else, do not
 * hang on how many threads there are. One thread reads where an input is a
 * pipe, since several of these may be one. The first failure of `take` ends the
 * reading and is returned; else OK or ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_inputs_read(const struct msim_job_text *from,
                                      uint32_t n, struct msim_strtab *strings,
                                      const struct msim_load_options *opt,
                                      msim_take_input *take, void *ctx);

/* ---- job parts ----------------------------------------------------------- */
/*
 * The traces of a job's files, before they become ranks or parts of one, and
 * what is done to all of them then. For job_load.c.
 *
 * With msim_load_options.fold a trace that is equal to another is let go as it
 * comes (core/fold/fold.h); where one comes that is not, all have one again.
 */

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

/* ---- read top ------------------------------------------------------------ */
/*
 * The top level of a JSON trace file: which format it is, and what stands
 * beside the list of records. For read_file.c.
 *
 * An ET is an object with `nodes`, a Kineto trace one with `traceEvents`, or
 * (2020) a bare array of events. Members come in any order, so the array of
 * records switches the parser to its format's handler by its key, and
 * msim_read_records_end() switches back.
 */

struct msim_read_top {
    struct msim_reader reader; /* first: a callback's context is both */
    struct msim_keyset keys;
    uint8_t place, key;
    struct msim_vec devices; /* struct msim_device_spec */
    struct msim_group_spec group;
};

struct msim_device_spec {
    int64_t id;
    struct msim_gpu_properties p;
};

/* Prepare `top` for a file; undone by msim_read_top_release(). */
void msim_read_top_init(struct msim_read_top *top);
void msim_read_top_release(struct msim_read_top *top);

/* For msim_sax_new(); the context is a struct msim_read_top. */
extern const struct msim_sax_handler msim_read_top_handler;

/* ---- record search ------------------------------------------------------- */
/*
 * Where the record behind a broken one begins.
 *
 * Records are objects in a list: "}, {\"" ends one and begins the next. Of a
 * node the same signs stand between its attributes; those are no nodes, which
 * shows when they end.
 */

/* All zero: nothing is seen yet. */
struct msim_record_search {
    unsigned seen; /* of the signs */
    bool found;
};

/* Behind the quote of the first key of a record in `bytes`, or their end: then
 * the search goes on in the next piece. */
static inline const char *msim_record_find(struct msim_record_search *s,
                                           const char *bytes, size_t len)
{
    static const char SIGNS[] = "},{\"";
    const char *end = bytes + len;

    for (; bytes < end && !s->found; bytes++) {
        char c = *bytes;

        if (c == SIGNS[s->seen])
            s->found = !SIGNS[++s->seen];
        else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            s->seen = c == SIGNS[0];
    }
    return bytes;
}

#endif
