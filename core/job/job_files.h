/*
 * core/job/job_files.h - the files of a job: which they are, of which rank by
 * their names, and one of them read.
 */
#ifndef MSIM_CORE_JOB_JOB_FILES_H
#define MSIM_CORE_JOB_JOB_FILES_H
#include "core/base/containers.h"
#include "core/base/status.h"
#include "core/read/reader.h"
#include "core/stream/input.h"

#include <stdbool.h>
#include <stddef.h>

/* ---- rank name ----------------------------------------------------------- */
/*
 * The ranks that the names of files say.
 *
 * A name says a rank by `rank-N` or `rankN`, or, as Chakra's do, by `.N.et`.
 * Everything else in a path is a guess: the places in a parallel job that
 * engines write (`TP-N`, `EP-N`, `DP-N`, `PP-N`), `workerN`, the same words in
 * the name of a folder, and `.N` or `_N` before another suffix. Numbers of
 * steps, dates and sizes look alike. So guesses count only together: where all
 * of them are numbers from 0 to below the number of ranks that the files are
 * of. Of `_N`, the most common form of all numbers, the contents of the files
 * must say that there are so many.
 *
 * What all files have in common says nothing: `llama-tp8-x.0.json` and
 * `llama-tp8-x.1.json` are ranks 0 and 1.
 */

/* X(word, text): innermost first. A rank is a number of one of the first four,
 * within a pipeline stage, within a replica. */
#define MSIM_RANK_WORD_MAP(X)                                                  \
    X(RANK, "rank")                                                            \
    X(WORKER, "worker")                                                        \
    X(TP, "tp")                                                                \
    X(EP, "ep")                                                                \
    X(PP, "pp")                                                                \
    X(DP, "dp")

enum msim_rank_word {
#define X(word, text) MSIM_WORD_##word,
    MSIM_RANK_WORD_MAP(X)
#undef X
        MSIM_WORD_SUFFIX, /* .N */
    MSIM_WORD_TAIL,       /* _N or -N */
    MSIM_RANK_WORDS
};

struct msim_rank_name {
    const char *path;
    int kind;     /* two files of one kind are of different ranks */
    int64_t rank; /* that the file records, or -1: then its name's, if any */

    /* Filled in by msim_rank_names_settle(). */
    const char *at[MSIM_RANK_WORDS]; /* digits in `path`, or NULL */
    bool guessed;
};

/* Bits of words: MSIM_RANK_BIT(TP). */
#define MSIM_RANK_BIT(word) (1u << MSIM_WORD_##word)
#define MSIM_RANK_ALL       ((1u << MSIM_RANK_WORDS) - 1)

/* Fill in `at` with what `words` its name has, without its folders. */
void msim_rank_name_read(struct msim_rank_name *r, unsigned words);

/* Do both number a step, iteration or epoch, and not the same? Recordings of
 * one rank are called so. */
bool msim_paths_differ_by_step(const char *a, const char *b);

/*
 * Find the ranks of `n` files that record none, by `words`. `known` is how many
 * ranks the files' contents speak of, 0 for none. Files that stay without have
 * -1; two of one kind may have one rank. ENOMEM.
 */
MSIM_MUST_CHECK
enum msim_status msim_rank_names_settle(struct msim_rank_name *names,
                                        uint32_t n, unsigned words,
                                        uint64_t known);

/* The text from `from` to `end`, both in `r->path`, with a star for every
 * number that its rank is made of; NULL: out of memory. */
const char *msim_rank_name_starred(struct msim_arena *arena,
                                   const struct msim_rank_name *r,
                                   const char *from, const char *end);

/* Does the file's or the folder's name state a rank, not just end in a number?
 */
bool msim_rank_name_says(const char *path);

/* ---- job files ----------------------------------------------------------- */
/*
 * Which files a job is made of; for job_load.c and for whoever has many jobs to
 * tell apart.
 */

struct msim_job_file {
    char *path;
    bool named; /* given by the user, not found in a directory */
};

struct msim_job_files {
    struct msim_job_file *all;
    uint32_t n, cap;
};

/*
 * The files of `paths`; directories are searched with their sub-directories,
 * in order of name. Hidden entries are skipped, links to directories are not
 * followed. EIO where a path does not exist or cannot be read.
 */
MSIM_MUST_CHECK
enum msim_status msim_job_files_find(struct msim_job_files *files,
                                     const char *const *paths, uint32_t n,
                                     struct msim_error *err);
void msim_job_files_release(struct msim_job_files *files);

/* The length of a name without .gz or .zst and .json or .et; 0 if it has
 * neither .json nor .et. */
size_t msim_job_stem(const char *name);

/* Does the name look like a trace's: .json or .et, each also with .gz or
 * .zst? */
bool msim_job_looks_like_trace(const char *path);

/* ---- read file ----------------------------------------------------------- */
/*
 * One trace file, from bytes to columns.
 *
 * A file is read in one pass. Its first bytes and its top level show its
 * format; the rest goes to that format's functions (core/read/reader.h). The
 * result is one file's trace: msim_job_load() links files and aligns clocks.
 *
 * The faults of core/stream/json_sax.h end the pass, unless it is run with
 * `repair`: looking for them costs time that sound files need not pay.
 */

/*
 * Read a whole input. The trace's times start near 0; its columns are in the
 * order that trace.h promises. A well-formed JSON file that holds no trace
 * gives MSIM_OK and a NULL trace. On failure nothing is left to release, and
 * `err` has the offset and the remedy.
 */
MSIM_MUST_CHECK
enum msim_status msim_read_file(struct msim_read_result *out,
                                struct msim_input *in,
                                struct msim_strtab *strings,
                                const struct msim_load_options *opt,
                                bool repair, struct msim_error *err);

#endif
